//! Devices that are shared fairly, that have rates by concurrency, or whose service times are
//! drawn from a distribution: against queueing theory.

use crate::devices::{Ask, device, drive, mean, random, rate, read, write};
use crate::running::{close, refusal, run, station};

const SECOND: f64 = 1e12;

/// Reads that come at random (Poisson) with this mean interval in seconds, of sizes that `size`
/// chooses by a number from 0 to 9.
fn arrivals(interval: f64, count: usize, size: impl Fn(u64) -> u64) -> Vec<Ask> {
    let mut random = random(3);
    let mut now = 0.0;
    let asks = (0..count).map(|_| {
        let uniform = (random(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64;
        now -= uniform.ln() * interval * SECOND;
        read(0, size(random(10))).at(now as u64)
    });
    asks.collect()
}

/// M/G/1 with processor sharing: E[S] / (1 − ρ), whatever the distribution.
#[test]
fn a_shared_device_is_insensitive_to_the_distribution_of_sizes() {
    let device = device("kind = \"shared\"\nread_rate = \"100 MB/s\"\nwrite_rate = \"50 MB/s\"");
    let sizes: [fn(u64) -> u64; 2] = [
        |_| 1_000_000,
        |number| if number > 0 { 500_000 } else { 5_500_000 },
    ];
    for size in sizes {
        let script = arrivals(0.01 / 0.6, 40_000, size);
        let log = drive(&device, &script, 1);
        close(mean(&log), 0.01 / (1.0 - 0.6), 0.03);
    }
}

/// Two requests of 1 MB and one of 2 MB at once. Each has a third of the rate, then the large one
/// has all of it for its second half. Writing is half as fast.
#[test]
fn requests_share_the_rate_equally() {
    let text = "kind = \"shared\"\nread_rate = \"100 MB/s\"\nwrite_rate = \"50 MB/s\"";
    for (ask, factor) in [(read as fn(u64, u64) -> Ask, 1), (write, 2)] {
        let script = [ask(0, 1_000_000), ask(0, 2_000_000), ask(0, 1_000_000)];
        let log = drive(&device(text), &script, 3);
        let done: Vec<u64> = log.iter().map(|took| took.done / 1_000_000_000).collect();
        assert_eq!(done, [30 * factor, 40 * factor, 30 * factor]);
    }
}

/// N outstanding requests get the table's rate for N.
#[test]
fn rates_depend_on_the_requests_in_progress() {
    let text = "kind = \"concurrent\"\nread_rates = { 1 = \"100 MB/s\", 8 = \"450 MB/s\" }\n\
                write_rates = { 1 = \"80 MB/s\" }";
    let device = device(text);
    for (depth, expected) in [(1, 100e6), (2, 150e6), (4, 250e6), (8, 450e6), (32, 450e6)] {
        let reads = vec![read(0, 1 << 20); 32 * depth];
        close(rate(&reads, &drive(&device, &reads, depth)), expected, 1e-6);
        let writes = vec![write(0, 1 << 20); 32 * depth];
        close(rate(&writes, &drive(&device, &writes, depth)), 80e6, 1e-6);
    }
}

/// The fixed time of a request is shared as its bytes' time is; times are rounded up.
#[test]
fn a_request_on_a_concurrent_device_has_a_fixed_time() {
    let text = "kind = \"concurrent\"\nread_rates = { 1 = \"100 MB/s\", 2 = \"200 MB/s\" }\n\
                time_per_request = \"5 ms\"";
    let device = device(text);
    for depth in [1, 2] {
        let reads = vec![read(0, 1_000_000); 10 * depth];
        let log = drive(&device, &reads, depth);
        assert!(
            log.iter()
                .all(|took| took.time().abs_diff(15_000_000_000) <= 1),
            "{log:?}"
        );
    }
}

/// Clients that think for exponential times before a device with rates by concurrency: a birth
/// and death process, whatever the distribution of service.
#[test]
fn a_closed_system_of_a_concurrent_device_has_a_product_form() {
    let text = r#"
        [clients]
        count = 6
        [servers]
        count = 1
        [servers.device]
        kind = "concurrent"
        read_rates = { 1 = "100 MB/s", 3 = "240 MB/s", 6 = "270 MB/s" }
        [network]
        topology = "pairs"
        bandwidth = "1 TB/s"
        latency = "1 ns"
        [layout]
        unit = "2 TB"
        [[workload]]
        block = "1 TB"
        transfer = "1 MB"
        phases = ["read"]
        think = "30 ms"
        think_distribution = "exponential"
        repeat = "forever"
        [run]
        warm_up = "10 s"
        stop = { time = "410 s" }
    "#;
    let outcome = run(text, &[]);
    let rates = [100.0, 170.0, 240.0, 250.0, 260.0, 270.0];
    let mut chances = vec![1.0];
    for (present, rate) in rates.iter().enumerate() {
        let up = (6 - present) as f64 / 0.03;
        chances.push(chances[present] * up / rate);
    }
    let total: f64 = chances.iter().sum();
    let exact: f64 = (1..=6).map(|at| chances[at] / total * rates[at - 1]).sum();
    let got = outcome.report.operations["read"].count as f64 / 400.0;
    close(got, exact, 0.01);
    let device = station(&outcome, "server/device");
    close(device.utilisation, 1.0 - chances[0] / total, 0.01);
}

/// Nine reads in ten take 1 ms, the others 11 ms. M/G/1 with first come, first served waits
/// λ E[S²] / 2 (1 − ρ) (Pollaczek and Khinchine).
#[test]
fn empirical_service_times_queue_as_pollaczek_and_khinchine_say() {
    let text = "kind = \"empirical\"\nread_times = [[\"1 ms\", 9], [\"11 ms\", 1]]";
    let script = arrivals(1.0 / 300.0, 60_000, |_| 4096);
    let log = drive(&device(text), &script, 1);
    let second_moment = 0.9 * 1e-6 + 0.1 * 121e-6;
    let waits = 300.0 * second_moment / (2.0 * (1.0 - 0.6));
    close(mean(&log), 0.002 + waits, 0.03);
}

/// The distribution itself: its values, their parts, and the mean.
#[test]
fn service_times_are_drawn_as_often_as_their_weights_say() {
    let text = "kind = \"empirical\"\nread_times = [[\"1 ms\", 2], [\"2 ms\", 5], [\"40 ms\", 3]]\n\
                write_times = [\"3 ms\"]\nwrite_rate = \"100 MB/s\"";
    let device = device(text);
    let reads = vec![read(0, 4096); 40_000];
    let log = drive(&device, &reads, 1);
    let part = |millis: u64| {
        let all = log
            .iter()
            .filter(|took| took.time() == millis * 1_000_000_000);
        all.count() as f64 / log.len() as f64
    };
    for (millis, expected) in [(1, 0.2), (2, 0.5), (40, 0.3)] {
        close(part(millis), expected, 0.03);
    }
    close(part(1) + part(2) + part(40), 1.0, 1e-12);
    close(mean(&log), 0.0132, 0.03);
    let log = drive(&device, &[write(0, 1_000_000)], 1);
    assert_eq!(log[0].time(), 13_000_000_000);
}

/// Two at once serve two streams, each at its own times.
#[test]
fn requests_are_served_at_once_up_to_the_queue_depth() {
    let text = "kind = \"empirical\"\nread_times = [\"2 ms\"]\nqueue_depth = 2";
    let reads = vec![read(0, 4096); 4];
    let log = drive(&device(text), &reads, 4);
    let done: Vec<u64> = log.iter().map(|took| took.done / 1_000_000_000).collect();
    assert_eq!(done, [2, 2, 4, 4]);
}

#[test]
fn wrong_tables_are_refused() {
    let with = |device: &str| {
        let text = crate::running::SMALLEST.replace(
            "device = { read_rate = \"100 MB/s\", write_rate = \"50 MB/s\" }",
            &format!("device = {{ {device} }}"),
        );
        refusal(&text, &[])
    };
    for (device, message) in [
        ("kind = \"concurrent\"", "read_rates"),
        (
            "kind = \"concurrent\", read_rates = { 2 = \"1 MB/s\" }",
            "the rate of a single request is missing",
        ),
        (
            "kind = \"concurrent\", read_rates = { 0 = \"1 MB/s\" }",
            "\"0\" is no whole number from 1 to 65536",
        ),
        (
            "kind = \"concurrent\", read_rates = { 1 = \"fast\" }",
            "the rate of \"1\" must be",
        ),
        (
            "kind = \"empirical\", read_times = []",
            "a list of times such as",
        ),
        (
            "kind = \"empirical\", read_times = [[\"1 ms\"]]",
            "a pair has a time and a weight",
        ),
        (
            "kind = \"empirical\", read_times = \"missing.csv\"",
            "cannot read it",
        ),
    ] {
        let refused = with(device);
        assert!(refused.contains(message), "{refused}");
    }
}
