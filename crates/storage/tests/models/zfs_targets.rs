//! The preset `zfs`: whole records, and data that goes out after a transaction group's time.

use crate::running::{busy, close, run};

/// A byte takes the device 1 ns.
const SYSTEM: &str = r#"
    system = "zfs"
    [machine.device]
    read_rate = "1 GB/s"
    write_rate = "1 GB/s"
    [[workload]]
    block = "32 MiB"
    transfer = "8 KiB"
    order = "strided"
    stride = 16
    requests = 64
    phases = ["write", "sync"]
    io = { existing = true }
"#;

fn moved(sets: &[&str]) -> f64 {
    busy(&run(SYSTEM, sets), "device") * 1e-3
}

/// Each of 64 small writes reads a record of 128 KiB first, and the sync writes all of it.
#[test]
fn small_writes_read_and_write_whole_records() {
    let record = 131_072.0;
    close(moved(&[]), 2.0 * 64.0 * record, 1e-6);
    // Records as large as the writes are not read.
    close(moved(&["machine.memory.page=8 KiB"]), 64.0 * 8192.0, 1e-6);
    // A whole record is not read.
    let whole = ["workload.0.transfer=128 KiB", "workload.0.stride=2"];
    close(moved(&whole), 64.0 * record, 1e-6);
}

/// Nothing is written before the transaction group's time, and all of it then.
#[test]
fn dirty_data_goes_out_after_the_time_of_a_transaction_group() {
    let written = |stop: &str| {
        let stop = format!("run.stop.time={stop}");
        let forever = ["workload.0.phases=[\"write\"]", "workload.0.repeat=forever"];
        let whole = [
            "workload.0.transfer=128 KiB",
            "workload.0.stride=1",
            "workload.0.think=1 s",
        ];
        moved(&[&forever[..], &whole, &[stop.as_str()]].concat())
    };
    close(written("4.5 s"), 0.0, 0.0);
    assert!(written("12 s") >= 131_072.0);
}

/// OpenZFS limits dirty data to a tenth of memory, and to 4 GiB on a larger machine.
#[test]
fn the_limit_of_dirty_data_does_not_grow_beyond_four_gibibytes() {
    let limits = |size: &str| {
        let set = format!("machine.memory.size={size}");
        let scenario = crate::running::load(SYSTEM, &[&set]).expect("a good scenario");
        let machine = &scenario.local().expect("a machine").machine;
        let write_back = &machine.write_back;
        let memory = &machine.memory;
        (
            memory.page_cache() as f64,
            write_back.limit(memory) as f64,
            write_back.background(memory) as f64,
        )
    };
    let (cache, limit, background) = limits("16 GiB");
    close(limit, 0.1 * cache, 1e-6);
    close(background, 0.02 * cache, 1e-6);
    let (_, limit, background) = limits("256 GiB");
    close(limit, 4.0 * 1024_f64.powi(3), 1e-6);
    close(background, 0.8 * 1024_f64.powi(3), 1e-6);
}
