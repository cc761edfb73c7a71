//! What pages take that the running transaction has, where data goes through the journal.

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

/// A page joins the running transaction once; the next one it joins anew.
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
