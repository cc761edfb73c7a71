//! Attributes that clients keep for a time: which calls need no message, and when a
//! client sees what another has changed.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{latency, refusal, run, station};

/// A client looks at one file every second; a message and its answer take 200 µs.
const LOOKS: &str = r#"
    [clients]
    count = 1
    [clients.machine.memory]
    size = "64 MiB"
    [clients.machine.attributes]
    kind = "timed"
    [servers]
    count = 1
    device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
    [network]
    topology = "pairs"
    bandwidth = "1 TB/s"
    latency = "100 us"
    [layout]
    unit = "64 KiB"
    [[workload]]
    kind = "operation-mix"
    weights = { stat = 1 }
    amount = 30
    think = "1 s"
    files = 1
"#;

/// The whole seconds at which a client of a workload asked for something that needed a
/// message.
fn messages(outcome: &Outcome, workload: u32) -> Vec<u64> {
    let requests = outcome.requests.iter();
    let sent = requests.filter(|it| it.request.process.workload == workload && latency(it) > 0);
    sent.map(|it| it.request.issued.0 / 1_000_000_000_000)
        .collect()
}

/// From 3 s on the time doubles as long as nothing changes, up to a bound.
#[test]
fn a_file_that_does_not_change_is_asked_about_ever_more_rarely() {
    let of = |sets: &[&str]| messages(&run(LOOKS, sets), 0);
    assert_eq!(of(&[]), [0, 3, 9, 21]);
    let bound = "clients.machine.attributes.file_max=5 s";
    assert_eq!(of(&[bound]), [0, 3, 8, 13, 18, 23, 28]);
    // The name is believed as long as its directory.
    let directories = [
        "clients.machine.attributes.directory_min=2 s",
        "clients.machine.attributes.directory_max=2 s",
        "clients.machine.attributes.file_min=60 s",
    ];
    let even: Vec<u64> = (0..30).step_by(2).collect();
    assert_eq!(of(&directories), even);
}

/// Without times, and where attributes are not cached at all, every look is a message.
#[test]
fn without_a_cache_every_look_is_a_message() {
    let never = [
        "clients.machine.attributes.file_min=0 s",
        "clients.machine.attributes.file_max=0 s",
    ];
    let all: Vec<u64> = (0..30).collect();
    assert_eq!(messages(&run(LOOKS, &never), 0), all);
    let asked = ["clients.machine.attributes.kind=asked"];
    assert_eq!(messages(&run(LOOKS, &asked), 0), all);
}

/// Opening asks even if attributes are fresh, unless it is configured otherwise; either refreshes
/// them for others.
#[test]
fn opening_asks_always_but_without_close_to_open() {
    let opens = ["workload.0.weights={ open = 1 }"];
    let all: Vec<u64> = (0..30).collect();
    assert_eq!(messages(&run(LOOKS, &opens), 0), all);
    let without = [opens[0], "clients.machine.attributes.close_to_open=false"];
    assert_eq!(messages(&run(LOOKS, &without), 0), [0, 3, 9, 21]);
}

/// Requests of two processes, one for each of two clients, at these seconds.
fn replay(name: &str, requests: &[(u32, u32, &str)], sets: &[&str]) -> Outcome {
    let mut trace = "time,process,operation,file,offset,size,duration\n".to_owned();
    for (second, client, what) in requests {
        trace += &format!("{second}.0,{client},{what},0.0\n");
    }
    let file = std::env::temp_dir().join(format!("{name}-{}.csv", std::process::id()));
    std::fs::write(&file, trace).expect("a temporary file can be written");
    let (before, _) = LOOKS.split_once("[[workload]]").expect("it has one");
    let text = format!(
        r#"{before}
        [[workload]]
        kind = "trace"
        file = {file:?}
        replay = "timed"
        "#
    );
    let outcome = run(&text, &[&["clients.count=2"], sets].concat());
    std::fs::remove_file(&file).expect("it is there");
    outcome
}

/// The first client asks `what` of a file every second, the second writes into it at 5 s.
fn two_clients(name: &str, what: &str, sets: &[&str]) -> Outcome {
    let mut requests: Vec<_> = (0..=30).map(|second| (second, 0, what)).collect();
    requests.insert(5, (5, 1, "write,a,0,4096"));
    let sets = [&["workload.0.io.synchronous=true"], sets].concat();
    replay(name, &requests, &sets)
}

/// The second of each request of the client that looks which needed a message, and how
/// many trips to the server and back it took.
fn trips(outcome: &Outcome) -> Vec<(u64, u64)> {
    let looks = outcome
        .requests
        .iter()
        .filter(|it| it.request.process.client == 0);
    let sent = looks.filter(|it| latency(it) > 0);
    sent.map(|it| {
        (
            it.request.issued.0 / 1_000_000_000_000,
            latency(it) / 200_000_000,
        )
    })
    .collect()
}

/// The file is written at 5 s. A client that asked at 3 s trusts its answer until 9 s, and then
/// asks again after 3 s, 6 s and 12 s.
#[test]
fn a_change_is_seen_when_the_time_has_passed() {
    let outcome = two_clients("stat", "stat,a,0,0", &[]);
    let seen = trips(&outcome);
    assert_eq!(seen, [0, 3, 9, 12, 18, 30].map(|second| (second, 1)));
    let asked = ["clients.machine.attributes.kind=asked"];
    let all = trips(&two_clients("asked", "stat,a,0,0", &asked));
    assert_eq!(all.len(), 31);
}

/// The same with reads: the answer to the first, at 0.4 ms, keeps the attributes fresh until after
/// 3 s. Cached data is read again when the file is found changed, and only then.
#[test]
fn data_is_read_anew_when_the_file_has_changed() {
    let outcome = two_clients("read", "read,a,0,4096", &[]);
    assert_eq!(trips(&outcome), [(0, 2), (4, 1), (10, 2), (14, 1), (20, 1)]);
    // Without attributes no client checks for a change.
    let asked = ["clients.machine.attributes.kind=asked"];
    assert_eq!(
        trips(&two_clients("cached", "read,a,0,4096", &asked)),
        [(0, 2)]
    );
    // With times of 0 every read asks, and data is still cached.
    let never = [
        "clients.machine.attributes.file_min=0 s",
        "clients.machine.attributes.file_max=0 s",
    ];
    let trips = trips(&two_clients("never", "read,a,0,4096", &never));
    assert_eq!(trips.len(), 31);
    let twice: Vec<u64> = trips.iter().filter(|it| it.1 == 2).map(|it| it.0).collect();
    assert_eq!(twice, [0, 6]);
}

/// Another client makes a file at 5 s. A client that asked about the directory at 0 s trusts its
/// names until 30 s, however often the file has been checked meanwhile.
#[test]
fn names_are_believed_as_long_as_their_directory() {
    let long = ["clients.machine.attributes.file_min=60 s"];
    let lists = two_clients("list", "readdir,a,0,0", &long);
    assert_eq!(trips(&lists), [(0, 1), (30, 1)]);
    let names = [long[0], "clients.machine.attributes.directory_min=4 s"];
    // Asked at 4 s, when it had not changed, and so at 12 s and 28 s.
    let looks = two_clients("names", "stat,a,0,0", &names);
    assert_eq!(trips(&looks), [0, 4, 12, 28].map(|second| (second, 1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A client with longer times never asks more often.
    #[test]
    fn longer_times_never_send_more(
        least in 0_u32..9, more in 0_u32..9, longer in 0_u32..9, seed in 0_u32..99,
    ) {
        let sent = |least: u32, most: u32| {
            let sets = [
                format!("clients.machine.attributes.file_min={least} s"),
                format!("clients.machine.attributes.file_max={most} s"),
                "clients.machine.attributes.directory_min=1 h".to_owned(),
                "clients.machine.attributes.directory_max=1 h".to_owned(),
                "workload.0.think=0 s".to_owned(),
                "workload.0.rate=1".to_owned(),
                "workload.0.files=3".to_owned(),
                format!("run.seed={seed}"),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            messages(&run(LOOKS, &sets), 0).len()
        };
        let most = least + more;
        prop_assert!(sent(least, most + longer) <= sent(least, most));
        prop_assert!(sent(least + longer, most + longer) <= sent(least, most));
        if most == 0 {
            prop_assert_eq!(sent(0, 0), 30);
        }
    }
}

/// A client brings written data to the server when it closes the file, and has the server bring it
/// to its device: two trips. Data that was only read costs none.
#[test]
fn closing_brings_what_was_written_to_the_server() {
    let (before, _) = LOOKS.split_once("[[workload]]").expect("it has one");
    let text = format!(
        r#"{before}
        [[workload]]
        block = "64 KiB"
        phases = ["write", "read"]
        opens = true
        "#
    );
    let of = |outcome: &Outcome| -> Vec<_> {
        let requests = outcome.requests.iter();
        let named = requests.map(|it| (it.request.operation.name(), latency(it) / 200_000_000));
        named.collect()
    };
    let all = of(&run(&text, &[]));
    // Where the data is, is asked apart from opening, once.
    let writes = [("open", 1), ("write", 1), ("close", 2)];
    let reads = [("open", 1), ("read", 0), ("close", 0)];
    assert_eq!(all, [writes, reads].concat());
    let without = of(&run(
        &text,
        &["clients.machine.attributes.close_to_open=false"],
    ));
    assert_eq!(without[2], ("close", 0));
}

const OPLOCKS: &str = "clients.machine.attributes.kind=oplocks";

/// Alone a client caches everything. The other one's read waits until it has. Opening is a trip,
/// the break half of one, writing back one, the acknowledgement half of one, and reading one. Then
/// both cache their reads, until one writes; then none caches.
#[test]
fn the_second_client_waits_for_what_the_first_has_written() {
    let requests = [
        (0, 0, "write,a,0,4096"),
        (1, 0, "write,a,0,4096"),
        (2, 0, "stat,a,0,0"),
        (3, 0, "open,a,0,0"),
        (4, 1, "read,a,0,4096"),
        (5, 1, "read,a,0,4096"),
        (6, 0, "read,a,0,4096"),
        (7, 1, "stat,a,0,0"),
        (8, 0, "write,a,0,4096"),
        (9, 0, "read,a,0,4096"),
        (10, 1, "read,a,0,4096"),
        (11, 1, "stat,a,0,0"),
    ];
    let trips = |outcome: &Outcome| -> Vec<u64> {
        let mut all: Vec<_> = outcome.requests.iter().collect();
        all.sort_by_key(|it| it.request.issued);
        all.iter().map(|it| latency(it) / 200_000_000).collect()
    };
    let shared = trips(&replay("oplocks", &requests, &[OPLOCKS]));
    assert_eq!(shared, [1, 0, 0, 0, 4, 0, 0, 0, 1, 1, 1, 1]);
    // Without level II no client caches once two have opened the file.
    let without = [OPLOCKS, "clients.machine.attributes.level_two=false"];
    let broken = trips(&replay("level-two", &requests, &without));
    assert_eq!(broken, [1, 0, 0, 0, 4, 1, 1, 1, 1, 1, 1, 1]);
}

/// Opening is a message, and so is the first access; closing is one unless the client had the file
/// alone. Once all have closed it, the next open is like the first.
#[test]
fn closing_is_told_where_the_file_is_shared() {
    let messages = |clients: u32| {
        let text = format!(
            r#"
            [clients]
            count = {clients}
            [clients.machine]
            memory = {{ size = "64 MiB" }}
            attributes = {{ kind = "oplocks" }}
            [servers]
            count = 1
            device = {{ read_rate = "1 GB/s", write_rate = "1 GB/s" }}
            [network]
            bandwidth = "1 GB/s"
            latency = "10 us"
            [layout]
            unit = "64 KiB"
            [[workload]]
            block = "64 KiB"
            transfer = "64 KiB"
            access = "shared"
            opens = true
            phases = ["write", "read"]
            "#
        );
        station(&run(&text, &[]), "metadata/card receiving").visits
    };
    assert_eq!(messages(1), 2);
    assert_eq!(messages(2), 2 + 2 + 2 + 2 + 2);
}

/// Device writes caused by closing a file, by kind of attribute cache.
#[test]
fn files_that_are_closed_reach_the_device() {
    let (before, _) = LOOKS.split_once("[[workload]]").expect("it has one");
    let mdtest = r#"
        [[workload]]
        kind = "mdtest"
        files = 100
        bytes = "4 KiB"
        phases = ["create"]
    "#;
    let ior = r#"
        [[workload]]
        kind = "ior"
        files = 100
        block = "4 KiB"
        opens = true
    "#;
    let slow = "servers.device.time_per_request=5 ms";
    for workload in [mdtest, ior] {
        let text = format!("{before}{workload}");
        // A write and a COMMIT for each file.
        let outcome = run(&text, &[slow]);
        assert_eq!(station(&outcome, "server/device").visits, 200);
        assert!(outcome.report.simulated_seconds >= 1.0);
        // CIFS sends, and its server may answer before it has stored.
        let outcome = run(&text, &[slow, OPLOCKS]);
        assert_eq!(station(&outcome, "server/device").visits, 100);
        assert!(outcome.report.simulated_seconds >= 0.5);
        // Files are still in the cache of a client that caches no attributes.
        let outcome = run(&text, &[slow, "clients.machine.attributes.kind=asked"]);
        assert_eq!(station(&outcome, "server/device").visits, 0);
    }
}

/// Many clients on few files: everything ends, in any order of waiting.
#[test]
fn locks_that_break_each_other_end() {
    let sets = [
        OPLOCKS,
        "clients.count=8",
        "clients.processes=4",
        "workload.0.weights={ read = 2, write = 2, open = 1, stat = 1, unlink = 1 }",
        "workload.0.think=0 s",
        "workload.0.files=20",
        "workload.0.amount=200",
    ];
    for level_two in ["true", "false"] {
        let level_two = format!("clients.machine.attributes.level_two={level_two}");
        let outcome = run(LOOKS, &[&sets[..], &[&level_two]].concat());
        assert_eq!(outcome.requests.len(), 1600);
    }
}

/// A shortest time that is longer than the longest is refused.
#[test]
fn the_shortest_time_is_not_the_longest() {
    let error = refusal(LOOKS, &["clients.machine.attributes.file_min=61 s"]);
    assert!(error.contains("attributes.file_max = \"1 min\""), "{error}");
}
