//! The shipped scenario whose answer is known: disks that never rest.

use crate::running::{close, run_scenario, shipped, station};

/// 64 clients × 400 files × 1 MiB = 26,843,545,600 B come from 4 disks of 60
/// MB/s. Every request puts 256 KiB on each disk, and 64 requests are in
/// flight. After the first round trip no disk rests: 26,843,545,600 / 240e6 =
/// 111.848 s. The first and last requests' way over the network adds less than
/// 0.05 %.
#[test]
fn takes_what_its_disks_take() {
    let outcome = run_scenario(&shipped("striped-read.toml", &[]));
    let theory = 64.0 * 400.0 * 1048576.0 / (4.0 * 60e6);
    let simulated = outcome.report.simulated_seconds;
    close(simulated, theory, 5e-4);
    assert!(simulated > theory, "faster than the disks: {simulated}");
    let device = station(&outcome, "server/device");
    assert_eq!(device.visits, 64 * 400 * 4);
    close(device.service.unwrap_or(0.0), 262_144.0 / 60e6, 1e-9);
    assert_eq!(outcome.report.operations["read"].count, 64 * 400);
    assert_eq!(outcome.report.operations["read"].bytes, 26_843_545_600);
}

/// The disks stay the limit with other numbers of clients and servers.
#[test]
fn time_follows_from_the_disks_at_other_sizes() {
    for (clients, servers) in [(8, 1), (16, 2), (32, 3), (64, 8)] {
        let sets = [
            format!("clients.count={clients}"),
            format!("servers.count={servers}"),
            "workload.0.files=100".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run_scenario(&shipped("striped-read.toml", &sets));
        let bytes = f64::from(clients) * 100.0 * 1048576.0;
        // A request has four stripes: over three or eight servers no round of
        // requests is even, and disks may rest at its end.
        let part = if 4 % servers == 0 { 0.01 } else { 0.06 };
        close(
            outcome.report.simulated_seconds,
            bytes / (f64::from(servers) * 60e6),
            part,
        );
    }
}
