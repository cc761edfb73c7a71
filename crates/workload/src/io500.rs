//! The result of IO500: rates of its phases, and the score.
//!
//! A scenario whose workloads have the four presets, in turn, has this result. A rate is bytes or
//! files over the time of a phase of all processes (IO500 02091cf, src/phase_ior.c,
//! phase_mdtest.c). Bandwidth is in GiB/s, and the score is the
//! geometric mean of the geometric means of both groups (src/main.c).
//!
//! Not modelled: the names in ior's and mdtest's own directories, which `find` lists too.

use headrace_spec::Scenario;
use indexmap::IndexMap;
use serde::Serialize;

use crate::PhaseReport;

/// Name in IO500's result, preset, phases of the workload, and the operation that is counted.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [u32],
    &'static str,
);

/// In the order in which IO500 prints them; those that move bytes first.
const ROWS: [Row; 12] = [
    ("ior-easy-write", &["ior-easy"], &[0, 1], "write"),
    ("mdtest-easy-write", &["mdtest-easy"], &[0], "create"),
    ("ior-hard-write", &["ior-hard"], &[0, 1], "write"),
    ("mdtest-hard-write", &["mdtest-hard"], &[0], "create"),
    ("find", &["mdtest-easy", "mdtest-hard"], &[1], "create"),
    ("ior-easy-read", &["ior-easy"], &[2], "read"),
    ("mdtest-easy-stat", &["mdtest-easy"], &[2], "stat"),
    ("ior-hard-read", &["ior-hard"], &[2], "read"),
    ("mdtest-hard-stat", &["mdtest-hard"], &[2], "stat"),
    ("mdtest-easy-delete", &["mdtest-easy"], &[3], "unlink"),
    ("mdtest-hard-read", &["mdtest-hard"], &[3], "read"),
    ("mdtest-hard-delete", &["mdtest-hard"], &[4], "unlink"),
];
const GIB: f64 = (1 << 30) as f64;

/// The result of IO500.
#[derive(Clone, Debug, Serialize)]
pub struct Io500Report {
    /// Its phases by name, in order.
    pub phases: IndexMap<&'static str, Io500Phase>,
    /// Geometric mean of the bandwidths in GiB/s.
    pub bandwidth: f64,
    /// Geometric mean of the rates of metadata operations in thousands a second.
    pub metadata: f64,
    /// Geometric mean of both.
    pub score: f64,
}

/// A phase of IO500.
#[derive(Clone, Debug, Serialize)]
pub struct Io500Phase {
    /// Rate, in `unit`.
    pub rate: f64,
    /// "GiB/s", or "kIOPS".
    pub unit: &'static str,
    /// Time in seconds.
    pub seconds: f64,
}

/// Returns the result; None if a phase is missing, took no time, or came in another order.
#[must_use]
pub fn io500(scenario: &Scenario, phases: &[PhaseReport]) -> Option<Io500Report> {
    let turns = ROWS.iter().map(|row| turns(scenario, row));
    let turns: Vec<Vec<u32>> = turns.collect::<Option<_>>()?;
    let follow = |pair: &[Vec<u32>]| pair[0].last() < pair[1].first();
    if !turns.windows(2).all(follow) {
        return None;
    }
    let all = ROWS.iter();
    let all = all.map(|row| Some((row.0, phase(scenario, phases, row)?)));
    let all: IndexMap<&'static str, Io500Phase> = all.collect::<Option<_>>()?;
    let mean = |unit| {
        let rates = all.values().filter(|it| it.unit == unit);
        let logarithms: Vec<f64> = rates.map(|it| it.rate.ln()).collect();
        (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
    };
    let (bandwidth, metadata) = (mean("GiB/s"), mean("kIOPS"));
    Some(Io500Report {
        phases: all,
        bandwidth,
        metadata,
        score: (bandwidth * metadata).sqrt(),
    })
}

/// Returns the turns of the phases of a row.
fn turns(scenario: &Scenario, row: &Row) -> Option<Vec<u32>> {
    let &(_, presets, numbers, _) = row;
    let mut all = Vec::new();
    for &preset in presets {
        let workload = &scenario.workload[workload_of(scenario, preset)?];
        let turns = workload.turns.as_ref()?;
        for &number in numbers {
            all.push(*turns.get(number as usize)?);
        }
    }
    Some(all)
}

/// Returns the number of the workload that has a preset, in turn.
fn workload_of(scenario: &Scenario, preset: &str) -> Option<usize> {
    let mut workloads = scenario.workload.iter();
    workloads.position(|it| it.preset.as_deref() == Some(preset) && it.turns.is_some())
}

fn phase(scenario: &Scenario, phases: &[PhaseReport], row: &Row) -> Option<Io500Phase> {
    let &(_, presets, numbers, operation) = row;
    let (mut seconds, mut count, mut bytes) = (0.0, 0, 0);
    for &preset in presets {
        let workload = workload_of(scenario, preset)?;
        let own = || phases.iter().filter(move |it| it.workload == workload);
        let timed = || own().filter(|it| numbers.contains(&it.phase));
        let from = timed().map(|it| it.from_s).reduce(f64::min)?;
        let to = timed().map(|it| it.to_s).reduce(f64::max)?;
        seconds += to - from;
        // `find` is rated by the files that are there.
        let done = own().filter(|it| it.operation == operation);
        for it in done.filter(|it| numbers.contains(&it.phase) || operation == "create") {
            count += it.count;
            bytes += it.bytes;
        }
    }
    let (amount, unit) = match presets {
        ["ior-easy" | "ior-hard"] => (bytes as f64 / GIB, "GiB/s"),
        _ => (count as f64 / 1000.0, "kIOPS"),
    };
    let is_rate = seconds > 0.0 && amount > 0.0;
    is_rate.then(|| Io500Phase {
        rate: amount / seconds,
        unit,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every phase takes 2 s and does 4 GiB or 4,000 files: 2 GiB/s, 2 kIOPS; `find` takes 4 s for
    /// the files of both.
    #[test]
    fn rates_and_score_are_those_of_io500() {
        let text = r#"
            [[workload]]
            preset = "ior-easy"
            turns = [1, 1, 7]
            [[workload]]
            preset = "mdtest-easy"
            turns = [2, 5, 8, 11]
            [[workload]]
            preset = "ior-hard"
            turns = [3, 3, 9]
            [[workload]]
            preset = "mdtest-hard"
            turns = [4, 6, 10, 12, 13]
        "#;
        let loaded = headrace_spec::load_measured(text, std::path::Path::new("io500.toml"), &[]);
        let scenario = loaded.expect("good").scenario;
        let of = |workload, phase, operation, from_s, to_s| PhaseReport {
            workload,
            phase,
            operation,
            from_s,
            to_s,
            count: 4000,
            bytes: 4 << 30,
        };
        let mut phases = Vec::new();
        for workload in [0, 2] {
            phases.push(of(workload, 0, "write", 0.0, 1.5));
            phases.push(of(workload, 1, "sync", 1.5, 2.0));
            phases.push(of(workload, 2, "read", 4.0, 6.0));
        }
        for (workload, operations) in [
            (1, &["create", "readdir", "stat", "unlink"][..]),
            (3, &["create", "readdir", "stat", "read", "unlink"]),
        ] {
            for (phase, operation) in (0..).zip(operations) {
                phases.push(of(workload, phase, operation, 0.0, 2.0));
            }
        }
        let result = io500(&scenario, &phases).expect("it has all phases");
        assert!(
            result
                .phases
                .values()
                .all(|it| (it.rate - 2.0).abs() < 1e-12)
        );
        assert!((result.score - 2.0).abs() < 1e-12);
        assert_eq!(result.phases[4].seconds, 4.0);
        let mut shuffled = scenario.clone();
        for others in [vec![2, 2, 7], vec![1, 1, 99]] {
            shuffled.workload[0].turns = Some(others);
            assert!(io500(&shuffled, &phases).is_none());
        }
        phases.retain(|it| it.operation != "unlink");
        assert!(io500(&scenario, &phases).is_none());
    }
}
