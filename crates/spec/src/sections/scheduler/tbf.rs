//! `kind = "tbf"`: Lustre's token bucket filter.

use super::{Class, groups};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::tree::Table;
use crate::values::{AtLeastOne, ByGroup, PerGroup, Positive};

section! {
    /// The token bucket filter, TBF, of Lustre's network request scheduler: each class of jobs has
    /// a token bucket with a fill rate. Each job takes one token. Source: Qian et al.: A
    /// configurable rule based classful token bucket filter network request scheduler for the
    /// Lustre file system, SC 2017.
    pub struct Tbf {
        /// Maximum number of dispatched jobs: Lustre's service threads.
        depth: Option<u32> as Option<AtLeastOne> = optional("any number") aka ["threads"],
        /// Jobs of the same `group`, `client` (Lustre's NID), `workload` (Lustre's
        /// JobID) or `file` have a bucket together.
        by: Class = default("client", "Lustre manual: TBF over NIDs"),
        /// Jobs per second of a bucket, by its group.
        rates: PerGroup<f64> as ByGroup<Positive> = default(Table::default(), "the rate of all") aka ["rules"],
        /// Jobs per second of a bucket whose group is not named.
        rate: f64 as Positive = default(10_000.0, "Lustre, nrs_tbf.c: tbf_rate"),
        /// Number of tokens a bucket holds.
        bucket: u32 as AtLeastOne = default(3, "Lustre, nrs_tbf.c: tbf_depth") aka ["burst"],
    }
    check check;
}

fn check(tbf: &Tbf, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    groups::exist(tbf.rates.0.keys(), "rates", all, at)
}
