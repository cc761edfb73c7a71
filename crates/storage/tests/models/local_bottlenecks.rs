//! Bottlenecks of a machine with a local file system: named correctly, with correct bounds.

use crate::bottleneck_cases::{Case, are_named, relieving_helps_as_was_said};

const MACHINE: &str = r#"
    system = "ext3"
    [machine.cpu]
    cores = 2
    system_call = "1 us"
    [machine.copying]
    page_in_l2 = "2 us"
    [machine.memory]
    size = "256 MiB"
    [machine.device]
    read_rate = "100 MB/s"
    write_rate = "100 MB/s"
    [[workload]]
    block = "64 MiB"
    transfer = "64 KiB"
"#;

const CASES: [Case; 6] = [
    Case {
        sets: &["workload.0.phases=[\"read\"]", "workload.0.io.cached=true"],
        place: "/processor",
        says: "The processor time of single processes",
        saturated: false,
        relief: "machine.copying.page_in_l2=0.2 us",
    },
    Case {
        sets: &[
            "workload.0.phases=[\"read\"]",
            "workload.0.io.cached=true",
            "clients.processes=8",
            "workload.0.block=16 MiB",
        ],
        place: "/processor",
        says: "its cores are",
        saturated: true,
        relief: "machine.cpu.cores=20",
    },
    Case {
        sets: &["workload.0.phases=[\"read\"]"],
        place: "/device",
        says: "/device is the bottleneck",
        saturated: true,
        relief: "machine.device.read_rate=1 GB/s",
    },
    Case {
        sets: &["workload.0.block=512 MiB"],
        place: "/dirty limit",
        says: "The limit of dirty pages",
        saturated: true,
        relief: "machine.device.write_rate=1 GB/s",
    },
    Case {
        sets: &[
            "workload.0.sync_per_write=true",
            "machine.device.time_per_request=5 ms",
            "workload.0.transfer=4 KiB",
            "workload.0.requests=500",
        ],
        place: "/journal",
        says: "The journal is the bottleneck",
        saturated: true,
        relief: "machine.file_system.journal.barriers=false",
    },
    Case {
        sets: &[
            "workload.0.phases=[\"read\"]",
            "workload.0.order=random",
            "workload.0.io.direct=true",
            "clients.processes=16",
            "machine.io_scheduler.depth=1",
            "machine.io_scheduler.kind=noop",
        ],
        place: "/I/O queue",
        says: "The I/O queue is the bottleneck",
        saturated: true,
        relief: "machine.device.read_rate=1 GB/s",
    },
];

#[test]
fn what_holds_processes_back_is_named() {
    are_named(MACHINE, &CASES);
}

#[test]
fn relieving_it_helps_by_no_more_than_was_said() {
    relieving_helps_as_was_said(MACHINE, &CASES);
}
