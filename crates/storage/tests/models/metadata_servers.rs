//! Metadata servers: what operations cost, where entries are, how changes are written.

use std::path::Path;

use headrace_storage::Outcome;

use crate::running::{close, latency, refusal, run, station};

/// The network takes next to no time.
const SYSTEM: &str = r#"
    [clients]
    count = 8
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
    [network]
    bandwidth = "100 GB/s"
    latency = "0 s"
    [layout]
    unit = "64 KiB"
    [[workload]]
    kind = "mdtest"
    files = 100
    phases = ["create"]
"#;

/// An access takes 5 ms, whatever its size.
const DATABASE: [&str; 3] = [
    "metadata.kind=database",
    "metadata.device.time_per_request=5 ms",
    "metadata.device.write_rate=1 TB/s",
];

fn rate(sets: &[&str]) -> f64 {
    rate_of(&run(SYSTEM, sets))
}

/// Files made in a second: to close them is no message.
fn rate_of(outcome: &Outcome) -> f64 {
    let requests = outcome.requests.iter();
    let made = requests.filter(|it| it.request.operation.name() != "close");
    made.count() as f64 / outcome.report.simulated_seconds
}

fn stored(more: &[&str]) -> f64 {
    let sets = ["metadata.device.read_rate=1 TB/s"];
    rate(&[&DATABASE, &sets[..], more].concat())
}

#[test]
fn each_operation_takes_its_time() {
    let outcome = run(
        SYSTEM,
        &[
            "clients.count=1",
            "workload.0.phases=[\"create\", \"stat\", \"rename\", \"readdir\", \"unlink\"]",
            "metadata.time_per_operation=1 ms",
            "metadata.times.create=4 ms",
            "metadata.times.stat=100 us",
            "metadata.times.unlink=2 ms",
        ],
    );
    close(outcome.report.simulated_seconds, 100.0 * 8.1e-3, 1e-4);
}

#[test]
fn threads_work_side_by_side() {
    let time = "metadata.time_per_operation=1 ms";
    close(rate(&[time]), 1000.0, 1e-3);
    close(rate(&[time, "metadata.threads=4"]), 4000.0, 1e-3);
    close(rate(&[time, "metadata.threads=100"]), 8000.0, 1e-3);
}

/// Files take the servers in turn; a directory stays on one.
#[test]
fn directories_can_be_kept_together() {
    let four = ["metadata.time_per_operation=1 ms", "metadata.servers=4"];
    let with = |more: &[&str]| rate(&[&four, more].concat());
    // Eight processes, each at one of four servers by chance, leave some idle.
    let by_hash = with(&[]);
    assert!(by_hash > 2000.0 && by_hash < 4000.0, "{by_hash}");
    let together = "metadata.distribution=directory";
    close(with(&[together]), 1000.0, 0.01);
    close(with(&[together, "workload.0.directory=own"]), 4000.0, 0.01);
}

/// One write after the other, each with all changes that arrived during the one before. With eight
/// processes, the first write has one change, and later ones have seven and one in turn.
#[test]
fn changes_that_wait_are_written_together() {
    close(stored(&["metadata.group=1"]), 200.0, 0.01);
    close(stored(&["metadata.group=4"]), 800.0, 0.01);
    close(stored(&[]), 800.0, 0.02);
    close(stored(&["clients.count=1"]), 200.0, 0.01);
}

/// No process waits, but every change is written.
#[test]
fn changes_may_be_written_later() {
    let sets = [
        "metadata.synchronous=false",
        "metadata.group=1",
        "metadata.time_per_operation=1 ms",
        "metadata.device.read_rate=1 TB/s",
    ];
    let outcome = run(SYSTEM, &[&DATABASE, &sets[..]].concat());
    close(rate_of(&outcome), 1000.0, 0.01);
    let device = station(&outcome, "metadata/device");
    close(device.utilisation, 1.0, 0.02);
}

/// Created inodes stay in memory while there is room; the least recently used is evicted
/// first. Lookups in the order of creation therefore find all inodes or none. Missing ones
/// are read, one after the other.
#[test]
fn what_does_not_fit_into_memory_is_read() {
    let with = |cache: &str| {
        let cache = format!("metadata.cache={cache}");
        let sets = [
            "clients.count=1",
            "workload.0.phases=[\"create\", \"stat\"]",
            "metadata.synchronous=false",
            "metadata.time_per_operation=10 us",
            "metadata.device.read_rate=1 TB/s",
            &cache,
        ];
        let outcome = run(SYSTEM, &[&DATABASE, &sets[..]].concat());
        let stats = outcome.requests.iter().filter(|it| it.request.phase == 1);
        let times: Vec<f64> = stats.map(|it| latency(it) as f64 * 1e-12).collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    close(with("400 KiB"), 10e-6, 0.01);
    // The first waits for writes in flight.
    close(with("200 KiB"), 5.01e-3, 0.02);
    close(with("0 B"), 5.01e-3, 0.02);
}

#[test]
fn what_cannot_be_is_refused() {
    for (set, says) in [
        ("metadata.entry=0 B", "expected a multiple of 512 B"),
        ("metadata.cache=1 KiB", "expected 0 or at least an entry"),
        ("metadata.group=0", "a whole number of at least 1"),
    ] {
        let sets = [&DATABASE, &["metadata.device.read_rate=1 TB/s", set][..]].concat();
        let message = refusal(SYSTEM, &sets);
        assert!(message.contains(says), "{message}");
    }
}

/// Four clients of one process, four threads, 1 ms for an operation.
const DIRECTORIES: &str = r#"
    [clients]
    count = 4
    [servers]
    count = 1
    device = { read_rate = "100 GB/s", write_rate = "100 GB/s" }
    [network]
    bandwidth = "100 TB/s"
    latency = "0 s"
    [layout]
    unit = "64 KiB"
    [metadata]
    time_per_operation = "1 ms"
    threads = 4
    [[workload]]
    kind = "operation-mix"
    weights = { create = 1 }
    amount = 500
    names = { made_in = "clients" }
"#;

/// 2000 operations of 1 ms: four at a time take 0.5 s, one at a time 2 s. With two directories,
/// each chosen as often, two are at work unless all four operations are on the same one.
#[test]
fn changes_of_a_directory_wait_for_its_lock() {
    let seconds = |sets: &[&str]| run(DIRECTORIES, sets).report.simulated_seconds;
    let (changes, exclusive) = (
        "metadata.directory_locks=changes",
        "metadata.directory_locks=exclusive",
    );
    let own = "workload.0.names={ made_in = \"client\" }";
    let lists = [
        "workload.0.names.made_in=process",
        "workload.0.weights={ readdir = 1 }",
    ];
    let looks = [
        "workload.0.names.made_in=process",
        "workload.0.weights={ stat = 1 }",
    ];
    close(seconds(&[]), 0.5, 1e-3);
    close(seconds(&[changes]), 2.0, 1e-3);
    close(seconds(&[changes, own]), 0.5, 1e-3);
    // Each process has a directory of its own.
    let private = "workload.0.names.made_in=process";
    close(seconds(&[changes, private]), 0.5, 1e-3);
    let two = seconds(&[
        changes,
        "workload.0.names={ made_in = \"clients\", directories = 2 }",
    ]);
    assert!((1.0..1.5).contains(&two), "{two}");
    for operations in [lists, looks] {
        let with = |locks| seconds(&[&operations[..], &[locks]].concat());
        close(with(changes), 0.5, 1e-3);
        close(with(exclusive), 2.0, 1e-3);
    }
    let refused = refusal(DIRECTORIES, &[changes, "metadata.time_per_operation=0 s"]);
    assert!(refused.contains("operations take no time"), "{refused}");
}

/// Locks are granted in the order of requests, and to lists together. The first create ends at 1 ms,
/// two lists at 2, a create at 3, and the list behind it at 4. A stat needs no lock.
#[test]
fn a_list_waits_behind_a_change_that_came_before_it() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("directory-locks.csv");
    let calls = [
        (0, "create", 1.0),
        (1, "readdir", 2.0),
        (2, "readdir", 2.0),
        (3, "create", 3.0),
        (4, "readdir", 4.0),
        (5, "stat", 1.5),
    ];
    let lines = calls.map(|(n, operation, _)| format!("0.000{n}00000,{n},{operation},f{n},0,0,\n"));
    let header = "time,process,operation,file,offset,size,duration\n";
    std::fs::write(&file, format!("{header}{}", lines.concat())).unwrap();
    let replay = format!("workload.0={{ kind = \"trace\", file = {file:?}, replay = \"timed\" }}");
    let sets = [
        "metadata.threads=9",
        "metadata.directory_locks=changes",
        &replay,
        "clients.count=6",
    ];
    let outcome = run(DIRECTORIES, &sets);
    assert_eq!(outcome.requests.len(), calls.len());
    for done in &outcome.requests {
        let (_, _, end) = calls[done.request.process.rank as usize];
        close(done.completed.as_seconds() * 1e3, end, 1e-3);
    }
    // One thread has them all one after the other, and needs no lock.
    let alone = run(DIRECTORIES, &[&sets[1..], &["metadata.threads=1"]].concat());
    close(alone.report.simulated_seconds, 6e-3, 1e-3);
}
