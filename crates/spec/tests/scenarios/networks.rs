//! Arbitrary networks for the hosts of an arbitrary scenario: at most thirty.

use headrace_spec::*;
use proptest::prelude::*;

use super::{choice, rate, seconds};

fn topology() -> BoxedStrategy<Topology> {
    let leaf_spine = (
        1..20_u32,
        1..5_u32,
        prop::option::of(rate()),
        choice(ClientLeaves::ALL),
    )
        .prop_map(|(hosts, spines, uplink, clients)| {
            Topology::LeafSpine(LeafSpine {
                hosts,
                spines,
                uplink,
                clients,
            })
        });
    let fat_tree = (90..=102_u32).prop_map(|half| Topology::FatTree(FatTree { arity: 2 * half }));
    prop_oneof![
        Just(Topology::Star(Star {})),
        Just(Topology::Pairs(Pairs {})),
        leaf_spine,
        fat_tree,
        graph().prop_map(Topology::Graph),
    ]
    .boxed()
}

/// A hub and switches around it, with some more links between these.
fn graph() -> BoxedStrategy<Graph> {
    let name = |number: u32| format!("switch {number}");
    let spokes = prop::collection::vec(prop::option::of(rate()), 1..6);
    let more = prop::collection::vec((0..5_u32, 1..5_u32, prop::option::of(rate())), 0..5);
    let hosts = || prop::collection::vec(0..5_u32, 1..4);
    (spokes, more, hosts(), hosts(), hosts())
        .prop_map(move |(spokes, more, clients, servers, metadata)| {
            let count = spokes.len() as u32;
            let link = |from: u32, to: u32, bandwidth| GraphLink {
                from: name(from),
                to: name(to),
                bandwidth,
            };
            let to_hub = spokes.into_iter().zip(1..);
            let to_hub = to_hub.map(|(rate, spoke)| link(0, spoke, rate));
            let others = more.into_iter().filter(|_| count > 1);
            let others = others.map(|(from, further, rate)| {
                let from = from % count;
                link(
                    1 + from,
                    1 + (from + 1 + further % (count - 1)) % count,
                    rate,
                )
            });
            let on = |hosts: Vec<u32>| hosts.iter().map(|host| name(host % (count + 1))).collect();
            Graph {
                link: to_hub.chain(others).collect(),
                clients: on(clients),
                servers: on(servers),
                metadata: on(metadata),
            }
        })
        .boxed()
}

prop_compose! {
    pub fn network()(
        topology in topology(),
        duplex in choice(Duplex::ALL),
        bandwidth in rate(),
        latency in seconds(),
        mtu in 1001..100_000_u64,
        header in 0..1000_u64,
        framing in 0..1000_u64,
        message in 0..=LARGEST_PACKET,
        grain in choice(Grain::ALL),
        interval in seconds(),
        tcp in (seconds(), 1..1000_u32, 0..=LARGEST_PACKET),
    ) -> Network {
        let tcp = Tcp { minimum_timeout: tcp.0, initial_window: tcp.1, window: Bytes(mtu + tcp.2) };
        let message = Bytes(message);
        // A link between two hosts carries messages, switches share what is whole.
        let grain = match &topology {
            Topology::Pairs(_) => Grain::Message,
            Topology::Star(_) => grain,
            _ if grain == Grain::Message => Grain::Flow,
            _ => grain,
        };
        let mtu = if grain == Grain::Packet { mtu.min(65_536) } else { mtu };
        let queue = Bytes(mtu + framing + message.0);
        let interval = if grain == Grain::Flow { interval } else { Seconds(0.0) };
        let (mtu, header, framing) = (Bytes(mtu), Bytes(header), Bytes(framing));
        Network { link: None, topology, grain, interval, bandwidth, latency, mtu, header, framing, duplex, message, queue, tcp }
    }
}
