//! Groups of servers and clients that differ from the others, and figures of single servers.

use headrace_storage::Outcome;

use crate::running::{close, latencies, refusal, run, station};

/// One client reads from four servers, a quarter of each request from each. A byte takes 1 ps on
/// the network and 10 ns on a device.
const FOUR: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 4
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    [network]
    bandwidth = "1 TB/s"
    latency = "0 s"
    [layout]
    unit = "1 MB"
    [[workload]]
    block = "80 MB"
    transfer = "4 MB"
    phases = ["read"]
"#;

/// One of the four has a slower device.
fn with_slow(rate: &str) -> String {
    format!(
        "{FOUR}
    [[servers.group]]
    name = \"slow\"
    count = 1
    device = {{ read_rate = \"{rate}\" }}"
    )
}

fn rate(outcome: &Outcome) -> f64 {
    outcome.report.throughput["read"]
}

/// Every request waits for its slowest part: n times the rate of the slowest server.
#[test]
fn a_striped_read_is_as_fast_as_the_slowest_server() {
    for slow in [20.0, 50.0, 100.0] {
        let outcome = run(&with_slow(&format!("{slow} MB/s")), &[]);
        close(rate(&outcome), 4.0 * slow * 1e6, 1e-3);
        assert!(rate(&outcome) <= 4.0 * slow * 1e6);
    }
}

/// Fields that a group omits are as in [servers]: writes are as fast as without it.
#[test]
fn a_group_differs_in_what_it_gives_only() {
    let sets = ["workload.phases=[\"write\"]"];
    let outcome = run(&with_slow("20 MB/s"), &sets);
    close(outcome.report.throughput["write"], 4.0 * 50e6, 1e-3);
}

/// A faster server of four changes nothing for requests that wait for all.
#[test]
fn no_system_is_faster_than_its_fastest_part() {
    let outcome = run(&with_slow("400 MB/s"), &[]);
    close(rate(&outcome), 4.0 * 100e6, 1e-3);
}

/// A group with the values of the others gives the results that there are without it.
#[test]
fn a_group_of_the_same_values_changes_nothing() {
    for text in [
        with_slow("100 MB/s"),
        format!("{FOUR}\n[[servers.group]]\nname = \"all\"\ncount = 4"),
    ] {
        let sets = [
            "clients.count=5",
            "workload.phases=[\"write\", \"read\"]",
            "network.latency=20 us",
            "servers.memory.cache=8 MB",
            "servers.memory.dirty_limit=4 MB",
        ];
        assert_eq!(latencies(&run(&text, &sets)), latencies(&run(FOUR, &sets)));
    }
}

/// Two generations of servers, each client with a file of its own on one of them. All devices work
/// concurrently, and the run ends with the slowest.
#[test]
fn two_generations_end_with_the_older() {
    let text = format!(
        "{FOUR}
    [[servers.group]]
    name = \"old\"
    count = 2
    device.read_rate = \"25 MB/s\""
    );
    let sets = ["clients.count=8", "layout.servers=1"];
    let outcome = run(&text, &sets);
    let servers = &outcome.report.servers;
    let bytes: Vec<u64> = servers.iter().map(|it| it.read_bytes).collect();
    assert_eq!(bytes, [160_000_000; 4]);
    close(outcome.report.simulated_seconds, 160e6 / 25e6, 1e-3);
    for server in servers {
        let (old, rate) = match server.server {
            0 | 1 => (None, 100e6),
            _ => (Some("old".to_owned()), 25e6),
        };
        assert_eq!(server.group, old);
        close(server.utilisation, 25e6 / rate, 1e-3);
        // Two clients with a request each, until the end.
        close(server.latency.unwrap_or(0.0), 2.0 * 4e6 / rate, 0.02);
    }
}

/// Each byte is served exactly once.
#[test]
fn the_bytes_of_servers_are_those_of_requests() {
    let sets = ["clients.count=3", "workload.phases=[\"write\", \"read\"]"];
    for text in [FOUR.to_owned(), with_slow("30 MB/s")] {
        let report = run(&text, &sets).report;
        let read: u64 = report.servers.iter().map(|it| it.read_bytes).sum();
        let written: u64 = report.servers.iter().map(|it| it.written_bytes).sum();
        assert_eq!(read, report.operations["read"].bytes);
        assert_eq!(written, report.operations["write"].bytes);
        let jobs: u64 = report.servers.iter().map(|it| it.requests).sum();
        assert_eq!(
            jobs,
            4 * (report.operations["read"].count + report.operations["write"].count)
        );
    }
}

/// The verdict names the server that holds the others up.
#[test]
fn the_bottleneck_names_the_slow_server() {
    let outcome = run(&with_slow("20 MB/s"), &["clients.count=8"]);
    let verdict = &outcome.report.bottleneck;
    assert_eq!(
        verdict.station.as_deref(),
        Some("system/server slow/device")
    );
    assert!(
        verdict.sentence.contains("(server 3 of group slow)"),
        "{}",
        verdict.sentence
    );
}

/// Every request of four parts is answered last by the slow server.
#[test]
fn requests_know_the_server_that_answered_last() {
    let outcome = run(&with_slow("20 MB/s"), &[]);
    assert!(
        outcome
            .requests
            .iter()
            .all(|it| it.request.last_server() == Some(3))
    );
    // A request of one part is on one server.
    let outcome = run(&with_slow("20 MB/s"), &["workload.transfer=1 MB"]);
    let servers = outcome.requests.iter().map(|it| it.request.last_server());
    let expected = (0..80).map(|request| Some(request % 4));
    assert!(servers.eq(expected));
}

/// Clients with cards of their own read at the rates of these, whatever the grain of the network.
#[test]
fn clients_read_at_the_rate_of_their_cards() {
    let text = r#"
    [clients]
    count = 6
    groups = { new = 2, old = 3, newer = 1 }
    [[clients.group]]
    name = "old"
    card.bandwidth = "10 MB/s"
    [servers]
    count = 6
    device = { read_rate = "10 GB/s", write_rate = "10 GB/s" }
    [network]
    bandwidth = "100 MB/s"
    latency = "0 s"
    [layout]
    unit = "1 MB"
    servers = 1
    [[workload]]
    block = "50 MB"
    transfer = "5 MB"
    phases = ["read"]
    "#;
    for grain in ["message", "flow", "packet"] {
        let outcome = run(text, &[&format!("network.grain={grain}")]);
        for (name, each) in [("new", 100e6), ("old", 10e6), ("newer", 100e6)] {
            let group = &outcome.report.groups[name];
            let rate = group.throughput["read"] / f64::from(group.clients);
            assert!(rate <= 1.001 * each, "{grain} {name}: {rate}");
            close(rate, each, 0.03);
        }
        let clients = outcome.requests.iter().map(|it| it.request.process.client);
        assert_eq!(clients.max(), Some(5));
    }
}

/// A server's card of its own limits its sending rate.
#[test]
fn a_server_sends_at_the_rate_of_its_card() {
    let text = format!(
        "{FOUR}
    [[servers.group]]
    name = \"far\"
    count = 1
    card.bandwidth = \"10 MB/s\""
    );
    for grain in ["message", "flow"] {
        let outcome = run(&text, &[&format!("network.grain={grain}")]);
        // The card sends after the device has read: a request takes both times.
        let seconds = 1e6 / 100e6 + 1e6 / 10e6;
        close(rate(&outcome), 4e6 / seconds, 2e-3);
    }
}

/// Machines may differ by group, and schedulers stand before each server of every group.
#[test]
fn machines_and_schedulers_differ_by_group() {
    let text = r#"
    [clients]
    count = 2
    [servers]
    count = 3
    [servers.machine]
    system = "ext4"
    device = { kind = "simple", read_rate = "100 MB/s", write_rate = "100 MB/s" }
    [[servers.group]]
    name = "slow"
    count = 1
    machine.device.read_rate = "10 MB/s"
    [scheduler]
    kind = "sfq"
    depth = 2
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
    [[workload]]
    block = "12 MiB"
    transfer = "192 KiB"
    phases = ["read"]
    io.existing = true
    "#;
    let outcome = run(text, &[]);
    let slow = station(&outcome, "server slow/machine/device");
    let other = station(&outcome, "server/machine/device");
    assert!(slow.utilisation > 0.8 && other.utilisation < 0.3);
    let sentence = &outcome.report.bottleneck.sentence;
    assert!(sentence.contains("server slow/machine"), "{sentence}");
    let read: u64 = outcome.report.servers.iter().map(|it| it.read_bytes).sum();
    assert_eq!(read, outcome.report.operations["read"].bytes);
}

/// Servers are sampled over time on request, and the samples add up.
#[test]
fn samples_add_up_to_the_whole() {
    use std::ops::ControlFlow;

    let scenario = crate::running::load(&with_slow("20 MB/s"), &[]).expect("it loads");
    let options = headrace_storage::Options {
        server_samples: Some(20),
        ..headrace_storage::Options::default()
    };
    let run =
        headrace_storage::simulate(&scenario, options, &mut |_, _, _| ControlFlow::Continue(()));
    let outcome = run.expect("it runs");
    let series = outcome.server_series.expect("it was asked for");
    assert_eq!(series.groups.len(), 4);
    assert!((20..=40).contains(&series.starts.len()));
    for server in 0..4 {
        let windows = series.lengths.iter().enumerate();
        let busy = windows.map(|(window, length)| length * series.utilisation[4 * window + server]);
        let mean = busy.sum::<f64>() / outcome.report.simulated_seconds;
        close(mean, outcome.report.servers[server].utilisation, 1e-6);
    }
}

/// Fields that do not fit together are refused at their place.
#[test]
fn what_is_not_modelled_is_refused() {
    let slow = with_slow("20 MB/s");
    for (text, set, expected) in [
        (
            &slow,
            "servers.group.count=5",
            "the groups have 5 servers, and servers.count = 4",
        ),
        (
            &slow,
            "servers.group.name=a/b",
            "expected a name without \"/\"",
        ),
        (&slow, "scheduler.kind=dsfq", "do not reach each other"),
        (
            &slow,
            "servers.group.device.read_rate=1 furlong",
            "servers.group.device.read_rate=1 furlong: expected a rate",
        ),
        (
            &slow,
            "servers.group.machine.system=ext4",
            "all servers are of one kind",
        ),
        (
            &slow,
            "servers.streaming=true",
            "data streams past the devices of like servers only",
        ),
        (&slow, "servers.group.frobs=1", "there is no field"),
    ] {
        let mut sets = vec![set];
        if set == "scheduler.kind=dsfq" {
            sets.push("scheduler.depth=4");
        }
        if set == "servers.streaming=true" {
            sets.push("network.grain=flow");
        }
        let got = refusal(text, &sets);
        assert!(got.contains(expected), "{set}: {got}");
    }
    let unknown = format!("{FOUR}\n[[clients.group]]\nname = \"old\"");
    let got = refusal(&unknown, &[]);
    assert!(
        got.contains("expected a group of clients.groups, \"all\""),
        "{got}"
    );
}
