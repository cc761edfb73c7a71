//! Log forces of XFS by processes that append and sync.

use crate::running::run;

/// Milliseconds that each append of 4 KiB with an fsync takes in the mean, of `processes` that do
/// 200 each to files of their own. A write takes 0.1 ms and a flush 1 ms.
fn milliseconds_per_append(processes: u32) -> f64 {
    let outcome = run(
        r#"
        system = "xfs"
        [machine.device]
        kind = "throttled"
        rate = "1000 TB/s"
        latency = "100 us"
        flush = "1 ms"
        [machine.io_scheduler]
        kind = "none"
        [[workload]]
        block = "800 KiB"
        transfer = "4 KiB"
        phases = ["write"]
        sync_per_write = true
        "#,
        &[&format!("clients.processes={processes}")],
    );
    outcome.report.simulated_seconds * 1e3 / 200.0
}

/// A log write takes a flush, the write and a flush: 2.1 ms.
#[test]
fn processes_that_sync_share_log_buffers() {
    for (processes, expected) in [
        // Data and log write: 0.1 + 2.1.
        (1, 2.2),
        // While one process's buffer is written the other one fills the next: 2 * 2.1.
        (2, 4.2),
        // Buffers have processes 1, 3 and 4; 2; 1; 2, 3 and 4; 1; 2; and so on. Processes 3 and 4
        // flush once more, until the end of the buffer after theirs, and miss the one that is
        // then written. In three buffers 3 and 4 do one append each, 1 and 2 one and a half. So 1
        // and 2 end after 400 buffers. 3 and 4 then have 67 appends left, each in a buffer of its
        // own: 534 * 2.1 ms / 200.
        (4, 5.607),
    ] {
        let time = milliseconds_per_append(processes);
        assert!((time / expected - 1.0).abs() < 0.01, "{processes}: {time}");
    }
}
