//! Re-replication after a failure: its bytes and its highest rate.

use headrace_storage::Outcome;
use headrace_storage::system::RepairReport;
use proptest::prelude::*;

use crate::running::{busy, close, run};

/// One client writes 20 MB in steps of 1 MB to servers that have two copies. A byte takes
/// 1 ns on the wire, 1 ns to read and 2 ns to write.
const WRITES: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 2
    device = { read_rate = "1 GB/s", write_rate = "500 MB/s" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "1 MB"
    [replication]
    copies = 2
    [recovery]
    timeout = "10 ms"
    retry = "5 ms"
    [[workload]]
    block = "20 MB"
    transfer = "1 MB"
    phases = ["write"]
"#;

fn with(failure: &str, sets: &[&str]) -> Outcome {
    run(&format!("{WRITES}\n[[failure]]\n{failure}"), sets)
}

fn repair(outcome: &Outcome) -> &RepairReport {
    let failure = &outcome.report.failures[0];
    failure.repair.as_ref().expect("copies are made anew")
}

/// Servers that are machines tell copies from jobs, and give jobs to threads.
#[test]
fn machines_with_threads_copy_what_was_missed() {
    let outcome = run(
        r#"
        system = "glusterfs"
        [clients]
        count = 2
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0.1 ms"
        [servers]
        count = 2
        [servers.machine.device]
        kind = "throttled"
        rate = "200 MB/s"
        [replication]
        copies = 2
        [recovery]
        timeout = "10 ms"
        retry = "5 ms"
        [[failure]]
        server = 1
        at = "0.1 s"
        until = "0.3 s"
        [[workload]]
        block = "16 MiB"
        transfer = "256 KiB"
        "#,
        &[],
    );
    assert!(repair(&outcome).copied_bytes > 0);
}

/// Bytes that the client wrote while it considered the server failed are read from one
/// device and written to the other.
#[test]
fn self_heal_copies_what_was_missed() {
    for by in ["client", "chain"] {
        let by = format!("replication.by={by}");
        let sets = ["replication.repair.kind=self-heal", &by];
        let outcome = with("server = 1\nat = \"7 ms\"\nuntil = \"42 ms\"", &sets);
        let got = repair(&outcome);
        // Writes after the first that found it gone, until the ping that found it back.
        let noticed = outcome.report.failures[0].noticed_s.expect("it was");
        let back = (1..)
            .map(|n| noticed + f64::from(n) * 5e-3)
            .find(|it| *it > 42e-3);
        let back = back.expect("a ping is answered") + 20e-6;
        let without = outcome.requests.iter().filter(|it| {
            let done = it.completed.as_seconds();
            done >= noticed && it.request.issued.as_seconds() < back
        });
        let bytes: u64 = without.map(|it| it.request.size).sum();
        assert!(bytes >= 5_000_000, "{bytes}");
        assert_eq!(got.copied_bytes, bytes);
        assert_eq!(got.began_s, Some(42e-3));
        assert!(got.whole_s.is_some_and(|it| it > back));
        assert_eq!(outcome.report.operations["write"].count, 20);
        assert_eq!(outcome.report.operations["write"].failed, 0);
    }
}

/// The run goes on after its last request until redundancy is full again.
#[test]
fn the_run_waits_for_the_repair() {
    let sets = ["replication.repair.kind=self-heal"];
    let outcome = with("server = 1\nat = \"7 ms\"\nuntil = \"5 s\"", &sets);
    let whole = repair(&outcome).whole_s.expect("it is whole");
    assert!(whole > 5.0);
    assert_eq!(outcome.report.simulated_seconds, whole);
    // The run does not wait for a repair that never starts.
    let outcome = with("server = 1\nat = \"7 ms\"", &sets);
    assert!(outcome.report.simulated_seconds < 1.0);
    assert_eq!(repair(&outcome).copied_bytes, 0);
}

/// One message after the other: read, sent, written, acknowledged.
#[test]
fn a_stream_with_a_window_of_one_takes_each_message_s_whole_way() {
    let sets = [
        "replication.repair.kind=self-heal",
        "replication.repair.streams=1",
        "replication.repair.message=100 kB",
    ];
    let outcome = with("server = 1\nat = \"7 ms\"\nuntil = \"5 s\"", &sets);
    let got = repair(&outcome);
    let messages = got.copied_bytes / 100_000;
    // 100 us to read, 100 us on the wire, 200 us to write, and two latencies; what
    // arrives is a packet behind.
    let least = 420e-6 * messages as f64;
    let took = got.whole_s.unwrap_or_default() - 5.0;
    close(took, least, 0.02);
}

/// Five clients write 20 MB each to two sets of two of five servers, read a megabyte, and
/// three seconds later once more.
const SPREAD: &[&str] = &[
    "clients.count=5",
    "servers.count=5",
    "layout.servers=all",
    "replication.sets=random",
    "replication.repair.kind=re-replication",
    "replication.repair.after=1 s",
    "replication.repair.block=1 MB",
];
const LATE: &str = r#"
    [[workload]]
    block = "1 MB"
    transfer = "1 MB"
    think = "3 s"
    phases = ["read"]
    repeat = 2
"#;

/// A dead server is replaced: its data is copied to the others, block by block, and each of them
/// sends no faster than its card.
#[test]
fn re_replication_copies_what_the_server_held() {
    for by in ["client", "chain"] {
        let by = format!("replication.by={by}");
        let failure = format!("server = 1\nat = \"1.5 s\"\n{LATE}");
        let outcome = with(&failure, &[SPREAD, &[&by]].concat());
        let got = repair(&outcome);
        assert_eq!(got.began_s, Some(2.5));
        // Half of a file if it is in one of the file's two sets, and of those that were
        // there before all or nothing.
        let halves = got.copied_bytes / 10_000_000;
        let rest = got.copied_bytes % 10_000_000;
        assert!(halves > 0 && rest <= 5_000_000 && rest.is_multiple_of(1_000_000));
        // Written data has two copies and two reads by each client, and copied data a read and a
        // write. A byte takes 2 ns to write and 1 ns to read.
        let device = busy(&outcome, "server/device") / 1000.0;
        let asked = 2.0 * 2.0 * 100e6 + 10e6;
        close(device, asked + 3.0 * got.copied_bytes as f64, 1e-9);
        let took = got.whole_s.unwrap_or_default() - 2.5;
        let fastest = got.copied_bytes as f64 / 4.0 * 1e-9;
        assert!(took > fastest && took < 0.3, "{took} {fastest}");
    }
}

/// One stream of one message at a time bounds what each server sends.
#[test]
fn streams_bound_the_rate_of_re_replication() {
    let failure = format!("server = 1\nat = \"1.5 s\"\n{LATE}");
    let took = |streams: u32, window: u32| {
        let sets = [
            format!("replication.repair.streams={streams}"),
            format!("replication.repair.window={window}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = with(&failure, &[SPREAD, &sets].concat());
        let got = repair(&outcome).clone();
        (
            got.copied_bytes as f64,
            got.whole_s.unwrap_or_default() - 2.5,
        )
    };
    let (bytes, one) = took(1, 1);
    let (same, four) = took(2, 2);
    assert_eq!(bytes, same);
    // A message of 64 KiB is read, sent, written and acknowledged before the next.
    let message = 65_536.0 * 4e-9 + 20e-6;
    assert!(one >= bytes / 4.0 / 65_536.0 * message, "{one}");
    assert!(four < 0.8 * one, "{four} {one}");
}

/// With no server left that does not have it nothing can be copied.
#[test]
fn nothing_is_copied_where_nobody_is_left() {
    let sets = [
        "replication.repair.kind=re-replication",
        "replication.repair.after=1 s",
    ];
    let outcome = with("server = 1\nat = \"7 ms\"", &sets);
    let got = repair(&outcome);
    assert_eq!((got.copied_bytes, got.whole_s), (0, None));
}

/// Where the devices are busy all the time, clients wait for as long as the device of the
/// server that is back writes copies.
#[test]
fn copies_take_their_part_of_a_busy_device() {
    let with = |kind: &str| {
        let kind = format!("replication.repair.kind={kind}");
        let sets = [
            &kind,
            "clients.count=4",
            "workload.0.block=150 MB",
            "replication.repair.window=4",
        ];
        let sets = &sets[..if kind.ends_with("none") { 3 } else { 4 }];
        with("server = 1\nat = \"7 ms\"\nuntil = \"100 ms\"", sets)
    };
    let (alone, beside) = (with("none"), with("self-heal"));
    let took = |it: &Outcome| it.report.operations["write"].active_seconds;
    let repair = repair(&beside);
    assert!(repair.whole_s.is_some_and(|it| it < took(&beside)));
    let copying = repair.copied_bytes as f64 * 2e-9;
    close(took(&beside) - took(&alone), copying, 0.1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After any failures, nothing is lost, each copy is made once, and the run ends.
    #[test]
    fn every_byte_is_copied_once(
        copies in 2_u32..4, chain in any::<bool>(), heal in any::<bool>(),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        failures in prop::collection::vec((0_u32..5, 0_u32..60, 1_u32..100), 1..4),
        streams in 1_u32..4, window in 1_u32..4, message in 1_u32..300,
        after in 0_u32..100,
    ) {
        let mut text = WRITES.to_owned();
        let mut away = [0; 5];
        for (server, at, length) in failures {
            let at = at.max(away[server as usize] + 1);
            away[server as usize] = at + length;
            let until = at + length;
            text.push_str(&format!(
                "[[failure]]\nserver = {server}\nat = \"{at} ms\"\nuntil = \"{until} ms\"\n"
            ));
        }
        let sets = [
            "clients.count=3".to_owned(),
            "servers.count=5".to_owned(),
            "replication.sets=random".to_owned(),
            "layout.servers=all".to_owned(),
            "layout.unit=300 kB".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
            format!("replication.copies={copies}"),
            format!("replication.by={}", if chain { "chain" } else { "client" }),
            format!("network.grain={grain}"),
            format!("replication.repair.kind={}", if heal { "self-heal" } else { "re-replication" }),
            format!("replication.repair.after={after} ms"),
            format!("replication.repair.streams={streams}"),
            format!("replication.repair.window={window}"),
            format!("replication.repair.message={message} kB"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        for operation in ["write", "read"] {
            let done = &outcome.report.operations[operation];
            prop_assert_eq!((done.count, done.bytes, done.failed), (60, 60_000_000, 0));
        }
        for failure in &outcome.report.failures {
            let Some(repair) = &failure.repair else { continue };
            // Each server may have to get all of a file's copies at the most.
            prop_assert!(repair.copied_bytes <= 2 * 60_000_000);
            if repair.copied_bytes > 0 {
                prop_assert!(repair.began_s.is_some());
            }
        }
        let again = run(&text, &sets);
        prop_assert_eq!(again.report.events, outcome.report.events);
    }
}
