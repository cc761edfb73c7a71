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
        seconds(),
    )
        .prop_map(|(hosts, spines, uplink, clients, uplink_latency)| {
            Topology::LeafSpine(LeafSpine {
                hosts,
                spines,
                uplink,
                uplink_latency,
                clients,
            })
        });
    let fat_tree = (90..=102_u32, prop::option::of(rate()), seconds()).prop_map(
        |(half, bandwidth, latency)| {
            Topology::FatTree(FatTree {
                arity: 2 * half,
                bandwidth,
                latency,
            })
        },
    );
    let grid = || {
        let size = prop::collection::vec(2..5_u32, 2..=3);
        let servers = choice(ServerSwitches::ALL);
        (
            size,
            30_000..40_000_u32,
            servers,
            prop::option::of(rate()),
            seconds(),
        )
    };
    let torus = grid().prop_map(|(size, hosts, servers, bandwidth, latency)| {
        Topology::Torus(Torus {
            size,
            hosts,
            servers,
            bandwidth,
            latency,
        })
    });
    let mesh = grid().prop_map(|(size, hosts, servers, bandwidth, latency)| {
        Topology::Mesh(Mesh {
            size,
            hosts,
            servers,
            bandwidth,
            latency,
        })
    });
    prop_oneof![
        Just(Topology::Star(Star {})),
        Just(Topology::Pairs(Pairs {})),
        leaf_spine,
        fat_tree,
        graph().prop_map(Topology::Graph),
        torus,
        mesh,
    ]
    .boxed()
}

/// A hub and switches around it, with some more links between these.
fn graph() -> BoxedStrategy<Graph> {
    let name = |number: u32| format!("switch {number}");
    let spokes = prop::collection::vec(prop::option::of(rate()), 1..6);
    let more = prop::collection::vec((0..5_u32, 1..5_u32, prop::option::of(rate())), 0..5);
    let hosts = || prop::collection::vec(0..5_u32, 1..4);
    let rates = prop::option::of((prop::option::of(seconds()), prop::option::of(rate())));
    (spokes, more, hosts(), hosts(), hosts(), rates)
        .prop_map(move |(spokes, more, clients, servers, metadata, rates)| {
            let count = spokes.len() as u32;
            let link = |from: u32, to: u32, bandwidth| GraphLink {
                from: name(from),
                to: name(to),
                bandwidth,
                latency: Seconds(0.0),
            };
            let named = rates.map(|(latency, bandwidth)| {
                vec![GraphSwitch {
                    name: name(0),
                    latency,
                    bandwidth,
                }]
            });
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
                switch: named,
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
        errors in 0.0..=1.0_f64,
        flow_control in choice(FlowControl::ALL),
        credits in (0..=LARGEST_PACKET, 1..8_u32, any::<bool>()),
        switch in (seconds(), prop::option::of(rate())),
    ) -> Network {
        let tcp = Tcp { minimum_timeout: tcp.0, initial_window: tcp.1, window: Bytes(mtu + tcp.2) };
        let message = Bytes(message);
        // A link between two hosts carries messages, switches share whole ones.
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
        let packets = grain == Grain::Packet;
        // The graph may have circles.
        let waits = packets && duplex == Duplex::Full && !matches!(topology, Topology::Graph(_));
        let flow_control = if waits { flow_control } else { FlowControl::None };
        let drops = flow_control == FlowControl::None;
        let error_rate = if packets && drops { errors } else { 0.0 };
        let credits = Credits {
            buffer: Bytes((mtu.0 + framing.0).next_multiple_of(CREDIT_BLOCK) + credits.0),
            lanes: credits.1,
            cut_through: credits.2,
        };
        let pairs = matches!(topology, Topology::Pairs(_));
        let switch = Switch {
            latency: if pairs { Seconds(0.0) } else { switch.0 },
            bandwidth: switch.1.filter(|_| grain != Grain::Message && drops),
        };
        Network { link: None, connection_rate: None, error_rate, flow_control, credits, switch, topology, grain, interval, bandwidth, latency, mtu, header, framing, duplex, message, queue, tcp }
    }
}
