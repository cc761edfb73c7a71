//! The page cache in a whole system: reads served from memory, and transfers of
//! the device.

use proptest::prelude::*;

use crate::running::{MICROSECOND, busy, close, last, latency, run, station};

/// One client on one server, in transfers of 1 MiB, without a network to speak
/// of. A byte takes 1 ns to copy, 10 ns to read and 20 ns to write.
const CACHED: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    [servers.memory]
    cache = "64 MiB"
    dirty_limit = "64 MiB"
    rate = "1 GB/s"
    [network]
    topology = "pairs"
    bandwidth = "1 TB/s"
    latency = "10 us"
    [layout]
    unit = "1 GiB"
    [[workload]]
    block = "48 MiB"
    transfer = "1 MiB"
    phases = ["write", "read"]
"#;

const MIB: u64 = 1 << 20;
const LATENCY: u64 = 10 * MICROSECOND;
/// A request of 1 MiB that needs no device: 1 ps a byte of network, 1 ns of memory.
const FROM_MEMORY: u64 = 2 * LATENCY + MIB + MIB * 1000;

#[test]
fn a_set_that_fits_is_read_from_memory() {
    let outcome = run(CACHED, &[]);
    assert_eq!(station(&outcome, "server/device").visits, 0);
    let all = outcome.requests.iter();
    let others = all
        .clone()
        .filter(|it| it.request.offset > 0 || it.request.phase > 0);
    for it in others {
        assert_eq!(latency(it), FROM_MEMORY);
    }
    assert_eq!(all.count(), 96);
    assert_eq!(last(&outcome).0, 96 * FROM_MEMORY + 2 * LATENCY);
}

/// Sequential reading of more than fits: each page leaves just before it is
/// wanted (the known weakness of LRU), so that all is read again.
#[test]
fn a_set_that_does_not_fit_is_read_from_the_device() {
    let sets = [
        "servers.memory.cache=47 MiB",
        "servers.memory.dirty_limit=0 B",
    ];
    let outcome = run(CACHED, &sets);
    let (read, write) = (48 * MIB * 10_000, 48 * MIB * 20_000);
    close(
        busy(&outcome, "server/device"),
        (read + write) as f64,
        1e-12,
    );
    for it in outcome.requests.iter().filter(|it| it.request.phase == 1) {
        assert_eq!(latency(it), FROM_MEMORY + MIB * 10_000);
    }
}

/// Dirty data that reads evict reaches the device exactly once.
#[test]
fn dirty_data_that_reads_push_out_is_written() {
    let sets = [
        "servers.memory.cache=32 MiB",
        "servers.memory.dirty_limit=32 MiB",
    ];
    let outcome = run(CACHED, &sets);
    let both = 48 * MIB * (10_000 + 20_000);
    close(busy(&outcome, "server/device"), both as f64, 1e-12);
}

/// A second reading round finds what the first left, if it fits.
#[test]
fn what_was_read_stays() {
    let sets = ["workload.0.phases=[\"read\"]", "workload.0.repeat=3"];
    let outcome = run(CACHED, &sets);
    close(
        busy(&outcome, "server/device"),
        (48 * MIB * 10_000) as f64,
        1e-12,
    );
    for it in outcome.requests.iter().filter(|it| it.request.phase > 0) {
        assert_eq!(latency(it), FROM_MEMORY);
    }
}

/// Writes go to memory until the limit. Then the oldest 4 MiB must reach the
/// device before a write that passes the limit is acknowledged, so that three
/// more are free. 48 MiB with a limit of 20 MiB make seven waits.
#[test]
fn writes_wait_once_the_dirty_limit_is_reached() {
    let sets = [
        "servers.memory.dirty_limit=20 MiB",
        "workload.0.phases=[\"write\"]",
    ];
    let outcome = run(CACHED, &sets);
    let write_back = 4 * MIB * 20_000;
    for it in &outcome.requests {
        let number = it.request.offset / MIB;
        let first = if number == 0 { 2 * LATENCY } else { 0 };
        let waits = number >= 20 && number.is_multiple_of(4);
        let wait = if waits { write_back } else { 0 };
        assert_eq!(latency(it), FROM_MEMORY + first + wait, "request {number}");
    }
    assert_eq!(station(&outcome, "server/device").visits, 7);
    let expected = 48 * FROM_MEMORY + 2 * LATENCY + 7 * write_back;
    assert_eq!(last(&outcome).0, expected);
}

/// Where neither the limit nor 4 MiB is a number of whole pages, whole pages
/// are written back: 4,194 of 1 kB at a time.
#[test]
fn whole_pages_are_written_back() {
    let sets = [
        "servers.memory.page=1 kB",
        "servers.memory.dirty_limit=20480500 B",
        "workload.0.block=48 MB",
        "workload.0.transfer=1 MB",
        "workload.0.phases=[\"write\"]",
    ];
    let outcome = run(CACHED, &sets);
    let device = station(&outcome, "server/device");
    close(device.service.unwrap_or(0.0), 4_194_000.0 * 20e-9, 1e-12);
    // 20,480 pages may wait.
    assert_eq!(device.visits, (48_000 - 20_480_u64).div_ceil(4_194));
    // One write passes the limit by more than that.
    let more: Vec<&str> = sets
        .iter()
        .chain(&["workload.0.transfer=48 MB"])
        .copied()
        .collect();
    close(
        busy(&run(CACHED, &more), "server/device"),
        27_520e3 * 20e3,
        1e-12,
    );
}

/// No write-back: every write is acknowledged by the device and still cached.
#[test]
fn write_through_keeps_what_was_written() {
    let outcome = run(CACHED, &["servers.memory.dirty_limit=0 B"]);
    close(
        busy(&outcome, "server/device"),
        (48 * MIB * 20_000) as f64,
        1e-12,
    );
    for it in outcome.requests.iter().filter(|it| it.request.offset > 0) {
        let device = if it.request.phase == 0 {
            MIB * 20_000
        } else {
            0
        };
        assert_eq!(latency(it), FROM_MEMORY + device);
    }
}

/// Copies share one memory per server.
#[test]
fn memory_is_shared_by_the_clients_of_a_server() {
    let sets = [
        "clients.count=4",
        "workload.0.block=8 MiB",
        "workload.0.phases=[\"write\"]",
    ];
    let outcome = run(CACHED, &sets);
    let copying = (32 * MIB * 1000) as f64;
    close(busy(&outcome, "server/memory"), copying, 1e-9);
    // Before it the first MiB comes over the wire, and after it the last answer goes.
    assert_eq!(last(&outcome).0, 32 * MIB * 1000 + MIB + 4 * LATENCY);
}

/// Dirty pages of the file are written to the device before fsync returns: 20 ns a byte.
#[test]
fn an_fsync_waits_until_its_file_is_on_the_device() {
    let phases = "workload.0.phases=[\"write\", \"sync\", \"sync\"]";
    let outcome = run(CACHED, &[phases]);
    let sync = |phase| {
        let mut syncs = outcome.requests.iter();
        let found = syncs.find(|it| it.request.phase == phase);
        latency(found.expect("it syncs"))
    };
    assert_eq!(sync(1), 2 * LATENCY + 48 * MIB * 20_000);
    // Twelve pieces of 4 MiB, and a flush for each sync.
    assert_eq!(station(&outcome, "server/device").visits, 12 + 2);
    // Nothing is dirty any more.
    assert_eq!(sync(2), 2 * LATENCY);
}

/// A write that its own fsync follows takes as long as if nothing were cached.
#[test]
fn every_write_that_is_synced_reaches_the_device() {
    let sets = [
        "workload.0.phases=[\"write\"]",
        "workload.0.sync_per_write=true",
    ];
    let outcome = run(CACHED, &sets);
    for sync in outcome.requests.iter().filter(|it| it.request.size == 0) {
        assert_eq!(latency(sync), 2 * LATENCY + MIB * 20_000);
    }
    assert_eq!(station(&outcome, "server/device").visits, 2 * 48);
}

/// Two files of two clients. Each sync brings its own file to the device, and waits for the writes
/// that the dirty limit has sent there before it.
#[test]
fn an_fsync_waits_for_what_is_on_its_way_already() {
    let sets = [
        "clients.count=2",
        "servers.memory.dirty_limit=1 MiB",
        "workload.0.phases=[\"write\", \"sync\"]",
        "servers.memory.cache=1 GiB",
    ];
    let outcome = run(CACHED, &sets);
    // The device writes all of it, for any caller, and nothing else.
    close(
        busy(&outcome, "server/device"),
        (96 * MIB * 20_000) as f64,
        1e-12,
    );
    assert!(last(&outcome).0 >= 96 * MIB * 20_000);
}

/// A file over four servers with two devices each is synced on all of them at once.
#[test]
fn an_fsync_asks_every_device_of_the_file() {
    let sets = [
        "servers.count=4",
        "servers.targets=2",
        "layout.unit=1 MiB",
        "servers.memory.cache=1 GiB",
        "servers.memory.dirty_limit=1 GiB",
        "workload.0.phases=[\"write\", \"sync\"]",
    ];
    let outcome = run(CACHED, &sets);
    let mut syncs = outcome.requests.iter();
    let sync = syncs.find(|it| it.request.phase == 1).expect("it syncs");
    // Each of eight devices has six of 48 MiB; seven more requests come behind the first.
    let expected = (2 * LATENCY + 6 * MIB * 20_000) as f64;
    close(latency(sync) as f64, expected, 1e-6);
    let one = &["layout.servers=1"];
    let alone = run(CACHED, &[&sets[..], one].concat());
    let mut syncs = alone.requests.iter();
    let sync = syncs.find(|it| it.request.phase == 1).expect("it syncs");
    close(
        latency(sync) as f64,
        (2 * LATENCY + 48 * MIB * 20_000) as f64,
        1e-6,
    );
}

/// Blocks that have sets of their own: a server is asked once, however many it has.
#[test]
fn an_fsync_asks_every_server_of_the_blocks() {
    let sets = [
        "servers.count=8",
        "layout.unit=4 MiB",
        "replication.copies=2",
        "replication.sets=blocks",
        "servers.memory.cache=1 GiB",
        "servers.memory.dirty_limit=1 GiB",
        "workload.0.phases=[\"write\", \"sync\"]",
    ];
    for by in ["client", "chain"] {
        let by = format!("replication.by={by}");
        let star = "network.topology=star";
        let outcome = run(CACHED, &[&sets[..], &[&by, star]].concat());
        let device = (2 * 48 * MIB * 20_000) as f64;
        close(busy(&outcome, "server/device"), device, 1e-12);
        // With a flush for each server that has any of the 12 blocks twice.
        let visits = station(&outcome, "server/device").visits;
        assert!((24..=24 + 8).contains(&visits), "{visits}");
    }
}

proptest! {
    /// After the last fsync every written byte is on a device, for any limits, devices and writers.
    #[test]
    fn after_an_fsync_nothing_is_dirty(
        clients in 1_u32..4, servers in 1_u32..4, targets in 1_u32..3,
        limit in 0_u64..9, transfer in prop::sample::select(vec![4_u64, 64, 256]),
        per_write: bool,
    ) {
        let sets = [
            format!("clients.count={clients}"),
            format!("servers.count={servers}"),
            format!("servers.targets={targets}"),
            "servers.memory.cache=64 MiB".to_owned(),
            format!("servers.memory.dirty_limit={limit} MiB"),
            "layout.unit=64 KiB".to_owned(),
            "workload.0.block=2 MiB".to_owned(),
            format!("workload.0.transfer={transfer} KiB"),
            format!("workload.0.sync_per_write={per_write}"),
            "workload.0.phases=[\"write\", \"sync\"]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(CACHED, &sets);
        let written = u64::from(clients) * 2 * MIB * 20_000;
        close(busy(&outcome, "device"), written as f64, 1e-9);
    }
}
