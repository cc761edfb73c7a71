//! Hosts and networks of metadata servers.

use headrace_storage::Outcome;

use crate::running::{close, latency, refusal, run, station};

/// One server; the network takes next to no time.
const SYSTEM: &str = r#"
    [clients]
    count = 8
    [servers]
    count = 1
    device = { read_rate = "100 GB/s", write_rate = "100 GB/s" }
    daemon = { time_per_job = "1 ms" }
    [network]
    bandwidth = "100 GB/s"
    latency = "0 s"
    [layout]
    unit = "64 KiB"
    [metadata]
    time_per_operation = "1 ms"
    client_cache = true
    [[workload]]
    kind = "operation-mix"
    weights = { read = 1, stat = 1 }
    files = 1
    amount = 500
"#;

const ON_SERVERS: &str = "metadata.on=data-servers";

fn rate(sets: &[&str]) -> f64 {
    let outcome = run(SYSTEM, sets);
    outcome.requests.len() as f64 / outcome.report.simulated_seconds
}

/// Side by side each does half of the work.
#[test]
fn names_and_data_share_the_daemon_of_a_data_server() {
    assert!(rate(&[]) > 1700.0);
    close(rate(&[ON_SERVERS]), 1000.0, 0.01);
    close(
        rate(&[ON_SERVERS, "servers.daemon.threads=4"]),
        4000.0,
        0.02,
    );
    for grain in ["network.grain=flow", "network.grain=packet"] {
        close(rate(&[ON_SERVERS, grain]), 1000.0, 0.01);
    }
    // Reads that were read before take no time at the device.
    let cached = [ON_SERVERS, "servers.memory.cache=1 GiB"];
    close(rate(&cached), 1000.0, 0.01);
    let scheduled = [ON_SERVERS, "scheduler.kind=fifo", "scheduler.depth=1"];
    for position in ["scheduler.position=server", "scheduler.position=client"] {
        let sets = [&scheduled[..], &[position]].concat();
        assert!(rate(&sets) < 1010.0);
    }
}

#[test]
fn names_are_spread_over_the_first_data_servers() {
    let names = "workload.0.weights={ stat = 1 }";
    let files = "workload.0.files=10000";
    let sets = |servers| [ON_SERVERS, names, files, "servers.count=3", servers];
    close(rate(&sets("metadata.servers=1")), 1000.0, 0.01);
    assert!(rate(&sets("metadata.servers=3")) > 2000.0);
    let outcome = run(SYSTEM, &sets("metadata.servers=2"));
    let daemon = station(&outcome, "server/daemon");
    close(
        daemon.utilisation,
        2.0 / 3.0 * daemon.most_utilisation,
        0.05,
    );
}

#[test]
fn messages_about_names_take_the_server_s_processor() {
    let none = [
        "metadata.time_per_operation=0 s",
        "servers.daemon.time_per_job=0 s",
        "workload.0.weights={ stat = 1 }",
        "hosts.cpu.receive=0.4 ms",
        "hosts.cpu.send=0.6 ms",
    ];
    for shared in ["none", "servers"] {
        let shared = format!("hosts.cpu.shared_by={shared}");
        let sets = [&none[..], &[ON_SERVERS, &shared]].concat();
        close(rate(&sets), 1000.0, 0.01);
    }
    // All on one processor: the client's two messages besides.
    let sets = [&none[..], &[ON_SERVERS, "hosts.cpu.shared_by=all"]].concat();
    close(rate(&sets), 500.0, 0.01);
}

#[test]
fn data_on_a_machine_has_threads_of_its_own() {
    let machine = [
        "servers.kind=machine",
        "servers.machine.memory.size=1 GiB",
        "servers.machine.device.read_rate=1 GB/s",
        "servers.machine.device.write_rate=1 GB/s",
    ];
    let text = SYSTEM.replace(
        "device = { read_rate = \"100 GB/s\", write_rate = \"100 GB/s\" }",
        "",
    );
    let sets = [&machine[..], &[ON_SERVERS]].concat();
    let outcome = run(&text, &sets);
    assert_eq!(outcome.requests.len(), 4000);
}

/// Four servers of names and data. An existing name is known to one. A new one is looked up on all
/// of them first, or all take part in every name.
#[test]
fn lookups_on_every_server_take_a_message_to_each() {
    let system = [
        "servers.count=4",
        "metadata.on=every-data-server",
        "clients.count=1",
        "workload.0.amount=100",
    ];
    for (lookups, operation, rounds, messages) in [
        ("one", "stat", 1, 1),
        ("one", "create", 1, 1),
        ("new-everywhere", "stat", 1, 1),
        ("new-everywhere", "create", 2, 5),
        ("everywhere", "stat", 1, 4),
        ("everywhere", "create", 1, 4),
    ] {
        let lookups = format!("metadata.lookups={lookups}");
        let weights = format!("workload.0.weights={{ {operation} = 1 }}");
        for kind in ["clients.kind=simple", "clients.machine.memory.size=1 GiB"] {
            let outcome = run(SYSTEM, &[&system[..], &[&lookups, &weights, kind]].concat());
            let visits = station(&outcome, "server/daemon").visits;
            assert_eq!(visits, 100 * messages, "{lookups} {operation}");
            close(mean(&outcome, operation), 1e-3 * f64::from(rounds), 1e-3);
        }
    }
}

/// A lookup on all of N servers takes as long as on the slowest of them.
#[test]
fn files_are_found_on_every_server_before_they_are_read() {
    let sets = [
        "servers.count=4",
        "metadata.on=every-data-server",
        "metadata.lookups=everywhere",
        "workload.0.weights={ read = 1 }",
        "workload.0.files=10",
        "metadata.client_cache=false",
    ];
    let outcome = run(SYSTEM, &sets);
    let visits = station(&outcome, "server/daemon").visits;
    assert_eq!(visits, outcome.requests.len() as u64 * 5);
}

fn mean(outcome: &Outcome, operation: &str) -> f64 {
    outcome.report.latency[operation].mean
}

/// A message of 156 bytes is one packet of 234 with its headers. It takes 23.4 us at each end of 10
/// MB/s, without the wait behind 8 KiB of data.
#[test]
fn a_network_of_their_own_keeps_names_out_of_the_way_of_data() {
    let slow = [
        "clients.processes=4",
        "network.message=156 B",
        "network.bandwidth=10 MB/s",
        "metadata.time_per_operation=0 s",
        "servers.daemon.time_per_job=0 s",
    ];
    let shared = run(SYSTEM, &slow);
    let own = [
        "metadata.network.kind=own",
        "metadata.network.bandwidth=1 GB/s",
        "metadata.network.latency=10 us",
    ];
    let apart = run(SYSTEM, &[&slow[..], &own].concat());
    let [shared, alone] = [&shared, &apart].map(|it| mean(it, "stat"));
    assert!(shared > 5.0 * alone, "{shared} {alone}");
    // Two packets of 0.234 us on each of two cards, one after the other but for the
    // first packet, and two latencies; little waiting.
    let least = apart.requests.iter().filter(|it| it.request.size == 0);
    let least = least.map(latency).min().expect("there are some");
    close(least as f64 * 1e-6, 20.0 + 4.0 * 0.234, 0.01);
    // The data's network has no metadata requests.
    let cards = station(&apart, "client/metadata card sending");
    assert!(cards.visits >= 2000, "{}", cards.visits);
    let half = run(
        SYSTEM,
        &[&slow[..], &own, &["network.duplex=half"]].concat(),
    );
    assert_eq!(half.requests.len(), apart.requests.len());
    let cached = ["clients.kind=machine", "clients.machine.memory.size=1 GiB"];
    let cached = run(SYSTEM, &[&slow[..], &own, &cached].concat());
    assert_eq!(cached.requests.len(), apart.requests.len());
}

#[test]
fn what_cannot_be_is_refused() {
    let own = [
        "metadata.network.kind=own",
        "metadata.network.bandwidth=1 GB/s",
        "metadata.network.latency=10 us",
    ];
    for (sets, says) in [
        (
            vec!["metadata.lookups=everywhere"],
            "one metadata server is all of them",
        ),
        (
            vec![
                "servers.count=4",
                "metadata.on=every-data-server",
                "metadata.servers=2",
            ],
            "there are as many as data servers",
        ),
        (
            vec![ON_SERVERS, "metadata.servers=2"],
            "at most servers.count",
        ),
        (
            vec![ON_SERVERS, "network.topology=pairs"],
            "another network.topology",
        ),
        (vec![ON_SERVERS, "metadata.threads=2"], "servers.daemon"),
        (
            vec![ON_SERVERS, "metadata.card.bandwidth=1 GB/s"],
            "no metadata.card",
        ),
        (
            vec![
                ON_SERVERS,
                "scheduler.kind=fifo",
                "scheduler.position=gateway",
            ],
            "expected scheduler.position",
        ),
        ([&[ON_SERVERS], &own[..]].concat(), "no metadata.network"),
        (
            [&["network.grain=flow"], &own[..]].concat(),
            "a star of messages",
        ),
        (
            [&["network.topology=pairs"], &own[..]].concat(),
            "a star of messages",
        ),
        (
            [&["metadata.network.mtu=20 B"], &own[..]].concat(),
            "more than the header",
        ),
    ] {
        let message = refusal(SYSTEM, &sets);
        assert!(message.contains(says), "{sets:?}: {message}");
    }
}
