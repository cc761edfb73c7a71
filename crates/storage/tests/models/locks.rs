//! Extent locks: their cost for single clients, for clients that take turns, and for readers of
//! recent writes.

use std::fmt::Write as _;

use headrace_storage::Outcome;

use crate::running::{
    MICROSECOND, SMALLEST, close, latencies, latency, refusal, run, run_scenario, shipped, station,
};

const LOCKS: &str = "[locks]\nkind = \"extent\"\n";

/// Ten microseconds a way, as in [`SMALLEST`].
const WAY: u64 = 10 * MICROSECOND;

fn asked(outcome: &Outcome) -> u64 {
    station(outcome, "lock server").visits
}

/// A single client asks once for each file and target, which is a round trip, and has its locks
/// from then on.
#[test]
fn who_is_alone_asks_once_for_each_object() {
    let sets = [
        "servers.count=3",
        "layout.unit=64 KiB",
        "workload.0.block=192 KiB",
        "workload.0.files=2",
        "workload.0.transfer=64 KiB",
        "workload.0.phases=[\"write\", \"read\"]",
    ];
    let with = run(&[SMALLEST, LOCKS].concat(), &sets);
    let without = run(SMALLEST, &sets);
    assert_eq!(asked(&with), 6);
    let pairs = latencies(&with).into_iter().zip(latencies(&without));
    let more: Vec<u64> = pairs.map(|(with, without)| with - without).collect();
    // Writing asks, reading under the same locks does not.
    assert_eq!(more[..6], [2 * WAY; 6]);
    assert_eq!(more[6..], [0; 6]);
}

/// A request over several targets asks for one lock after the other.
#[test]
fn locks_of_one_request_are_asked_for_in_turn() {
    let sets = ["servers.count=4", "layout.unit=250 kB", "servers.targets=2"];
    let without = latencies(&run(SMALLEST, &sets))[0];
    let with = |sets: &[&str]| latencies(&run(&[SMALLEST, LOCKS].concat(), sets))[0];
    assert_eq!(with(&sets) - without, 4 * 2 * WAY);
    let time = [&sets[..], &["locks.time_per_lock=1 us"]].concat();
    assert_eq!(with(&time) - without, 4 * (2 * WAY + MICROSECOND));
}

/// Two clients write blocks of one object in turn. Each asks where the file is and then for the
/// lock; the first writes in W. The other's lock waits until the first has been called back, is
/// done and has released its own. From then on each write waits for the other's.
#[test]
fn two_writers_take_turns() {
    let text = [SMALLEST, LOCKS].concat();
    let sets = [
        "clients.count=2",
        "workload.0.access=shared",
        "workload.0.block=64 KiB",
        "workload.0.segments=3",
        "workload.0.phases=[\"write\"]",
    ];
    let alone = latencies(&run(SMALLEST, &["workload.0.block=64 KiB", sets[4]]))[0];
    let write = alone - 2 * WAY;
    // 65,536 bytes: 1 ns each on the wire, 20 ns on the device; a packet on the second card.
    assert_eq!(write, 2 * WAY + 65_536 * 21_000 + 1_500_000);
    let got = latencies(&run(&text, &sets));
    let first = 4 * WAY + write;
    let second = 6 * WAY + 2 * write;
    let turn = 4 * WAY + 2 * write;
    assert_eq!(got[..2], [first, second]);
    assert_eq!(got[2..5], [turn; 3]);
    // The lock of the last is not requested by another.
    assert_eq!(got[5], turn);
    // Share of lock waits: a round trip for the first client, and for each other client its
    // turn without its own write.
    let outcome = run(&text, &sets);
    let waiting = (2 * WAY + 5 * (turn - write)) as f64 * 1e-12 / 6.0;
    let breakdown = &outcome.report.breakdown;
    let entry = breakdown
        .iter()
        .find(|it| it.place.ends_with("/waiting for locks"));
    close(entry.unwrap().seconds, waiting, 1e-3);
    close(entry.unwrap().waiting, waiting, 1e-3);
    let mean = got.iter().sum::<u64>() as f64 * 1e-12 / 6.0;
    close(breakdown.iter().map(|it| it.seconds).sum(), mean, 1e-3);
    close(breakdown.iter().map(|it| it.share).sum(), 1.0, 1e-9);
}

/// Four clients write blocks of a stripe in turn to one target, `network.latency` L from them, with
/// k objects. A write takes W = 2 L + N + D: N on the wire, D on the device.
///
/// - k = 2: clients 0 and 2 take turns at one object, 1 and 3 at the other. Each of the 16 writes of
///   an object waits for the lock, which takes 2 L from the end of the write before. The first asks
///   where the file is and for its lock in 4 L. One of the first two writes waits for the device:
///   4 L + W + D + 15 (2 L + W).
/// - k = 4: each client has an object of its own and keeps its lock. The 4 D of a round are longer
///   than W, so the device is always busy: 4 L + W + 31 D.
#[test]
fn a_client_with_an_object_of_its_own_keeps_its_lock() {
    let text = [SMALLEST, LOCKS].concat();
    let run_with = |objects: u32| {
        let objects = format!("layout.overstripe_count={objects}");
        let sets = [
            objects.as_str(),
            "clients.count=4",
            "layout.unit=64 KiB",
            "network.latency=1 ms",
            "workload.0.access=shared",
            "workload.0.block=64 KiB",
            "workload.0.transfer=64 KiB",
            "workload.0.segments=8",
            "workload.0.phases=[\"write\"]",
        ];
        run(&text, &sets)
    };
    // A packet of 1,500 bytes on the second card too.
    let (latency, wire, device) = (1e-3, 67_036e-9, 65_536.0 * 20e-9);
    let write = 2.0 * latency + wire + device;
    let turn = 2.0 * latency + write;
    let first = 4.0 * latency + write;
    let times = [
        (2, first + device + 15.0 * turn),
        (4, first + 31.0 * device),
    ];
    for (objects, expected) in times {
        let outcome = run_with(objects);
        close(outcome.report.simulated_seconds, expected, 1e-4);
        // Locks asked for, and those given up for others: all but the last of each object.
        let locks = if objects == 4 { 4 } else { 32 + 30 };
        assert_eq!(asked(&outcome), locks, "{objects} objects");
    }
    let seconds = |objects| run_with(objects).report.simulated_seconds;
    assert!(seconds(1) > seconds(2));
    // More objects than clients are of no use.
    close(seconds(8), seconds(4), 0.1);
}

/// The last round of six objects is on two of four targets, which hold twice the data of the
/// others. No more objects than targets are a file on fewer targets.
#[test]
fn objects_go_round_the_targets() {
    let bytes = |sets: &[&str]| -> Vec<u64> {
        let common = [
            "servers.count=4",
            "layout.unit=64 KiB",
            "workload.0.block=768 KiB",
            "workload.0.phases=[\"write\"]",
        ];
        let report = run(&[SMALLEST, LOCKS].concat(), &[&common, sets].concat()).report;
        report
            .servers
            .iter()
            .map(|it| it.written_bytes >> 16)
            .collect()
    };
    assert_eq!(bytes(&["layout.overstripe_count=6"]), [4, 4, 2, 2]);
    assert_eq!(bytes(&["layout.overstripe_count=8"]), [3, 3, 3, 3]);
    assert_eq!(bytes(&["layout.overstripe_count=3"]), [4, 4, 4, 0]);
    let of_two = ["layout.overstripe_count=6", "layout.servers=2"];
    assert_eq!(bytes(&of_two), [6, 6, 0, 0]);
}

/// Clients with caches flush what they have dirty under a lock, whatever the number of objects: all
/// bytes reach the devices once. With an object each they need not wait for one another.
#[test]
fn caches_flush_what_is_under_the_lock_of_an_object() {
    let with = |objects: u32| {
        let objects = format!("layout.overstripe_count={objects}");
        in_turn(8, &["servers.count=1", "layout.unit=64 KiB", &objects])
    };
    let bytes = 8 * 256 * 65_536;
    for objects in [1, 3, 8] {
        let report = with(objects).report;
        let written: u64 = report.servers.iter().map(|it| it.written_bytes).sum();
        assert_eq!(written, bytes, "{objects} objects");
    }
    let own = with(8);
    assert_eq!(asked(&own), 8);
    // At the 500 MB/s of the target.
    close(own.report.simulated_seconds, bytes as f64 / 500e6, 0.05);
    // The shipped scenario: six clients and four targets. Three clients share each of four objects.
    let seconds = |objects: u32| {
        let objects = format!("layout.overstripe_count={objects}");
        let sets = ["workload.0.segments=256", &objects];
        let outcome = run_scenario(&shipped("overstriped-file.toml", &sets));
        outcome.report.simulated_seconds
    };
    let written = 6.0 * 256.0 * 65_536.0;
    let own = seconds(12);
    close(own, written / (4.0 * 500e6), 0.1);
    assert!(seconds(4) > 1.4 * own, "{} {own}", seconds(4));
}

/// Each adds to the time of all: the more writers, the longer a request takes, while throughput is
/// at most one block a turn.
#[test]
fn writers_of_one_object_are_one_after_the_other() {
    let text = [SMALLEST, LOCKS].concat();
    let rate = |clients: u32, locks: &str| {
        let clients = format!("clients.count={clients}");
        let sets = [
            clients.as_str(),
            locks,
            "servers.device.write_rate=10 GB/s",
            "network.latency=1 ms",
            "workload.0.access=shared",
            "workload.0.block=4 KiB",
            "workload.0.segments=32",
            "workload.0.phases=[\"write\"]",
            "locks.grow=true",
        ];
        let sets = if locks == "locks=none" {
            &sets[..8]
        } else {
            &sets[..]
        };
        run(&text, sets).report.throughput["write"]
    };
    let alone = rate(1, "locks.kind=extent");
    let eight = rate(8, "locks.kind=extent");
    let free = rate(8, "locks=none");
    close(free, 8.0 * alone, 0.1);
    assert!(eight < 0.5 * free, "{eight} {free}");
}

/// The clients of the shipped scenario write blocks of a stripe in turn, by their number.
fn in_turn(clients: u32, sets: &[&str]) -> Outcome {
    let clients = format!("clients.count={clients}");
    let sets = [&[clients.as_str(), "workload.0.segments=256"], sets].concat();
    run_scenario(&shipped("shared-file-locks.toml", &sets))
}

/// Writes into a client's cache take no time: a client fills it before another asks for a lock.
/// The preset's copies take 14 us a block, in which the others ask, so that turns are of few blocks.
const FREE_COPIES: [&str; 2] = [
    "clients.machine.copying.page_in_l2=0 s",
    "clients.machine.cpu.system_call=0 s",
];

/// The cost of locks is the idle time of targets. Clients that take turns at one target keep it
/// busy as without locks, if a turn covers all of a client's writes.
#[test]
fn turns_at_one_target_cost_nothing() {
    for clients in [2, 4, 8, 16] {
        let time = |locks| {
            let sets = [&["servers.count=1", locks], &FREE_COPIES[..]].concat();
            in_turn(clients, &sets).report.simulated_seconds
        };
        close(time("locks=extent"), time("locks=none"), 0.02);
    }
}

/// No gain without locks is larger than the verdict's bound: pages that are written behind
/// take no time of a request. Turns of few blocks have more targets at work at once: with the
/// preset's copies eight clients gain less than twice.
#[test]
fn the_gain_without_locks_stays_below_the_bound() {
    for (clients, copies, least) in [
        (2, &[][..], 2.0),
        (4, &[], 2.0),
        (8, &[], 1.5),
        (2, &FREE_COPIES[..], 2.0),
        (4, &FREE_COPIES, 2.0),
        (8, &FREE_COPIES, 2.0),
    ] {
        let with = |locks: &[&str]| {
            let sets = [&["workload.0.segments=1024"], locks, copies].concat();
            in_turn(clients, &sets).report
        };
        let (with, without) = (with(&[]), with(&["locks=none"]));
        let gain = with.simulated_seconds / without.simulated_seconds;
        let bottleneck = &with.bottleneck;
        assert_eq!(
            bottleneck.station.as_deref(),
            Some("system/client/waiting for locks")
        );
        assert!(
            bottleneck.most_gain.is_none_or(|most| most > 0.99 * gain) && gain > least,
            "{clients} clients, {copies:?}, {gain}: {bottleneck:?}"
        );
    }
}

/// Two clients of four targets: the first has all it writes in its cache before the second asks. At
/// each target the second waits until the first one's data there is on the device, while the three
/// others are idle. Its own writes then go to all of them, as fast as its card. More clients of few
/// own blocks in a stripe have more targets at work.
#[test]
fn turns_at_several_targets_leave_targets_idle() {
    let bytes = 256.0 * 65_536.0;
    let two = in_turn(2, &FREE_COPIES);
    let at_targets = 4.0 * (bytes / 4.0) / 500e6;
    // Ethernet frames of 1538 bytes with 1448 bytes of data each, at 10 Gbit/s.
    let over_card = bytes / (1.25e9 * 1448.0 / 1538.0);
    close(two.report.simulated_seconds, at_targets + over_card, 0.03);
    let at_work = |clients| {
        let sets = [&["workload.0.segments=1024"], &FREE_COPIES[..]].concat();
        let outcome = in_turn(clients, &sets);
        4.0 * station(&outcome, "server/device").utilisation
    };
    let (four, eight, sixteen) = (at_work(4), at_work(8), at_work(16));
    assert!(four < 1.3, "{four}");
    assert!(four < eight && 1.5 * eight < sixteen, "{eight} {sixteen}");
}

#[test]
fn readers_share() {
    let sets = [
        "clients.count=5",
        "workload.0.access=shared",
        "workload.0.transfer=100 kB",
    ];
    let outcome = run(&[SMALLEST, LOCKS].concat(), &sets);
    assert_eq!(asked(&outcome), 5);
}

/// Clients with a cache, one of which writes a file that another reads a second later.
fn write_then_read(file: &std::path::Path) -> String {
    let mut trace = "time,process,operation,file,offset,size,duration\n".to_owned();
    for block in 0..16 {
        let (time, offset) = (f64::from(block) * 1e-3, block * 65536);
        writeln!(trace, "{time:.9},writer,write,a,{offset},65536,0.000000000").unwrap();
        let time = time + 1.0;
        writeln!(trace, "{time:.9},reader,read,a,{offset},65536,0.000000000").unwrap();
    }
    std::fs::write(file, trace).unwrap();
    format!(
        r#"
        [clients]
        count = 2
        [clients.machine.memory]
        size = "64 MiB"
        [clients.rpc]
        size = "64 MiB"
        [servers]
        count = 2
        device = {{ read_rate = "1 TB/s", write_rate = "1 MB/s" }}
        [network]
        bandwidth = "1 GB/s"
        latency = "10 us"
        [layout]
        unit = "64 KiB"
        [[workload]]
        kind = "trace"
        replay = "timed"
        file = {file:?}
        "#
    )
}

/// One client's dirty data is written to the servers before another client reads it. At
/// 1 MB/s behind each of two servers the first reads wait half a second for a mebibyte.
#[test]
fn what_others_have_dirty_is_written_before_it_is_read() {
    let folder = std::env::temp_dir().join(format!("headrace-locks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = write_then_read(&folder.join("shared.csv"));
    let reads = |outcome: &Outcome| {
        let reads = outcome.requests.iter().filter(|it| it.request.size > 0);
        let reads = reads.filter(|it| it.request.operation == headrace_trace::Operation::Read);
        let mut all: Vec<(u64, u64)> = reads.map(|it| (it.request.offset, latency(it))).collect();
        all.sort_unstable();
        all.into_iter()
            .map(|(_, latency)| latency as f64 * 1e-12)
            .collect::<Vec<f64>>()
    };
    let without = run(&text, &[]);
    assert!(
        reads(&without).iter().all(|&it| it < 0.01),
        "{:?}",
        reads(&without)
    );
    assert!(station(&without, "server/device").visits < 32);
    let with = run(&[&text, LOCKS].concat(), &[]);
    let got = reads(&with);
    std::fs::remove_dir_all(&folder).unwrap();
    // The first read waits for all eight blocks that are dirty on its server, the second
    // for those of the other.
    close(got[0], 8.0 * 65536.0 / 1e6, 0.01);
    assert!(got[1] > 0.5 && got[1] < 1.1, "{got:?}");
    assert_eq!(with.report.operations["read"].bytes, 1 << 20);
}

/// Without a conflict a cache under locks is a cache: the same work for servers.
#[test]
fn private_files_are_cached_as_without_locks() {
    let name = "hindman-lustre.toml";
    let sets = ["clients.count=2", "workload.0.block=64 MiB", "run.seed=3"];
    let with = run_scenario(&shipped(name, &[&sets[..], &["locks=extent"]].concat()));
    let without = run_scenario(&shipped(name, &[&sets[..], &["locks=none"]].concat()));
    let visits = |outcome: &Outcome| station(outcome, "server/device").visits;
    assert_eq!(visits(&with), visits(&without));
    close(
        with.report.simulated_seconds,
        without.report.simulated_seconds,
        1e-3,
    );
    assert_eq!(asked(&with), 2);
}

#[test]
fn what_does_not_fit_is_refused() {
    let text = [SMALLEST, LOCKS].concat();
    for (sets, expected) in [
        (&["locks.unit=0 B"][..], "expected a size of more than 0"),
        (
            &["servers.count=2", "replication.copies=2"],
            "locks on replicated data are not modelled",
        ),
        (
            &["locks=none", "layout.overstripe_count=2"],
            "only locks tell the objects on one target apart",
        ),
        (&["layout.overstripe_count=2001"], "expected at most 2000"),
        (&["locks=range"], "expected \"none\" or \"extent\""),
    ] {
        let error = refusal(&text, sets);
        assert!(error.contains(expected), "{sets:?}: {error}");
    }
    let cached = text + "[clients.machine.memory]\nsize = \"64 MiB\"\npage = \"64 KiB\"\n";
    let error = refusal(&cached, &[]);
    assert!(
        error.contains("multiple of clients.machine.memory.page"),
        "{error}"
    );
}

/// Lock messages bypass schedulers at every position.
#[test]
fn schedulers_see_jobs_only() {
    let text = [SMALLEST, LOCKS].concat();
    for grain in ["message", "flow"] {
        for position in ["server", "client", "gateway", "proxy"] {
            let grain = format!("network.grain={grain}");
            let position = format!("scheduler.position={position}");
            let sets = [
                "clients.count=3",
                "scheduler.kind=fifo",
                "scheduler.depth=1",
                "workload.0.access=shared",
                "workload.0.block=64 KiB",
                "workload.0.segments=3",
                "workload.0.phases=[\"write\"]",
                &grain,
                &position,
            ];
            let outcome = run(&text, &sets);
            assert_eq!(outcome.report.operations["write"].count, 9);
            assert!(asked(&outcome) > 9);
        }
    }
}
