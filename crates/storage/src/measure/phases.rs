//! Phases of workloads that come in turn: what each operation did, and when.

use std::collections::BTreeMap;

use headrace_spec::Scenario;
use headrace_trace::Operation;
use headrace_workload::PhaseReport;

use super::activity::Period;
use super::recorder::Recorder;

/// Returns the phases in order, of all groups of clients together.
pub(crate) fn phases(recorder: &Recorder, scenario: &Scenario) -> Vec<PhaseReport> {
    let in_turn = |period: &Period| scenario.workload[period.workload].turns.is_some();
    let mut phases: BTreeMap<(usize, u32, u8), PhaseReport> = BTreeMap::new();
    for &operation in Operation::ALL {
        for group in 0..recorder.groups() {
            let cell = recorder.seen(group, operation);
            let periods = cell.into_iter().flat_map(|cell| cell.activity.periods());
            for period in periods.filter(in_turn) {
                let (from_s, to_s) = (period.start.as_seconds(), period.end.as_seconds());
                let key = (period.workload, period.number, operation.code());
                let phase = phases.entry(key).or_insert(PhaseReport {
                    workload: period.workload,
                    phase: period.number,
                    operation: operation.name(),
                    from_s,
                    to_s,
                    count: 0,
                    bytes: 0,
                });
                phase.from_s = phase.from_s.min(from_s);
                phase.to_s = phase.to_s.max(to_s);
                phase.count += period.count;
                phase.bytes += period.bytes;
            }
        }
    }
    phases.into_values().collect()
}
