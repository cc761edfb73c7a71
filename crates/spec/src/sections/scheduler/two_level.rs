//! `kind = "two-level"`: rates above, deadlines below.

use super::groups;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::tree::Table;
use crate::values::{AtLeastOne, ByGroup, PerGroup, Rate, Seconds};

section! {
    /// Two levels. The upper limits each group to its rate by credits and shares spare credits. The
    /// lower serves the earliest deadline first (Zhang, Sivasubramaniam, Wang, Riska, Riedel:
    /// MASCOTS 2005; ACM Transactions on Storage 2006).
    pub struct TwoLevel {
        /// Maximum number of jobs dispatched by the lower level.
        depth: u32 as AtLeastOne = required(4),
        /// Credit that a group gets each period, as bytes per second.
        rate: Rate = required("50 MB/s"),
        /// The same for groups that have one of their own.
        rates: PerGroup<Rate> as ByGroup<Rate> = default(Table::default(), "the rate of all"),
        /// Time from the arrival of a job to its deadline.
        deadline: Seconds = required("100 ms") aka ["latency"],
        /// The same for groups that have one of their own.
        deadlines: PerGroup<Seconds> as ByGroup<Seconds> = default(Table::default(), "the deadline of all") aka ["latencies"],
        /// Time after which all groups get their credit again.
        period: Seconds = default("1 s", "nothing is known: shorter holds rates more closely"),
    }
    check check;
}

fn check(two: &TwoLevel, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::exist(two.rates.0.keys(), "rates", all, at)?;
    groups::exist(two.deadlines.0.keys(), "deadlines", all, at)?;
    if two.period.0 > 0.0 {
        return Ok(());
    }
    Err(at.error("period", "expected a time of more than 0"))
}
