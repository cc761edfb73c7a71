//! Ports of a card, and connections of a client.

use crate::running::{close, refusal, run};

/// A byte takes 1 ns on a port; nothing but data is on the wire, and devices take no time.
const FLOWS: &str = r#"
    [clients]
    count = 1
    processes = 8
    [servers]
    count = 1
    device = { read_rate = "1 TB/s", write_rate = "1 TB/s" }
    [network]
    grain = "flow"
    bandwidth = "1 GB/s"
    latency = "1 us"
    header = "0 B"
    framing = "0 B"
    message = "1 B"
    [layout]
    unit = "1 MiB"
    [[workload]]
    block = "64 MiB"
    transfer = "1 MiB"
    phases = ["read"]
"#;

fn rate(sets: &[&str]) -> f64 {
    run(FLOWS, sets).report.throughput["read"]
}

/// Messages in turn use every port. A hash sends all messages of a connection through one port, and
/// so does a peer with one port.
#[test]
fn messages_in_turn_use_every_port() {
    let turn = "clients.card.spread=round-robin";
    let ports = ["clients.card.ports=4", "servers.card.ports=4"];
    close(rate(&[]), 1e9, 0.01);
    close(
        rate(&[ports[0], ports[1], turn, "servers.card.spread=round-robin"]),
        4e9,
        0.03,
    );
    close(rate(&[ports[0], ports[1]]), 1e9, 0.01);
    close(rate(&[ports[0], turn]), 1e9, 0.01);
    // Four clients with one port each, to a server with two in turn.
    let four = [
        "clients.count=4",
        "clients.processes=2",
        "servers.card.ports=2",
    ];
    let [clients, processes, two] = four;
    let all = rate(&[clients, processes, two, "servers.card.spread=round-robin"]);
    close(all, 2e9, 0.03);
    // A port of a card with a bandwidth of its own.
    let half = "clients.card.bandwidth=500 MB/s";
    let servers = "servers.card.spread=round-robin";
    close(rate(&[ports[0], ports[1], turn, servers, half]), 2e9, 0.03);
}

/// With one client and one server the hash decides once: all of 16 seeds give one port's rate. Over
/// several connections it spreads: 16 connections over 2 ports carry more than one.
#[test]
fn a_hash_spreads_connections_over_ports() {
    let ports = ["clients.card.ports=2", "servers.card.ports=2"];
    let mut rates = Vec::new();
    for seed in 1..=8 {
        let seed = format!("run.seed={seed}");
        close(rate(&[ports[0], ports[1], &seed]), 1e9, 0.01);
        rates.push(rate(&[
            ports[0],
            ports[1],
            &seed,
            "clients.rpc.connections=16",
        ]));
    }
    let mean = rates.iter().sum::<f64>() / 8.0;
    assert!(mean > 1.2e9 && mean < 2.02e9, "{rates:?}");
}

/// A connection of 250 MB/s: n of them carry n times as much, until the port is full. Without a
/// limit of their own they carry no more than one.
#[test]
fn connections_carry_their_own_rate_each() {
    let limit = "network.connection_rate=250 MB/s";
    for (connections, expected) in [(1, 250e6), (2, 500e6), (3, 750e6), (4, 1e9), (16, 1e9)] {
        let connections = format!("clients.rpc.connections={connections}");
        close(rate(&[limit, &connections]), expected, 0.03);
        close(rate(&[&connections]), 1e9, 0.03);
    }
    let writes = "workload.0.phases=[\"write\"]";
    let outcome = run(FLOWS, &[limit, "clients.rpc.connections=2", writes]);
    close(outcome.report.throughput["write"], 500e6, 0.03);
    // A single process has one message at a time on the way.
    close(
        rate(&[limit, "clients.rpc.connections=4", "clients.processes=1"]),
        250e6,
        0.03,
    );
    // Two servers are two connections.
    close(rate(&[limit, "servers.count=2"]), 500e6, 0.05);
}

#[test]
fn only_flows_have_ports_and_connections() {
    let message = "network.grain=message";
    for set in [
        "clients.card.ports=2",
        "servers.card.ports=2",
        "clients.rpc.connections=2",
        "network.connection_rate=1 GB/s",
    ] {
        let error = refusal(FLOWS, &[message, set]);
        assert!(
            error.contains("expected network.grain = \"flow\""),
            "{error}"
        );
    }
    let zero = refusal(FLOWS, &["clients.card.ports=0"]);
    assert!(zero.contains("clients.card.ports"), "{zero}");
    let many = refusal(FLOWS, &["clients.card.ports=17"]);
    assert!(many.contains("expected at most 16"), "{many}");
    let rdma = refusal(FLOWS, &["messages.kind=rdma", "clients.rpc.connections=4"]);
    assert!(
        rdma.contains("RDMA moves data beside connections"),
        "{rdma}"
    );
    let unlike =
        format!("{FLOWS}\n[[servers.group]]\nname = \"two\"\ncount = 1\ncard = {{ ports = 2 }}");
    let unlike = refusal(&unlike, &[]);
    assert!(
        unlike.contains("expected the ports of the others, 1"),
        "{unlike}"
    );
}
