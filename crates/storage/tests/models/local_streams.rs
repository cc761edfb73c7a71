//! Streams that share an open file, mixed reads and writes, and priorities. They run on a machine
//! with a local file system and, where they have it, on a parallel one.

use headrace_storage::Outcome;
use headrace_trace::Operation;

use crate::running::{busy, run};

const MIB: f64 = 1048576.0;

/// One process reads 256 MiB of a disk in calls of 64 KiB.
fn read_rate(streams: u32, window: &str, segments: u32) -> f64 {
    let outcome = run(
        r#"
        system = "ext4"
        [machine.memory]
        size = "1 GiB"
        [machine.io_scheduler]
        kind = "mq-deadline"
        [machine.device]
        kind = "disk"
        model = "ST2000DM001"
        [[workload]]
        block = "256 MiB"
        transfer = "64 KiB"
        phases = ["read"]
        "#,
        &[
            &format!("workload.0.streams={streams}"),
            &format!("machine.read_ahead.window={window}"),
            &format!("machine.device.segments={segments}"),
        ],
    );
    assert_eq!(outcome.report.operations["read"].bytes, 256 << 20);
    outcome.report.throughput["read"]
}

/// With windows of 8 MiB two streams have a seek and half a turn, 13 ms at most, in 40 ms of
/// reading. Without read-ahead each page is read by itself. Every call of 64 KiB then begins with a
/// seek, unless the drive has read on for each stream.
#[test]
fn read_ahead_makes_interleaved_streams_nearly_as_fast_as_one() {
    let [one, two, eight] = [1, 2, 8].map(|streams| read_rate(streams, "8 MiB", 16));
    assert!(
        two > 0.85 * one,
        "{:.0} of {:.0} MiB/s",
        two / MIB,
        one / MIB
    );
    assert!(
        eight > 0.7 * one,
        "{:.0} of {:.0} MiB/s",
        eight / MIB,
        one / MIB
    );
    let [one, two] = [1, 2].map(|streams| read_rate(streams, "0 B", 1));
    assert!(
        two < 0.4 * one,
        "{:.0} of {:.0} MiB/s",
        two / MIB,
        one / MIB
    );
    // Small windows lie between.
    let [one, two] = [1, 2].map(|streams| read_rate(streams, "128 KiB", 1));
    assert!(
        two < 0.6 * one,
        "{:.0} of {:.0} MiB/s",
        two / MIB,
        one / MIB
    );
}

/// A byte takes 1 ps to read and 1 us to write, so that the device's time tells how
/// many of each there were.
fn device_bytes(outcome: &Outcome, device: &str) -> (u64, u64) {
    let picoseconds = busy(outcome, device).round() as u64;
    (picoseconds % 1_000_000, picoseconds / 1_000_000)
}

const LOCAL: &str = r#"
    system = "ext2"
    [clients]
    processes = 3
    [machine.device]
    read_rate = "1 TB/s"
    write_rate = "1 MB/s"
    [[workload]]
    block = "256 KiB"
    transfer = "4 KiB"
    phases = ["mixed"]
    io.direct = true
"#;

const PARALLEL: &str = r#"
    [clients]
    count = 3
    [servers]
    count = 2
    device = { read_rate = "1 TB/s", write_rate = "1 MB/s" }
    [network]
    bandwidth = "1 TB/s"
    latency = "1 us"
    [layout]
    unit = "16 KiB"
    [[workload]]
    block = "256 KiB"
    transfer = "4 KiB"
    phases = ["mixed"]
"#;

/// Nothing is cached: the device reads and writes the bytes of the calls, and the report
/// distinguishes them. 3 · 64 transfers, of which the share is read, give or take four standard
/// deviations.
#[test]
fn the_bytes_of_a_mixed_phase_reach_the_device() {
    for (text, device) in [(LOCAL, "client/device"), (PARALLEL, "server/device")] {
        for share in [0.0_f64, 0.3, 0.7, 1.0] {
            let set = format!("workload.0.read_share={share}");
            let outcome = run(text, &[&set]);
            let sum = |operation: Operation| -> u64 {
                let all = outcome.requests.iter().map(|it| it.request);
                all.filter(|it| it.operation == operation)
                    .map(|it| it.size)
                    .sum()
            };
            let asked = (sum(Operation::Read), sum(Operation::Write));
            assert_eq!(asked.0 + asked.1, (3 * 256) << 10);
            assert_eq!(device_bytes(&outcome, device), asked, "{share} {device}");
            let reported = |name| {
                let operations = &outcome.report.operations;
                operations.get(name).map_or(0, |operation| operation.bytes)
            };
            assert_eq!((reported("read"), reported("write")), asked);
            let bound = 4.0 * (192.0 * share * (1.0 - share)).sqrt() * 4096.0;
            let away = asked.0 as f64 - share * f64::from((3 * 256) << 10);
            assert!(away.abs() <= bound, "{share}: {away}");
        }
    }
}

/// Reads and writes are the same ones whatever the system is.
#[test]
fn the_mix_does_not_depend_on_the_system() {
    let of = |text: &str| {
        let outcome = run(text, &[]);
        let all = outcome.requests.iter().map(|it| it.request);
        let mut all: Vec<_> = all
            .map(|it| (it.process.rank, it.offset, it.operation == Operation::Read))
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(of(LOCAL), of(PARALLEL));
}

/// Two groups of one machine and one disk: bytes read or written by each in 20 s.
fn shares(scheduler: &str, first: &str, second: &str, sets: &[&str]) -> [f64; 2] {
    let text = r#"
        system = "ext2"
        [machine.memory]
        size = "64 MiB"
        [machine.io_scheduler]
        depth = 1
        [machine.device]
        read_rate = "64 MB/s"
        write_rate = "64 MB/s"
        time_per_request = "1 ms"
        [run.stop]
        time = "20 s"
        [[workload]]
        block = "1 GiB"
        transfer = "64 KiB"
        phases = ["read"]
        repeat = "forever"
        io.direct = true
        [[workload]]
        block = "1 GiB"
        transfer = "64 KiB"
        phases = ["read"]
        repeat = "forever"
        io.direct = true
    "#;
    let own = [
        format!("machine.io_scheduler.kind={scheduler}"),
        format!("workload.0.io.priority={first}"),
        format!("workload.1.io.priority={second}"),
    ];
    let all: Vec<&str> = own
        .iter()
        .map(String::as_str)
        .chain(sets.iter().copied())
        .collect();
    let outcome = run(text, &all);
    [0, 1].map(|workload| {
        let requests = outcome.requests.iter().map(|it| it.request);
        let own = requests.filter(|it| it.process.workload == workload);
        own.map(|it| it.size as f64).sum()
    })
}

/// Slices of 180 and 40 ms, each from the first completion on: 2.05 ms a request.
#[test]
fn processes_share_a_disk_by_level() {
    let [one, other] = shares("cfq", "best-effort 0", "best-effort 7", &[]);
    let expected = (180.0 + 2.05) / (40.0 + 2.05);
    assert!(
        (one / other / expected - 1.0).abs() < 0.05,
        "{}",
        one / other
    );
    let [one, other] = shares("bfq", "best-effort 0", "best-effort 7", &[]);
    assert!((one / other / 8.0 - 1.0).abs() < 0.05, "{}", one / other);
    let [one, other] = shares("noop", "best-effort 0", "best-effort 7", &[]);
    assert!((one / other - 1.0).abs() < 0.05, "{}", one / other);
}

/// Direct writes of an idle-class process wait for the readers; its write-back has the
/// kernel's priority.
#[test]
fn what_the_kernel_writes_has_the_kernels_priority() {
    let sets = [
        "clients.processes=2",
        "workload.1.phases=[\"write\"]",
        "machine.write_back.bytes=4 MiB",
        "machine.write_back.background_bytes=1 MiB",
    ];
    let [_, direct] = shares("mq-deadline", "best-effort 4", "idle", &sets);
    let buffered = [&sets[..], &["workload.1.io.direct=false"]].concat();
    let [_, written] = shares("mq-deadline", "best-effort 4", "idle", &buffered);
    // One request in 10 s for each process.
    assert!(direct <= 6.0 * 65536.0, "{direct}");
    assert!(written > 20.0 * MIB, "{written}");
}
