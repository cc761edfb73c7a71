//! `kind = "edf"`: earliest deadline first.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::tree::Table;
use crate::values::{AtLeastOne, ByGroup, PerGroup, Seconds};

section! {
    /// Earliest deadline first: the job with the earliest deadline goes next (Liu, Layland: JACM
    /// 1973). Each group has a latency, as in Lumb, Merchant, Alvarez: Façade, FAST 2003.
    pub struct Edf {
        /// Maximum number of dispatched jobs.
        depth: u32 as AtLeastOne = required(4),
        /// Time from the arrival of a job to its deadline.
        deadline: Seconds = required("100 ms") aka ["latency"],
        /// The same for groups that have one of their own.
        deadlines: PerGroup<Seconds> as ByGroup<Seconds> = default(Table::default(), "the deadline of all") aka ["latencies"],
    }
    check check;
}

fn check(edf: &Edf, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::exist(edf.deadlines.0.keys(), "deadlines", all, at)
}
