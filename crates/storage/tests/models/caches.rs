//! The page cache in a whole system: what is served from memory, and what the
//! device has to do.

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

/// What reads push out of the cache while it is dirty reaches the device, once.
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

/// Writes go to memory until the limit; then the oldest 4 MiB must reach the
/// device before a write that passes the limit is acknowledged, so that three
/// more are free: 48 MiB with a limit of 20 MiB make seven waits.
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
/// are still what is written back: 4,194 of 1 kB at a time.
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
    close(device.service, 4_194_000.0 * 20e-9, 1e-12);
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
