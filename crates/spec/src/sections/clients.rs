//! `[clients]`: the machines that ask.

use crate::Error;
use crate::declare::{Place, Tables, kinds, section};
use crate::sections::{
    Attributes, Card, ClientGroup, Copying, Cpu, Groups, MainMemory, ReadAhead, Rpc, Scenario,
    SystemKind, WriteBack,
};
use crate::values::{AtLeastOne, Bytes};

section! {
    /// The machines that run the workload.
    pub struct Clients {
        /// Number of clients.
        count: u32 as AtLeastOne = required(4) aka ["number", "clients"],
        /// Number of processes that run on each client.
        processes: u32 as AtLeastOne = default(1, "one process on each client"),
        /// The clients' groups in order: a list of names for equal parts (sizes
        /// differ by at most one), or a table NAME = share.
        groups: Groups = default(["all"], "every client is alike"),
        /// The clients' network cards.
        card: Card = section(),
        /// Requests of a client to the data servers.
        rpc: Rpc = section(),
        /// Kind of client; with `[clients.machine]` it has a page cache.
        #[serde(flatten)]
        kind: ClientKind = kinds(),
        /// Clients that differ from the others.
        group: Option<Vec<ClientGroup>> as Option<Tables<ClientGroup>> = optional("all clients are alike"),
    }
    check of_clients;
}

kinds! {
    /// Kind of client.
    pub enum ClientKind default "simple", "every request goes to the servers, as with PVFS2" {
        SimpleClient = "simple",
        MachineClient = "machine",
    }
}

section! {
    /// It keeps none: every request goes to the servers at once, and takes no
    /// processor time.
    pub struct SimpleClient {}
}

section! {
    /// A machine with a page cache, read-ahead and write-back of its own, below which
    /// the file system's servers are.
    pub struct MachineClient {
        /// The machine.
        machine: ClientMachine = section() aka ["host", "cache"],
    }
}

section! {
    /// A client's machine: as `[machine]` of `kind = "local"`, with the servers in
    /// place of a file system and a device.
    pub struct ClientMachine {
        /// The processor.
        cpu: Cpu = section() aka ["processor"],
        /// Cost of copies between the page cache and a process.
        copying: Copying = section() aka ["copy"],
        /// Main memory and the page cache in it.
        memory: MainMemory = section() aka ["cache", "page_cache"],
        /// Writeback of dirty pages, and throttling of writers.
        write_back: WriteBack = section() aka ["dirty"],
        /// Read-ahead of the file system.
        read_ahead: ReadAhead = section(),
        /// Maximum dirty data for one server, or for one target with `clients.rpc.per = "target"`,
        /// before writers wait; it counts until the server replies. 0: only the limits of
        /// `write_back` apply.
        dirty_per_server: Bytes = default("0 B", "no limit of its own") aka ["max_dirty", "max_dirty_mb"],
        /// Client cache of file attributes.
        attributes: Attributes = section() aka ["attribute_cache"],
    }
    check limit_holds_something;
}

fn limit_holds_something(
    machine: &ClientMachine,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let (limit, page) = (machine.dirty_per_server, machine.memory.page);
    if limit.0 > 0 && limit < page {
        let path = at.field("memory").field("page").path;
        let message = format!("expected 0 or at least a page: {path} = \"{page}\"");
        return Err(at.error("dirty_per_server", message));
    }
    Ok(())
}

impl Clients {
    /// The machine with the clients' cache, if they have one.
    #[must_use]
    pub fn machine(&self) -> Option<&ClientMachine> {
        match &self.kind {
            ClientKind::SimpleClient(_) => None,
            ClientKind::MachineClient(client) => Some(&client.machine),
        }
    }

    /// The number of each client's group, in the order of the clients.
    #[must_use]
    pub fn group_of_each(&self) -> Vec<u8> {
        let sizes = self.group_sizes();
        let numbered = sizes.iter().zip(0_u8..=u8::MAX);
        numbered
            .flat_map(|((_, clients), group)| std::iter::repeat_n(group, *clients as usize))
            .collect()
    }

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

fn of_clients(clients: &Clients, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    every_group_has_a_client(clients, at)?;
    if clients.machine().is_some() && matches!(all.kind, SystemKind::Local(_)) {
        let message = "on a local file system, [machine] says what each client is: put it there";
        return Err(at.error("machine", message));
    }
    Ok(())
}

fn every_group_has_a_client(clients: &Clients, at: &Place<'_>) -> Result<(), Error> {
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
