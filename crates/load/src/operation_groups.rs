//! Reports of operation groups: counts and rates like those of an operation, and times from the
//! merged histograms of the group.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::latency::{Latency, seconds};
use crate::operation::{self, FileOperation, Group};
use crate::record::{Cell, Record, Times};

/// A group of operations (Wang 2002, section 3.3.1). All in SI units.
#[derive(Clone, Debug, Serialize)]
pub struct OperationGroupReport {
    /// Executed operations of the group.
    pub operations: Vec<&'static str>,
    /// Total number of times.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// For how long, from the first to the last of them in each phase.
    pub active_seconds: f64,
    /// Operations per second; none if they took no time.
    pub per_second: Option<f64>,
    /// Bytes a second; none if they took no time, or none of them moves bytes.
    pub throughput: Option<f64>,
    /// Time spent on preparation, which no latency includes.
    pub prepare_seconds: f64,
    /// Service time: from the actual start.
    pub latency: Latency,
    /// Response time: from the intended start. Only where operations have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_from_intended: Option<Latency>,
}

/// The groups with at least one completed operation.
pub fn operation_groups(record: &Record, has_times: bool) -> BTreeMap<Group, OperationGroupReport> {
    let mut members: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for (number, operation) in operation::ALL.iter().enumerate() {
        if record.cells[number].is_some() {
            members.entry(operation.group()).or_default().push(number);
        }
    }
    members
        .into_iter()
        .map(|(group, numbers)| (group, report(record, &numbers, has_times)))
        .collect()
}

fn report(record: &Record, numbers: &[usize], has_times: bool) -> OperationGroupReport {
    let mut sum = Cell::default();
    for cell in numbers.iter().filter_map(|&it| record.cells[it].as_ref()) {
        sum.merge(cell);
    }
    let operations: Vec<&dyn FileOperation> =
        numbers.iter().map(|&it| operation::ALL[it]).collect();
    let active_seconds = seconds(record.active(numbers));
    let rate = |amount: u64| (active_seconds > 0.0).then(|| amount as f64 / active_seconds);
    let moves_bytes = operations.iter().any(|it| it.moves_bytes());
    OperationGroupReport {
        operations: operations.iter().map(|it| it.name()).collect(),
        count: sum.count,
        bytes: sum.bytes,
        active_seconds,
        per_second: rate(sum.count),
        throughput: rate(sum.bytes).filter(|_| moves_bytes),
        prepare_seconds: seconds(sum.prepared),
        latency: Latency::of(&sum.service),
        latency_from_intended: has_times
            .then(|| Latency::of(&response(record, operations[0].group()))),
    }
}

/// Latencies from the intended start of all operations of a group, those among them that were due
/// and never issued.
fn response(record: &Record, group: Group) -> Times {
    let of_it = (0..operation::ALL.len()).filter(|&it| operation::ALL[it].group() == group);
    let mut all = of_it.filter_map(|number| record.response(number));
    let mut sum = all.next().unwrap_or_else(|| Cell::default().response);
    for other in all {
        sum.merge(&other);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Done;

    fn done(name: &str, bytes: u64, started: u64, ended: u64) -> Done {
        Done {
            operation: operation::number(name).expect("there is one"),
            workload: 0,
            phase: 0,
            bytes,
            prepared: 5,
            intended: started - 1000,
            started,
            ended,
        }
    }

    #[test]
    fn a_group_is_all_operations_of_it_together() {
        let mut record = Record::new(operation::ALL.len(), 0, None);
        // Reads for 8 us, freads for the latter half of it and 4 us more: 12 us.
        for one in [
            done("read", 4096, 1_000_000, 1_001_000),
            done("read", 4096, 1_002_000, 1_008_000),
            done("fread", 100, 1_004_000, 1_012_000),
            done("stat", 0, 1_000_000, 1_002_000),
            done("fstat", 0, 1_500_000, 1_504_000),
        ] {
            record.add(&one);
        }
        let groups = operation_groups(&record, true);
        assert_eq!(
            groups.keys().copied().collect::<Vec<_>>(),
            [Group::Read, Group::FileStat]
        );
        let reads = &groups[&Group::Read];
        assert_eq!(reads.operations, ["read", "fread"]);
        assert_eq!((reads.count, reads.bytes), (3, 8292));
        assert!((reads.active_seconds - 12e-6).abs() < 1e-12);
        assert!((reads.per_second.expect("some") - 3.0 / 12e-6).abs() < 1e-3);
        assert!((reads.throughput.expect("some") - 8292.0 / 12e-6).abs() < 1.0);
        assert!((reads.prepare_seconds - 15e-9).abs() < 1e-15);
        // 1, 6 and 8 us: 5 on average.
        assert_eq!(reads.latency.count, 3);
        assert!((reads.latency.mean.expect("some") / 5e-6 - 1.0).abs() < 1e-3);
        assert!((reads.latency.p50.expect("some") / 6e-6 - 1.0).abs() < 1e-3);
        assert!((reads.latency.max.expect("some") / 8e-6 - 1.0).abs() < 1e-3);
        let response = reads
            .latency_from_intended
            .as_ref()
            .expect("they have times");
        assert!((response.mean.expect("some") / 6e-6 - 1.0).abs() < 1e-3);
        // The two lookups were half a millisecond apart, but in one phase.
        let lookups = &groups[&Group::FileStat];
        assert_eq!(lookups.throughput, None);
        assert!((lookups.active_seconds - 504e-6).abs() < 1e-9);
        assert!(
            operation_groups(&record, false)[&Group::Read]
                .latency_from_intended
                .is_none()
        );
    }
}
