//! Stores in a mapping: faults, dirty pages and msync.

use headrace_storage::Outcome;

use crate::running::{close, refusal, run, station};

/// A page takes 1 us to copy, a fault for writing 100 us; the device 1 GB/s.
const SYSTEM: &str = r#"
    system = "ext4"
    [machine]
    cpu = { page_fault = "7 us", write_fault = "100 us" }
    copying = { page_in_l2 = "1 us" }
    [machine.file_system]
    sync_writes_inode = false
    journal = { mode = "none" }
    [machine.device]
    read_rate = "1 GB/s"
    write_rate = "1 GB/s"
    [[workload]]
    block = "1 MiB"
    transfer = "4 KiB"
    phases = ["write"]
    io = { interface = "mapped" }
"#;

const PAGES: f64 = 256.0;

fn busy(outcome: &Outcome) -> f64 {
    let station = station(outcome, "processor");
    station.service.unwrap_or(0.0) * station.visits as f64
}

/// Bytes that the device has moved.
fn moved(outcome: &Outcome) -> f64 {
    crate::running::busy(outcome, "device") * 1e-12 * 1e9
}

#[test]
fn the_first_store_into_each_page_faults() {
    let outcome = run(SYSTEM, &[]);
    close(busy(&outcome), PAGES * 101e-6, 1e-9);
    // Stores of less than a page: four into each, one of which faults.
    let outcome = run(SYSTEM, &["workload.0.transfer=1 KiB"]);
    close(busy(&outcome), PAGES * 101e-6, 1e-9);
    // One store of many pages faults for each of them too.
    let outcome = run(SYSTEM, &["workload.0.transfer=1 MiB"]);
    close(busy(&outcome), PAGES * 101e-6, 1e-9);
}

/// A page that is dirty is mapped for writing. After msync it is not: the next store faults again.
#[test]
fn stores_into_dirty_pages_take_no_fault_until_they_are_written_back() {
    let again = run(SYSTEM, &["workload.0.phases=[\"write\", \"write\"]"]);
    close(busy(&again), PAGES * (100.0 + 2.0) * 1e-6, 1e-9);
    let synced = run(
        SYSTEM,
        &["workload.0.phases=[\"write\", \"sync\", \"write\"]"],
    );
    close(busy(&synced), PAGES * (200.0 + 2.0) * 1e-6, 1e-9);
}

/// Dirty bytes are those of whole pages, and msync writes them and nothing else.
#[test]
fn msync_writes_whole_pages() {
    for (transfer, block, pages) in [
        ("4 KiB", "1 MiB", 256.0),
        ("1 B", "4097 B", 2.0),
        ("100 B", "1000 B", 1.0),
    ] {
        let sets = [
            &format!("workload.0.transfer={transfer}"),
            &format!("workload.0.block={block}"),
            "workload.0.phases=[\"write\", \"sync\"]",
        ];
        let outcome = run(SYSTEM, &sets);
        close(moved(&outcome), pages * 4096.0, 1e-6);
        let bytes = outcome.report.operations["write"].bytes as f64;
        close(busy(&outcome), pages * 100e-6 + bytes / 4096.0 * 1e-6, 1e-3);
    }
}

/// An existing page is read before a store into it, even if the store covers all of it; a new one
/// is not.
#[test]
fn stores_into_an_existing_file_read_it() {
    close(moved(&run(SYSTEM, &[])), 0.0, 0.0);
    let existing = "workload.0.io.existing=true";
    close(moved(&run(SYSTEM, &[existing])), 1_048_576.0, 1e-6);
    close(
        moved(&run(SYSTEM, &[existing, "workload.0.io.cached=true"])),
        0.0,
        0.0,
    );
}

#[test]
fn what_nobody_does_in_a_mapping_is_refused() {
    let why = refusal(SYSTEM, &["workload.0.io.synchronous=true"]);
    assert!(why.contains("stores in a mapping do not wait"), "{why}");
}
