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
    /// Bytes that they would have moved, if they are not moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Counts of a source's reads and writes by their open flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFlags {
    /// Reads and writes.
    pub requests: u64,
    /// Those that bypass the page cache (O_DIRECT).
    pub direct: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that return when the device has them (O_SYNC, O_DSYNC).
    pub synchronous: u64,
}

impl LeftOut {
    /// An entry.
    pub fn new(by: &str, what: &str, reason: &str, count: u64) -> LeftOut {
        LeftOut {
            by: by.to_owned(),
            what: what.to_owned(),
            reason: reason.to_owned(),
            count,
            bytes: 0,
        }
    }

    /// The entry of operations that would have moved some bytes.
    #[must_use]
    pub fn of_bytes(self, bytes: u64) -> LeftOut {
        LeftOut { bytes, ..self }
    }

    /// Adds an entry to others: those that differ only in their counts become one.
    pub fn add(self, to: &mut Vec<LeftOut>) {
        let same = |it: &&mut LeftOut| {
            (&it.by, &it.what, &it.reason) == (&self.by, &self.what, &self.reason)
        };
        match to.iter_mut().find(same) {
            Some(entry) => {
                entry.count += self.count;
                entry.bytes = entry.bytes.saturating_add(self.bytes);
            }
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
