//! Servers with failover to another machine: the time of takeover, the shared resources, and that
//! nothing is lost.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{MICROSECOND, SMALLEST, busy, close, latencies, refusal, run};

const MILLISECOND: u64 = 1000 * MICROSECOND;

/// Two servers and a failure of one; clients wait 100 ms for answers, and 300 ms between
/// tries.
fn taken_over(kind: &str, takeover: &str, failure: &str, sets: &[&str]) -> Outcome {
    let text = format!(
        "{SMALLEST}
        [servers.failover]
        kind = {kind:?}
        takeover = {takeover:?}
        [recovery]
        timeout = \"100 ms\"
        retry = \"300 ms\"
        [[failure]]
        {failure}"
    );
    run(&text, &[&["servers.count=2"], sets].concat())
}

const KINDS: [&str; 2] = ["active-passive", "active-active"];

fn undisturbed() -> u64 {
    latencies(&run(SMALLEST, &[]))[0]
}

/// A request that the failure catches is sent again after the timeout, if its target is served by
/// then. Else it is done with the first try that is answered.
#[test]
fn a_request_waits_for_who_takes_over() {
    let failure = "server = 0\nat = \"5 ms\"";
    for kind in KINDS {
        let soon = taken_over(kind, "50 ms", failure, &[]);
        assert_eq!(latencies(&soon), [undisturbed() + 100 * MILLISECOND]);
        let late = taken_over(kind, "150 ms", failure, &[]);
        let tries = 100 * MILLISECOND + 300 * MILLISECOND + 20 * MICROSECOND;
        assert_eq!(latencies(&late), [undisturbed() + tries]);
        let report = &late.report.failures[0];
        let partner = (kind == "active-active").then_some(1);
        assert_eq!(
            (report.server, report.taken_over_by),
            (Some(0), partner),
            "{kind}"
        );
        assert_eq!(report.until_s, Some(0.155));
    }
}

/// One that is back before its partner serves serves itself.
#[test]
fn who_is_back_sooner_keeps_its_targets() {
    let failure = "server = 0\nat = \"5 ms\"\nuntil = \"20 ms\"";
    let outcome = taken_over("active-active", "50 ms", failure, &[]);
    assert_eq!(latencies(&outcome), [undisturbed() + 100 * MILLISECOND]);
    assert_eq!(outcome.report.failures[0].taken_over_by, None);
}

/// Four clients read 4 GB from two servers whose cards bind, at 1 GB/s each. One fails after 0.5 s,
/// and all wait for it until 0.6 s. The rest goes over two cards if the machine that takes over was
/// idle, and over one if it is the partner.
#[test]
fn a_partner_has_one_card_for_both() {
    let sets = [
        "clients.count=4",
        "servers.device.read_rate=10 GB/s",
        "layout.unit=500 kB",
        "layout.servers=all",
        "workload.0.block=1 GB",
        "workload.0.transfer=1 MB",
    ];
    let failure = "server = 0\nat = \"500 ms\"";
    let left = |kind| {
        let outcome = taken_over(kind, "50 ms", failure, &sets);
        assert_eq!(outcome.report.operations["read"].count, 4000);
        outcome.report.simulated_seconds - 0.6
    };
    let [passive, active] = KINDS.map(left);
    close(passive, 3.0 / 2.0, 0.05);
    close(active, 3.0, 0.05);
}

/// The partner has no cached data of the other's targets, though it has its own part of the same
/// file there. The other's unwritten data is lost.
#[test]
fn a_partner_reads_from_the_others_device() {
    let sets = [
        "servers.memory.cache=64 MiB",
        "servers.memory.dirty_limit=32 MiB",
        "layout.unit=1 MiB",
        "layout.servers=all",
        "workload.0.phases=[\"write\", \"read\"]",
        "workload.0.block=2 MiB",
        "workload.0.transfer=1 MiB",
    ];
    // It fails when all is written, and before it is asked to read.
    let failure = "server = 0\nat = \"2.14 ms\"";
    let outcome = taken_over("active-active", "50 ms", failure, &sets);
    assert_eq!(outcome.report.failures[0].forgotten_bytes, 1 << 20);
    let from_device = f64::from(1 << 20) * 10_000.0;
    close(busy(&outcome, "server/device"), from_device, 1e-9);
    assert_eq!(outcome.report.operations["read"].count, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whichever server of each pair fails and when, every request is done, and the same
    /// run is the same.
    #[test]
    fn no_request_is_lost(
        kind in prop::sample::select(KINDS.to_vec()),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        failures in prop::collection::vec((0_u32..2, 0_u32..40, any::<bool>()), 1..3),
        targets in 1_u32..3, cached in any::<bool>(), memory in any::<bool>(),
        queue in any::<bool>(),
        scheduler in prop::sample::select(vec!["none", "server", "gateway", "proxy"]),
    ) {
        let mut text = format!(
            "{SMALLEST}\n[servers.failover]\nkind = {kind:?}\ntakeover = \"60 ms\"\n[recovery]\n\
             timeout = \"100 ms\"\nretry = \"30 ms\"\n"
        );
        for (pair, (which, at, back)) in failures.into_iter().enumerate() {
            let server = 2 * pair as u32 + which;
            text.push_str(&format!("[[failure]]\nserver = {server}\nat = \"{at} ms\"\n"));
            if back {
                text.push_str("until = \"55 ms\"\n");
            }
        }
        let mut sets = vec![
            "servers.count=4".to_owned(),
            format!("servers.targets={targets}"),
            format!("network.grain={grain}"),
            "layout.unit=64 KiB".to_owned(),
            "layout.servers=all".to_owned(),
            "clients.count=3".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
            "workload.0.transfer=250 kB".to_owned(),
        ];
        let mut add = |set: &str| sets.push(set.to_owned());
        if cached {
            add("clients.machine.memory.size=64 MiB");
        }
        if memory {
            add("servers.memory.cache=256 KiB");
            add("servers.memory.dirty_limit=64 KiB");
        }
        if queue {
            add("servers.io_scheduler.kind=deadline");
        }
        if scheduler != "none" {
            add("scheduler.kind=fifo");
            add("scheduler.depth=2");
            add(&format!("scheduler.position={scheduler}"));
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
}

#[test]
fn what_cannot_be_is_refused() {
    let pairs = "[servers.failover]\nkind = \"active-active\"\ntakeover = \"45 s\"\n";
    let failure =
        |server: u32, more: &str| format!("[[failure]]\nserver = {server}\nat = \"1 s\"\n{more}\n");
    for (failures, sets, says) in [
        (
            failure(0, ""),
            &["servers.count=3"][..],
            "servers.failover.kind = \"active-active\": servers are pairs: servers.count = 3",
        ),
        (
            failure(0, "until = \"60 s\""),
            &[],
            "another machine serves its targets from \"46 s\" on",
        ),
        (
            [failure(0, ""), failure(1, "")].concat(),
            &[],
            "its partner, server 1, serves the targets of both",
        ),
        (
            failure(0, ""),
            &["replication.copies=2"],
            "servers with copies or a code do without partners",
        ),
        (
            failure(0, ""),
            &["metadata.on=data-servers"],
            "the names on a data server would have no server",
        ),
    ] {
        let text = [SMALLEST, pairs, &failures].concat();
        let error = refusal(&text, &[&["servers.count=2"], sets].concat());
        assert!(error.contains(says), "{error}");
    }
}
