//! Pipelines: known answers worked out by hand, and that every byte read is
//! written once, in order, with no more buffers filled than there are.

use headrace_storage::measure::Completed;
use headrace_trace::Operation;
use proptest::prelude::*;

use crate::running::{refusal, run};

/// Reads and writes go to devices of their own, past the page cache.
const TWO_DEVICES: &str = r#"
    kind = "local"
    [clients]
    count = 1
    [machine.cpu]
    cores = 4
    [machine.device]
    read_rate = "1 GB/s"
    write_rate = "1 GB/s"
    [[machine.volume]]
    name = "second"
    device = { read_rate = "1 GB/s", write_rate = "500 MB/s" }
    [[workload]]
    kind = "pipeline"
    input = "100 MB"
    request = "1 MB"
    output_volume = "second"
    io.direct = true
"#;

fn seconds(sets: &[&str]) -> f64 {
    run(TWO_DEVICES, sets).report.simulated_seconds
}

fn is(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{found} s, not {expected} s"
    );
}

#[test]
fn one_thread_does_one_thing_after_the_other() {
    // 100 times 1 ms to read and 2 ms to write.
    is(seconds(&[]), 0.3);
    let computing = "workload.0.compute_per_request=4 ms";
    is(seconds(&[computing]), 0.7);
    is(seconds(&["workload.0.compute_per_byte=4 ns"]), 0.7);
}

#[test]
fn threads_with_a_ring_go_as_fast_as_the_slowest_stage() {
    let separate = "workload.0.threads=separate";
    // The first read, then one write after the other.
    is(seconds(&[separate]), 0.001 + 0.2);
    is(seconds(&[separate, "workload.0.buffers=2"]), 0.001 + 0.2);
    // With one buffer nothing goes on at the same time.
    is(seconds(&[separate, "workload.0.buffers=1"]), 0.3);
    let computing = "workload.0.compute_per_request=4 ms";
    is(seconds(&[separate, computing]), 0.001 + 0.4 + 0.002);
    is(seconds(&[separate, computing, "workload.0.buffers=1"]), 0.7);
}

#[test]
fn computing_contends_for_the_cores() {
    let sets = [
        "workload.0.threads=separate",
        "workload.0.compute_per_request=4 ms",
        "clients.processes=8",
        "machine.device.read_rate=1000 TB/s",
        "machine.volume.0.device.write_rate=1000 TB/s",
    ];
    // 800 computations on four cores.
    let found = seconds(&sets);
    assert!((found - 0.8).abs() < 1e-3, "{found} s");
    let alone = [&sets[..], &["machine.cpu.cores=8"]].concat();
    let found = seconds(&alone);
    assert!((found - 0.4).abs() < 1e-3, "{found} s");
}

#[test]
fn one_byte_calls_take_their_time_in_the_library() {
    let sets = [
        "workload.0.request=1 B",
        "workload.0.io.direct=false",
        "workload.0.io.interface=library",
        "machine.cpu.library_call=10 ns",
        "machine.cpu.system_call=1 us",
        "machine.device.read_rate=1000 TB/s",
        "machine.volume.0.device.write_rate=1000 TB/s",
        "workload.0.input=4096 kB",
    ];
    let found = run(TWO_DEVICES, &sets);
    // Two library calls a byte, two system calls for each 4 KiB.
    let expected = 4_096_000.0 * 20e-9 + 2.0 * 1000.0 * 1e-6;
    let seconds = found.report.simulated_seconds;
    assert!(
        (seconds / expected - 1.0).abs() < 1e-3,
        "{seconds} s, not {expected} s"
    );
    assert_eq!(found.report.operations["read"].count, 1000);
}

#[test]
fn without_a_machine_computing_takes_time_all_the_same() {
    let text = r#"
        [clients]
        count = 1
        [servers]
        count = 1
        device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
        [network]
        bandwidth = "1000 TB/s"
        latency = "0 s"
        [layout]
        unit = "1 MiB"
        [[workload]]
        kind = "pipeline"
        input = "10 MB"
        request = "1 MB"
        compute_per_request = "5 ms"
        threads = "separate"
    "#;
    let found = run(text, &[]).report.simulated_seconds;
    assert!((0.05..0.06).contains(&found), "{found} s");
}

#[test]
fn a_file_written_over_is_read_and_written_on_one_device() {
    let text = TWO_DEVICES.replace("output_volume = \"second\"", "in_place = true");
    let found = run(&text, &["machine.device.write_rate=250 MB/s"]).report;
    // 100 times 1 ms to read and 4 ms to write.
    is(found.simulated_seconds, 0.5);
}

#[test]
fn an_output_volume_must_be_one() {
    let wrong = TWO_DEVICES.replace("output_volume = \"second\"", "output_volume = \"secnd\"");
    let message = refusal(&wrong, &[]);
    assert!(message.contains("did you mean \"second\"?"), "{message}");
}

/// Ranges of one operation, in the order in which they were asked.
fn ranges(requests: &[Completed], operation: Operation) -> Vec<Completed> {
    let mut own: Vec<Completed> = requests
        .iter()
        .filter(|it| it.request.operation == operation)
        .copied()
        .collect();
    own.sort_by_key(|it| (it.request.issued, it.request.offset));
    own
}

fn follow_each_other(requests: &[Completed], size: u64) {
    let mut at = 0;
    for it in requests {
        assert_eq!(it.request.offset, at);
        at += it.request.size;
    }
    assert_eq!(at, size);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_byte_is_handed_on_once_and_in_order(
        input in 1..3_000_000_u64,
        output in 1..3_000_000_u64,
        request in 10_000..500_000_u64,
        buffers in 1..9_u32,
        threads in prop::sample::select(vec!["one", "separate"]),
        compute in 0..3_u32,
        rates in (1..50_u32, 1..50_u32),
        direct in any::<bool>(),
        cores in 1..4_u32,
    ) {
        let sets = [
            format!("workload.0.input={input} B"),
            format!("workload.0.output={output} B"),
            format!("workload.0.request={request} B"),
            format!("workload.0.buffers={buffers}"),
            format!("workload.0.threads={threads}"),
            format!("workload.0.compute_per_request={compute} ms"),
            format!("workload.0.io.direct={direct}"),
            format!("machine.device.read_rate={} MB/s", rates.0),
            format!("machine.volume.0.device.write_rate={} MB/s", rates.1),
            format!("machine.cpu.cores={cores}"),
            "workload.0.sync=true".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let found = run(TWO_DEVICES, &sets).requests;
        let reads = ranges(&found, Operation::Read);
        let writes = ranges(&found, Operation::Write);
        follow_each_other(&reads, input);
        follow_each_other(&writes, output);
        prop_assert_eq!(reads.len(), writes.len());
        let most = if threads == "one" { 1 } else { buffers as usize };
        for (index, (read, write)) in reads.iter().zip(&writes).enumerate() {
            prop_assert!(read.completed <= write.request.issued);
            if index >= most {
                prop_assert!(writes[index - most].completed <= read.request.issued);
            }
        }
    }
}

/// Four pipelines on four servers, each file on one: each server has one input and one output.
#[test]
fn inputs_and_outputs_lie_on_all_servers() {
    let text = r#"
        [clients]
        count = 4
        [servers]
        count = 4
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
        [network]
        bandwidth = "10 GB/s"
        latency = "10 us"
        [layout]
        unit = "1 MB"
        servers = 1
        [[workload]]
        kind = "pipeline"
        input = "10 MB"
        request = "1 MB"
    "#;
    for server in run(text, &[]).report.servers {
        assert_eq!(
            (server.read_bytes, server.written_bytes),
            (10_000_000, 10_000_000),
            "server {}",
            server.server
        );
    }
}
