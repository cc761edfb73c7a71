//! Progressive layouts, data on metadata servers, and striped directories.

use crate::running::{busy, close, refusal, run, shipped, station};

/// Eight servers; files of three components.
const SYSTEM: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 8
    device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
    [network]
    bandwidth = "1000 TB/s"
    latency = "0 s"
    [layout]
    kind = "progressive"
    first = "zero"
    component = [
        { end = "4 MiB", servers = 1, unit = "1 MiB" },
        { end = "16 MiB", servers = 2, unit = "1 MiB" },
        { servers = 4, unit = "2 MiB" },
    ]
    [[workload]]
    transfer = "1 MiB"
"#;

/// Every byte of a file is written once, however many servers its components share.
#[test]
fn components_share_servers_where_there_are_few() {
    for servers in 1..=8 {
        let set = format!("servers.count={servers}");
        let outcome = run(SYSTEM, &[&set, "workload.0.block=64 MiB"]);
        close(
            busy(&outcome, "server/device") * 1e-3,
            f64::from(64 << 20),
            1e-9,
        );
    }
}

/// A file of one component is on one server. As many bytes as fit take it 4.2 ms, and the next 12
/// MiB are on two servers, in half the time.
#[test]
fn larger_files_are_on_more_servers() {
    let seconds = |block: &str| {
        let sets = [
            &format!("workload.0.block={block}"),
            "workload.0.transfer=4 MiB",
        ];
        run(SYSTEM, &sets).report.simulated_seconds
    };
    let mib = 1_048_576e-9;
    close(seconds("4 MiB"), 4.0 * mib, 1e-5);
    close(seconds("16 MiB"), (4.0 + 6.0) * mib, 1e-5);
    close(seconds("32 MiB"), (4.0 + 6.0 + 8.0) * mib, 1e-5);
}

/// An operation takes the metadata server 1 ms, the data server 1 ms a job. A message takes the
/// network 10 us, and a byte on the wire 1 ns.
const SMALL_FILES: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 2
    device = { read_rate = "1000 TB/s", write_rate = "1000 TB/s", time_per_request = "1 ms" }
    [metadata]
    time_per_operation = "1 ms"
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    mtu = "1 GB"
    header = "0 B"
    framing = "0 B"
    message = "100 B"
    [layout]
    kind = "progressive"
    component = [
        { end = "64 KiB", on = "metadata-server" },
        { servers = 2, unit = "1 MiB" },
    ]
    [[workload]]
    block = "64 KiB"
    phases = ["read"]
"#;

/// The answer to the open brings a small file: one round trip, 100 B there and 64 KiB + 100 B back.
/// Without, an open and a read: two round trips, and the disk.
#[test]
fn a_small_file_on_the_metadata_server_takes_one_request_instead_of_two() {
    let bytes = 65_536.0;
    let message = 100e-9 + 10e-6;
    let one = run(SMALL_FILES, &[]).report.simulated_seconds;
    // Each of two links carries every byte.
    let there_and_back = |data: f64| 2.0 * (message + 100e-9) + 2.0 * data * 1e-9;
    let expected = there_and_back(bytes) + 1e-3;
    let slack = 15e-6;
    assert!((one - expected).abs() < slack, "{one}, {expected}");
    let striped = ["layout.component=[{ servers = 2, unit = \"1 MiB\" }]"];
    let two = run(SMALL_FILES, &striped).report.simulated_seconds;
    let expected = there_and_back(0.0) + there_and_back(bytes) + 2e-3;
    assert!((two - expected).abs() < 2.0 * slack, "{two}, {expected}");
    // The saving is a round trip and the disk.
    close(two - one, 1e-3 + 2.0 * message, 0.02);
}

/// Larger files have their first bytes there too, and all of them arrive.
#[test]
fn larger_files_begin_on_the_metadata_server() {
    let sets = [
        "workload.0.block=1 MiB",
        "workload.0.phases=[\"write\", \"read\", \"sync\"]",
    ];
    for transfer in ["16 KiB", "64 KiB", "1 MiB"] {
        let transfer = format!("workload.0.transfer={transfer}");
        let outcome = run(SMALL_FILES, &[&sets[..], &[&transfer]].concat());
        assert_eq!(outcome.report.operations["read"].bytes, 1 << 20);
        assert_eq!(outcome.report.operations["write"].bytes, 1 << 20);
    }
    // With a cache on the client too.
    for sets in [
        vec!["clients.kind=machine"],
        vec!["clients.kind=machine", "locks.kind=extent"],
    ] {
        let block = [
            "workload.0.block=1 MiB",
            "workload.0.phases=[\"write\", \"sync\", \"read\"]",
        ];
        let outcome = run(SMALL_FILES, &[&sets[..], &block].concat());
        assert_eq!(outcome.report.operations["read"].bytes, 1 << 20);
    }
}

/// With a client cache, the answer to the open fills it: reading the file again takes no message.
#[test]
fn the_answer_to_an_open_fills_the_cache() {
    let sets = [
        "clients.kind=machine",
        "workload.0.phases=[\"read\", \"read\"]",
    ];
    let outcome = run(SMALL_FILES, &sets);
    let times: Vec<u64> = crate::running::latencies(&outcome);
    assert_eq!(times.len(), 2);
    assert!(
        times[0] > 1_000_000_000 && times[0] < 1_200_000_000,
        "{times:?}"
    );
    assert!(times[1] < 1_000_000, "{times:?}");
    let devices = station(&outcome, "server/device");
    assert_eq!(devices.visits, 0);
}

/// On a database's device, data that is not in memory is read there, and written before the answer.
#[test]
fn data_on_metadata_takes_the_metadata_servers_device() {
    let database = [
        "metadata.kind=database",
        "metadata.cache=0 B",
        "metadata.device.time_per_request=5 ms",
        "metadata.device.read_rate=1000 TB/s",
        "metadata.device.write_rate=1000 TB/s",
    ];
    let plain = run(SMALL_FILES, &["workload.0.phases=[\"write\"]"]);
    let write = run(
        SMALL_FILES,
        &[&database[..], &["workload.0.phases=[\"write\"]"]].concat(),
    );
    // The open reads the entry, and the write writes the data.
    let more = write.report.simulated_seconds - plain.report.simulated_seconds;
    close(more, 10e-3, 1e-3);
}

#[test]
fn data_on_metadata_where_it_is_not_modelled_is_refused() {
    for (set, expected) in [
        ("metadata.on=data-servers", "metadata.on = \"own-hosts\""),
        ("replication.copies=2", "replication.copies = 1"),
        ("metadata.lookups=everywhere", "metadata.lookups = \"one\""),
        (
            "layout.component=[{ end = \"64 KiB\", on = \"metadata-server\" }]",
            "another component",
        ),
        (
            "layout.component=[{ end = \"1 MiB\" }, { end = \"1 MiB\" }]",
            "expected more",
        ),
        (
            "layout.component=[{ end = \"1 MiB\" }, { end = \"2 MiB\" }]",
            "leave it out of the last",
        ),
        (
            "layout.component=[{ end = \"100 KiB\" }, { servers = 2 }]",
            "multiple of 64 KiB",
        ),
        (
            "layout.component=[{ end = \"1 MiB\", unit = \"3 MiB\" }, {}]",
            "multiple of its unit",
        ),
        (
            "layout.component=[{ servers = 1 }, { servers = 2 }]",
            "another component follows",
        ),
    ] {
        let why = refusal(SMALL_FILES, &[set, "metadata.servers=2"]);
        assert!(why.contains(expected), "{set}: {why}");
    }
}

/// Creates in one striped directory scale with the metadata servers as far as a hash balances them.
#[test]
fn striped_directories_scale_until_the_hash_limits_them() {
    let rate = |servers: u32| {
        let scenario = format!(
            r#"
            system = "lustre-2.15"
            [clients]
            count = 64
            kind = "simple"
            [servers]
            count = 4
            device = {{ read_rate = "1 GB/s", write_rate = "1 GB/s" }}
            [metadata]
            servers = {servers}
            time_per_operation = "100 us"
            [network]
            bandwidth = "1000 TB/s"
            latency = "0 s"
            [[workload]]
            kind = "mdtest"
            files = 200
            phases = ["create"]
            "#
        );
        let outcome = run(&scenario, &[]);
        let creates = outcome.report.operations["create"].count as f64;
        creates / outcome.report.simulated_seconds
    };
    let one = rate(1);
    close(one, 10_000.0, 0.01);
    for servers in [2, 4, 8] {
        let speed_up = rate(servers) / one;
        let most = f64::from(servers);
        assert!(
            speed_up > 0.75 * most && speed_up <= 1.001 * most,
            "{servers}: {speed_up}"
        );
    }
}

/// The shipped scenario runs, and its small files are read without the data servers.
#[test]
fn the_shipped_scenario_runs() {
    let outcome = crate::running::run_scenario(&shipped("lustre-2.15.toml", &[]));
    assert!(outcome.report.simulated_seconds > 0.0);
}
