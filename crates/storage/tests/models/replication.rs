//! Copies of data on several servers: what links and devices have to carry for them.

use proptest::prelude::*;

use crate::running::{busy, close, latencies, refusal, run, station};

/// One client and three servers, each of which has everything. A byte takes 1 ns on the
/// wire, 1 ps to read and 10 ps to write.
const COPIES: &str = r#"
    [clients]
    count = 1
    [clients.rpc]
    size = "64 KiB"
    [servers]
    count = 3
    device = { read_rate = "1 TB/s", write_rate = "100 GB/s" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "1 MiB"
    [replication]
    copies = 3
    [[workload]]
    block = "64 MiB"
    transfer = "64 MiB"
    phases = ["write"]
"#;

const WRITTEN: f64 = 64.0 * 1_048_576.0;

fn rate(sets: &[&str], operation: &str) -> f64 {
    run(COPIES, sets).report.throughput[operation]
}

#[test]
fn a_client_that_makes_the_copies_has_a_part_of_its_link_for_each() {
    for (copies, servers) in [(1, 3), (2, 4), (3, 3)] {
        let copies_set = format!("replication.copies={copies}");
        let servers = format!("servers.count={servers}");
        let got = rate(&[&copies_set, &servers], "write");
        close(got, 1e9 / f64::from(copies), 0.01);
    }
}

#[test]
fn a_chain_leaves_the_client_its_whole_link() {
    for grain in ["message", "packet"] {
        let grain_set = format!("network.grain={grain}");
        let sets = [
            "replication.by=chain",
            "clients.rpc.in_flight=8",
            &grain_set,
        ];
        // Packets have to find their windows first.
        close(rate(&sets, "write"), 1e9, 0.02);
    }
}

/// Picoseconds: 64 KiB on the wire, and on a device.
const DATA: u64 = 65_536_000;
const STORED: u64 = DATA / 100;
/// Two latencies: a question and its answer.
const ASKING: u64 = 20_000_000;
/// The data on the wire, a packet on the second card, and two latencies.
const HOP: u64 = DATA + 1_500_000 + ASKING;

/// Latencies of a write of one message.
fn latencies_of_one_message(by: &str, copies: u64) -> Vec<u64> {
    let (by, copies) = (
        format!("replication.by={by}"),
        format!("replication.copies={copies}"),
    );
    let sets = [
        &by,
        "replication.sets=random",
        "workload.0.block=64 KiB",
        "workload.0.transfer=64 KiB",
        &copies,
    ];
    latencies(&run(COPIES, &sets))
}

/// After asking where the file is, each hop takes the data's time on the wire, a packet's on the
/// second card and a latency. The answers take latencies only, and the last server's device is
/// added.
#[test]
fn a_chain_of_one_message_takes_a_hop_for_each_copy() {
    for copies in [1_u64, 2, 3] {
        let all = latencies_of_one_message("chain", copies);
        assert_eq!(all, [ASKING + copies * HOP + STORED]);
    }
}

/// The first server's card sends one message after the other to the other servers.
#[test]
fn a_primary_sends_to_all_others_at_once() {
    for copies in [1_u64, 2, 3] {
        let all = latencies_of_one_message("primary", copies);
        let others = match copies {
            1 => 0,
            copies => HOP + (copies - 2) * DATA,
        };
        assert_eq!(all, [ASKING + HOP + others + STORED]);
    }
    // Its card carries all copies but its own.
    let sets = ["replication.by=primary", "clients.rpc.in_flight=8"];
    close(rate(&sets, "write"), 0.5e9, 0.02);
}

#[test]
fn devices_store_every_copy() {
    for by in ["client", "chain", "primary"] {
        for (sets, servers) in [("neighbours", 6), ("random", 7)] {
            let all = [
                format!("replication.by={by}"),
                format!("replication.sets={sets}"),
                format!("servers.count={servers}"),
            ];
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let outcome = run(COPIES, &all);
            close(busy(&outcome, "server/device"), 3.0 * WRITTEN * 10.0, 1e-6);
            assert_eq!(station(&outcome, "server/device").visits, 3 * 1024);
        }
    }
}

/// Three clients read one file: from one server, or each from its own.
#[test]
fn copies_share_the_reads_of_one_file() {
    let read = |from: &str| {
        let from = format!("replication.read_from={from}");
        let sets = [
            "clients.count=3",
            "workload.0.access=shared",
            "workload.0.order=sequential",
            "workload.0.phases=[\"read\"]",
            &from,
        ];
        rate(&sets, "read")
    };
    close(read("first"), 1e9, 0.01);
    close(read("by-client"), 3e9, 0.01);
    let random = read("random");
    assert!(random > 2.2e9 && random < 3e9, "{random}");
}

/// A read needs one copy, whatever they are made by.
#[test]
fn reads_take_one_copy() {
    for by in ["client", "chain"] {
        let by = format!("replication.by={by}");
        let outcome = run(COPIES, &[&by, "workload.0.phases=[\"read\"]"]);
        close(busy(&outcome, "server/device"), WRITTEN, 1e-6);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (sets, says) in [
        (
            &["replication.copies=4"][..],
            "there are fewer servers: servers.count = 3",
        ),
        (
            &["replication.copies=2"],
            "sets of 2 neighbours would leave",
        ),
        (&["layout.servers=2"], "there are fewer sets of servers"),
        (
            &["replication.by=chain", "network.topology=pairs"],
            "there is no way from server to server",
        ),
        (
            &["replication.by=chain", "network.duplex=half"],
            "it is not modelled",
        ),
        (
            &["replication.by=chain", "messages.kind=rendezvous"],
            "it is not modelled",
        ),
    ] {
        let error = refusal(COPIES, sets);
        assert!(error.contains(says), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With any stage on the way, all is done and every copy is stored.
    #[test]
    fn every_copy_is_stored(
        copies in 1_u32..4, more in 0_u32..3, chain in any::<bool>(), random in any::<bool>(),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        shared in prop::sample::select(vec!["none", "clients", "servers", "all"]),
        scheduler in prop::sample::select(vec!["none", "sfq", "fifo"]),
        position in prop::sample::select(vec!["client", "server", "gateway"]),
        cached in any::<bool>(),
    ) {
        let servers = if random { copies + more } else { copies * (1 + more) };
        let mut sets = vec![
            format!("replication.copies={copies}"),
            format!("replication.by={}", if chain { "chain" } else { "client" }),
            format!("replication.sets={}", if random { "random" } else { "neighbours" }),
            format!("servers.count={servers}"),
            format!("network.grain={grain}"),
            format!("hosts.cpu.shared_by={shared}"),
            "hosts.cpu.send=1 us".to_owned(),
            "clients.count=3".to_owned(),
            "workload.0.block=1 MiB".to_owned(),
            "workload.0.transfer=256 KiB".to_owned(),
        ];
        if scheduler != "none" {
            sets.push(format!("scheduler.kind={scheduler}"));
            sets.push(format!("scheduler.position={position}"));
            if scheduler == "sfq" {
                sets.push("scheduler.depth=4".to_owned());
            }
        }
        if cached {
            sets.push("clients.machine.memory.size=64 MiB".to_owned());
            sets.push("workload.0.phases=[\"write\", \"sync\"]".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(COPIES, &sets);
        let stored = f64::from(copies) * 3.0 * 1_048_576.0 * 10.0;
        close(busy(&outcome, "server/device"), stored, 1e-6);
    }
}

/// 40 blocks of 64 KiB over six servers in three racks: every copy is written and stored
/// once, and the servers share the work.
#[test]
fn blocks_are_all_over_the_servers() {
    let sets = [
        "servers.count=6",
        "layout.unit=64 KiB",
        "workload.0.block=2560 KiB",
        "workload.0.transfer=640 KiB",
        "workload.0.phases=[\"write\",\"read\"]",
        "replication.sets=blocks",
        "replication.servers_per_rack=2",
    ];
    for by in ["client", "chain"] {
        let by = format!("replication.by={by}");
        let outcome = run(COPIES, &[&sets[..], &[&by]].concat());
        let device = station(&outcome, "server/device");
        // Three copies of 40 written, one of each read.
        assert_eq!(device.visits, 40 * 4);
        let bytes = outcome.report.operations["write"].bytes;
        assert_eq!(bytes, 40 * 65_536);
    }
}

/// With a leaf-spine network the servers of a leaf are a rack. With three copies two of the three
/// messages of each block stay within a leaf or cross once.
#[test]
fn a_leaf_is_a_rack() {
    let sets = [
        "servers.count=8",
        "layout.unit=64 KiB",
        "workload.0.block=12800 KiB",
        "workload.0.transfer=64 KiB",
        "replication.by=chain",
        "network.grain=flow",
        "network.topology.kind=leaf-spine",
        "network.topology.hosts=4",
        "network.topology.spines=1",
    ];
    let outcome = run(COPIES, &[&sets[..], &["replication.sets=blocks"]].concat());
    // A byte takes 1 ns on a link.
    let block = busy(&outcome, "network/leaf up") / 1000.0 / 200.0;
    // Each block goes up from the client's leaf, and from that of the first copy; the
    // third copy is in the rack of the second.
    close(block, 2.0 * 65_536.0, 0.1);
}

/// Two racks of four servers, the client in the first; of two copies of a block one is in each.
/// Reads from the nearest cross nothing, half of the reads from any do.
#[test]
fn the_nearest_copy_is_in_the_same_rack() {
    let sets = [
        "servers.count=8",
        "replication.copies=2",
        "replication.sets=blocks",
        "layout.unit=64 KiB",
        "workload.0.block=12800 KiB",
        "workload.0.transfer=64 KiB",
        "workload.0.phases=[\"read\"]",
        "network.grain=flow",
        "network.topology.kind=leaf-spine",
        "network.topology.hosts=4",
        "network.topology.spines=1",
        "network.topology.clients=with-servers",
    ];
    let crossed = |from: &str| {
        let from = format!("replication.read_from={from}");
        let outcome = run(COPIES, &[&sets[..], &[&from]].concat());
        let device = station(&outcome, "server/device");
        assert_eq!(device.visits, 200);
        busy(&outcome, "network/leaf up") / 1000.0 / 65_536.0
    };
    close(crossed("nearest"), 0.0, 1e-9);
    // 200 blocks, each with a chance of a half: within four standard deviations.
    assert!((72.0..=128.0).contains(&crossed("random")));
}

/// The same by names: client and server 0 on one switch, server 1 two links away, with all
/// data on both.
#[test]
fn the_nearest_copy_is_over_the_fewest_links() {
    let graph = r#"network.topology={ kind = "graph", clients = ["a"], servers = ["c", "a"], link = [
        { from = "a", to = "b" }, { from = "b", to = "c" }] }"#;
    let sets = [
        "servers.count=2",
        "replication.copies=2",
        "replication.read_from=nearest",
        "workload.0.phases=[\"read\"]",
        "network.grain=flow",
        graph,
    ];
    let outcome = run(COPIES, &sets);
    close(busy(&outcome, "network/c to b"), 0.0, 1e-9);
}

#[test]
fn copies_that_are_equally_near_are_refused() {
    let near = "replication.read_from=nearest";
    let error = refusal(COPIES, &[near]);
    assert!(error.contains("network.topology with several"), "{error}");
    let leaves = r#"network.topology={ kind = "leaf-spine", hosts = 2, spines = 1 }"#;
    let error = refusal(COPIES, &[near, "network.grain=flow", leaves]);
    assert!(error.contains("with-servers"), "{error}");
}

#[test]
fn blocks_and_racks_that_cannot_be_are_refused() {
    for (sets, says) in [
        (
            vec!["replication.servers_per_rack=2"],
            "racks say where blocks are",
        ),
        (
            vec!["replication.sets=blocks", "layout.servers=1"],
            "blocks go to all servers",
        ),
        (
            vec!["replication.sets=blocks", "workload.0.layout.unit=1 MiB"],
            "leave the workloads' own layouts out",
        ),
    ] {
        let error = refusal(COPIES, &sets);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn files_that_are_written_once_are_written_in_order_by_one_process() {
    let once = "metadata.write_once=true";
    for (set, says) in [
        (
            "workload.0.phases=[\"write\",\"write\"]",
            "writes files again",
        ),
        (
            "workload.0.phases=[\"read\",\"write\"]",
            "writes files again",
        ),
        ("workload.0.repeat=2", "writes files again"),
        ("workload.0.phases=[\"mixed\"]", "writes among reads"),
        ("workload.0.order=random", "does not write in order"),
        ("clients.count=2", "writes files from several processes"),
    ] {
        let mut sets = vec![once, "workload.0.transfer=1 MiB", set];
        if set.starts_with("clients") {
            sets.push("workload.0.access=shared");
        }
        let error = refusal(COPIES, &sets);
        assert!(error.contains(says), "{error}");
    }
    let reads = [once, "workload.0.phases=[\"write\",\"read\"]"];
    assert!(run(COPIES, &reads).requests.len() > 1);
}
