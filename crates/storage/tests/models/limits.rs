//! The smallest, the largest and the absurd: they run, or are refused with the reason.

use std::path::PathBuf;

use crate::running::{SMALLEST, latencies, refusal, run};

/// Runs and checks that every byte came.
fn moves(text: &str, sets: &[&str], bytes: u64) {
    let outcome = run(text, sets);
    let moved: u64 = outcome.report.operations.values().map(|it| it.bytes).sum();
    assert_eq!(moved, bytes, "{sets:?}");
    let json = serde_json::to_value(&outcome.report).unwrap();
    let gain = json["bottleneck"].get("most_gain");
    assert!(gain.is_none_or(|gain| gain.is_number()), "{gain:?}");
}

#[test]
fn small_systems_run() {
    moves(SMALLEST, &[], 1_000_000);
    moves(SMALLEST, &["workload.0.block=1 B"], 1);
    moves(
        SMALLEST,
        &["workload.0.block=1 kB", "workload.0.transfer=1 B"],
        1000,
    );
    moves(
        SMALLEST,
        &[
            "workload.0.block=1 kB",
            "layout.unit=1 B",
            "servers.count=7",
        ],
        1000,
    );
    moves(
        SMALLEST,
        &["layout.servers=1", "servers.count=9"],
        1_000_000,
    );
    moves(
        SMALLEST,
        &["servers.count=64", "layout.unit=1 kB"],
        1_000_000,
    );
    moves(
        SMALLEST,
        &["servers.count=5000", "layout.unit=1 kB"],
        1_000_000,
    );
    moves(
        SMALLEST,
        &["metadata.servers=7", "workload.0.files=20"],
        20_000_000,
    );
}

#[test]
fn a_hundred_thousand_clients_run() {
    for topology in ["network.topology=star", "network.topology=pairs"] {
        moves(
            SMALLEST,
            &["clients.count=100000", topology],
            100_000_000_000,
        );
    }
}

#[test]
fn nothing_may_cost_nothing() {
    let free = [
        "network.latency=0 s",
        "network.bandwidth=1e290 TB/s",
        "servers.device.read_rate=1e290 TB/s",
        "servers.device.write_rate=1e290 TB/s",
        "workload.0.files=100",
        "workload.0.phases=[\"write\", \"read\"]",
    ];
    for topology in ["network.topology=star", "network.topology=pairs"] {
        for duplex in ["network.duplex=full", "network.duplex=half"] {
            let sets: Vec<&str> = free.iter().chain(&[topology, duplex]).copied().collect();
            moves(SMALLEST, &sets, 200_000_000);
            assert!(latencies(&run(SMALLEST, &sets)).iter().all(|&it| it == 0));
        }
    }
    // For ever in no time: the loop is found.
    let mut forever = free.to_vec();
    forever.extend(["workload.0.repeat=forever", "run.stop.time=1 s"]);
    let message = refusal(SMALLEST, &forever);
    assert!(message.contains("time stands still"), "{message}");
}

#[test]
fn caches_of_any_size_work() {
    let caches = [
        // Smaller than a job.
        "memory = { cache = \"64 KiB\" }",
        "memory = { cache = \"64 KiB\", dirty_limit = \"64 KiB\" }",
        "memory = { cache = \"4 KiB\", dirty_limit = \"4 KiB\" }",
        // Pages larger than a job, or larger than 4 MiB.
        "memory = { cache = \"64 MiB\", page = \"2 MiB\", dirty_limit = \"3 MiB\" }",
        "memory = { cache = \"64 MiB\", page = \"16 MiB\", dirty_limit = \"16 MiB\" }",
        "memory = { cache = \"64 MiB\", page = \"16 MiB\" }",
        // A limit of less than a page.
        "memory = { cache = \"1 MiB\", dirty_limit = \"100 B\" }",
        "memory = { cache = \"1 MB\", page = \"7 B\", dirty_limit = \"123456 B\" }",
        "memory = { cache = \"18000 PB\", page = \"1 B\", dirty_limit = \"18000 PB\" }",
    ];
    for memory in caches {
        let text = SMALLEST.replace(
            "count = 1\n    device",
            &format!("count = 1\n    {memory}\n    device"),
        );
        assert!(text.contains(memory));
        let sets = [
            "clients.count=3",
            "workload.0.files=4",
            "workload.0.phases=[\"write\", \"read\", \"write\"]",
            "workload.0.transfer=100 kB",
            "workload.0.order=random",
        ];
        moves(&text, &sets, 3 * 3 * 4_000_000);
    }
}

#[test]
fn large_requests_run_or_are_refused() {
    moves(SMALLEST, &["workload.0.block=1 TiB"], 1 << 40);
    moves(
        SMALLEST,
        &["workload.0.block=1 TiB", "layout.packet=2 MiB"],
        1 << 40,
    );
    let message = refusal(
        SMALLEST,
        &["workload.0.block=1 TiB", "layout.packet=64 KiB"],
    );
    assert!(message.contains("layout.packet"), "{message}");
    // 1 EB at 100 MB/s are 317 years.
    let message = refusal(SMALLEST, &["workload.0.block=1000 PB"]);
    assert!(message.contains("213 days"), "{message}");
    // 64 blocks of 2^59 B beside each other do not fit into 64 bits.
    let message = refusal(
        SMALLEST,
        &[
            "clients.count=64",
            "workload.0.block=576460752303423488 B",
            "workload.0.access=shared",
        ],
    );
    assert!(message.contains("workload.0.block"), "{message}");
    let message = refusal(SMALLEST, &["network.bandwidth=1e-300 B/s"]);
    assert!(message.contains("213 days"), "{message}");
}

/// Errors found only in a run name the fields to check.
#[test]
fn times_past_the_end_of_time_name_the_fields_that_make_them() {
    let twice = ["workload.0.files=2", "workload.0.think=200 d"];
    for (sets, field) in [
        (&["network.latency=200 d"][..], "network.latency"),
        (
            &["network.latency=200 d", "network.topology=pairs"],
            "network.latency",
        ),
        (
            &["servers.daemon.time_per_job=200 d", "layout.packet=100 kB"],
            "servers.daemon.time_per_job",
        ),
        (
            &[
                "servers.device.time_per_request=200 d",
                "layout.packet=100 kB",
            ],
            "servers.device",
        ),
        (
            &["metadata.time_per_operation=200 d", "clients.count=2"],
            "metadata.time_per_operation",
        ),
        (
            &[
                "servers.memory.cache=1 GB",
                "servers.memory.rate=0.1 B/s",
                "clients.count=9",
            ],
            "servers.memory.rate",
        ),
        (
            &[&twice[..], &["network.latency=20 d"]].concat(),
            "workload.think",
        ),
    ] {
        let message = refusal(SMALLEST, sets);
        assert!(message.contains("213 days"), "{sets:?}: {message}");
        let (_, advice) = message.split_once("look at ").expect(&message);
        assert!(advice.contains(field), "{sets:?}: {message}");
    }
    let local = r#"
system = "ext4"
[machine.device]
kind = "simple"
read_rate = "60 MB/s"
write_rate = "60 MB/s"
[[workload]]
block = "1 MiB"
transfer = "1 MiB"
phases = ["write"]
"#;
    let message = refusal(local, &["machine.copying.page_in_l2=1 d"]);
    assert!(message.contains("213 days"), "{message}");
    assert!(message.contains("[machine.copying]"), "{message}");
    let trace = Trace::of("late", "1000,p,write,f,0,1,0\n");
    for set in ["workload.0.scale=1e5", "workload.0.shift=213 d"] {
        let sets = ["workload.0.replay=timed", "workload.0.scale=1000", set];
        let message = refusal(&trace.text(), &sets);
        assert!(
            message.contains("workload.scale and workload.shift"),
            "{message}"
        );
    }
}

#[test]
fn more_bytes_than_can_be_counted_are_refused() {
    let sets = [
        "network.latency=0 s",
        "network.bandwidth=1e290 TB/s",
        "servers.device.read_rate=1e290 TB/s",
        "workload.0.block=16000 PB",
        "workload.0.files=2",
    ];
    let message = refusal(SMALLEST, &sets);
    assert!(message.contains("16 EiB"), "{message}");
    assert!(message.contains("workload.block"), "{message}");
}

#[test]
fn more_than_fits_is_refused_at_once() {
    let all = "4000000000";
    for field in [
        "clients.count",
        "servers.count",
        "metadata.servers",
        "clients.processes",
    ] {
        let message = refusal(SMALLEST, &[&format!("{field}={all}")]);
        assert!(message.contains(field) && message.len() < 200, "{message}");
    }
    let links = [
        "clients.count=100000",
        "servers.count=1000",
        "network.topology=pairs",
    ];
    let message = refusal(SMALLEST, &links);
    assert!(message.contains("links"), "{message}");
    let message = refusal(
        SMALLEST,
        &["workload.0.files=4294967295", "clients.count=2"],
    );
    assert!(message.contains("files"), "{message}");
    // A window of a picosecond in a run of a millisecond.
    for window in ["1 ns", "0.00001 ns", "0.0000001 ns"] {
        let message = refusal(
            SMALLEST,
            &[&format!("run.window={window}"), "workload.0.files=10"],
        );
        assert!(message.contains("run.window"), "{message}");
    }
}

/// Numbers that are only large: the work done follows the requests.
#[test]
fn a_long_workload_may_be_cut_short() {
    let sets = [
        "workload.0.files=4000000000",
        "workload.0.segments=1000000",
        "workload.0.repeat=4000000000",
        "workload.0.order=random",
        "run.stop.requests=10",
    ];
    moves(SMALLEST, &sets, 10_000_000);
}

#[test]
fn wrong_ends_are_refused() {
    let message = refusal(SMALLEST, &["run.stop.time=0 s"]);
    assert!(message.contains("run.stop.time"), "{message}");
    let message = refusal(
        SMALLEST,
        &[
            "servers.memory.cache=1 MiB",
            "servers.memory.dirty_limit=2 MiB",
        ],
    );
    assert!(message.contains("dirty_limit"), "{message}");
    let message = refusal(SMALLEST, &["run.warm_up=10 s"]);
    assert!(message.contains("run.warm_up"), "{message}");
    assert!(message.contains("ended after 0.01"), "{message}");
    moves(
        SMALLEST,
        &["run.stop.requests=1", "workload.0.files=9"],
        1_000_000,
    );
    // A mean of few figures is never known well: the workload ends first.
    moves(
        SMALLEST,
        &["run.stop.precision=0.001", "workload.0.files=9"],
        9_000_000,
    );
}

/// A trace of one's own, as a file.
struct Trace(PathBuf);

impl Trace {
    fn of(name: &str, lines: &str) -> Trace {
        let file = std::env::temp_dir().join(format!("headrace-{}-{name}.csv", std::process::id()));
        let head = "time,process,operation,file,offset,size,duration\n";
        std::fs::write(&file, format!("{head}{lines}")).unwrap();
        Trace(file)
    }

    fn text(&self) -> String {
        let (before, _) = SMALLEST.split_once("block").unwrap();
        format!("{before}kind = \"trace\"\nfile = {:?}\n", self.0)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn offsets_at_the_end_of_64_bits_do_no_harm() {
    let lines = "0,p,write,f,18446744073709551600,100,0\n1,p,read,f,18446744073709551615,100,0\n\
                 2,p,read,f,18446744073709551615,1,0\n3,p,write,f,5,3,0\n";
    let trace = Trace::of("far", lines);
    for unit in ["layout.unit=1 B", "layout.unit=3 B", "layout.unit=64 KiB"] {
        for servers in ["servers.count=1", "servers.count=3"] {
            for memory in ["servers.memory.cache=0 B", "servers.memory.cache=1 MiB"] {
                moves(&trace.text(), &[unit, servers, memory], 204);
                if memory.ends_with("MiB") {
                    moves(
                        &trace.text(),
                        &[unit, servers, memory, "servers.memory.dirty_limit=8 KiB"],
                        204,
                    );
                }
            }
        }
    }
}

#[test]
fn traces_with_nothing_to_replay_are_refused() {
    let trace = Trace::of("empty", "");
    let message = refusal(&trace.text(), &[]);
    assert!(message.contains("nothing to replay"), "{message}");
    let trace = Trace::of("local", "0,p,seek,f,10,0,0\n0,p,read,f,10,0,0\n");
    let message = refusal(&trace.text(), &[]);
    assert!(message.contains("nothing to replay"), "{message}");
    let message = refusal(&trace.text(), &["workload.0.file=no such file"]);
    assert!(message.contains("no such file"), "{message}");
    let trace = Trace::of("huge", "0,p,read,f,0,18446744073709551615,0\n");
    // With and without headers around it.
    for system in ["system=ideal", "system=pvfs2"] {
        let message = refusal(&trace.text(), &[system]);
        assert!(
            message.contains("213 days") || message.contains("layout.packet"),
            "{message}"
        );
    }
}
