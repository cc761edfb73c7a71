//! Operations of a workload that are left out, with counts and reasons.

use serde::{Deserialize, Serialize};

/// A kind of operation, or of a trace's line, that is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Component that skips it: `trace reader`, `replay`, `model` or `engine`; or
    /// `workload.space`, which changes it.
    pub by: String,
    /// The operation, or the kind of line.
    pub what: String,
    /// Why.
    pub reason: String,
    /// Number of occurrences.
    pub count: u64,
}

impl LeftOut {
    /// An entry.
    pub fn new(by: &str, what: &str, reason: &str, count: u64) -> LeftOut {
        LeftOut {
            by: by.to_owned(),
            what: what.to_owned(),
            reason: reason.to_owned(),
            count,
        }
    }

    /// Adds an entry to others: those that differ only in their counts become one.
    pub fn add(self, to: &mut Vec<LeftOut>) {
        let same = |it: &&mut LeftOut| {
            (&it.by, &it.what, &it.reason) == (&self.by, &self.what, &self.reason)
        };
        match to.iter_mut().find(same) {
            Some(entry) => entry.count += self.count,
            None => to.push(self),
        }
    }

    /// Converts the records that the trace reader skipped.
    pub fn by_reader(skipped: &headrace_trace::Skipped) -> Vec<LeftOut> {
        let kinds = skipped.kinds().iter();
        let left = kinds.filter_map(|it| {
            let reason = match it.kind.reason {
                headrace_trace::Reason::NotUnderstood => "not understood",
                headrace_trace::Reason::LeftOut => "not an operation that a trace records",
                headrace_trace::Reason::Assumed => return None,
            };
            Some(LeftOut::new("trace reader", it.kind.name, reason, it.count))
        });
        left.collect()
    }
}
