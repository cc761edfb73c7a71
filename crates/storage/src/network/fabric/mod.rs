//! Fabrics: the links of a whole network, and the path that a message takes.
//!
//! Used where the network is modelled as a whole: at the grain of flows and of packets. Hosts are
//! numbered clients first, then data servers, then metadata servers. To add a topology, write a
//! file with a function that adds its links and returns its [`Routes`], and name it in
//! [`Fabric::new`].
//!
//! Among equally short paths, a hash of the two hosts and the run's seed chooses one, as in
//! switches (equal-cost multi-path, RFC 2992). Each direction chooses separately, and all messages
//! from one host to another use one path. Uplinks therefore fill unevenly, and a run with another
//! seed differs.
//!
//! A card has one or several ports. A hash of the connection chooses the port of each host, or the
//! messages take them in turn. Messages take a client's connections to a server in turn. Answers take
//! the connection and the turn of their request.
//!
//! Not modelled: ports of a host on different switches; connections between servers; failing links; routing other than by shortest path and hash (in tori and meshes:
//! by dimension order); half duplex between switches.

mod fat_tree;
mod graph;
mod grid;
mod leaf_spine;
mod star;
mod switches;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use headrace_net::{Span, Time};
use headrace_spec::{
    Card, Clients, Device, Duplex, Parallel, Rate, Seconds, ServerKind, Servers, Spread, Topology,
};
use smallvec::SmallVec;

use self::switches::SwitchTimes;
use super::bucket::{Bucket, Meter};
use super::{Hosts, Wire};
use crate::splitmix;
use crate::tokens::{Direction, Job, Role};

/// Links of a path that are stored in place; more are on the heap.
const SHORT_PATH: usize = 8;

/// The links that a message takes, in order.
#[derive(Clone, Default, Debug)]
pub struct Path {
    links: SmallVec<[u32; SHORT_PATH]>,
    /// By link, as bits: packets take the second set of its virtual lanes.
    second: u64,
}

impl Path {
    /// Adds a link at the end.
    pub fn push(&mut self, link: u32) {
        self.links.push(link);
    }

    /// Adds a link at the end, on which packets take the second set of virtual lanes.
    pub fn push_second(&mut self, link: u32) {
        self.second |= 1 << self.links.len();
        self.links.push(link);
    }

    /// The links so far.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// Returns the set of virtual lanes on a link of the path.
    pub fn lane_class(&self, hop: usize) -> u32 {
        u32::from(self.second >> hop & 1 == 1)
    }
}

/// The switches of a topology: how they lead from host to host.
pub trait Routes: Send + Sync {
    /// Adds the links between the switches that the two hosts are attached to. Where
    /// several ways are equally short, `key` chooses one.
    fn between(&self, from: u32, to: u32, key: u64, path: &mut Path);

    /// Number of switches.
    fn switches(&self) -> u32;

    /// The switch that a host is attached to.
    fn switch_of(&self, host: u32) -> u32;

    /// The most links between two switches on a path.
    fn longest(&self) -> usize;
}

/// Links of one kind, such as the clients' cards in one direction.
#[derive(Clone, Debug)]
pub struct LinkGroup {
    /// Name of the group.
    pub name: String,
    /// Their numbers.
    pub links: Range<u32>,
    /// Name of one link, numbered within the group.
    pub each: fn(&LinkGroup, u32) -> String,
    /// Number per switch, for names.
    pub per_switch: u32,
    /// Links in each dimension of a grid, for names.
    pub shape: SmallVec<[u32; 3]>,
}

impl LinkGroup {
    /// The name of a link of this group.
    pub fn name_of(&self, link: u32) -> String {
        (self.each)(self, link - self.links.start)
    }
}

/// The links of a network.
pub struct Fabric {
    hosts: Hosts,
    rates: Vec<f64>,
    groups: Vec<LinkGroup>,
    /// By host: the links of its card.
    sending: Vec<CardPorts>,
    receiving: Vec<CardPorts>,
    connections: Connections,
    routes: Box<dyn Routes>,
    seed: u64,
    streams: Option<Streams>,
    /// By link: the bucket of tokens that it has besides its rate.
    buckets: BTreeMap<u32, (Bucket, Arc<Meter>)>,
    /// None if `network.latency` is all that a path takes.
    times: Option<SwitchTimes>,
}

/// The links of a card in one direction.
#[derive(Clone, Copy)]
struct CardPorts {
    first: u32,
    ports: u32,
    spread: Spread,
}

impl CardPorts {
    /// The link that a message takes, by the hash of its connection or by its turn.
    fn link(self, hash: impl FnOnce() -> u64, turn: u8) -> u32 {
        let port = match (self.ports, self.spread) {
            (1, _) => 0,
            (ports, Spread::Hash) => (hash() % u64::from(ports)) as u32,
            (ports, Spread::RoundRobin) => u32::from(turn) % ports,
        };
        self.first + port
    }
}

/// The connections between clients and servers.
#[derive(Clone, Copy)]
struct Connections {
    /// From each client to each server.
    each: u32,
    /// The first of their links, if they have any: each has two, numbered by direction, client and
    /// server.
    first: Option<u32>,
}

/// Turns of messages: a multiple of most numbers of ports and connections up to 16.
const TURNS: u8 = 240;

/// Devices that data passes on its way.
#[derive(Clone, Copy)]
struct Streams {
    /// Targets per server.
    targets: u32,
    /// The first device as it reads, and as it writes.
    reading: u32,
    writing: u32,
}

/// Links while they are collected.
pub struct Links {
    rates: Vec<f64>,
    groups: Vec<LinkGroup>,
    /// Groups of links between switches: their numbers, their latency, and the switch that each
    /// leaves, by its number within the group.
    between_switches: Vec<BetweenSwitches>,
}

struct BetweenSwitches {
    links: Range<u32>,
    latency: Span,
    leaves: Box<dyn Fn(u32) -> u32>,
}

impl Links {
    /// Adds a group of links of one rate; gives the number of the first.
    pub fn add(
        &mut self,
        name: &str,
        count: u32,
        per_switch: u32,
        rate: Rate,
        each: fn(&LinkGroup, u32) -> String,
    ) -> u32 {
        let first = self.rates.len() as u32;
        self.rates.resize(self.rates.len() + count as usize, rate.0);
        self.groups.push(LinkGroup {
            name: name.to_owned(),
            links: first..first + count,
            each,
            per_switch: per_switch.max(1),
            shape: SmallVec::new(),
        });
        first
    }

    /// Adds a group of links between the switches of a grid, named by their places in it.
    fn add_grid(
        &mut self,
        name: &str,
        shape: &[u32],
        rate: Rate,
        each: fn(&LinkGroup, u32) -> String,
    ) -> u32 {
        let first = self.add(name, shape.iter().product(), 1, rate, each);
        if let Some(group) = self.groups.last_mut() {
            group.shape = shape.into();
        }
        first
    }

    /// Says of the group that was added last which latency its links have, and which switch each
    /// of them leaves.
    fn leave(&mut self, latency: Seconds, leaves: impl Fn(u32) -> u32 + 'static) {
        if let Some(group) = self.groups.last() {
            self.between_switches.push(BetweenSwitches {
                links: group.links.clone(),
                latency: Span::from_seconds(latency.0),
                leaves: Box::new(leaves),
            });
        }
    }

    /// Adds a link that is a group of its own, numbered if there is one of that name;
    /// gives its number.
    fn add_one(&mut self, name: &str, rate: Rate) -> u32 {
        let taken = |name: &str| self.groups.iter().any(|group| group.name == name);
        let numbered = (2_u32..).map(|number| format!("{name} {number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let name = names.find(|name| !taken(name)).unwrap_or_default();
        self.add(&name, 1, 1, rate, |group, _| group.name.clone())
    }
}

impl Fabric {
    /// The scenario's network; `seed` is the run's, for paths that are drawn.
    pub fn new(scenario: &Parallel, clients: &Clients, hosts: Hosts, seed: u64) -> Fabric {
        let mut links = Links {
            rates: Vec::new(),
            groups: Vec::new(),
            between_switches: Vec::new(),
        };
        let (mut sending, mut receiving) = (Vec::new(), Vec::new());
        let network = &scenario.network;
        let mut buckets = BTreeMap::new();
        let mut cards = |name: &str, count: u32, card: &Card, unlike: &[(Vec<u32>, Card)]| {
            let (rate, bucket) = rate_of(card, network.bandwidth);
            let (ports, spread) = (card.ports, card.spread);
            let mut add = |side: &str| {
                let name = format!("{name} card {side}");
                let first = links.add(&name, count * ports, ports, rate, card_name);
                let mut own = vec![bucket.clone(); (count * ports) as usize];
                for (hosts, card) in unlike {
                    let (rate, bucket) = rate_of(card, network.bandwidth);
                    for port in hosts
                        .iter()
                        .flat_map(|&host| host * ports..(host + 1) * ports)
                    {
                        links.rates[(first + port) as usize] = rate.0;
                        own[port as usize].clone_from(&bucket);
                    }
                }
                for (link, bucket) in (first..).zip(own) {
                    buckets.extend(bucket.map(|it| (link, metered(it))));
                }
                (0..count).map(move |host| CardPorts {
                    first: first + host * ports,
                    ports,
                    spread,
                })
            };
            match network.duplex {
                Duplex::Full => {
                    sending.extend(add("sending"));
                    receiving.extend(add("receiving"));
                }
                Duplex::Half => {
                    let both = add("sending and receiving");
                    sending.extend(both.clone());
                    receiving.extend(both);
                }
            }
        };
        let servers = &scenario.servers;
        cards(
            "client",
            hosts.clients,
            &clients.card,
            &client_cards(clients),
        );
        cards(
            "server",
            hosts.servers,
            &servers.card,
            &server_cards(servers),
        );
        cards("metadata", hosts.metadata, &scenario.metadata.card, &[]);
        let bandwidth = network.bandwidth;
        let routes: Box<dyn Routes> = match &network.topology {
            // Pairs of hosts have links of their own: they are no fabric.
            Topology::Star(_) | Topology::Pairs(_) => Box::new(star::Star),
            Topology::LeafSpine(it) => leaf_spine::routes(it, hosts, bandwidth, &mut links),
            Topology::FatTree(it) => fat_tree::routes(it, bandwidth, &mut links),
            Topology::Graph(it) => graph::routes(it, hosts, bandwidth, &mut links),
            Topology::Torus(it) => grid::routes(it.grid(), hosts, bandwidth, &mut links),
            Topology::Mesh(it) => grid::routes(it.grid(), hosts, bandwidth, &mut links),
        };
        let times = SwitchTimes::new(network, routes.as_ref(), &receiving, &mut links);
        let connections = connections(scenario, clients, hosts, &mut links);
        let streams = streams(scenario, &mut links);
        Fabric {
            streams,
            buckets,
            hosts,
            rates: links.rates,
            groups: links.groups,
            sending,
            receiving,
            connections,
            routes,
            seed,
            times,
        }
    }

    /// The rates of all links, in bytes per second.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The bucket of tokens that a link has besides its rate.
    pub fn bucket(&self, link: u32) -> Option<Bucket> {
        self.buckets.get(&link).map(|(bucket, _)| bucket.clone())
    }

    /// Time for which a link with a bucket was busy until now; none for others.
    pub fn busy(&self, link: u32, now: Time) -> Option<Span> {
        self.buckets.get(&link).map(|(_, meter)| meter.busy(now))
    }

    /// Forgets for how long links were busy.
    pub fn reset(&self, now: Time) {
        self.buckets
            .values()
            .for_each(|(_, meter)| meter.reset(now));
    }

    /// The kinds of links.
    pub fn groups(&self) -> &[LinkGroup] {
        &self.groups
    }

    /// The hosts that a job's message goes from and to.
    pub fn hosts_of(&self, job: &Job) -> (u32, u32) {
        let server = match job.role {
            Role::Data => self.hosts.clients + job.server,
            // Without hosts of their own they are on the data servers.
            Role::Metadata if self.hosts.metadata == 0 => self.hosts.clients + job.server,
            Role::Metadata => self.hosts.clients + self.hosts.servers + job.server,
        };
        match job.direction {
            Direction::Out => (job.client, server),
            Direction::Back => (server, job.client),
            Direction::ToNextCopy => (self.hosts.clients + job.client, server),
            Direction::FromNextCopy => (server, self.hosts.clients + job.client),
        }
    }

    /// The links from one host to another, from card to card, of their first connection.
    pub fn between(&self, from: u32, to: u32) -> Path {
        self.route(from, to, 0)
    }

    fn route(&self, from: u32, to: u32, turn: u8) -> Path {
        let mut path = Path::default();
        let connection = u64::from(turn) % u64::from(self.connections.each);
        // The first connection has the key of hosts with one.
        let key = mix(self.seed.wrapping_add(connection << 32), from, to);
        let port = |salt: u64| move || splitmix::finalise(key ^ salt);
        path.push(self.sending[from as usize].link(port(1), turn));
        self.routes.between(from, to, key, &mut path);
        path.push(self.receiving[to as usize].link(port(2), turn));
        match &self.times {
            None => path,
            Some(times) => times.through_switches(path),
        }
    }

    /// Gives a client's message to a server its turn, after those before it.
    pub fn take_turn(&self, job: &mut Job, turns: &mut BTreeMap<(u32, u32), u8>) {
        let in_turn = |it: &CardPorts| it.ports > 1 && it.spread == Spread::RoundRobin;
        let (from, to) = self.hosts_of(job);
        let rails = in_turn(&self.sending[from as usize]) || in_turn(&self.receiving[to as usize]);
        if job.direction.answers() || (self.connections.each == 1 && !rails) {
            return;
        }
        let next = turns.entry((from, to)).or_default();
        job.turn = *next;
        *next = (*next + 1) % TURNS;
    }

    /// Returns the latency of a path, of which `base` is `network.latency`.
    pub fn latency(&self, path: &Path, base: Span) -> Span {
        match &self.times {
            None => base,
            Some(times) => base + times.latency(path),
        }
    }

    /// Returns the time from the end of a packet's transmission on the n-th link of its path until
    /// it is at the next port. It is an equal part of `base`, which is `network.latency`, the
    /// latency of the link, and that of the switch behind it.
    pub fn latency_of_hop(&self, path: &Path, hop: usize, base: Span) -> Span {
        let [wire, switch] = self.latencies_of_hop(path, hop, base);
        wire + switch
    }

    /// Returns the parts of [`Fabric::latency_of_hop`]: those of the link and of the switch.
    pub fn latencies_of_hop(&self, path: &Path, hop: usize, base: Span) -> [Span; 2] {
        match &self.times {
            None => [Span(base.0 / path.links().len() as u64), Span::ZERO],
            Some(times) => times.latencies_of_hop(path, hop, base),
        }
    }

    /// Returns the number of links on the longest path, what data streams through included.
    pub fn longest_path(&self) -> usize {
        let between = self.routes.longest();
        let links = between + 2;
        let inside = self.times.as_ref().map_or(0, |it| it.inside(links));
        let connection = usize::from(self.connections.first.is_some());
        links + inside + usize::from(self.streams.is_some()) + connection
    }

    /// The links that a job's message takes, from card to card, and the device that its
    /// data streams through.
    pub fn path(&self, job: &Job) -> Path {
        let (from, to) = self.hosts_of(job);
        let mut path = self.route(from, to, job.turn);
        if let Some(streams) = &self.streams
            && job.payload() > 0
        {
            let first = match job.direction {
                Direction::Out | Direction::ToNextCopy => streams.writing,
                Direction::Back | Direction::FromNextCopy => streams.reading,
            };
            path.push(first + job.server * streams.targets + u32::from(job.target));
        }
        if let Some(first) = self.connections.first
            && !job.direction.between_servers()
        {
            let Hosts { clients, .. } = self.hosts;
            let servers = self.hosts.servers + self.hosts.metadata;
            let (way, client, server) = match job.direction.answers() {
                false => (0, from, to - clients),
                true => (1, to, from - clients),
            };
            let pair = (way * clients + client) * servers + server;
            let connection = u32::from(job.turn) % self.connections.each;
            path.push(first + pair * self.connections.each + connection);
        }
        path
    }

    /// The lowest rate on a path, in bytes per second.
    pub fn slowest(&self, path: &Path) -> f64 {
        let rates = path.links().iter().map(|&link| self.rates[link as usize]);
        rates.fold(f64::INFINITY, f64::min)
    }
}

/// The clients whose cards are not the common ones, and these.
fn client_cards(clients: &Clients) -> Vec<(Vec<u32>, Card)> {
    let unlike = clients.alike().into_iter();
    let unlike = unlike.filter(|it| it.group.is_some() && it.clients.card != clients.card);
    unlike.map(|it| (it.numbers, it.clients.card)).collect()
}

/// The same for servers.
fn server_cards(servers: &Servers) -> Vec<(Vec<u32>, Card)> {
    let unlike = servers.alike().into_iter();
    let unlike = unlike.filter(|it| it.group.is_some() && it.servers.card != servers.card);
    unlike
        .map(|it| (it.numbers.collect(), it.servers.card))
        .collect()
}

/// The rate at which a card sends at the most, and the bucket that it has besides.
pub fn rate_of(card: &Card, bandwidth: Rate) -> (Rate, Option<Bucket>) {
    match (card.bandwidth, card.burst) {
        (Some(rate), Some(burst)) => (bandwidth, Some(Bucket::new(rate, burst))),
        (rate, _) => (rate.unwrap_or(bandwidth), None),
    }
}

/// A bucket and what measures how busy its link is.
fn metered(bucket: Bucket) -> (Bucket, Arc<Meter>) {
    let meter = Arc::<Meter>::default();
    (bucket.with(Arc::clone(&meter)), meter)
}

/// Adds the connections of clients to the links, if they have several or a limit of their own.
fn connections(
    scenario: &Parallel,
    clients: &Clients,
    hosts: Hosts,
    links: &mut Links,
) -> Connections {
    let each = clients.rpc.connections;
    let limit = scenario.network.connection_rate;
    let first = (each > 1 || limit.is_some()).then(|| {
        let servers = hosts.servers + hosts.metadata;
        let fastest = links.rates.iter().copied().fold(0.0, f64::max);
        let rate = limit.unwrap_or(Rate(fastest));
        let count = 2 * hosts.clients * servers * each;
        let first = links.add("connections", count, each, rate, connection_name);
        if let Some(group) = links.groups.last_mut() {
            group.shape = SmallVec::from_slice(&[hosts.clients, servers]);
        }
        first
    });
    Connections { each, first }
}

/// "connection 1 from client 3 to server 0".
fn connection_name(group: &LinkGroup, number: u32) -> String {
    let (pair, connection) = (number / group.per_switch, number % group.per_switch);
    let (pair, server) = (pair / group.shape[1], pair % group.shape[1]);
    let client = pair % group.shape[0];
    let (client, server) = (format!("client {client}"), format!("server {server}"));
    let (from, to) = match pair < group.shape[0] {
        true => (client, server),
        false => (server, client),
    };
    format!("connection {connection} from {from} to {to}")
}

/// Adds the servers' devices to the links, if data streams through them.
fn streams(scenario: &Parallel, links: &mut Links) -> Option<Streams> {
    let servers = &scenario.servers;
    let ServerKind::SimpleServer(simple) = &servers.kind else {
        return None;
    };
    let Device::SimpleDevice(device) = &simple.device else {
        return None;
    };
    if !servers.streaming {
        return None;
    }
    let (count, targets) = (servers.all_targets(), servers.targets);
    // A flow is as long as its packets are on the wire; a device sees their data only.
    let around = Wire::new(&scenario.network).packet_per_data();
    let mut add = |name: &str, rate: Rate| {
        let rate = Rate(rate.0 * around);
        links.add(name, count, targets, rate, |group, number| {
            let (server, target) = (number / group.per_switch, number % group.per_switch);
            format!("server {server} {} {target}", group.name)
        })
    };
    Some(Streams {
        targets,
        reading: add("target reading", device.read_rate),
        writing: add("target writing", device.write_rate),
    })
}

/// "client 3 card sending", or "client 3 card sending port 1".
fn card_name(group: &LinkGroup, number: u32) -> String {
    let (number, port) = (number / group.per_switch, number % group.per_switch);
    match (group.name.split_once(' '), group.per_switch) {
        (Some((host, rest)), 1) => format!("{host} {number} {rest}"),
        (Some((host, rest)), _) => format!("{host} {number} {rest} port {port}"),
        (None, _) => group.name.clone(),
    }
}

/// A hash of the two hosts, as switches take one of the addresses to choose among
/// equal paths (RFC 2992).
fn mix(seed: u64, from: u32, to: u32) -> u64 {
    let mut hash = seed ^ (u64::from(from) << 32 | u64::from(to));
    for _ in 0..2 {
        hash = splitmix::finalise(hash.wrapping_add(0x9E37_79B9_7F4A_7C15));
    }
    hash
}
