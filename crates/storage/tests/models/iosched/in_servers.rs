//! The queue before the device of a data server.

use crate::running::{close, run, station};

const SCENARIO: &str = r#"
    [clients]
    count = 8
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
    [network]
    bandwidth = "100 GB/s"
    latency = "1 us"
    [layout]
    unit = "1 MiB"
    [[workload]]
    block = "1 MiB"
    transfer = "8 KiB"
    order = "random"
"#;

/// The simple device does not care for order, so every scheduler keeps it as
/// busy as none does, and the same bytes go through it.
#[test]
fn every_scheduler_keeps_a_device_busy() {
    let time = |sets: &[&str]| {
        let outcome = run(SCENARIO, sets);
        let device = station(&outcome, "server/device");
        close(
            device.service.unwrap_or(0.0) * device.visits as f64,
            8.0 * 1048576.0 / 100e6,
            1e-6,
        );
        (outcome.report.simulated_seconds, device.visits)
    };
    let (alone, transfers) = time(&[]);
    assert_eq!(transfers, 8 * 128);
    for kind in [
        "none",
        "noop",
        "deadline",
        "mq-deadline",
        "anticipatory",
        "cfq",
        "bfq",
        "kyber",
    ] {
        let kind = format!("servers.io_scheduler.kind={kind}");
        let (queued, visits) = time(&[&kind, "servers.io_scheduler.depth=1"]);
        close(queued, alone, 0.01);
        assert!(visits <= transfers);
    }
}
