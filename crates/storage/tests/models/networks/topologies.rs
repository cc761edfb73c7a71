//! Topologies: the paths of messages, and the limits of their links.

use headrace_net::Time;
use headrace_storage::network::{Fabric, Hosts};
use headrace_storage::{Direction, Job, Message, Role};
use headrace_trace::Operation;

use crate::running::{NANOSECOND, SMALLEST, close, latencies, load, refusal, run, station};

fn job(client: u32, server: u32, direction: Direction) -> Job {
    Job {
        request: 0,
        client,
        server,
        target: 0,
        file: 0,
        offset: 0,
        size: 1000,
        wire: 1000,
        tail: Time::ZERO,
        pending: 0,
        workload: 0,
        group: 0,
        operation: Operation::Write,
        direction,
        role: Role::Data,
        message: Message::Whole,
        received: false,
        synchronous: false,
        turn: 0,
    }
}

/// The names of the links from a client to a server and back.
fn paths(sets: &[&str], client: u32, server: u32) -> [Vec<String>; 2] {
    let sets: Vec<&str> = ["network.grain=flow"].iter().chain(sets).copied().collect();
    let scenario = load(SMALLEST, &sets).unwrap_or_else(|error| panic!("{error}"));
    let parallel = scenario.parallel().unwrap();
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: parallel.servers.count,
        metadata: parallel.metadata.servers,
    };
    let fabric = Fabric::new(parallel, &scenario.clients, hosts, scenario.run.seed);
    let name = |&link: &u32| {
        let groups = fabric.groups();
        let group = groups.iter().find(|group| group.links.contains(&link));
        group.unwrap().name_of(link)
    };
    [Direction::Out, Direction::Back].map(|direction| {
        let path = fabric.path(&job(client, server, direction));
        path.links().iter().map(name).collect()
    })
}

const LEAVES: &str =
    r#"network.topology={ kind = "leaf-spine", hosts = 2, spines = 1, uplink = "1 GB/s" }"#;

#[test]
fn a_path_goes_up_to_a_spine_and_down() {
    let [out, back] = paths(&[LEAVES, "clients.count=5", "servers.count=3"], 4, 1);
    // Clients 0 to 4 are on leaves 0 to 2, server 1 is on leaf 3.
    let expected = [
        "client 4 card sending",
        "leaf 2 up to spine 0",
        "leaf 3 down from spine 0",
        "server 1 card receiving",
    ];
    assert_eq!(out, expected);
    assert_eq!(back[1], "leaf 3 up to spine 0");
    assert_eq!(back[2], "leaf 2 down from spine 0");
}

#[test]
fn hosts_spread_over_all_spines() {
    let topology = r#"network.topology={ kind = "leaf-spine", hosts = 100, spines = 4 }"#;
    let mut spines = [0; 4];
    for client in 0..100 {
        let [out, _] = paths(
            &[topology, "clients.count=100", "servers.count=9"],
            client,
            7,
        );
        let last = out[1].chars().last().and_then(|it| it.to_digit(10));
        spines[last.unwrap() as usize] += 1;
    }
    // 25 each are expected; four standard deviations are 17.
    assert!(
        spines.iter().all(|&it| (8..=42).contains(&it)),
        "{spines:?}"
    );
}

#[test]
fn an_oversubscribed_uplink_is_shared() {
    // Four clients of two leaves send to four servers at once, each leaf over one link
    // of a card's rate: half the rate for each.
    let sets = [
        "network.grain=flow",
        LEAVES,
        "clients.count=4",
        "servers.count=4",
        "layout.servers=1",
        "servers.streaming=true",
        "servers.device.write_rate=100 GB/s",
        "workload.0.phases=[\"write\"]",
    ];
    let outcome = run(SMALLEST, &sets);
    for time in latencies(&outcome) {
        close(
            time as f64,
            (2_000_000 + 40_000) as f64 * NANOSECOND as f64,
            1e-9,
        );
    }
    // The metadata server's leaf has links, too, which carry nothing.
    let up = station(&outcome, "network/leaf up");
    assert_eq!((up.copies, up.visits), (5, 4));
    let total = outcome.report.simulated_seconds;
    close(up.most_utilisation * total, 2e-3, 1e-9);
    close(up.utilisation * 5.0 * total, 4e-3, 1e-9);
}

#[test]
fn a_fat_tree_joins_edges_pods_and_all() {
    // Sixteen hosts, two on an edge switch, four in a pod: clients 0 to 11.
    let tree = r#"network.topology={ kind = "fat-tree", arity = 4 }"#;
    let hosts = [tree, "clients.count=3", "servers.count=9"];
    // Server 0 is host 3, on client 2's edge; server 1 is host 4, in the next pod.
    assert_eq!(paths(&hosts, 2, 0)[0].len(), 2);
    let same_pod = &paths(&hosts, 0, 0)[0];
    assert_eq!(same_pod.len(), 4);
    assert!(same_pod[1].starts_with("pod 0 edge 0 up "), "{same_pod:?}");
    assert!(
        same_pod[2].starts_with("pod 0 edge 1 down "),
        "{same_pod:?}"
    );
    // The aggregation switch that it goes up to is the one that it comes from.
    assert_eq!(same_pod[1].chars().last(), same_pod[2].chars().last());
    for server in 1..9 {
        let far = &paths(&hosts, 1, server)[0];
        let host = 3 + server;
        let pod = host / 4;
        assert_eq!(far.len(), 6);
        let up = far[1].strip_prefix("pod 0 edge 0 up ").unwrap();
        let core = far[2]
            .strip_prefix(&format!("pod 0 aggregation {up} up "))
            .unwrap();
        let down = format!("pod {pod} aggregation {up} down {core}");
        assert_eq!(far[3], down);
        assert!(far[4].starts_with(&format!("pod {pod} edge ")));
        assert!(far[4].ends_with(&format!(" down {up}")));
    }
    let full = refusal(SMALLEST, &["network.grain=flow", tree, "clients.count=15"]);
    assert!(full.contains("room for 16 hosts"), "{full}");
    assert!(full.contains("at least 6"), "{full}");
}

/// a ── b ── c, with two clients at a and one at b, server 0 at b and server 1 at c.
const LINE: &str = r#"network.topology={
    kind = "graph",
    link = [
        { from = "a", to = "b", bandwidth = "1 GB/s" },
        { from = "b", to = "c", bandwidth = "0.25 GB/s" },
    ],
    clients = ["a", "a", "b"],
    servers = ["b", "c"],
}"#;

/// The textbook's line (Bertsekas and Gallager 1992, §6.5.2). A flow over both links is limited by
/// the narrow one and leaves the rest of the wide one to another.
#[test]
fn flows_over_a_line_of_switches_share_max_min() {
    let sets = [
        "network.grain=flow",
        &LINE.replace('\n', " "),
        "clients.count=3",
        "servers.count=2",
        "clients.card.bandwidth=100 GB/s",
        "servers.card.bandwidth=10 GB/s",
        "servers.streaming=true",
        "servers.device.write_rate=100 GB/s",
        "layout.servers=1",
        "workload.0.phases=[\"write\"]",
    ];
    let outcome = run(SMALLEST, &sets);
    let mut times = [0.0; 3];
    for request in &outcome.requests {
        let client = request.request.process.client as usize;
        let latency = request.completed.since(request.request.issued);
        times[client] = latency.as_seconds() - 40e-6;
    }
    // Client 1's megabyte has 0.25 GB/s, client 0's the rest of the first link, and client 2's the
    // rest of the server's card.
    for (time, expected) in times.into_iter().zip([1e-3 / 0.75, 4e-3, 1e-3 / 9.25]) {
        close(time, expected, 1e-7);
    }
}

#[test]
fn graphs_that_lead_nowhere_are_refused() {
    for (wrong, right, says) in [
        (
            "\"b\", \"c\"]",
            "\"b\", \"d\"]",
            "no link leads to switch \"d\"",
        ),
        (
            "from = \"b\"",
            "from = \"d\"",
            "no way from switch \"a\" to \"c\"",
        ),
        ("to = \"b\"", "to = \"a\"", "joins two switches"),
    ] {
        let broken = LINE.replace('\n', " ").replace(wrong, right);
        let message = refusal(
            SMALLEST,
            &["network.grain=flow", &broken, "servers.count=2"],
        );
        assert!(message.contains(says), "{message}");
    }
    let message = refusal(SMALLEST, &[LEAVES]);
    assert!(message.contains("network.grain = \"flow\""), "{message}");
}

#[test]
fn the_checkpoint_of_spider_takes_as_long_as_its_fullest_target() {
    let text = std::fs::read_to_string(crate::running::in_repository(
        "scenarios/spider-checkpoint.toml",
    ));
    // A hundredth of the clients, on as many targets: the same steps, less of a load.
    let outcome = run(&text.unwrap(), &["clients.count=260"]);
    // 260 files of four parts over 1,344 targets. At most one file more than one begins on each of
    // four neighbours, so no part meets more than three others.
    let parts = (0..1344_u32).map(|target| {
        (0..4)
            .filter(|back| target >= *back && target - back < 260)
            .count()
    });
    let most = parts.max().unwrap() as f64;
    let times = latencies(&outcome);
    let longest = *times.iter().max().unwrap() as f64 * 1e-12;
    close(longest, most * 0.25e9 / 178.6e6, 1e-3);
}
