//! Links with credits: their rate, their order, and that nothing is lost.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{NANOSECOND, SMALLEST, close, last, latencies, refusal, run, station};

/// Packets of 1,024 B, sixteen blocks, on links of 1 ns a byte.
const CREDITS: [&str; 6] = [
    "network.grain=packet",
    "network.flow_control=credits",
    "network.mtu=1024 B",
    "network.header=0 B",
    "network.framing=0 B",
    "network.message=0 B",
];
/// A device that takes no time worth speaking of.
const NO_DEVICE: [&str; 2] = [
    "servers.device.read_rate=1000000 TB/s",
    "servers.device.write_rate=1000000 TB/s",
];

fn with<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

fn lost(outcome: &Outcome) -> u64 {
    outcome.report.packets.unwrap().lost
}

/// A packet's credits are back after its transmission and the round-trip latency of the link. Until
/// then no more packets than the buffer holds are on the way.
#[test]
fn a_buffer_of_a_round_trip_carries_the_full_rate_and_a_smaller_one_its_part() {
    for (packets, cut_through) in [(4, true), (10, true), (40, true), (4, false), (40, false)] {
        let buffer = format!("network.credits.buffer={} B", packets * 1024);
        let cut_through_set = format!("network.credits.cut_through={cut_through}");
        let sets = [
            &buffer,
            &cut_through_set,
            "network.latency=20 us",
            "workload.0.block=20 MB",
            "workload.0.transfer=20 MB",
            "workload.0.phases=[\"write\"]",
        ];
        let outcome = run(SMALLEST, &with(&[&CREDITS, &NO_DEVICE, &sets]));
        // A switch that stores a packet holds it for one transmission more.
        let sent = if cut_through { 1.024e-6 } else { 2.048e-6 };
        let round_trip = 20e-6 + sent;
        let rate = (f64::from(packets) * 1024.0 / round_trip).min(1e9);
        close(last(&outcome).as_seconds(), 20e6 / rate, 0.01);
        let packets = outcome.report.packets.unwrap();
        assert_eq!(packets.lost, 0);
        assert_eq!(packets.without_credits == Some(0.0), rate == 1e9);
    }
}

/// A message alone takes its bytes and the latency; a switch that stores packets adds one.
#[test]
fn a_switch_that_cuts_through_adds_no_packet() {
    let of = |cut_through: bool| {
        let sets = format!("network.credits.cut_through={cut_through}");
        latencies(&run(SMALLEST, &with(&[&CREDITS, &NO_DEVICE, &[&sets]])))[0]
    };
    // The layout is requested, and then the data: four ways of 10 us.
    let whole = 40_000 * NANOSECOND + 1_000_000 * NANOSECOND;
    assert!(of(true).abs_diff(whole) < 10, "{}", of(true));
    assert!(of(false).abs_diff(whole + 1024 * NANOSECOND) < 10);
}

/// The scenario in which TCP's throughput collapses (`packet.rs`).
#[test]
fn servers_that_answer_at_once_wait_and_lose_nothing() {
    let sets = [
        "servers.count=32",
        "network.bandwidth=1 Gbit/s",
        "network.latency=50 us",
        "network.credits.buffer=64 KiB",
        "layout.unit=256 KiB",
        "workload.0.transfer=8 MiB",
        "workload.0.block=160 MiB",
    ];
    let outcome = run(SMALLEST, &with(&[&CREDITS, &NO_DEVICE, &sets]));
    assert_eq!(lost(&outcome), 0);
    assert_eq!(outcome.report.operations["read"].bytes, 160 << 20);
    // Requests take four ways and a little transmission each.
    close(outcome.report.throughput["read"], 125e6, 0.01);
    assert!(station(&outcome, "network/client card receiving").utilisation > 0.98);
}

/// Clients 0, 2 and 4 write to server 0, clients 1 and 3 to server 1. Clients 0 and 1 share the
/// link between the switches.
const TWO_SWITCHES: &str = r#"network.topology={
    kind = "graph",
    link = [{ from = "a", to = "b" }],
    clients = ["a", "a", "b", "b", "b"],
    servers = ["b"],
}"#;

/// Server 0's port serves three inputs in turn, so client 0 gets a third of it. Its packets stand
/// before client 1's in the buffer behind the link, which get no more: head-of-line blocking.
/// With a separate lane, client 1 shares server 1's port with client 3, half each.
#[test]
fn packets_behind_a_blocked_one_wait_unless_they_have_a_lane_of_their_own() {
    let topology = TWO_SWITCHES.replace('\n', " ");
    let time_of_client_1 = |lanes: u32| {
        let lanes = format!("network.credits.lanes={lanes}");
        let sets = [
            "clients.count=5",
            "servers.count=2",
            "layout.servers=1",
            "layout.unit=100 MB",
            "network.latency=1 us",
            "network.credits.buffer=16 KiB",
            "workload.0.block=10 MB",
            "workload.0.transfer=10 MB",
            "workload.0.phases=[\"write\"]",
            &topology,
            &lanes,
        ];
        let outcome = run(SMALLEST, &with(&[&CREDITS, &NO_DEVICE, &sets]));
        let mut requests = outcome.requests.iter();
        let it = requests.find(|it| it.request.process.client == 1).unwrap();
        it.completed.since(it.request.issued).as_seconds()
    };
    // A buffer sends one packet at a time, so the first of the two can miss its turn.
    close(time_of_client_1(1), 3.0 * 10e-3, 0.08);
    close(time_of_client_1(2), 2.0 * 10e-3, 0.02);
}

/// All clients of a torus send to all servers through buffers of a packet. Without a second set of
/// lanes behind the datelines, packets would wait for each other around the rings.
#[test]
fn rings_do_not_lock_up() {
    for size in ["[5, 5]", "[4, 3, 2]", "[2, 2]", "[6, 2]"] {
        let topology = format!("network.topology={{ kind = \"torus\", size = {size}, hosts = 8 }}");
        let sets = [
            "clients.count=12",
            "servers.count=12",
            "network.latency=1 us",
            "network.credits.buffer=1 KiB",
            "layout.unit=4 KiB",
            "workload.0.transfer=192 KiB",
            "workload.0.block=192 KiB",
            &topology,
        ];
        for servers in ["last", "spread"] {
            let topology = topology.replace(" }", &format!(", servers = \"{servers}\" }}"));
            let sets = with(&[&CREDITS, &NO_DEVICE, &sets, &[&topology]]);
            let outcome = run(SMALLEST, &sets);
            assert_eq!(outcome.requests.len(), 12);
        }
    }
}

#[test]
fn credits_that_could_lock_up_or_have_no_meaning_are_refused() {
    let ring = |count: u32| {
        let names: Vec<String> = (0..count).map(|it| format!("\"s{it}\"")).collect();
        let links: Vec<String> = (0..count)
            .map(|it| format!("{{ from = \"s{it}\", to = \"s{}\" }}", (it + 1) % count))
            .collect();
        format!(
            "network.topology={{ kind = \"graph\", link = [{}], clients = [{1}], servers = [{1}] }}",
            links.join(", "),
            names.join(", ")
        )
    };
    // In a triangle, every path has one link.
    let sets = ["clients.count=3", "servers.count=3"];
    let triangle = ring(3);
    let outcome = run(SMALLEST, &with(&[&CREDITS, &sets, &[&triangle]]));
    assert_eq!(outcome.requests.len(), 3);
    for (set, says) in [
        (ring(4).as_str(), "wait for credits in a circle, s"),
        ("network.credits.buffer=1000 B", "expected at least 1024 B"),
        ("network.credits.lanes=16", "at most 15 virtual lanes"),
        ("network.error_rate=0.1", "expected 0"),
        ("network.duplex=half", "expected \"full\""),
        ("network.grain=flow", "credits are granted for packets"),
        ("network.switch.bandwidth=1 GB/s", "never block"),
    ] {
        let message = refusal(SMALLEST, &with(&[&CREDITS, &[set]]));
        assert!(message.contains(says), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Every request ends with all its bytes, and no faster than the slowest card lets them pass.
    #[test]
    fn all_bytes_come_with_credits(
        clients in 1..5_u32,
        servers in 1..9_u32,
        buffer in 1..20_u64,
        lanes in 1..4_u32,
        kilobytes in 1..100_u64,
        write in any::<bool>(),
        cut_through in any::<bool>(),
        shape in 0..5_usize,
    ) {
        let topology = [
            "star",
            "{ kind = \"leaf-spine\", hosts = 2, spines = 2 }",
            "{ kind = \"fat-tree\", arity = 4 }",
            "{ kind = \"torus\", size = [3, 2], hosts = 3, bandwidth = \"0.3 GB/s\" }",
            "{ kind = \"mesh\", size = [2, 2, 2], hosts = 2, latency = \"1 us\" }",
        ][shape];
        let phase = if write { "write" } else { "read" };
        let block = kilobytes * 1000;
        let sets = [
            format!("clients.count={clients}"),
            format!("servers.count={servers}"),
            format!("network.credits.buffer={buffer} KiB"),
            format!("network.credits.lanes={lanes}"),
            format!("network.credits.cut_through={cut_through}"),
            format!("network.topology={topology}"),
            "network.switch.latency=100 ns".to_owned(),
            "layout.unit=5 kB".to_owned(),
            format!("workload.0.block={block} B"),
            format!("workload.0.phases=[\"{phase}\"]"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(SMALLEST, &with(&[&CREDITS, &NO_DEVICE, &sets]));
        prop_assert_eq!(outcome.requests.len(), clients as usize);
        let moved: u64 = outcome.report.operations.values().map(|it| it.bytes).sum();
        prop_assert_eq!(moved, block * u64::from(clients));
        for time in latencies(&outcome) {
            prop_assert!(time >= block * NANOSECOND);
        }
    }
}
