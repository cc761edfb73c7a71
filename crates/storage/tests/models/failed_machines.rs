//! Data servers that are machines, and fail: the loss of their memory.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{busy, close, latencies, refusal, run};

/// Servers whose machines may have 4 MiB dirty before they write anything back.
const MACHINES: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    [servers.machine]
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    memory = { size = "64 MiB" }
    write_back = { bytes = "8 MiB", background_bytes = "4 MiB" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "64 KiB"
    [recovery]
    timeout = "100 ms"
    retry = "30 ms"
    [[workload]]
    block = "2 MiB"
    transfer = "64 KiB"
    phases = ["write", "read"]
"#;

fn failing(failure: &str, sets: &[&str]) -> Outcome {
    run(&format!("{MACHINES}\n[[failure]]\n{failure}"), sets)
}

/// Data that is not on the device is lost, and later reads come from the device.
#[test]
fn a_machine_forgets_what_only_its_memory_has() {
    // Messages of 64 KiB and two latencies take 87 us: all 32 writes are done by 2.9 ms, and
    // one has been read again.
    let failure = "server = 0\nat = \"2.9 ms\"\nuntil = \"50 ms\"";
    let outcome = failing(failure, &[]);
    assert_eq!(outcome.report.failures[0].forgotten_bytes, 2 << 20);
    let bytes = outcome.report.operations["read"].bytes as f64;
    close(
        busy(&outcome, "machine/device"),
        (bytes - 65_536.0) * 10_000.0,
        1e-3,
    );
    let undisturbed = run(MACHINES, &[]);
    assert!(busy(&undisturbed, "machine/device") < 0.01 * bytes * 10_000.0);
}

/// Synced data survives.
#[test]
fn a_machine_keeps_what_was_synchronous() {
    // 32 writes of 1.4 ms each are done by then, and some of the reads.
    let failure = "server = 0\nat = \"45.5 ms\"\nuntil = \"90 ms\"";
    let sets = ["servers.daemon.synchronous=true"];
    let outcome = failing(failure, &sets);
    assert_eq!(outcome.report.failures[0].forgotten_bytes, 0);
    let read = &outcome.report.operations["read"];
    let bytes = read.bytes as f64;
    // After the failure the page cache is empty, so reads go to the device.
    let at_device = busy(&outcome, "machine/device");
    assert!(at_device > bytes * (20_000.0 + 5_000.0), "{at_device}");
}

#[test]
fn data_in_a_journal_is_refused() {
    let text = format!("{MACHINES}\n[[failure]]\nserver = 0\nat = \"1 s\"\nuntil = \"2 s\"");
    let error = refusal(&text, &["servers.machine.file_system.journal.mode=journal"]);
    assert!(error.contains("what of its data"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After any failures of machines, every request is done, and nothing waits for lost data. The
    /// same run gives the same result.
    #[test]
    fn no_request_is_lost(
        journal in prop::sample::select(vec!["none", "ordered", "writeback", "log"]),
        failures in prop::collection::vec((0_u32..3, 0_u32..60, 1_u32..300), 1..4),
        limit in prop::sample::select(vec!["256 KiB", "1 MiB", "8 MiB"]),
        synchronous in any::<bool>(), threads in 1_u32..5, small in any::<bool>(),
        copies in 1_u32..3, cached in any::<bool>(),
    ) {
        let mut text = MACHINES.to_owned();
        let mut away = [0; 3];
        for (server, at, length) in failures {
            let at = at.max(away[server as usize] + 1);
            away[server as usize] = at + length;
            let until = at + length;
            text.push_str(&format!(
                "[[failure]]\nserver = {server}\nat = \"{at} ms\"\nuntil = \"{until} ms\"\n"
            ));
        }
        let mut sets = vec![
            "servers.count=3".to_owned(),
            format!("servers.machine.file_system.journal.mode={journal}"),
            format!("servers.machine.write_back.bytes={limit}"),
            "servers.machine.write_back.background_bytes=128 KiB".to_owned(),
            format!("servers.daemon.threads={threads}"),
            format!("servers.daemon.synchronous={synchronous}"),
            "servers.machine.memory.size=16 MiB".to_owned(),
            "layout.servers=all".to_owned(),
            "clients.count=3".to_owned(),
            format!("workload.0.transfer={}", if small { "10 kB" } else { "250 kB" }),
            "workload.0.block=1 MB".to_owned(),
            format!("replication.copies={copies}"),
        ];
        if copies > 1 {
            sets.push("replication.sets=random".to_owned());
        }
        if cached {
            sets.push("clients.machine.memory.size=64 MiB".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        let count = if small { 300 } else { 12 };
        for operation in ["write", "read"] {
            let done = &outcome.report.operations[operation];
            prop_assert_eq!((done.count, done.bytes, done.failed), (count, 3_000_000, 0));
        }
        let again = run(&text, &sets);
        prop_assert_eq!(latencies(&again), latencies(&outcome));
        prop_assert_eq!(again.report.events, outcome.report.events);
    }
}
