//! Cost of pages that belong to a transaction, with `data=journal`.

use crate::running::run;

/// The mean write of 64 KiB, in microseconds, of a cached file of 1 MiB.
fn mean_write(mode: &str, phases: &str) -> f64 {
    let sets = [
        format!("machine.file_system.journal.mode={mode}"),
        format!("workload.0.phases={phases}"),
    ];
    let outcome = run(
        r#"
        system = "ext3"
        [machine]
        file_system = { write_page = "1 us", write_page_in_transaction = "250 ns" }
        [machine.device]
        read_rate = "1000 TB/s"
        write_rate = "1000 TB/s"
        [[workload]]
        block = "1 MiB"
        transfer = "64 KiB"
        io = { existing = true, cached = true }
        "#,
        &sets.each_ref().map(String::as_str),
    );
    outcome.report.latency["write"].mean * 1e6
}

/// A page joins the running transaction once; it joins the next one again.
#[test]
fn pages_join_a_transaction_once() {
    for (mode, phases, expected) in [
        ("journal", r#"["write"]"#, 16.0),
        ("journal", r#"["write", "write"]"#, (16.0 + 4.0) / 2.0),
        (
            "journal",
            r#"["write", "write", "write", "write"]"#,
            (16.0 + 3.0 * 4.0) / 4.0,
        ),
        ("journal", r#"["write", "sync", "write"]"#, 16.0),
        // Data that goes to its place is in no transaction.
        ("ordered", r#"["write", "write"]"#, 16.0),
        ("writeback", r#"["write", "write"]"#, 16.0),
    ] {
        let found = mean_write(mode, phases);
        assert!((found - expected).abs() < 0.01, "{mode}, {phases}: {found}");
    }
}

/// The mean write of 1 MiB in milliseconds: all of a file of 4 MiB, at 3, 6, 9 and 12 ms, and again.
/// The journal takes a block in 0.1 ms.
fn mean_rewrite(mode: &str, commit_interval: &str) -> f64 {
    let outcome = run(
        r#"
        system = "ext3"
        [machine]
        cpu = { system_call = "3 ms" }
        device = { read_rate = "1000 TB/s", write_rate = "40.96 MB/s" }
        [[workload]]
        block = "4 MiB"
        transfer = "1 MiB"
        phases = ["write", "write"]
        io = { existing = true, cached = true }
        "#,
        &[
            &format!("machine.file_system.journal.mode={mode}"),
            &format!("machine.file_system.journal.commit_interval={commit_interval}"),
        ],
    );
    outcome.report.latency["write"].mean * 1e3
}

/// A writer of a page that is on its way into the journal waits until it is there, and not until
/// the transaction is.
#[test]
fn writers_wait_for_pages_on_their_way_into_the_journal() {
    for (mode, commit_interval, expected) in [
        // Committed at 13 ms: a descriptor with the inode and 499 pages until 63.1 ms, one with 500
        // until 113.2, one with 25 until 115.8. The fifth call arrives at 15 ms and has pages of
        // the first. The sixth arrives at 66.1 and has pages of both; those after it find all
        // there.
        ("journal", "10 ms", 3.0 + (48.1 + 47.1) / 8.0),
        // Committed when all is written.
        ("journal", "1 s", 3.0),
        // Only the inode goes there.
        ("ordered", "10 ms", 3.0),
    ] {
        let found = mean_rewrite(mode, commit_interval);
        let error = (found - expected).abs();
        // A histogram keeps latencies to some 0.01 %.
        assert!(error < 1e-2, "{mode}, {commit_interval}: {found}");
    }
}
