//! `kind = "mclock"`: reservation, limit and weights.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, Weights};
use crate::tree::Table;
use crate::values::{AtLeastOne, ByGroup, PerGroup, Rate};

section! {
    /// mClock: each group gets at least its reservation and at most its limit, and
    /// between them its share by weight (Gulati, Merchant, Varman: OSDI 2010).
    pub struct Mclock {
        /// Maximum number of dispatched jobs.
        depth: u32 as AtLeastOne = required(4),
        /// Bytes per second that a group gets before all others, at each scheduler.
        reservations: PerGroup<Rate> as ByGroup<Rate> = default(Table::default(), "nothing is reserved") aka ["reservation"],
        /// Bytes per second that a group gets at most, at each scheduler.
        limits: PerGroup<Rate> as ByGroup<Rate> = default(Table::default(), "there is no limit") aka ["limit"],
        /// The weight of each group; 1 for a group that is not named. They differ
        /// only where a scheduler sees several groups: not on a client.
        weights: Weights = default(Table::default(), "equal shares") aka ["weight", "shares"],
    }
    check check;
}

fn check(mclock: &Mclock, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::exist(mclock.reservations.0.keys(), "reservations", all, at)?;
    groups::exist(mclock.limits.0.keys(), "limits", all, at)?;
    groups::weighed(&mclock.weights, all, at)?;
    let above = |(group, limit): &(&String, &Rate)| {
        let reserved = mclock.reservations.of(group);
        reserved.is_some_and(|reserved| reserved.0 > limit.0)
    };
    match mclock.limits.0.iter().find(above) {
        Some((group, _)) => {
            let message = "expected a limit that is no less than the group's reservation";
            Err(at.field("limits").error(group, message))
        }
        None => Ok(()),
    }
}
