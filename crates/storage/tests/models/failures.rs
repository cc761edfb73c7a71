//! Failing servers: the effects on clients, to the picosecond where a hand calculation is possible.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{MICROSECOND, SMALLEST, busy, close, latencies, refusal, run};

const MILLISECOND: u64 = 1000 * MICROSECOND;

/// The question where the file is takes a latency each way; the job goes out then.
const ASKED: u64 = 20 * MICROSECOND;

/// The only request, of one server that fails while it reads.
fn with_failure(times: &str, sets: &[&str]) -> Outcome {
    let text = format!(
        "{SMALLEST}\n[recovery]\ntimeout = \"100 ms\"\nretry = \"300 ms\"\n[[failure]]\n{times}"
    );
    run(&text, sets)
}

fn undisturbed() -> u64 {
    latencies(&run(SMALLEST, &[]))[0]
}

#[test]
fn a_lost_request_is_sent_again_after_the_timeout() {
    let outcome = with_failure("server = 0\nat = \"5 ms\"\nuntil = \"50 ms\"", &[]);
    assert_eq!(latencies(&outcome), [undisturbed() + 100 * MILLISECOND]);
    let failure = &outcome.report.failures[0];
    assert_eq!((failure.server, failure.metadata), (Some(0), None));
    assert_eq!(failure.noticed_s, None);
}

/// A scheduler in the network that lets one job out at a time does not wait for a lost one. The
/// request goes out again when the client aborts the first message.
#[test]
fn a_scheduler_in_the_network_does_not_wait_for_what_is_lost() {
    for position in ["gateway", "proxy"] {
        let position = format!("scheduler.position={position}");
        let sets = ["scheduler.kind=fifo", "scheduler.depth=1", &position];
        let failure = "server = 0\nat = \"5 ms\"\nuntil = \"50 ms\"";
        let outcome = with_failure(failure, &sets);
        assert_eq!(latencies(&outcome), [undisturbed() + 100 * MILLISECOND]);
        let failure = "server = 0\nat = \"5 ms\"\nuntil = \"1 s\"";
        let outcome = with_failure(failure, &sets);
        let tries = 100 * MILLISECOND + 3 * 300 * MILLISECOND + 20 * MICROSECOND;
        assert_eq!(latencies(&outcome), [tries + undisturbed()]);
    }
}

/// Tries are 300 ms apart; the third is answered, and the request follows.
#[test]
fn a_client_learns_by_trying_that_a_server_is_back() {
    let outcome = with_failure("server = 0\nat = \"5 ms\"\nuntil = \"1 s\"", &[]);
    let answered = ASKED + 100 * MILLISECOND + 3 * 300 * MILLISECOND + 20 * MICROSECOND;
    assert_eq!(latencies(&outcome), [answered + undisturbed() - ASKED]);
    assert_eq!(outcome.report.failures[0].noticed_s, Some(0.100_02));
}

#[test]
fn a_request_fails_after_so_many_tries() {
    let sets = ["recovery.retries=2"];
    let outcome = with_failure("server = 0\nat = \"5 ms\"", &sets);
    let failed = ASKED + 100 * MILLISECOND + 3 * 300 * MILLISECOND;
    assert_eq!(latencies(&outcome), [] as [u64; 0]);
    assert_eq!(outcome.report.simulated_seconds, failed as f64 * 1e-12);
    let read = &outcome.report.operations["read"];
    assert_eq!((read.count, read.bytes, read.failed), (0, 0, 1));
    assert!(!outcome.report.throughput.contains_key("read"));
}

#[test]
fn a_metadata_server_is_asked_again_too() {
    let outcome = with_failure("metadata = 0\nat = \"15 us\"\nuntil = \"50 ms\"", &[]);
    // The answer was on its way by then.
    assert_eq!(latencies(&outcome), [undisturbed()]);
    let outcome = with_failure("metadata = 0\nat = \"5 us\"\nuntil = \"50 ms\"", &[]);
    assert_eq!(latencies(&outcome), [undisturbed() + 100 * MILLISECOND]);
    let outcome = with_failure("metadata = 0\nat = \"5 us\"", &["recovery.retries=1"]);
    assert_eq!(outcome.report.operations["read"].failed, 1);
}

/// Both have failed; the second is back soon, and the read goes there.
#[test]
fn who_waits_for_one_copy_takes_another_that_is_back() {
    let both = "server = 0\nat = \"1 ms\"\nuntil = \"100 s\"\n[[failure]]\nserver = 1\nat = \"2 ms\"\nuntil = \"600 ms\"";
    let sets = ["workload.0.block=1 MB"];
    let latencies = of_two_copies(both, &sets);
    assert!(
        latencies.iter().all(|&it| it < 2000 * MILLISECOND),
        "{latencies:?}"
    );
}

/// Unanswered requests do not end a run that has its own end.
#[test]
fn a_run_ends_at_its_time_though_clients_wait_for_ever() {
    let never = "server = 0\nat = \"1 ms\"";
    let outcome = with_failure(never, &["run.stop.time=5 s"]);
    close(outcome.report.simulated_seconds, 5.0, 1e-9);
}

#[test]
fn what_no_server_has_any_more_is_not_waited_for() {
    let text = |failures: &str| format!("{SMALLEST}\n[recovery]\ntimeout = \"1 s\"\n{failures}");
    let gone = |server: u32| format!("[[failure]]\nserver = {server}\nat = \"1 ms\"\n");
    let four = ["servers.count=4", "replication.copies=2"];
    let set = text(&[gone(2), gone(3)].concat());
    assert!(refusal(&set, &four).contains("what no other server has"));
    let of_two_sets = text(&[gone(1), gone(2)].concat());
    assert!(run(&of_two_sets, &four).report.failures.len() <= 2);
    let any = [&four[..], &["replication.sets=random"]].concat();
    assert!(refusal(&of_two_sets, &any).contains("what no other server has"));
    let names = [&four[..], &["metadata.on=every-data-server"]].concat();
    assert!(refusal(&text(&gone(1)), &names).contains("what no other server has"));
}

/// A standby serves when it has taken over, unless the server is back sooner.
#[test]
fn a_standby_takes_over() {
    let standby = ["metadata.takeover=150 ms"];
    let never = "metadata = 0\nat = \"5 us\"";
    let outcome = with_failure(never, &standby);
    let tries = 100 * MILLISECOND + 300 * MILLISECOND + 20 * MICROSECOND;
    assert_eq!(latencies(&outcome), [undisturbed() + tries]);
    assert_eq!(outcome.report.failures[0].until_s, Some(0.150_005));
    let sooner = format!("{never}\nuntil = \"50 ms\"");
    let outcome = with_failure(&sooner, &standby);
    assert_eq!(latencies(&outcome), [undisturbed() + 100 * MILLISECOND]);
    // Data servers have none.
    let data = format!("{SMALLEST}\n[[failure]]\nserver = 0\nat = \"5 ms\"\nuntil = \"1 s\"");
    assert!(refusal(&data, &standby).contains("no standby takes over"));
}

/// Two servers with the same data.
const TWO_COPIES: [&str; 3] = [
    "servers.count=2",
    "replication.copies=2",
    "workload.0.transfer=1 MB",
];

fn of_two_copies(failure: &str, sets: &[&str]) -> Vec<u64> {
    let sets = [&TWO_COPIES, sets].concat();
    latencies(&with_failure(failure, &sets))
}

/// The first of two reads waits for the timeout; the second knows better.
#[test]
fn a_read_goes_to_the_other_copy() {
    let sets = ["replication.read_from=first", "workload.0.block=2 MB"];
    let read = undisturbed();
    assert_eq!(
        of_two_copies("server = 0\nat = \"5 ms\"", &sets),
        [read + 100 * MILLISECOND, read - ASKED]
    );
}

/// A write that has lost one of its two servers is done at the timeout, and the next
/// goes to the other alone.
#[test]
fn writes_go_on_with_the_copies_that_are_left() {
    let write = ["workload.0.phases=[\"write\"]", "workload.0.block=2 MB"];
    let alone = latencies(&run(
        SMALLEST,
        &[&write[..], &["workload.0.transfer=1 MB"]].concat(),
    ));
    assert_eq!(
        of_two_copies("server = 1\nat = \"5 ms\"", &write),
        [100 * MILLISECOND + ASKED, alone[1]]
    );
}

/// If any server of a chain fails, the client sends its unanswered requests again to the one that
/// is left.
#[test]
fn a_chain_is_made_anew_without_the_failed_server() {
    let write = ["workload.0.phases=[\"write\"]", "workload.0.block=2 MB"];
    let alone = latencies(&run(
        SMALLEST,
        &[&write[..], &["workload.0.transfer=1 MB"]].concat(),
    ));
    let sets = [&write[..], &["replication.by=chain"]].concat();
    for server in [0, 1] {
        let failure = format!("server = {server}\nat = \"5 ms\"");
        assert_eq!(
            of_two_copies(&failure, &sets),
            [alone[0] + 100 * MILLISECOND, alone[1]]
        );
    }
}

/// Only acknowledged data that was not stored is lost.
#[test]
fn a_server_forgets_what_only_its_memory_has() {
    let sets = [
        "servers.memory.cache=64 MiB",
        "servers.memory.dirty_limit=32 MiB",
        "workload.0.phases=[\"write\", \"read\"]",
        "workload.0.block=2 MiB",
    ];
    // It fails when all is written, and before it is asked to read.
    let outcome = with_failure("server = 0\nat = \"2.14 ms\"\nuntil = \"50 ms\"", &sets);
    assert_eq!(outcome.report.failures[0].forgotten_bytes, 2 << 20);
    // The server reads data that left its memory from its device again.
    let read = &outcome.report.operations["read"];
    let from_device = read.bytes as f64 * 10_000.0;
    close(busy(&outcome, "server/device"), from_device, 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After any failures and restarts, every request is done, and the same run gives the same
    /// result.
    #[test]
    fn no_request_is_lost(
        copies in 1_u32..4, chain in any::<bool>(), random in any::<bool>(),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        failures in prop::collection::vec((0_u32..4, 0_u32..40, 1_u32..400), 1..4),
        scheduler in prop::sample::select(vec!["none", "client", "server", "gateway", "proxy"]),
        in_flight in prop::option::of(1_u32..4),
        cached in any::<bool>(),
    ) {
        let mut text = SMALLEST.to_owned();
        text.push_str("[recovery]\ntimeout = \"100 ms\"\nretry = \"30 ms\"\n");
        let mut away = [0; 4];
        for (server, at, length) in failures {
            // One after the other.
            let at = at.max(away[server as usize] + 1);
            away[server as usize] = at + length;
            let (name, server) = if server == 3 { ("metadata", 0) } else { ("server", server) };
            let until = at + length;
            text.push_str(&format!(
                "[[failure]]\n{name} = {server}\nat = \"{at} ms\"\nuntil = \"{until} ms\"\n"
            ));
        }
        let mut sets = vec![
            "servers.count=3".to_owned(),
            format!("replication.copies={copies}"),
            format!("replication.by={}", if chain { "chain" } else { "client" }),
            format!("replication.sets={}", if random || copies == 2 { "random" } else { "neighbours" }),
            format!("network.grain={grain}"),
            "layout.unit=64 KiB".to_owned(),
            "layout.servers=all".to_owned(),
            "clients.count=3".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
            "workload.0.transfer=250 kB".to_owned(),
        ];
        if scheduler != "none" {
            sets.push("scheduler.kind=fifo".to_owned());
            sets.push("scheduler.depth=2".to_owned());
            sets.push(format!("scheduler.position={scheduler}"));
        }
        if let Some(in_flight) = in_flight {
            sets.push(format!("clients.rpc.in_flight={in_flight}"));
        }
        if cached {
            sets.push("clients.machine.memory.size=64 MiB".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        for operation in ["write", "read"] {
            let done = &outcome.report.operations[operation];
            prop_assert_eq!((done.count, done.bytes, done.failed), (12, 3_000_000, 0));
        }
        let again = run(&text, &sets);
        prop_assert_eq!(latencies(&again), latencies(&outcome));
        prop_assert_eq!(again.report.events, outcome.report.events);
    }

    /// A failure after the end changes nothing.
    #[test]
    fn what_fails_too_late_changes_nothing(
        copies in 1_u32..4, chain in any::<bool>(),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        cached in any::<bool>(),
    ) {
        let mut sets = vec![
            "servers.count=3".to_owned(),
            "replication.sets=random".to_owned(),
            format!("replication.copies={copies}"),
            format!("replication.by={}", if chain { "chain" } else { "client" }),
            format!("network.grain={grain}"),
            "layout.unit=64 KiB".to_owned(),
            "layout.servers=all".to_owned(),
            "clients.count=3".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
            "workload.0.transfer=250 kB".to_owned(),
        ];
        if cached {
            sets.push("clients.machine.memory.size=64 MiB".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let with = run(
            &format!("{SMALLEST}\n[[failure]]\nserver = 0\nat = \"1 h\"\nuntil = \"2 h\""),
            &sets,
        );
        let without = run(SMALLEST, &sets);
        prop_assert_eq!(latencies(&with), latencies(&without));
        prop_assert_eq!(with.report.simulated_seconds, without.report.simulated_seconds);
        prop_assert_eq!(with.report.throughput, without.report.throughput);
        prop_assert!(with.report.failures.is_empty());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |failure: &str, sets: &[&str]| {
        refusal(&format!("{SMALLEST}\n[[failure]]\n{failure}"), sets)
    };
    for (failure, sets, says) in [
        (
            "at = \"1 s\"",
            &[][..],
            "expected the number of a data server",
        ),
        (
            "server = 1\nat = \"1 s\"\nuntil = \"2 s\"",
            &[],
            "failure.0.server = 1: servers.count = 1: expected a number from 0 to 0",
        ),
        (
            "server = 0\nmetadata = 0\nat = \"1 s\"",
            &[],
            "one [[failure]] is of one server",
        ),
        (
            "server = 0\nat = \"2 s\"\nuntil = \"1 s\"",
            &[],
            "expected a time after at = \"2 s\"",
        ),
        (
            "server = 0\nat = \"2 s\"",
            &[],
            "clients would wait for ever for what no other server has",
        ),
        (
            "server = 0\nat = \"1 s\"\nuntil = \"3 s\"\n[[failure]]\nserver = 0\nat = \"2 s\"\nuntil = \"4 s\"",
            &[],
            "the same server is away from \"1 s\" to \"3 s\"",
        ),
        (
            "metadata = 0\nat = \"1 s\"\nuntil = \"2 s\"",
            &["metadata.on=data-servers"],
            "it is on a data server: expected server = 0",
        ),
        (
            "server = 0\nat = \"1 s\"\nuntil = \"2 s\"",
            &["messages.kind=rendezvous"],
            "a failure is not modelled",
        ),
        (
            "server = 0\nat = \"1 s\"\nuntil = \"2 s\"",
            &["recovery.retries=2", "clients.machine.memory.size=64 MiB"],
            "what a client's cache does when a request fails is not modelled",
        ),
        (
            "server = 0\nat = \"1 s\"\nuntil = \"2 s\"",
            &["recovery.timeout=1 ns"],
            "expected at least \"1 ms\"",
        ),
        (
            "server = 0\nat = \"1 s\"\nuntil = \"2 s\"",
            &["replication.repair.kind=self-heal"],
            "without copies nothing can be made anew",
        ),
    ] {
        let error = refused(failure, sets);
        assert!(error.contains(says), "{error}");
    }
}
