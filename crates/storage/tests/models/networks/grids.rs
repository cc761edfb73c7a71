//! Tori and meshes, and the latencies and rates of links and switches.

use headrace_net::Span;
use headrace_storage::network::{Fabric, Hosts};

use crate::running::{NANOSECOND, SMALLEST, close, latencies, load, refusal, run, station};

/// The fabric of a topology with as many hosts as it has room for, but for one each at the most.
fn fabric(topology: &str, clients: u32, sets: &[&str]) -> Fabric {
    let topology = format!("network.topology={topology}");
    let clients = format!("clients.count={clients}");
    let all = [&["network.grain=flow", &topology, &clients], sets].concat();
    let scenario = load(SMALLEST, &all).unwrap_or_else(|error| panic!("{error}"));
    let parallel = scenario.parallel().unwrap();
    let hosts = Hosts {
        clients: scenario.clients.count,
        servers: parallel.servers.count,
        metadata: parallel.metadata.servers,
    };
    Fabric::new(parallel, &scenario.clients, hosts, scenario.run.seed)
}

/// Paths over each link between switches, from every host to every host.
fn loads(fabric: &Fabric, hosts: u32) -> Vec<(String, u32)> {
    let groups = fabric.groups().iter();
    let between = groups.filter(|group| !group.name.contains("card"));
    let mut loads: Vec<(String, u32)> = Vec::new();
    let mut counts = vec![0; fabric.rates().len()];
    for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
        for &link in fabric.between(from, to).links() {
            counts[link as usize] += 1;
        }
    }
    for group in between {
        for link in group.links.clone() {
            loads.push((group.name_of(link), counts[link as usize]));
        }
    }
    loads
}

/// The mean distance in each dimension of k switches is k/4 in a ring of an even number, and (k −
/// 1/k)/3 in a line. Source: Dally and Towles 2004, section 5.2, Performance of torus networks.
#[test]
fn mean_distances_are_those_of_the_textbook() {
    for (topology, hosts, mean) in [
        ("{ kind = \"torus\", size = [4, 4] }", 16, 2.0),
        ("{ kind = \"torus\", size = [4, 4, 4] }", 64, 3.0),
        ("{ kind = \"torus\", size = [8, 2] }", 16, 2.5),
        ("{ kind = \"mesh\", size = [4, 4] }", 16, 2.5),
        ("{ kind = \"mesh\", size = [4, 4, 4] }", 64, 3.75),
    ] {
        let fabric = fabric(topology, hosts - 2, &[]);
        let total: u32 = loads(&fabric, hosts).iter().map(|(_, paths)| paths).sum();
        close(f64::from(total) / f64::from(hosts * hosts), mean, 1e-12);
    }
}

/// Uniform traffic of N hosts puts N·(k − 1/k)/8 paths on every link of a torus of odd k. In a
/// mesh, the central links carry the most: N·k/4 paths (Dally and Towles 2004, section 3.3,
/// Performance).
#[test]
fn uniform_traffic_loads_the_bisection_as_in_the_textbook() {
    let torus = fabric("{ kind = \"torus\", size = [5, 5] }", 23, &[]);
    for (name, paths) in loads(&torus, 25) {
        assert_eq!(paths, 15, "{name}");
    }
    let mesh = fabric("{ kind = \"mesh\", size = [4, 4] }", 14, &[]);
    let loads = loads(&mesh, 16);
    assert_eq!(loads.len(), 4 * 12);
    for (name, paths) in &loads {
        assert!(*paths <= 16, "{name}");
        if name.starts_with("switch (1, ") && name.ends_with(") x up") {
            assert_eq!(*paths, 16, "{name}");
        }
    }
    // Both directions of a dimension carry the same.
    let of = |name: &str| loads.iter().find(|(it, _)| it == name).unwrap().1;
    assert_eq!(of("switch (0, 2) x up"), of("switch (1, 2) x down"));
    assert_eq!(of("switch (3, 0) y up"), of("switch (3, 1) y down"));
}

#[test]
fn paths_take_the_first_dimension_first_and_the_shorter_way() {
    let names = |fabric: &Fabric, from: u32, to: u32| -> Vec<String> {
        let path = fabric.between(from, to);
        let name = |&link: &u32| {
            let mut groups = fabric.groups().iter();
            let group = groups.find(|group| group.links.contains(&link));
            group.unwrap().name_of(link)
        };
        let links = path.links();
        links[1..links.len() - 1].iter().map(name).collect()
    };
    let torus = fabric("{ kind = \"torus\", size = [5, 3] }", 13, &[]);
    assert_eq!(
        names(&torus, 3, 10),
        [
            "switch (3, 0) x up",
            "switch (4, 0) x up",
            "switch (0, 0) y down"
        ]
    );
    // Packets change lanes where the ring closes, and start again in the next dimension.
    let path = torus.between(3, 5);
    let classes: Vec<u32> = (0..5).map(|hop| path.lane_class(hop)).collect();
    assert_eq!(path.links().len(), 5);
    assert_eq!(classes, [0, 0, 1, 0, 0]);
    let mesh = fabric("{ kind = \"mesh\", size = [5, 3] }", 13, &[]);
    let names = names(&mesh, 3, 10);
    assert_eq!(names.len(), 5);
    assert_eq!(names[0], "switch (3, 0) x down");
    assert_eq!(names[4], "switch (0, 1) y up");
}

/// Hosts on switches at equal distances: data and metadata servers on one switch in eight.
#[test]
fn servers_are_spread_over_the_grid() {
    let hops = |fabric: &Fabric, from: u32, to: u32| fabric.between(from, to).links().len() - 2;
    let spread = "{ kind = \"torus\", size = [4, 4], hosts = 2, servers = \"spread\" }";
    let fabric = fabric(spread, 30, &[]);
    // Server 0 is on switch 0 with client 0, the metadata server on switch (0, 2) with client 15.
    assert_eq!(hops(&fabric, 0, 30), 0);
    assert_eq!(hops(&fabric, 15, 31), 0);
    assert_eq!(hops(&fabric, 30, 31), 2);
}

/// Every link and every switch of a path adds its latency, at every grain.
#[test]
fn links_and_switches_add_their_latencies() {
    let torus = "{ kind = \"torus\", size = [5, 3], latency = \"30 ns\" }";
    let fabric = fabric(torus, 13, &["network.switch.latency=100 ns"]);
    let base = Span(1_000 * NANOSECOND);
    // From (3, 0) to (0, 2): three links and four switches.
    let path = fabric.between(3, 10);
    let expected = 1_000 + 3 * 30 + 4 * 100;
    assert_eq!(fabric.latency(&path, base), Span(expected * NANOSECOND));
    let hops = (0..path.links().len()).map(|hop| fabric.latency_of_hop(&path, hop, base).0);
    assert_eq!(hops.sum::<u64>(), expected * NANOSECOND);
    // A request asks for the layout and for data: four messages through one switch.
    for grain in ["message", "flow", "packet"] {
        let grain = format!("network.grain={grain}");
        let small = [grain.as_str(), "workload.0.block=1 kB"];
        let of = |sets: &[&str]| latencies(&run(SMALLEST, &[&small, sets].concat()))[0];
        let more = of(&["network.switch.latency=5 us"]) - of(&[]);
        // Acknowledgements are later, too, but nothing waits for them.
        assert_eq!(more, 4 * 5_000 * NANOSECOND, "{grain}");
    }
}

/// Two switches, one of which carries 0.5 GB/s of all packets together.
#[test]
fn a_switch_carries_no_more_than_its_rate() {
    let graph = "network.topology={ kind = \"graph\", link = [{ from = \"a\", to = \"b\", \
                 bandwidth = \"10 GB/s\" }], switch = [{ name = \"b\", bandwidth = \"0.5 GB/s\" }], \
                 clients = [\"a\"], servers = [\"b\"] }";
    for grain in ["network.grain=flow", "network.grain=packet"] {
        let sets = [
            grain,
            graph,
            "network.queue=1 GB",
            "clients.count=4",
            "servers.count=4",
            "layout.servers=1",
            "servers.device.write_rate=1000 TB/s",
            "workload.0.block=10 MB",
            "workload.0.transfer=10 MB",
            "workload.0.phases=[\"write\"]",
        ];
        let outcome = run(SMALLEST, &sets);
        let longest = latencies(&outcome).into_iter().max().unwrap();
        close(longest as f64 * 1e-12, 40e6 / 0.5e9, 0.01);
        assert!(
            station(&outcome, "network/switch").utilisation > 0.95,
            "{grain}"
        );
    }
}

#[test]
fn grids_and_switches_without_meaning_are_refused() {
    for (sets, says) in [
        (
            vec!["network.topology={ kind = \"torus\", size = [4] }"],
            "two or three dimensions",
        ),
        (
            vec!["network.topology={ kind = \"mesh\", size = [1, 4] }"],
            "two or three dimensions",
        ),
        (
            vec!["network.topology={ kind = \"mesh\", size = [30, 2] }"],
            "longest path has 30 links",
        ),
        (
            vec![
                "network.topology={ kind = \"torus\", size = [2, 2] }",
                "clients.count=5",
            ],
            "room for 4 hosts, and there are 7: 5 clients, 1 servers and 1 metadata servers; \
             expected at least 2",
        ),
        (
            vec![
                "network.topology={ kind = \"graph\", link = [{ from = \"a\", to = \"b\" }], switch \
                 = [{ name = \"c\" }], clients = [\"a\"], servers = [\"b\"] }",
            ],
            "no link leads to switch \"c\"",
        ),
    ] {
        let sets = [&["network.grain=flow"], &sets[..]].concat();
        let message = refusal(SMALLEST, &sets);
        assert!(message.contains(says), "{message}");
    }
    let message = refusal(SMALLEST, &["network.switch.bandwidth=1 GB/s"]);
    assert!(message.contains("network.switch.bandwidth"), "{message}");
    let torus = "network.topology={ kind = \"torus\", size = [2, 2] }";
    let message = refusal(SMALLEST, &[torus]);
    assert!(message.contains("network.grain = \"flow\""), "{message}");
}
