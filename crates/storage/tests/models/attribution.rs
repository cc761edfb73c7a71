//! On what the time of requests goes: worked out by hand, and laws for every scenario.

use headrace_storage::Outcome;
use headrace_storage::measure::StopReason;
use proptest::prelude::*;

use crate::running::{SMALLEST, close, in_repository, run, run_scenario, shipped, station};

/// Seconds of the latency that are booked on places with this end of their path.
fn seconds(outcome: &Outcome, place: &str) -> f64 {
    let entries = outcome.report.breakdown.iter();
    let own = entries.filter(|it| it.place.ends_with(place));
    own.map(|it| it.seconds).sum()
}

fn share(outcome: &Outcome, place: &str) -> f64 {
    seconds(outcome, place) / outcome.report.latency["all"].mean
}

#[track_caller]
fn names(outcome: &Outcome, place: &str) {
    let found = &outcome.report.bottleneck;
    assert!(found.sentence.contains(place), "{found:?}");
    assert_eq!(found.station.as_deref(), Some(place), "{found:?}");
}

/// In every shipped scenario, seconds add up to the mean latency. No place has more than the
/// requests spent at it, and no time is without a place.
#[test]
fn the_time_of_every_scenario_has_a_place() {
    let scenarios = std::fs::read_dir(in_repository("scenarios")).unwrap();
    let names = scenarios.map(|it| it.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|it| {
        std::path::Path::new(it)
            .extension()
            .is_some_and(|it| it == "toml")
    });
    for name in names {
        let mut scenario = shipped(&name, &["run.stop.requests=200"]);
        scenario.run.stop.time = None;
        scenario.run.stop.precision = None;
        let outcome = run_scenario(&scenario);
        let report = &outcome.report;
        let mean = report.latency["all"].mean;
        let sum: f64 = report.breakdown.iter().map(|it| it.seconds).sum();
        assert!(
            (sum - mean).abs() < 1e-9 * mean,
            "{name}: {sum}, not {mean}"
        );
        for entry in &report.breakdown {
            assert!(
                entry.share >= 0.0 && entry.waiting >= 0.0,
                "{name}: {entry:?}"
            );
            assert!(
                entry.waiting <= entry.seconds * (1.0 + 1e-9),
                "{name}: {entry:?}"
            );
            assert!(
                !entry.place.ends_with("/unattributed") || entry.share < 1e-6,
                "{name}: {entry:?}"
            );
        }
    }
}

/// 16 processes write one file and fsync it: the first fsync writes the file back, and the
/// others wait for its writes.
#[test]
fn an_fsync_waits_for_the_writes_of_another() {
    let text = r#"
        clients = { count = 1, processes = 16 }
        [servers]
        count = 1
        device = { read_rate = "200 MB/s", write_rate = "100 MB/s" }
        memory = { cache = "16 MiB", dirty_limit = "512 KiB" }
        [network]
        bandwidth = "125 MB/s"
        latency = "0.05 ms"
        [layout]
        unit = "64 kB"
        [[workload]]
        access = "shared"
        block = "32000 B"
        transfer = "32000 B"
        phases = ["write", "sync"]
    "#;
    let outcome = run(text, &[]);
    assert_eq!(seconds(&outcome, "unattributed"), 0.0);
    // The fsyncs arrive together, and the device writes 512 kB at 100 MB/s. One of them has the
    // device's time, and 15 wait for as long.
    let sync = &outcome.report.latency["sync"];
    close(sync.mean, 5.12e-3 + 0.1e-3, 0.01);
    let waited = seconds(&outcome, "system/server/waiting for write-back");
    close(waited, 15.0 / 32.0 * 5.12e-3, 0.01);
}

/// Small systems of any kind: a write-back cache, copies along a chain, servers that fail.
fn small_system() -> impl Strategy<Value = String> {
    let sizes = (1_u32..4, 1_u32..9, 1_u32..5, 1_u32..3);
    let phases = prop::sample::select(vec![
        r#"["write", "sync"]"#,
        r#"["write", "read"]"#,
        r#"["read"]"#,
        r#"["write", "sync", "read", "sync"]"#,
    ]);
    let memory = prop::sample::select(vec![
        "",
        r#"memory = { cache = "1 MiB" }"#,
        r#"memory = { cache = "4 MiB", dirty_limit = "256 KiB" }"#,
    ]);
    let scheduler = prop::sample::select(vec![
        "",
        r#"scheduler = { kind = "fifo", depth = 1, position = "server" }"#,
        r#"scheduler = { kind = "fifo", depth = 2, position = "gateway" }"#,
        r#"scheduler = { kind = "fifo", depth = 1, position = "client" }"#,
    ]);
    let by = prop::sample::select(vec!["client", "chain"]);
    let access = prop::sample::select(vec!["shared", "file-per-process"]);
    let fails = prop::option::of((0_u32..9, 1_u32..20, 1_u32..60));
    let grain = prop::sample::select(vec!["flow", "message"]);
    (sizes, phases, memory, scheduler, (by, access), fails, grain).prop_map(
        |(sizes, phases, memory, scheduler, (by, access), fails, grain)| {
            let (clients, processes, servers, copies) = sizes;
            let copies = copies.min(servers);
            // Neighbours make whole sets only.
            let sets = match servers % copies {
                0 => "neighbours",
                _ => "random",
            };
            let failure = fails.filter(|_| scheduler.is_empty());
            let failure = failure.map_or_else(String::new, |(server, at, length)| {
                let (server, until) = (server % servers, at + length);
                format!(
                    "[[failure]]\nserver = {server}\nat = \"{at} ms\"\nuntil = \"{until} ms\"\n"
                )
            });
            format!(
                r#"
                clients = {{ count = {clients}, processes = {processes} }}
                replication = {{ copies = {copies}, by = "{by}", sets = "{sets}" }}
                recovery = {{ timeout = "20 ms", retry = "10 ms" }}
                {scheduler}
                [servers]
                count = {servers}
                device = {{ read_rate = "200 MB/s", write_rate = "100 MB/s" }}
                {memory}
                [network]
                bandwidth = "125 MB/s"
                latency = "0.05 ms"
                grain = "{grain}"
                [layout]
                unit = "64 kB"
                {failure}
                [[workload]]
                access = "{access}"
                block = "320 kB"
                transfer = "32 kB"
                phases = {phases}
                "#
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_time_of_small_systems_has_a_place(text in small_system()) {
        let outcome = run(&text, &[]);
        let breakdown = &outcome.report.breakdown;
        let unattributed = breakdown.iter().any(|it| it.place.ends_with("/unattributed"));
        prop_assert!(!unattributed, "{breakdown:?}{text}");
    }
}

/// 5 ms each way and 0.2 ms of the device: 98 % is latency, at every grain.
#[test]
fn latency_is_neither_the_devices_nor_the_cards() {
    for grain in ["flow", "message", "packet"] {
        let grain = format!("network.grain={grain}");
        let sets = [
            grain.as_str(),
            "network.bandwidth=1e6 GB/s",
            "network.latency=5 ms",
            "servers.device.read_rate=5 GB/s",
            "workload.0.files=9",
            "metadata.client_cache=false",
        ];
        let outcome = run(SMALLEST, &sets);
        // Two round trips of a request that asks where the data is, and of three connections'
        // handshakes the same for all nine.
        let handshakes = match grain.ends_with("packet") {
            true => 60e-3 / 9.0,
            false => 0.0,
        };
        close(
            outcome.report.latency["all"].mean,
            20.2e-3 + handshakes,
            1e-3,
        );
        close(seconds(&outcome, "system/network/latency"), 20e-3, 1e-3);
        close(seconds(&outcome, "system/server/device"), 0.2e-3, 1e-3);
        names(&outcome, "system/network/latency");
        let gain = outcome.report.bottleneck.most_gain.unwrap();
        let rest = 0.2e-3 + handshakes;
        close(gain, (20e-3 + rest) / rest, 1e-2);
    }
}

/// A server is unavailable from 0.5 to 10.5 s of a request over two servers. The message finds its
/// door shut, and is sent again when the server answers a ping.
#[test]
fn a_request_waits_for_a_failed_server() {
    let text = r#"
        clients.count = 1
        [servers]
        count = 2
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
        [network]
        bandwidth = "10 GB/s"
        latency = "0 s"
        [layout]
        unit = "1 MB"
        [recovery]
        timeout = "1 s"
        retry = "1 s"
        [[failure]]
        server = 0
        at = "0.5 s"
        until = "10.5 s"
        [[workload]]
        block = "200 MB"
        transfer = "200 MB"
        phases = ["write"]
    "#;
    let outcome = run(text, &[]);
    // Sent again after 11 s, and then a second of the device.
    close(outcome.report.latency["all"].mean, 12.0, 2e-3);
    close(
        share(&outcome, "waiting for failed servers"),
        10.0 / 12.0,
        5e-3,
    );
    names(&outcome, "system/waiting for failed servers");
}

/// Each second counts once where requests wait for metadata first and then for four servers in
/// parallel.
#[test]
fn metadata_servers_have_their_part_of_striped_requests() {
    let text = r#"
        clients.count = 1
        [servers]
        count = 4
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
        [network]
        bandwidth = "1000 GB/s"
        latency = "0 s"
        [layout]
        unit = "1 MB"
        [metadata]
        time_per_operation = "30 ms"
        client_cache = false
        [[workload]]
        block = "40 MB"
        transfer = "4 MB"
        phases = ["write"]
    "#;
    let outcome = run(text, &[]);
    close(seconds(&outcome, "system/metadata/processor"), 30e-3, 1e-2);
    close(seconds(&outcome, "system/server/device"), 10e-3, 1e-2);
    names(&outcome, "system/metadata/processor");
}

/// 32 servers answer at once through a port that has room for few. Blocks of 2 ms take 200 ms and
/// more, in which no packet is on its way.
#[test]
fn incast_waits_for_retransmission() {
    let scenario = shipped("incast.toml", &["workload.0.block=16 MiB"]);
    let outcome = run_scenario(&scenario);
    assert!(outcome.report.packets.unwrap().timeouts > 0);
    let of_timers = share(&outcome, "system/network/waiting for retransmission");
    assert!(of_timers > 0.85 && of_timers < 1.0, "{of_timers}");
    let quick = shipped("incast.toml", &["network.queue=16 MiB"]);
    let quick = run_scenario(&quick);
    assert_eq!(quick.report.packets.unwrap().timeouts, 0);
    assert!(share(&quick, "waiting for retransmission") == 0.0);
}

/// Read-ahead of a disk is busy time: a client that always arrives just after its sector has
/// passed waits for the disk all the time.
#[test]
fn a_disk_that_reads_ahead_is_busy() {
    let text = r#"
        clients.count = 1
        [servers]
        count = 1
        [servers.device]
        kind = "disk"
        capacity = "147 GB"
        rpm = 10000
        track_to_track_seek = "0.2 ms"
        average_seek = "4.7 ms"
        full_stroke_seek = "9.7 ms"
        outer_rate = "80 MB/s"
        interface_rate = "3200 MB/s"
        buffer = "16 MB"
        [network]
        bandwidth = "100 GB/s"
        latency = "100 us"
        [layout]
        unit = "1 GiB"
        [[workload]]
        block = "64 MiB"
        transfer = "64 KiB"
        phases = ["read"]
    "#;
    for (latency, nearly) in [("100 us", true), ("390 us", true), ("2 ms", false)] {
        let outcome = run(text, &[&format!("network.latency={latency}")]);
        let rate = outcome.report.throughput["read"];
        let disk = station(&outcome, "server/device");
        // As busy as the transmission of its reads and the first seek.
        close(disk.utilisation, rate / 80e6, 0.02);
        assert_eq!(
            disk.utilisation > 0.95,
            nearly,
            "{latency}: {}",
            disk.utilisation
        );
    }
}

/// A fresh drive, saved-up operations and room for dirty data are used up while latencies
/// stay as they are: no interval tells what comes then.
#[test]
fn a_precision_is_not_reached_while_something_is_used_up() {
    let fresh = r#"
        clients = { count = 1, processes = 16 }
        [servers]
        count = 1
        [servers.device]
        kind = "solid-state"
        capacity = "128 MiB"
        channels = 4
        dies = 2
        page = "16 KiB"
        pages_per_block = 64
        read_time = "60 us"
        program_time = "800 us"
        channel_rate = "400 MB/s"
        interface_rate = "2 GB/s"
        over_provisioning = 0.82
        [network]
        bandwidth = "100 Gbit/s"
        latency = "0 s"
        [layout]
        unit = "1 GiB"
        [[workload]]
        access = "shared"
        block = "8 MiB"
        transfer = "16 KiB"
        order = "uniform"
        requests = 2000
        phases = ["write"]
    "#;
    let throttled = r#"
        clients = { count = 1, processes = 4 }
        [servers]
        count = 1
        [servers.device]
        kind = "throttled"
        rate = "10 GB/s"
        read_operations = 200
        write_operations = 200
        burst_operations = 4000
        [network]
        bandwidth = "100 Gbit/s"
        latency = "0 s"
        [layout]
        unit = "1 GiB"
        [[workload]]
        access = "shared"
        block = "64 MiB"
        transfer = "16 KiB"
        order = "uniform"
        requests = 4000
        phases = ["read"]
    "#;
    let dirty = r#"
        clients = { count = 1, processes = 4 }
        [servers]
        count = 1
        device = { read_rate = "50 MB/s", write_rate = "50 MB/s" }
        memory = { cache = "2 GB", dirty_limit = "1 GB" }
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0 s"
        [layout]
        unit = "1 GiB"
        [[workload]]
        access = "shared"
        block = "256 MiB"
        transfer = "16 KiB"
        order = "uniform"
        requests = 12000
        phases = ["write"]
    "#;
    // Reads hit the cache ever more often as it fills.
    let warming = r#"
        clients = { count = 1, processes = 4 }
        [servers]
        count = 1
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s", time_per_request = "5 ms" }
        memory = { cache = "64 GiB", dirty_limit = "1 GiB" }
        [network]
        bandwidth = "10 Gbit/s"
        latency = "10 us"
        [layout]
        unit = "64 KiB"
        [[workload]]
        kind = "operation-mix"
        weights = { read = 1 }
        read_sizes = { "4 KiB" = 1 }
        files = 4000
        file_sizes = { "64 KiB" = 1 }
        amount = 100000
        hot_files = 0.05
        hot_share = 0.9
    "#;
    for (text, what) in [
        (warming, "cache"),
        (fresh, "device"),
        (throttled, "device"),
        (dirty, "page cache"),
    ] {
        for precision in ["0.1", "0.05"] {
            let outcome = run(text, &[&format!("run.stop.precision={precision}")]);
            let stop = &outcome.report.stop;
            let found = stop.precision.as_ref().unwrap();
            if stop.reason == StopReason::Precision {
                // It went on until the end that it comes to was all that counted.
                let whole = run(text, &[]).report.latency["all"].mean;
                let mean = outcome.report.latency["all"].mean;
                assert!((mean / whole - 1.0).abs() < 0.3, "{what}: {mean}, {whole}");
            } else {
                assert!(!found.reached && found.drifts.is_some(), "{what}: {stop:?}");
            }
        }
    }
}

/// A system without consumable state stops early.
#[test]
fn a_steady_run_stops_when_the_mean_is_known() {
    let text = [
        SMALLEST,
        "think = \"1 ms\"\nthink_distribution = \"exponential\"\n",
    ]
    .concat();
    let sets = [
        "clients.count=4",
        "workload.0.block=64 KiB",
        "workload.0.files=100000",
        "run.stop.precision=0.05",
    ];
    let outcome = run(&text, &sets);
    let stop = &outcome.report.stop;
    assert_eq!(stop.reason, StopReason::Precision, "{stop:?}");
    assert!(outcome.report.latency["all"].count < 50_000);
    assert!(
        stop.precision
            .as_ref()
            .is_some_and(|it| it.reached && it.drifts.is_none())
    );
}

/// One request of 10.041015 s.
#[test]
fn mean_and_longest_are_exact() {
    let text = r#"
        clients.count = 1
        [servers]
        count = 1
        device = { read_rate = "1000 GB/s", write_rate = "1000 GB/s" }
        [network]
        bandwidth = "100 MB/s"
        latency = "10 ms"
        [layout]
        unit = "1000 MB"
        [[workload]]
        block = "1000 MB"
        phases = ["write"]
    "#;
    let outcome = run(text, &[]);
    let latency = &outcome.report.latency["write"];
    let exact = outcome.requests[0]
        .completed
        .since(outcome.requests[0].request.issued);
    for figure in [latency.mean, latency.p50, latency.p99, latency.max] {
        assert!((figure - exact.as_seconds()).abs() < 1e-12, "{latency:?}");
    }
    assert!(latency.max <= outcome.report.simulated_seconds);
    assert!(outcome.latency_curve.iter().all(|it| it.0 <= latency.max));
}

/// An operation that never succeeded has no latency: null, not 0.
#[test]
fn an_operation_that_never_succeeded_has_no_latency() {
    let text = [
        SMALLEST,
        "[[failure]]\nserver = 0\nat = \"0 s\"\n[recovery]\ntimeout = \"1 s\"\nretry = \"1 s\"\nretries = 2\n",
    ]
    .concat();
    let outcome = run(&text, &[]);
    let report = serde_json::to_value(&outcome.report).unwrap();
    let read = &report["operations"]["read"];
    assert_eq!((&read["count"], &read["failed"]), (&0.into(), &1.into()));
    for name in ["all", "read"] {
        let latency = &report["latency"][name];
        assert_eq!(latency["count"], 0);
        for figure in ["mean", "p50", "p95", "p99", "max"] {
            assert!(latency[figure].is_null(), "{latency}");
        }
    }
}
