//! Systems with one known weakness. It must be named, relieving it must help by
//! no more than was said, and relieving anything else must help little.

use headrace_storage::Outcome;
use headrace_storage::measure::Bottleneck;

use crate::running::{SMALLEST, run};

const BASE: &str = r#"
    [clients]
    count = 8
    [servers]
    count = 2
    device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
    [metadata]
    time_per_operation = "1 us"
    [network]
    bandwidth = "10 GB/s"
    latency = "1 us"
    [layout]
    unit = "64 KiB"
    servers = 1
    [scheduler]
    kind = "fifo"
    depth = 1000
    position = "gateway"
    [[workload]]
    files = 400
    block = "64 KiB"
    phases = ["write"]
"#;

/// A weak component, the station or place that must be named, and its tenfold relief.
struct Weakness {
    weak: &'static [&'static str],
    station: &'static str,
    relief: &'static str,
}

const WEAKNESSES: [Weakness; 6] = [
    Weakness {
        weak: &["servers.device.write_rate=20 MB/s"],
        station: "server/device",
        relief: "servers.device.write_rate=200 MB/s",
    },
    Weakness {
        weak: &["servers.card.bandwidth=20 MB/s"],
        station: "server/card receiving",
        relief: "servers.card.bandwidth=200 MB/s",
    },
    Weakness {
        weak: &["clients.card.bandwidth=20 MB/s", "clients.processes=4"],
        station: "client/card sending",
        relief: "clients.card.bandwidth=200 MB/s",
    },
    Weakness {
        weak: &["metadata.time_per_operation=5 ms"],
        station: "metadata/processor",
        relief: "metadata.time_per_operation=0.5 ms",
    },
    Weakness {
        weak: &["servers.daemon.time_per_job=5 ms"],
        station: "server/daemon",
        relief: "servers.daemon.time_per_job=0.5 ms",
    },
    Weakness {
        weak: &[
            "scheduler.depth=1",
            "network.latency=1 ms",
            "clients.processes=4",
        ],
        station: "gateway/scheduler/queue",
        relief: "scheduler.depth=10",
    },
];

const RELIEFS: [&str; 6] = [
    "servers.device.write_rate=10 GB/s",
    "servers.card.bandwidth=100 GB/s",
    "clients.card.bandwidth=100 GB/s",
    "metadata.time_per_operation=0.1 us",
    "network.latency=0.1 us",
    "scheduler.depth=10000",
];

fn with(weakness: &Weakness, more: &[&str]) -> Outcome {
    let sets: Vec<&str> = weakness.weak.iter().chain(more).copied().collect();
    run(BASE, &sets)
}

fn speed(outcome: &Outcome) -> f64 {
    outcome.report.throughput["write"]
}

/// The bound, if there is one.
fn most_gain(outcome: &Outcome) -> f64 {
    verdict(outcome).most_gain.unwrap_or(f64::INFINITY)
}

fn verdict(outcome: &Outcome) -> &Bottleneck {
    &outcome.report.bottleneck
}

#[test]
fn the_weakness_is_named() {
    for weakness in &WEAKNESSES {
        let outcome = with(weakness, &[]);
        let found = verdict(&outcome);
        let station = found.station.as_deref().unwrap();
        assert!(station.ends_with(weakness.station), "{}", found.sentence);
        assert!(found.sentence.contains(station), "{}", found.sentence);
        let has_servers = !weakness.station.ends_with("queue");
        assert_eq!(found.saturated, has_servers, "{}", found.sentence);
    }
}

/// A gateway that lets one request through at a time limits the devices: they are half busy each.
/// They take nearly all of the time, in their own service and in the gateway's queue.
#[test]
fn a_scheduler_waits_for_a_station_that_is_not_saturated() {
    let text = r#"
        clients = { count = 1, processes = 2 }
        scheduler = { kind = "fifo", depth = 1, position = "gateway" }
        metadata = { time_per_operation = "0.1 ms" }
        [servers]
        count = 4
        [servers.device]
        read_rate = "20 MB/s"
        write_rate = "20 MB/s"
        time_per_request = "0.5 ms"
        [network]
        bandwidth = "1000 MB/s"
        latency = "0.02 ms"
        grain = "flow"
        [layout]
        unit = "64 kB"
        servers = 1
        [[workload]]
        block = "10240 kB"
        transfer = "1024 kB"
        phases = ["read"]
        think = "5 ms"
    "#;
    let before = run(text, &[]);
    let found = verdict(&before);
    assert!(!found.saturated, "{found:?}");
    let free = [
        "servers.device.read_rate=1000 TB/s",
        "servers.device.time_per_request=0 s",
    ];
    let seconds = |outcome: &Outcome| outcome.report.simulated_seconds;
    let gain = seconds(&before) / seconds(&run(text, &free));
    assert!(gain > 10.0, "{gain}");
    assert!(gain <= most_gain(&before) * 1.01, "{gain}: {found:?}");
}

#[test]
fn relieving_it_helps_by_no_more_than_was_said() {
    for weakness in &WEAKNESSES {
        let before = with(weakness, &[]);
        let gain = speed(&with(weakness, &[weakness.relief])) / speed(&before);
        let most = most_gain(&before);
        assert!(gain > 3.0, "{}: {gain}", weakness.station);
        assert!(gain <= most * 1.01, "{}: {gain} > {most}", weakness.station);
        // Nor does taking it away altogether.
        let path = weakness.relief.split('=').next().unwrap();
        let gone = match path {
            "metadata.time_per_operation" | "servers.daemon.time_per_job" => "0 s",
            "scheduler.depth" => "1000000",
            _ => "1000 TB/s",
        };
        let gone = format!("{path}={gone}");
        let gain = speed(&with(weakness, &[&gone])) / speed(&before);
        assert!(gain <= most * 1.01, "{}: {gain} > {most}", weakness.station);
    }
}

#[test]
fn relieving_anything_else_helps_little() {
    for weakness in &WEAKNESSES {
        let before = speed(&with(weakness, &[]));
        let path = |set: &'static str| set.split('=').next().unwrap();
        for relief in RELIEFS {
            let weak = |set: &&&'static str| path(set) == path(relief);
            if path(relief) == path(weakness.relief) || weakness.weak.iter().any(|set| weak(&set)) {
                continue;
            }
            let gain = speed(&with(weakness, &[relief])) / before;
            assert!(gain < 1.15, "{}: {relief} gives {gain}", weakness.station);
        }
    }
}

/// One client on a slow network that no other uses: nothing is saturated, and
/// the place where the time goes is named.
#[test]
fn latency_is_named_where_nothing_is_busy() {
    let sets = [
        "clients.count=1",
        "network.latency=5 ms",
        "scheduler.kind=none",
    ];
    let text = BASE.replace("depth = 1000", "");
    let outcome = run(&text, &sets);
    let found = verdict(&outcome);
    assert!(!found.saturated);
    assert_eq!(
        found.station.as_deref(),
        Some("system/network/latency"),
        "{}",
        found.sentence
    );
    let faster = run(&text, &[sets[0], sets[2], "network.latency=0 s"]);
    let gain = speed(&faster) / speed(&outcome);
    assert!(gain > 10.0);
    assert!(most_gain(&outcome) > 0.99 * gain, "{gain}: {found:?}");
    assert!(found.utilisation < 0.1);
}

/// All files on the first of four servers: it is saturated although its
/// neighbours rest.
#[test]
fn the_busiest_of_several_copies_counts() {
    let sets = [
        // On average the clients' cards are busier than the devices.
        "clients.card.bandwidth=6 MB/s",
        "servers.count=4",
        "layout.first=zero",
        "servers.device.write_rate=20 MB/s",
    ];
    let outcome = run(BASE, &sets);
    let found = verdict(&outcome);
    assert!(
        found.station.as_deref().unwrap().ends_with("server/device"),
        "{}",
        found.sentence
    );
    assert!(found.saturated, "{}", found.sentence);
    let device = crate::running::station(&outcome, "server/device");
    assert!(device.most_utilisation > 0.98 && device.utilisation < 0.26);
}

/// Requests in concurrent pieces are as slow as their slowest piece. The cost
/// of a station for its piece bounds the gain, not its mean cost.
#[test]
fn the_bound_holds_for_requests_in_pieces() {
    let text = BASE
        .replace("servers = 1", "")
        .replace("\"64 KiB\"", "\"1 MiB\"")
        .replace("unit = \"1 MiB\"", "unit = \"64 KiB\"");
    for (weak, gone) in [
        (
            "servers.device.write_rate=100 MB/s",
            "servers.device.write_rate=1000 TB/s",
        ),
        (
            "servers.card.bandwidth=100 MB/s",
            "servers.card.bandwidth=1000 TB/s",
        ),
        (
            "clients.card.bandwidth=100 MB/s",
            "clients.card.bandwidth=1000 TB/s",
        ),
    ] {
        for clients in ["clients.count=1", "clients.count=8"] {
            for packet in ["layout.packet=64 KiB", "layout.packet=1 MiB"] {
                let sets = [
                    weak,
                    clients,
                    packet,
                    "servers.count=4",
                    "workload.0.files=40",
                ];
                let before = run(&text, &sets);
                let gone = [
                    gone,
                    clients,
                    packet,
                    "servers.count=4",
                    "workload.0.files=40",
                ];
                let gain = speed(&run(&text, &gone)) / speed(&before);
                let most = most_gain(&before);
                assert!(
                    gain <= most * 1.01,
                    "{weak} {clients} {packet}: {gain} > {most}: {}",
                    verdict(&before).sentence
                );
            }
        }
    }
}

/// The time that a message is on its way is no waiting: no other message is before it.
#[test]
fn latency_is_not_waiting() {
    let sets = [
        "clients.count=1",
        "network.latency=5 ms",
        "scheduler.kind=none",
    ];
    let outcome = run(&BASE.replace("depth = 1000", ""), &sets);
    for it in outcome
        .report
        .breakdown
        .iter()
        .filter(|it| it.place.contains("network"))
    {
        assert!(it.waiting < 0.01 * it.seconds, "{it:?}");
    }
    for it in outcome
        .report
        .stations
        .iter()
        .filter(|it| it.station.contains("network"))
    {
        assert!(it.queue < 0.01, "{it:?}");
    }
    let found = verdict(&outcome);
    assert!(
        found.sentence.starts_with("Nothing is saturated"),
        "{}",
        found.sentence
    );
}

/// Without the only station that takes time there is no bound, and JSON has no infinity.
#[test]
fn without_all_that_takes_time_nothing_bounds_throughput() {
    let sets = [
        "network.latency=0 s",
        "network.bandwidth=1e290 TB/s",
        "workload.0.files=10",
    ];
    let outcome = run(SMALLEST, &sets);
    let found = verdict(&outcome);
    assert!(found.saturated, "{found:?}");
    assert_eq!(found.most_gain, None);
    assert!(
        found.sentence.ends_with("nothing would bound throughput."),
        "{}",
        found.sentence
    );
    let json = serde_json::to_value(found).unwrap();
    assert!(json.get("most_gain").is_none(), "{json}");
}

/// Writes fill the downlinks of the servers' leaf, reads its uplinks. Over the whole run each is
/// busy half of the time, and more clients would not make either faster.
#[test]
fn links_that_phases_fill_in_turn_are_named() {
    let text = r#"
        clients.count = 16
        [servers]
        count = 4
        device = { read_rate = "10 GB/s", write_rate = "10 GB/s" }
        [network]
        grain = "flow"
        bandwidth = "1 GB/s"
        latency = "1 us"
        topology = { kind = "leaf-spine", hosts = 16, spines = 1, uplink = "1 GB/s" }
        [layout]
        unit = "1 MiB"
        servers = 1
        first = "round-robin"
        [[workload]]
        block = "64 MiB"
        transfer = "1 MiB"
        phases = ["write", "read"]
    "#;
    let outcome = run(text, &[]);
    let found = verdict(&outcome);
    let name = found.station.as_deref().unwrap_or_default();
    assert!(!found.saturated, "{found:?}");
    assert!(name.starts_with("system/network/leaf "), "{found:?}");
    assert!(
        (0.3..0.7).contains(&most_utilisation(&outcome, name)),
        "{found:?}"
    );
    let sentence = &found.sentence;
    assert!(sentence.contains("for a part of the run"), "{sentence}");
    assert!(!sentence.contains("more requests"), "{sentence}");
}

/// Where operations arrive at a rate, no bottleneck makes them fewer: the rest of the busiest
/// station gives the possible increase.
#[test]
fn arrivals_could_be_as_many_more_as_the_busiest_has_room_for() {
    let text = r#"
        clients.count = 4
        [servers]
        count = 1
        device = { read_rate = "1 GB/s", write_rate = "1 GB/s", time_per_request = "1 ms" }
        [network]
        bandwidth = "1 GB/s"
        latency = "1 us"
        [layout]
        unit = "1 MiB"
        [[workload]]
        kind = "operation-mix"
        weights = { read = 1 }
        rate = 300
        amount = 5000
    "#;
    let outcome = run(text, &[]);
    let found = verdict(&outcome);
    assert_eq!(found.station.as_deref(), Some("system/server/device"));
    assert!((0.25..0.35).contains(&found.utilisation), "{found:?}");
    assert!((2.8..4.0).contains(&most_gain(&outcome)), "{found:?}");
    assert!(
        found.sentence.contains("what requests ask for"),
        "{found:?}"
    );
}

/// Requests per second of the whole run.
fn request_rate(outcome: &Outcome) -> f64 {
    let all = outcome.report.operations.values();
    let count: u64 = all.map(|it| it.count).sum();
    count as f64 / outcome.report.simulated_seconds
}

/// One process issues 2,000 reads a second, and each takes 10 ms. Throughput is that of the
/// process, which waits for the daemon, and not that of the load.
#[test]
fn a_load_that_processes_do_not_keep_up_with_is_bound_as_a_closed_one() {
    let text = r#"
        [clients]
        count = 1
        [servers]
        count = 1
        daemon = { threads = 4, time_per_job = "10 ms" }
        device = { read_rate = "1 TB/s", write_rate = "1 TB/s", time_per_request = "1 us" }
        [network]
        bandwidth = "100 GB/s"
        latency = "0 s"
        [metadata]
        threads = 4
        [layout]
        unit = "1 MB"
        [[workload]]
        kind = "operation-mix"
        files = 20
        weights = { read = 1 }
        rate = 2000
        amount = 1000
    "#;
    let removed = "servers.daemon.time_per_job=0 s";
    let metadata = [
        "workload.0.weights={ read = 1, stat = 1 }",
        "metadata.time_per_operation=9 ms",
        "servers.daemon.time_per_job=0 s",
        "servers.device.time_per_request=1 ms",
    ];
    let cases: [(&[&str], &str, &str); 4] = [
        (&[], removed, "system/server/daemon"),
        // Requests that are due and not issued count, too.
        (
            &["workload.0.amount=\"forever\"", "run.stop.time=2 s"],
            removed,
            "system/server/daemon",
        ),
        (
            &[
                "workload.0.amount=\"forever\"",
                "run.stop.time=2 s",
                "run.warm_up=1 s",
            ],
            removed,
            "system/server/daemon",
        ),
        (
            &metadata,
            "metadata.time_per_operation=0 s",
            "system/metadata/processor",
        ),
    ];
    for (sets, removed, station) in cases {
        let before = run(text, sets);
        let verdict = verdict(&before);
        assert_eq!(verdict.station.as_deref(), Some(station), "{verdict:?}");
        assert!(verdict.share.is_some_and(|it| it > 0.8), "{verdict:?}");
        let sentence = &verdict.sentence;
        assert!(!sentence.contains("what requests ask for"), "{sentence}");
        assert!(
            sentence.contains("do not keep up with the load"),
            "{sentence}"
        );
        let sets: Vec<&str> = sets.iter().copied().chain([removed]).collect();
        let gain = request_rate(&run(text, &sets)) / request_rate(&before);
        let most = most_gain(&before);
        assert!(gain > 4.5 && gain <= most * 1.01, "{gain}, {most}");
    }
}

/// A process that copies a file in two requests to the servers. The rest of its requests have none,
/// and its jobs run concurrently, so that a request needs less than its jobs together.
#[test]
fn the_bound_holds_where_few_requests_are_split() {
    let text = r#"
        [clients]
        count = 1
        rpc.size = "37 kB"
        [network]
        bandwidth = "117 MB/s"
        latency = "10 us"
        [servers]
        count = 1
        daemon.time_per_job = "1 ms"
        device = { read_rate = "100 MB/s", write_rate = "77 MB/s", time_per_request = "0.2 ms" }
        [layout]
        unit = "1 MB"
        [[workload]]
        kind = "tree-copy"
        files = 1
        directories = 1
    "#;
    let several = [
        "servers.count=4",
        "clients.rpc.in_flight=7",
        "metadata.time_per_operation=0.1 ms",
        "workload.0.files=10",
        "workload.0.directories=2",
    ];
    let cached = [
        &several[..],
        &["servers.memory={ cache = \"64 MiB\", dirty_limit = \"16 MiB\" }"],
    ]
    .concat();
    for (sets, least) in [(&[][..], 1.87), (&several, 1.65), (&cached, 2.0)] {
        let before = run(text, sets);
        let found = verdict(&before);
        assert_eq!(found.station.as_deref(), Some("system/server/daemon"));
        let free = [sets, &["servers.daemon.time_per_job=0.1 ns"]].concat();
        let gain = request_rate(&run(text, &free)) / request_rate(&before);
        let most = most_gain(&before);
        assert!(gain > least && gain <= most, "{gain}, {most}: {sets:?}");
        assert!(most < 2.0 * gain, "{gain}, {most}: {sets:?}");
    }
}

fn most_utilisation(outcome: &Outcome, name: &str) -> f64 {
    let mut stations = outcome.report.stations.iter();
    let station = stations.find(|it| it.station == name);
    station.map_or(0.0, |it| it.most_utilisation)
}
