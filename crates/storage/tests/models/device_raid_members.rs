//! I/O schedulers before the members of an array, and the bus that they share. Members move 100
//! MB/s and take 1 ms besides.

use crate::devices::{Ask, device, drive, end, rate, read, write};
use crate::running::{close, run, station};
use headrace_trace::Operation;

fn raid(more: &str) -> headrace_spec::Device {
    device(&format!(
        "kind = \"raid\"\nlevel = 0\ndisks = 4\nchunk = \"64 KiB\"\n{more}\n\
         [servers.device.member]\nread_rate = \"100 MB/s\"\nwrite_rate = \"100 MB/s\"\n\
         time_per_request = \"1 ms\""
    ))
}

/// Four members would move 373 MB/s of such transfers.
#[test]
fn a_bus_bounds_the_rate_and_costs_nothing_below_it() {
    const SIZE: u64 = 4 << 22;
    let alone = end(&drive(&raid(""), &[read(0, SIZE)], 1));
    for (bus, more) in [
        ("150 MB/s", ""),
        ("320 MB/s", ""),
        ("50 MB/s", ", time_per_transfer = \"20 ms\""),
    ] {
        let it = raid(&format!("bus = {{ rate = \"{bus}\"{more} }}"));
        for ask in [read as fn(u64, u64) -> Ask, write] {
            let script: Vec<Ask> = (0..64).map(|n| ask(n * SIZE, SIZE)).collect();
            let bytes: f64 = bus.trim_end_matches(" MB/s").parse::<f64>().unwrap() * 1e6;
            let besides = if more.is_empty() { 0.0 } else { 20e-3 };
            let each = SIZE as f64 / 4.0;
            let expected = each / (each / bytes + besides);
            close(rate(&script, &drive(&it, &script, 8)), expected, 0.02);
        }
    }
    let wide = end(&drive(
        &raid("bus = { rate = \"100 GB/s\" }"),
        &[read(0, SIZE)],
        1,
    ));
    close(wide as f64, alone as f64, 0.01);
}

/// 256 KiB on two members: two chunks each and, mirrored, all of it. A quarter of them is new: 8
/// blocks on each of two, 16 on each mirror, at 1 ms. So is a quarter of the memory that is read
/// into. It has 8 pages of each half, and 8 of each mirror, which reads half of it.
#[test]
fn the_parts_of_a_transfer_share_its_new_blocks() {
    for (level, expected) in [(0, 8), (1, 16)] {
        let device = |time: &str| {
            device(&format!(
                "kind = \"raid\"\nlevel = {level}\ndisks = 2\nchunk = \"64 KiB\"\n\
                 [servers.device.member]\nkind = \"throttled\"\nrate = \"1 GB/s\"\n\
                 hypervisor.new_block = \"{time}\""
            ))
        };
        for ask in [read as fn(u64, u64) -> Ask, write] {
            let script = [ask(0, 256 << 10).allocated(16)];
            let besides =
                end(&drive(&device("1 ms"), &script, 1)) - end(&drive(&device("0 ms"), &script, 1));
            let writes = script[0].operation == Operation::Write;
            let blocks = if writes { expected } else { 0 };
            assert_eq!(besides, blocks * 1_000_000_000, "RAID {level}");
        }
    }
}

const SERVER: &str = r#"
    [clients]
    count = 32
    [servers]
    count = 1
    [servers.device]
    kind = "raid"
    level = 0
    disks = 4
    chunk = "64 KiB"
    [servers.device.member]
    read_rate = "100 MB/s"
    write_rate = "100 MB/s"
    time_per_request = "1 ms"
    [network]
    bandwidth = "100 GB/s"
    latency = "1 us"
    [layout]
    unit = "1 MiB"
    [[workload]]
    block = "4 MiB"
    transfer = "4 KiB"
    order = "random"
    phases = ["read"]
"#;

/// With one command at a time, all disks are busy if each has its own queue, and one of four if
/// they share one.
#[test]
fn the_scheduler_stands_before_each_member_or_before_the_array() {
    let queue = [
        "servers.io_scheduler.kind=noop",
        "servers.io_scheduler.depth=1",
    ];
    let software = run(SERVER, &queue);
    let before_each = station(&software, "array/disk/I/O queue");
    assert_eq!(before_each.copies, 4);
    assert!(station(&software, "disk/device").queue < 1e-9);
    let hardware = run(
        SERVER,
        &[&queue[..], &["servers.device.hardware=true"]].concat(),
    );
    assert_eq!(station(&hardware, "server/I/O queue").copies, 1);
    let ratio = hardware.report.simulated_seconds / software.report.simulated_seconds;
    assert!(ratio > 3.5 && ratio <= 4.01, "{ratio}");
    // A controller's cache is hardware.
    let cached = run(
        SERVER,
        &[&queue[..], &["servers.device.cache.size=1 MiB"]].concat(),
    );
    assert_eq!(station(&cached, "server/I/O queue").copies, 1);
}

#[test]
fn a_busy_bus_is_named() {
    let sets = [
        "servers.device.bus.rate=1 MB/s",
        "workload.0.block=256 KiB",
        "servers.io_scheduler.kind=cfq",
    ];
    let found = run(SERVER, &sets).report.bottleneck;
    assert!(
        found.sentence.contains("array/bus is the bottleneck"),
        "{}",
        found.sentence
    );
    let local = r#"
        system = "ext3"
        [machine.device]
        kind = "raid"
        level = 0
        disks = 4
        chunk = "64 KiB"
        bus = { rate = "20 MB/s" }
        [machine.device.member]
        read_rate = "100 MB/s"
        write_rate = "100 MB/s"
        [[workload]]
        block = "16 MiB"
        phases = ["read"]
    "#;
    for queue in ["none", "cfq"] {
        let kind = format!("machine.io_scheduler.kind={queue}");
        let found = run(local, &[&kind, "machine.io_scheduler.depth=32"])
            .report
            .bottleneck;
        assert!(
            found.sentence.contains("array/bus is the bottleneck"),
            "{}",
            found.sentence
        );
        assert!(found.saturated);
    }
    // With one command at a disk at once the rest waits before it.
    let sets = [
        "machine.io_scheduler.kind=cfq",
        "machine.io_scheduler.depth=1",
        "clients.processes=64",
        "workload.0.order=random",
        "workload.0.io.direct=true",
        "workload.0.transfer=4 KiB",
        "workload.0.block=1 MiB",
    ];
    let found = run(local, &sets).report.bottleneck;
    assert!(
        found
            .sentence
            .contains("array/disk/I/O queue, with system/client/array/bus"),
        "{}",
        found.sentence
    );
}
