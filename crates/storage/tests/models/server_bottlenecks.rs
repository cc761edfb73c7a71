//! Bottlenecks of a parallel file system whose servers are machines: named correctly, with correct
//! bounds.

use crate::bottleneck_cases::{Case, are_named, relieving_helps_as_was_said};

const SYSTEM: &str = r#"
    [clients]
    count = 16
    [network]
    bandwidth = "1 GB/s"
    latency = "20 us"
    [layout]
    unit = "64 KiB"
    [servers]
    count = 2
    [servers.daemon]
    threads = 16
    time_per_job = "10 us"
    [servers.machine]
    system = "ext3"
    [servers.machine.cpu]
    cores = 2
    system_call = "1 us"
    [servers.machine.copying]
    page_in_l2 = "2 us"
    [servers.machine.memory]
    size = "256 MiB"
    [servers.machine.device]
    read_rate = "100 MB/s"
    write_rate = "100 MB/s"
    [[workload]]
    block = "8 MiB"
    transfer = "256 KiB"
"#;

const CASES: [Case; 6] = [
    Case {
        sets: &["workload.0.phases=[\"read\"]"],
        place: "server/machine/device",
        says: "server/machine/device is the bottleneck",
        saturated: true,
        relief: "servers.machine.device.read_rate=1 GB/s",
    },
    // The jobs that wait for a thread wait for the device.
    Case {
        sets: &["workload.0.phases=[\"read\"]", "servers.daemon.threads=4"],
        place: "server/machine/device",
        says: "server/machine/device is the bottleneck",
        saturated: true,
        relief: "servers.machine.device.read_rate=1 GB/s",
    },
    Case {
        sets: &[
            "workload.0.phases=[\"read\"]",
            "workload.0.io.cached=true",
            "servers.daemon.time_per_job=2 ms",
        ],
        place: "server/machine/processor",
        says: "its cores are",
        saturated: true,
        relief: "servers.machine.cpu.cores=20",
    },
    Case {
        sets: &["workload.0.block=64 MiB"],
        place: "server/machine/dirty limit",
        says: "The limit of dirty pages",
        saturated: true,
        relief: "servers.machine.device.write_rate=1 GB/s",
    },
    Case {
        sets: &[
            "workload.0.phases=[\"read\"]",
            "workload.0.order=random",
            "workload.0.transfer=4 KiB",
            "workload.0.requests=100",
            "servers.daemon.threads=1",
            "servers.machine.device={ kind = \"solid-state\", model = \"P3700-1.6TB\" }",
        ],
        place: "server/waiting for a thread",
        says: "The daemon's threads are the bottleneck",
        saturated: false,
        relief: "servers.daemon.threads=16",
    },
    Case {
        sets: &[
            "workload.0.phases=[\"read\"]",
            "workload.0.io.cached=true",
            "network.bandwidth=100 MB/s",
        ],
        place: "server/card sending",
        says: "server/card sending is the bottleneck",
        saturated: true,
        relief: "servers.card.bandwidth=10 GB/s",
    },
];

#[test]
fn what_holds_requests_back_is_named() {
    are_named(SYSTEM, &CASES);
}

#[test]
fn relieving_it_helps_by_no_more_than_was_said() {
    relieving_helps_as_was_said(SYSTEM, &CASES);
}
