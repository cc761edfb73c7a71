//! Collective calls: the exchanged data, the writers, and the savings under locks.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{MICROSECOND, SMALLEST, last, latencies, refusal, run, run_scenario, shipped};

const TOGETHER: &str = "collective = \"two-phase\"\n";

fn together() -> String {
    [SMALLEST, TOGETHER].concat()
}

fn asked(outcome: &Outcome) -> Vec<(u64, u64)> {
    let all = outcome.requests.iter();
    let mut all: Vec<(u64, u64)> = all.map(|it| (it.request.offset, it.request.size)).collect();
    all.sort_unstable();
    all
}

/// Two processes with 64 KiB each, on two clients, and one aggregator. The second's data crosses to
/// the first in a latency and 65,536 ns. Then that asks where the file is and writes both blocks.
/// This takes two latencies, 1 ns on the wire and 20 ns on the device for each byte, and a packet
/// on the server's card.
#[test]
fn two_processes_with_one_aggregator() {
    let sets = [
        "clients.count=2",
        "workload.0.access=shared",
        "workload.0.block=64 KiB",
        "workload.0.phases=[\"write\"]",
        "workload.0.collective.aggregators=1",
    ];
    let outcome = run(&together(), &sets);
    assert_eq!(asked(&outcome), [(0, 131_072)]);
    let write = 40 * MICROSECOND + 131_072 * 21_000 + 1_500_000;
    assert_eq!(latencies(&outcome), [write]);
    let exchange = 10 * MICROSECOND + 65_536 * 1_000;
    assert_eq!(last(&outcome).0, exchange + write);
    // In requests of the aggregator's buffer, one after the other.
    let buffer = [&sets[..], &["workload.0.collective.buffer=32 KiB"]].concat();
    assert_eq!(asked(&run(&together(), &buffer)).len(), 4);
}

/// No process has any of another's part: it is as without collective calls.
#[test]
fn nothing_is_exchanged_where_everybody_has_their_part() {
    let sets = [
        "clients.count=2",
        "layout.unit=64 KiB",
        "workload.0.access=shared",
        "workload.0.block=64 KiB",
    ];
    let with = run(&together(), &sets);
    assert_eq!(latencies(&with), latencies(&run(SMALLEST, &sets)));
    assert_eq!(last(&with), last(&run(SMALLEST, &sets)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every byte is written once, by any process, in parts that end at stripes.
    #[test]
    fn every_byte_is_written_once(
        clients in 1_u32..5, processes in 1_u32..4, aggregators in 1_u32..9,
        transfers in 1_u64..4, segments in 1_u32..4, unit in 1_u64..9, buffer in 4_u64..13,
    ) {
        let sets = [
            format!("clients.count={clients}"),
            format!("clients.processes={processes}"),
            format!("workload.0.collective.aggregators={aggregators}"),
            format!("workload.0.collective.buffer={buffer} KiB"),
            format!("layout.unit={unit} KiB"),
            format!("workload.0.segments={segments}"),
            format!("workload.0.block={} KiB", 3 * transfers),
            "workload.0.transfer=3 KiB".to_owned(),
            "workload.0.access=shared".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&together(), &sets);
        let bytes = u64::from(clients * processes * segments) * 3 * transfers * 1024;
        for operation in ["write", "read"] {
            prop_assert_eq!(outcome.report.operations[operation].bytes, bytes);
        }
        let mut at = 0;
        // Each byte is written and read.
        for pair in asked(&outcome).chunks(2) {
            prop_assert_eq!(pair[0], pair[1]);
            prop_assert_eq!(pair[0].0, at);
            prop_assert!(pair[0].1 <= buffer * 1024);
            at += pair[0].1;
        }
        prop_assert_eq!(at, bytes);
    }
}

/// Additional opens and closes are counted, and no call is omitted.
#[test]
fn files_that_are_opened_and_closed_are_read_whole() {
    let sets = [
        "clients.count=2",
        "workload.0.access=shared",
        "workload.0.phases=[\"write\", \"sync\", \"read\"]",
        "workload.0.segments=4",
        "workload.0.opens=true",
    ];
    let outcome = run(&together(), &sets);
    let operations = &outcome.report.operations;
    let bytes = ["write", "read"].map(|name| operations[name].bytes);
    assert_eq!(bytes[0], bytes[1], "{operations:?}");
    // Two processes, three phases.
    let counts = ["open", "close"].map(|name| operations[name].count);
    assert_eq!(counts, [6, 6], "{operations:?}");
}

/// Small interleaved blocks under extent locks on disks: together they are written several
/// times as fast.
#[test]
fn collective_calls_spare_locks() {
    let time = |set: &str| {
        let outcome = run_scenario(&shipped("collective-write.toml", &[set]));
        outcome.report.simulated_seconds
    };
    let together = time("run.seed=1");
    let each = time("workload.0.collective=none");
    assert!(each > 5.0 * together, "{each} {together}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let shared = "workload.0.access=shared";
    for (sets, expected) in [
        (
            &[][..],
            "processes with files of their own have nothing to exchange",
        ),
        (
            &[shared, "workload.0.order=random"],
            "collective calls are in order",
        ),
        (
            &[shared, "workload.0.phases=[\"mixed\"]"],
            "reads or writes",
        ),
        (
            &[shared, "workload.0.collective.buffer=1 B"],
            "at least a page, \"4 KiB\"",
        ),
    ] {
        let error = refusal(&together(), sets);
        assert!(error.contains(expected), "{sets:?}: {error}");
    }
}
