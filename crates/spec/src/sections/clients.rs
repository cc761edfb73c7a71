//! `[clients]`: the machines that ask.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Card, Groups, Scenario};
use crate::values::AtLeastOne;

section! {
    /// The machines that run the workload.
    pub struct Clients {
        /// How many clients there are.
        count: u32 as AtLeastOne = required(4) aka ["number", "clients"],
        /// How many processes run on each client.
        processes: u32 as AtLeastOne = default(1, "one process on each client"),
        /// The clients' groups in order: a list of names for equal parts (sizes
        /// differ by at most one), or a table NAME = share.
        groups: Groups = default(["all"], "every client is alike"),
        /// The clients' network cards.
        card: Card = section(),
    }
    check every_group_has_a_client;
}

impl Clients {
    /// The groups and how many clients each has, in the order of the clients.
    /// The sizes add up to `count`; where shares give no whole numbers, the
    /// largest remainders are rounded up, earlier groups first.
    #[must_use]
    pub fn group_sizes(&self) -> Vec<(&str, u32)> {
        let total: f64 = self.groups.0.iter().map(|group| group.share).sum();
        let exact: Vec<f64> = self
            .groups
            .0
            .iter()
            .map(|group| f64::from(self.count) * (group.share / total))
            .collect();
        // A count fits in u32, and so does each part of it.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "see above"
        )]
        let mut sizes: Vec<u32> = exact.iter().map(|size| size.floor() as u32).collect();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        let rest = |index: usize| exact[index] - exact[index].floor();
        order.sort_by(|a, b| rest(*b).total_cmp(&rest(*a)));
        let given: u32 = sizes.iter().fold(0, |sum, size| sum.saturating_add(*size));
        let left = self.count.saturating_sub(given);
        for index in order.into_iter().cycle().take(left as usize) {
            sizes[index] += 1;
        }
        self.groups
            .0
            .iter()
            .map(|group| group.name.as_str())
            .zip(sizes)
            .collect()
    }
}

fn every_group_has_a_client(
    clients: &Clients,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    match clients
        .group_sizes()
        .into_iter()
        .find(|(_, size)| *size == 0)
    {
        Some((name, _)) => {
            let count = clients.count;
            let message =
                format!("group {name:?} is left without a client: clients.count = {count}");
            Err(at.error("groups", message))
        }
        None => Ok(()),
    }
}
