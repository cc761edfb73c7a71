//! Full journals with `data=journal`: transactions and checkpoints, calculated by hand and
//! compared with Linux 6.18.
//!
//! A journal of 64 MiB has 16,384 blocks. The largest transaction has a third of them, 5,461. It
//! reserves 12 for descriptors and its record, and 20 cannot be used, since the next page might
//! need 21. It thus has 5,429 blocks of data and metadata, 11 descriptors and a record: 5,441.
//!
//! A limit of operations a second counts each of these blocks and lets none wait. The flush after
//! them waits until all are made up for. It goes at the begin of the first slice of 100 ms that,
//! taken whole, allows all of them and itself.

use crate::running::run;

const LIMITED: &str = r#"
    system = "ext3"
    [machine]
    memory = { size = "4 GiB" }
    write_back = { background_bytes = "2 GB", bytes = "4 GB" }
    [machine.device]
    kind = "throttled"
    rate = "1 GB/s"
    write_rate = "150 MB/s"
    write_operations = 2000
    [machine.file_system.journal]
    mode = "journal"
    size = "64 MiB"
    checkpoint_at = 0.25
    [[workload]]
    transfer = "128 KiB"
    phases = ["write"]
    io = { existing = true, cached = true }
"#;

/// The longest call.
fn longest(sets: &[&str]) -> f64 {
    run(LIMITED, sets).report.latency["write"].max
}

/// Two transactions leave 5,469 blocks less one for a third: it fits beside the second, and fills.
/// With its commit 28 blocks are left. The next writer brings the first one to its place, 5,428
/// blocks (the inode is the third's by then), and flushes. That is 3 x 5,441 + 5,428 + 1 = 21,752
/// operations, 10.9 s less the last slice. Linux 6.18 had calls of 10.754 and 10.763 s, and wrote
/// 5,440 blocks and a record three times, and 5,428.
#[test]
fn who_finds_a_journal_full_brings_its_oldest_transaction_to_its_place() {
    let longest = longest(&["workload.0.block=64 MiB"]);
    assert!((longest - 10.763).abs() < 0.02, "{longest}");
}

/// Into a journal of twice that all of it goes at once, and no call waits: Linux 6.18 took 66 ms.
#[test]
fn who_finds_room_waits_for_nothing() {
    let longest = longest(&[
        "workload.0.block=64 MiB",
        "machine.file_system.journal.size=128 MiB",
    ]);
    assert!(longest < 1e-6, "{longest}");
}

/// 40 MiB twice: the third transaction changes what the first one has. So it is committed, and with
/// that the first one has nothing left. Nothing goes to its place, and the flush waits for 3 x
/// 5,441 + 1 = 16,324 operations, 8.2 s less the last slice. Linux 6.18 had calls of 8.070 and
/// 8.078 s. It wrote none of the oldest transaction's 5,429 blocks, as a younger one had all
/// (`jbd2_checkpoint_stats`: forced to close 1, written 0, dropped 5429).
#[test]
fn what_was_written_anew_goes_to_its_place_with_the_younger_transaction() {
    let longest = longest(&[
        "workload.0.block=40 MiB",
        "workload.0.phases=[\"write\", \"write\"]",
    ]);
    assert!((longest - 8.07).abs() < 0.02, "{longest}");
}

/// Without barriers nothing is flushed, and blocks of metadata wait for no limit.
#[test]
fn without_barriers_a_limit_of_operations_holds_nobody() {
    let longest = longest(&[
        "workload.0.block=64 MiB",
        "machine.file_system.journal.barriers=false",
    ]);
    assert!(longest < 0.5, "{longest}");
}

/// A disk of 100 MB/s that nothing limits. Memory is filled in no time. When a transaction is full,
/// it waits for the one before on its way into the journal. Then it waits for its own way, and for
/// the oldest one's way out of it, 22.3 MB each.
#[test]
fn a_disk_takes_two_transactions_in_and_one_out() {
    let outcome = run(
        r#"
        system = "ext3"
        [machine]
        memory = { size = "4 GiB" }
        write_back = { background_bytes = "2 GB", bytes = "4 GB" }
        [machine.device]
        read_rate = "100 MB/s"
        write_rate = "100 MB/s"
        [machine.file_system.journal]
        mode = "journal"
        size = "64 MiB"
        checkpoint_at = 0.25
        [[workload]]
        block = "192 MiB"
        transfer = "128 KiB"
        phases = ["write"]
        "#,
        &[],
    );
    let longest = outcome.report.latency["write"].max;
    let one = 5_441.0 * 4096.0 / 100e6;
    assert!((2.9 * one..3.1 * one).contains(&longest), "{longest}");
    // 49,152 blocks are nine transactions and some more, for which there is room when all nine are
    // committed and seven at their places.
    let seconds = outcome.report.latency["write"].mean * 1536.0;
    assert!((15.8 * one..16.2 * one).contains(&seconds), "{seconds}");
}
