//! Properties of every device: each transfer completes exactly once.

use crate::devices::{Ask, device, drive, read, sync, write};
use headrace_storage::{Content, device};
use proptest::prelude::*;
use proptest::sample::select;

const SIMPLE: &str =
    "read_rate = \"100 MB/s\"\nwrite_rate = \"50 MB/s\"\ntime_per_request = \"1 ms\"";

const THROTTLED: &str = "kind = \"throttled\"\nrate = \"1 GB/s\"\nread_rate = \"600 MB/s\"\n\
    write_rate = \"500 MB/s\"\nwrite_operations = 4000\nlargest_request = \"1280 KiB\"\n\
    latency = \"100 us\"";

const DISK: &str = "kind = \"disk\"\ncapacity = \"1 GB\"\nrpm = 10000\n\
    track_to_track_seek = \"0.3 ms\"\naverage_seek = \"4.7 ms\"\nfull_stroke_seek = \"10 ms\"\n\
    outer_rate = \"80 MB/s\"\ninner_rate = \"40 MB/s\"\ninterface_rate = \"320 MB/s\"\nzones = 5";

const SOLID: &str = "kind = \"solid-state\"\ncapacity = \"1 GB\"\nchannels = 4\ndies = 2\n\
    page = \"16 KiB\"\nread_time = \"50 us\"\nprogram_time = \"1 ms\"\n\
    channel_rate = \"400 MB/s\"\ninterface_rate = \"2 GB/s\"\npages_per_block = 16\n\
    over_provisioning = 0.1";

/// In front of a device's own fields.
const NETWORK: &str = "kind = \"network\"\nbandwidth = \"10 Gbit/s\"\nlatency = \"10 us\"\n\
    queues = 2\nclient_cpu.send = \"2 us\"\ntarget_cpu.receive = \"3 us\"";

fn single() -> Vec<String> {
    [
        (SIMPLE, ""),
        (THROTTLED, ""),
        (THROTTLED, "hypervisor.bulk_service = true"),
        (THROTTLED, "hypervisor.bulk_service = true\nqueue_depth = 3"),
        (DISK, ""),
        (DISK, "queue_depth = 32"),
        (DISK, "queue_depth = 4\nbuffer = \"1 MiB\""),
        (
            DISK,
            "queue_depth = 4\nbuffer = \"1 MiB\"\nwrite_cache = true",
        ),
        (SOLID, ""),
        (SOLID, "write_cache = \"1 MB\""),
        (
            SOLID,
            "write_cache = \"1 MB\"\npower_loss_protection = true\nfill = 0.3",
        ),
    ]
    .map(|(kind, more)| format!("{kind}\n{more}"))
    .into_iter()
    .chain(["nvme-tcp", "nvme-rdma", "iscsi"].map(|protocol| {
        format!(
            "{NETWORK}\nprotocol = \"{protocol}\"\nqueue_depth = 3\n[servers.device.target]\n{SOLID}"
        )
    }))
    .chain([format!(
        "{NETWORK}\nconnection_rate = \"1 Gbit/s\"\n[servers.device.target]\n{THROTTLED}"
    )])
    .collect()
}

fn arrays() -> Vec<String> {
    let mut all = Vec::new();
    for member in [SIMPLE, THROTTLED, DISK, SOLID] {
        for (level, disks, failed) in [
            (0, 3, ""),
            (1, 3, "failed = [1]"),
            (5, 4, "failed = [2]"),
            (6, 5, "failed = [2, 0]"),
            (10, 4, "failed = [2]"),
        ] {
            let disk = if level == 1 { 1 } else { 2 };
            let rebuild = match failed {
                "" => String::new(),
                _ => format!(
                    "[servers.device.rebuild]\ndisk = {disk}\nsize = \"20 MB\"\nrate = \"100 MB/s\""
                ),
            };
            for cache in ["", "size = \"3 MB\"", "size = \"3 MB\"\nbattery = false"] {
                all.push(format!(
                    "kind = \"raid\"\nlevel = {level}\ndisks = {disks}\nchunk = \"64 KiB\"\n{failed}\n\
                     {rebuild}\n[servers.device.cache]\n{cache}\n[servers.device.member]\n{member}"
                ));
            }
        }
    }
    all
}

/// Addresses at the begin, about the end and beyond it, as far as they go.
fn ask(capacity: u64) -> impl Strategy<Value = Ask> {
    let corners = vec![
        0,
        1,
        capacity - 4096,
        capacity - 1,
        capacity,
        3 * capacity + 5,
        u64::MAX,
    ];
    let address = prop_oneof![select(corners), 0..3_000_000_u64, 0..capacity];
    let size = prop_oneof![
        select(vec![0, 1, 511, 4096, 8192]),
        select(vec![1 << 20, 20_000_000]),
        0..300_000_u64
    ];
    let contents = vec![Content::Data, Content::Metadata];
    let flags = (any::<bool>(), any::<bool>(), select(contents));
    (0..9_u8, address, size, flags).prop_map(|(kind, address, size, (forced, new, content))| {
        let ask = match kind {
            0..4 => read(address, size),
            4..8 => write(address, size),
            _ => sync(),
        };
        Ask {
            forced,
            content,
            first_used: if new {
                ask.size.div_ceil(4096) as u32
            } else {
                0
            },
            ..ask
        }
    })
}

/// A transfer that comes twice, or not at all, is the driver's panic.
fn each_comes_back(texts: Vec<String>, cases: u32) -> Result<(), TestCaseError> {
    let strategy = select(texts).prop_flat_map(|text| {
        let capacity = device::capacity(&device(&text)).min(1 << 40);
        (
            Just(text),
            prop::collection::vec(ask(capacity), 1..120),
            1..130_usize,
        )
    });
    let config = ProptestConfig::with_cases(cases);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&strategy, |(text, script, depth)| {
        drive(&device(&text), &script, depth);
        Ok(())
    });
    result.map_err(|error| TestCaseError::fail(error.to_string()))
}

#[test]
fn every_transfer_of_every_device_comes_back_once() -> Result<(), TestCaseError> {
    each_comes_back(single(), 150)
}

#[test]
fn every_transfer_of_every_array_comes_back_once() -> Result<(), TestCaseError> {
    each_comes_back(arrays(), 200)
}

#[test]
fn ten_thousand_may_be_out() {
    let mut random = crate::devices::random(11);
    let script: Vec<Ask> = (0..10_000)
        .map(|n| {
            let (address, size) = (random(1 << 31), random(20_000));
            match n % 50 {
                0 => sync(),
                it if it % 2 == 0 => read(address, size),
                _ => write(address, size),
            }
        })
        .collect();
    let every_third = arrays().into_iter().skip(1).step_by(3);
    for text in single().into_iter().chain(every_third) {
        drive(&device(&text), &script, 10_000);
    }
}
