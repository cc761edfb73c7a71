//! Compares a report with the single requests of the same run.

use std::collections::BTreeMap;

use headrace_storage::Outcome;
use headrace_storage::measure::StopReason;

use crate::running::{SMALLEST, close, latency, run, station};

const PHASES: [&str; 7] = [
    "clients.count=6",
    "clients.groups={ a = 1, b = 2 }",
    "servers.count=3",
    "workload.0.files=20",
    "workload.0.phases=[\"write\", \"read\"]",
    "layout.unit=100 kB",
    "workload.0.think=3 ms",
];

fn phases(more: &[&str]) -> Outcome {
    let sets: Vec<&str> = PHASES.iter().chain(more).copied().collect();
    run(SMALLEST, &sets)
}

/// Each operation over the time from its phase's first request to its last answer.
#[test]
fn throughput_is_told_over_each_phases_own_time() {
    let outcome = phases(&[]);
    let mut active = 0.0;
    for (phase, name) in [(0, "write"), (1, "read")] {
        let own: Vec<_> = outcome
            .requests
            .iter()
            .filter(|it| it.request.phase == phase)
            .collect();
        let start = own.iter().map(|it| it.request.issued).min().unwrap();
        let end = own.iter().map(|it| it.completed).max().unwrap();
        let seconds = end.since(start).as_seconds();
        let operation = &outcome.report.operations[name];
        close(operation.active_seconds, seconds, 1e-12);
        close(outcome.report.throughput[name], 120e6 / seconds, 1e-12);
        close(operation.per_second.unwrap(), 120.0 / seconds, 1e-12);
        // The groups have no phases of their own: each over its own requests.
        let mut sum = 0.0;
        for (group, index) in [("a", 0), ("b", 1)] {
            let own: Vec<_> = own.iter().filter(|it| it.request.group == index).collect();
            let start = own.iter().map(|it| it.request.issued).min().unwrap();
            let end = own.iter().map(|it| it.completed).max().unwrap();
            let group = &outcome.report.groups[group];
            let bytes = own.len() as f64 * 1e6;
            close(
                group.throughput[name],
                bytes / end.since(start).as_seconds(),
                1e-12,
            );
            sum += group.operations[name].bytes as f64;
        }
        close(sum, 120e6, 0.0);
        active += seconds;
    }
    // Between the phases all processes think.
    assert!(active < outcome.report.simulated_seconds - 2.9e-3);
}

#[test]
fn latencies_are_those_of_the_requests() {
    let outcome = phases(&["workload.0.think_distribution=exponential"]);
    let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for it in &outcome.requests {
        for name in ["all", it.request.operation.name()] {
            by_name
                .entry(name)
                .or_default()
                .push(latency(it) as f64 * 1e-12);
        }
    }
    assert_eq!(outcome.report.latency.len(), by_name.len());
    for (name, mut values) in by_name {
        values.sort_by(f64::total_cmp);
        let got = &outcome.report.latency[name];
        assert_eq!(got.count, values.len() as u64);
        close(
            got.mean,
            values.iter().sum::<f64>() / values.len() as f64,
            1e-3,
        );
        let rank = |share: f64| values[(share * values.len() as f64).ceil() as usize - 1];
        close(got.p50, rank(0.50), 2e-3);
        close(got.p95, rank(0.95), 2e-3);
        close(got.p99, rank(0.99), 2e-3);
        close(got.max, values[values.len() - 1], 2e-3);
    }
}

#[test]
fn the_breakdown_adds_up_to_the_latency() {
    let memory = [
        "servers.memory.cache=4 MB",
        "servers.memory.dirty_limit=2 MB",
    ];
    for more in [
        &[][..],
        &memory,
        &["network.topology=pairs"],
        &["layout.packet=10 kB"],
    ] {
        let outcome = phases(more);
        let breakdown = &outcome.report.breakdown;
        let sum = |of: fn(&headrace_storage::measure::BreakdownEntry) -> f64| {
            breakdown.iter().map(of).sum::<f64>()
        };
        close(sum(|it| it.share), 1.0, 1e-12);
        close(
            sum(|it| it.seconds),
            outcome.report.latency["all"].mean,
            1e-12,
        );
        assert!(
            breakdown
                .iter()
                .all(|it| it.waiting >= 0.0 && it.waiting <= it.seconds * (1.0 + 1e-12))
        );
        assert!(breakdown.is_sorted_by(|a, b| a.share >= b.share));
        // Thinking is no part of a request.
        assert!(
            breakdown.iter().all(|it| !it.place.contains("processes")),
            "{breakdown:?}"
        );
    }
}

/// One request, one way: each place's seconds are its service time.
#[test]
fn the_breakdown_of_a_single_request_is_its_way() {
    let outcome = run(SMALLEST, &["network.topology=pairs"]);
    let of = |place: &str| {
        let entries = outcome.report.breakdown.iter();
        let own = entries.filter(|it| it.place.ends_with(place));
        own.map(|it| it.seconds).sum::<f64>()
    };
    close(of("server/device"), 0.01, 1e-3);
    close(of("server link/downward"), 1e-3, 1e-3);
    // Four messages.
    close(of("system/network/latency"), 4e-5, 1e-3);
}

/// Windows count for shares while every group has requests in progress.
#[test]
fn shares_end_where_a_group_stops() {
    let text = r#"
        [clients]
        count = 4
        groups = ["short", "long"]
        [servers]
        count = 1
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
        [network]
        topology = "pairs"
        bandwidth = "1 GB/s"
        latency = "10 us"
        [layout]
        unit = "1 MiB"
        [run]
        window = "100 ms"
        [[workload]]
        group = "short"
        block = "100 MB"
        transfer = "1 MB"
        [[workload]]
        group = "long"
        block = "400 MB"
        transfer = "1 MB"
    "#;
    let outcome = run(text, &[]);
    // Equal until the short ones' 200 MB are done, at about 4 s of 10 s.
    for group in ["short", "long"] {
        let share = outcome.report.groups[group].share.as_ref().unwrap();
        close(share.mean, 0.5, 0.02);
        assert_eq!(share.window_s, 0.1);
        assert_eq!(share.from_s, 0.0);
        assert!((3.8..=4.01).contains(&share.to_s), "{}", share.to_s);
        assert!(share.windows >= 38 && share.windows <= 40);
        assert!(share.sd < 0.06);
    }
    close(outcome.report.simulated_seconds, 10.0, 0.01);
    let sum: f64 = ["short", "long"]
        .iter()
        .map(|it| outcome.report.groups[*it].share.as_ref().unwrap().mean)
        .sum();
    close(sum, 1.0, 1e-12);
    // The series holds every byte.
    let bytes: u64 = outcome
        .series
        .rows()
        .flat_map(|(_, bytes)| bytes.to_vec())
        .sum();
    assert_eq!(bytes, 1_000_000_000);
}

/// A group that never had all of a window has no share.
#[test]
fn there_is_no_share_without_a_whole_window() {
    let outcome = phases(&["run.window=100 s"]);
    assert!(outcome.report.groups["a"].share.is_none());
}

/// Every station's figures obey the utilisation law and Little's law.
#[test]
fn stations_obey_the_laws() {
    for more in [
        &[][..],
        &["network.duplex=half"],
        &["network.topology=pairs"],
    ] {
        let outcome = phases(more);
        let seconds = outcome.report.simulated_seconds;
        for it in outcome
            .report
            .stations
            .iter()
            .filter(|it| it.servers == Some(1))
        {
            let rate = it.visits as f64 / seconds / f64::from(it.copies);
            let service = it.service.unwrap_or(0.0);
            assert!((it.utilisation - rate * service).abs() < 1e-9, "{it:?}");
            assert!(it.utilisation <= it.most_utilisation + 1e-12);
            assert!(it.most_utilisation <= 1.0 + 1e-12);
            // A link lets a message go on when it has sent its first packet.
            if it.discipline.starts_with("link") {
                continue;
            }
            assert!(
                (it.queue + it.utilisation - rate * it.residence.unwrap_or(0.0)).abs() < 1e-9,
                "{it:?}"
            );
        }
    }
}

/// A device of 10 ms a request, and nothing else that takes time.
const TEN_MILLISECONDS: &str = r#"
    system = "ideal"
    [clients]
    count = 200
    [servers]
    count = 1
    [servers.device]
    kind = "simple"
    time_per_request = "10 ms"
    read_rate = "1 TB/s"
    write_rate = "1 TB/s"
    [network]
    bandwidth = "10 Tbit/s"
    latency = "0 s"
    [layout]
    unit = "1 MiB"
"#;

/// 200 requests come at once, and then one for each that leaves. Stopped after 3 s, 299 have
/// left: 200 after 10, 20, … 2000 ms, and 99 after 2 s each.
#[test]
fn unfinished_visits_do_not_count_as_visits() {
    let closed = format!(
        "{TEN_MILLISECONDS}
        [[workload]]
        kind = \"ior\"
        block = \"4 MiB\"
        transfer = \"4 KiB\"
        phases = [\"read\"]
        [run]
        stop = {{ time = \"3 s\" }}"
    );
    let first: f64 = (1..=200).map(|number| 0.01 * f64::from(number)).sum();
    let later: f64 = (101..=200).map(|number| 0.01 * f64::from(number)).sum();
    let cases: [(&[&str], u64, f64); 2] = [
        (&[], 299, (first + 99.0 * 2.0) / 299.0),
        // The first 100 have left before; the others count with their whole stay.
        (&["run.warm_up=1.005 s"], 199, (later + 99.0 * 2.0) / 199.0),
    ];
    for (sets, visits, residence) in cases {
        let outcome = run(&closed, sets);
        let device = station(&outcome, "server/device");
        assert_eq!((device.visits, device.unfinished), (visits, 200));
        close(device.service.unwrap_or(0.0), 0.01, 1e-6);
        close(device.residence.unwrap_or(0.0), residence, 1e-5);
        close(outcome.report.latency["read"].mean, residence, 1e-5);
        close(device.queue, 199.0, 1e-4);
        close(device.utilisation, 1.0, 1e-5);
        let mut copies = outcome.report.copies.iter();
        let copy = copies.find(|it| it.station.ends_with("/device")).unwrap();
        assert_eq!((copy.visits, copy.unfinished), (visits, 200));
        close(copy.service.unwrap_or(0.0), 0.01, 1e-6);
        close(copy.residence.unwrap_or(0.0), residence, 1e-5);
        close(
            outcome.report.servers[0].latency.unwrap_or(0.0),
            residence,
            1e-5,
        );
    }
    // A station from which nothing has left has no mean.
    let outcome = run(&closed, &["run.stop.time=5 ms"]);
    let device = station(&outcome, "server/device");
    assert_eq!((device.visits, device.unfinished), (0, 200));
    assert_eq!((device.service, device.residence), (None, None));
}

/// Twice the load that the device can carry: the queue grows, and the service time does not.
#[test]
fn an_overloaded_open_load_has_the_devices_service_time() {
    let open = format!(
        "{TEN_MILLISECONDS}
        [[workload]]
        kind = \"operation-mix\"
        weights = {{ read = 1 }}
        rate = 200
        amount = \"forever\"
        [run]
        stop = {{ time = \"20 s\" }}"
    );
    for warm_up in ["run.warm_up=0 s", "run.warm_up=7.3 s"] {
        let sets = [warm_up, "clients.count=1", "clients.processes=20000"];
        let outcome = run(&open, &sets);
        let device = station(&outcome, "server/device");
        close(device.service.unwrap_or(0.0), 0.01, 1e-6);
        close(device.utilisation, 1.0, 1e-2);
        let mean = outcome.report.latency["read"].mean;
        close(device.residence.unwrap_or(0.0), mean, 1e-3);
        assert!(device.unfinished > 1500, "{device:?}");
        // 100 requests leave in each second.
        let seconds = if warm_up.contains('7') { 12.7 } else { 20.0 };
        close(device.visits as f64, 100.0 * seconds, 1e-2);
    }
}

/// An operation in two phases is reported over both, without the time between
/// them.
#[test]
fn what_lies_between_two_phases_does_not_count() {
    let outcome = phases(&["workload.0.phases=[\"write\", \"read\", \"write\"]"]);
    let length = |phase: u32| {
        let own = || {
            outcome
                .requests
                .iter()
                .filter(move |it| it.request.phase == phase)
        };
        let start = own().map(|it| it.request.issued).min().unwrap();
        let end = own().map(|it| it.completed).max().unwrap();
        end.since(start).as_seconds()
    };
    let write = &outcome.report.operations["write"];
    close(write.active_seconds, length(0) + length(2), 1e-12);
    close(
        outcome.report.operations["read"].active_seconds,
        length(1),
        1e-12,
    );
}

/// A phase with requests in progress when statistics begin is active from then on, not from its
/// next request's start on.
#[test]
fn phases_under_way_are_active_from_the_end_of_the_warm_up_on() {
    // Each read takes 11 ms and some: the second begins within the warm-up, is
    // in progress at its end, and the third begins later.
    let sets = ["workload.0.files=3", "run.warm_up=15 ms"];
    let outcome = run(SMALLEST, &sets);
    assert_eq!(outcome.requests.len(), 2);
    let issued = |index: usize| outcome.requests[index].request.issued.as_seconds();
    assert!(issued(0) < 0.015 && issued(1) > 0.015);
    let end = outcome.requests[1].completed.as_seconds();
    let read = &outcome.report.operations["read"];
    close(read.active_seconds, end - 0.015, 1e-12);
    close(
        outcome.report.throughput["read"],
        2e6 / (end - 0.015),
        1e-12,
    );
}

/// Clients that fill a card. A run that ends by time has the throughput of its measured time. It is
/// at most the card's, but for requests that began in the warm-up.
#[test]
fn a_run_that_ends_by_time_counts_all_of_it() {
    let text = r#"
        [clients]
        count = 8
        [servers]
        count = 1
        device = { read_rate = "10 GB/s", write_rate = "10 GB/s" }
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0.1 ms"
        [layout]
        unit = "64 MB"
        [[workload]]
        block = "6400 MB"
        transfer = "64 MB"
        phases = ["write"]
        [run]
        warm_up = "4 s"
        stop.time = "10 s"
    "#;
    let warned = |outcome: &Outcome| {
        let mut warnings = outcome.report.warnings.iter();
        warnings.any(|it| it.condition == "beyond-cards")
    };
    for grain in ["network.grain=message", "network.grain=flow"] {
        let outcome = run(text, &[grain]);
        let write = &outcome.report.operations["write"];
        close(write.active_seconds, 6.0, 1e-12);
        let rate = outcome.report.throughput["write"];
        close(rate, write.bytes as f64 / 6.0, 1e-12);
        assert!(rate > 125e6 && warned(&outcome), "{rate}");
        // In long runs the requests at both ends hardly count.
        let outcome = run(text, &[grain, "run.stop.time=400 s"]);
        let rate = outcome.report.throughput["write"];
        close(rate, 125e6, 0.02);
        assert!(!warned(&outcome) || rate > 125.6e6, "{rate}");
        // Without a warm-up no request counts that began before.
        let outcome = run(text, &[grain, "run.warm_up=0 s"]);
        assert!(outcome.report.throughput["write"] <= 125e6 && !warned(&outcome));
    }
}

/// A report says what ended the run, and how well the mean latency is known.
#[test]
fn a_report_says_why_the_run_ended() {
    let stop = |more: &[&str]| {
        let sets: Vec<&str> = PHASES.iter().chain(more).copied().collect();
        run(SMALLEST, &sets).report.stop
    };
    let found = stop(&[]);
    assert_eq!(found.reason, StopReason::Workload);
    assert!(found.precision.is_none());
    assert_eq!(stop(&["run.stop.time=50 ms"]).reason, StopReason::Time);
    let found = stop(&["run.stop.requests=7"]);
    assert_eq!(found.reason, StopReason::Requests);
    let found = stop(&["run.stop.requests=7", "run.warm_up=50 ms"]);
    assert_eq!(found.reason, StopReason::Requests);

    // 240 requests are too few for an interval at all, and the run does not
    // end for it.
    let one_phase = "workload.0.phases=[\"write\"]";
    let found = stop(&["run.stop.precision=0.01", one_phase]);
    assert_eq!(found.reason, StopReason::Workload);
    let precision = found.precision.unwrap();
    assert_eq!((precision.wanted, precision.confidence), (0.01, 0.95));
    assert_eq!((precision.got, precision.reached), (None, false));

    let long = [
        one_phase,
        "workload.0.files=400",
        "workload.0.think_distribution=exponential",
        "run.stop.confidence=0.9",
    ];
    let with = |more: &str| stop(&[&long[..], &[more]].concat());
    let found = with("run.stop.precision=0.0001");
    assert_eq!(found.reason, StopReason::Workload);
    let precision = found.precision.unwrap();
    assert!(precision.got.unwrap() > 0.0001 && !precision.reached);
    assert_eq!(precision.confidence, 0.9);

    let found = with("run.stop.precision=0.9");
    let precision = found.precision.unwrap();
    assert!(precision.got.unwrap() <= 0.9 && precision.reached);
    assert_eq!(found.reason, StopReason::Precision);
}

/// Groups are reported in the order in which they were given, not by name.
#[test]
fn groups_keep_their_order() {
    for groups in [
        r#"clients.groups=["b", "c", "a"]"#,
        "clients.groups={ b = 2, c = 1, a = 1 }",
    ] {
        let outcome = run(SMALLEST, &["clients.count=6", groups]);
        let names: Vec<&String> = outcome.report.groups.keys().collect();
        assert_eq!(names, ["b", "c", "a"]);
        let json = serde_json::to_string(&outcome.report).unwrap();
        let at = |name: &str| json.find(&format!("\"{name}\":{{\"clients\"")).unwrap();
        assert!(at("b") < at("c") && at("c") < at("a"), "{json}");
    }
}
