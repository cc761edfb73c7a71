//! The striped read as a loop over a heap, with nothing but what this one
//! question needs: the floor under any simulator of it. The same stations and
//! the same cut-through links as scenarios/striped-read.toml; no statistics but
//! the mean latency. Prints one JSON object. Built and run by `striped_read.py`.
//!
//!     rustc -O hand_written.rs && ./hand_written [CLIENTS] [SERVERS] [FILES]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

const STRIPE: u64 = 256 << 10;
const STRIPES: u32 = 4;
const DISK: f64 = 60e6;
const BANDWIDTH: f64 = 1e9 / 8.0;
/// 0.2 ms in picoseconds.
const LATENCY: u64 = 200_000_000;
const MESSAGE: u64 = 156;
const PACKET_DATA: u64 = 1500 - 40;
const PACKET_OVERHEAD: u64 = 40 + 38;

/// Picoseconds.
type Time = u64;

fn span(bytes: u64, rate: f64) -> Time {
    (bytes as f64 * 1e12 / rate + 0.5) as Time
}

/// Times of a message on a link: whole, and its first packet.
#[derive(Clone, Copy)]
struct Message {
    whole: Time,
    head: Time,
}

fn message(data: u64) -> Message {
    let bytes = data + MESSAGE;
    let wire = bytes + bytes.div_ceil(PACKET_DATA) * PACKET_OVERHEAD;
    Message {
        whole: span(wire, BANDWIDTH),
        head: span(wire.min(PACKET_DATA + PACKET_OVERHEAD), BANDWIDTH),
    }
}

/// Where a message or job arrives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    /// The client asks where its next file is.
    Ask,
    MetadataReceives,
    MetadataSends,
    ClientReceivesLayout,
    /// The client sends the jobs of a request.
    Split,
    ServerReceives,
    Disk,
    ServerSends,
    ClientReceivesData,
    Back,
}

/// Time, order of asking, where, client, server, when the last bit is there.
type Event = (Time, u64, At, u32, u32, Time);

/// A first-come, first-served server.
#[derive(Clone, Copy, Default)]
struct Turn(Time);

impl Turn {
    /// Begin and end of a service asked for now.
    fn serve(&mut self, now: Time, takes: Time) -> (Time, Time) {
        let begin = now.max(self.0);
        self.0 = begin + takes;
        (begin, self.0)
    }
}

#[derive(Clone, Copy, Default)]
struct Host {
    sending: Turn,
    receiving: Turn,
    disk: Turn,
    files_left: u32,
    jobs_left: u32,
    asked: Time,
}

struct Heap {
    events: BinaryHeap<Reverse<Event>>,
    pushed: u64,
}

impl Heap {
    fn push(&mut self, time: Time, at: At, client: u32, server: u32, tail: Time) {
        self.events
            .push(Reverse((time, self.pushed, at, client, server, tail)));
        self.pushed += 1;
    }
}

fn main() {
    let given: Vec<u32> = std::env::args()
        .skip(1)
        .map(|text| text.parse().unwrap_or(1))
        .collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (clients, servers, files) = (number(0, 64), number(1, 4), number(2, 400));
    let start = Instant::now();
    let host = Host {
        files_left: files,
        ..Host::default()
    };
    let mut hosts = vec![host; clients as usize];
    let mut stores = vec![Host::default(); servers as usize];
    let mut metadata = Host::default();
    let (small, large) = (message(0), message(STRIPE));
    let disk_time = span(STRIPE, DISK);
    let mut heap = Heap {
        events: BinaryHeap::new(),
        pushed: 0,
    };
    for client in 0..clients {
        heap.push(0, At::Ask, client, 0, 0);
    }
    let (mut now, mut requests, mut latency) = (0, 0_u64, 0.0);
    let mut random: u64 = 1;
    while let Some(Reverse((time, _, at, client, server, tail))) = heap.events.pop() {
        now = time;
        let own = &mut hosts[client as usize];
        // Sends a message: its head arrives, its tail comes later.
        let mut send = |turn: &mut Turn, message: Message, to: At, server: u32| {
            let (begin, end) = turn.serve(now, message.whole);
            heap.push(
                begin + message.head + LATENCY,
                to,
                client,
                server,
                end + LATENCY,
            );
        };
        match at {
            At::Ask => {
                own.asked = now;
                send(&mut own.sending, small, At::MetadataReceives, 0);
            }
            At::MetadataReceives => {
                let (_, end) = metadata.receiving.serve(now, small.whole);
                heap.push(end.max(tail), At::MetadataSends, client, 0, 0);
            }
            At::MetadataSends => send(&mut metadata.sending, small, At::ClientReceivesLayout, 0),
            At::ClientReceivesLayout => {
                let (_, end) = own.receiving.serve(now, small.whole);
                heap.push(end.max(tail), At::Split, client, 0, 0);
            }
            At::Split => {
                own.jobs_left = STRIPES;
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let first = (random >> 33) as u32 % servers;
                for stripe in 0..STRIPES {
                    let server = (first + stripe) % servers;
                    send(&mut own.sending, small, At::ServerReceives, server);
                }
            }
            At::ServerReceives => {
                let (_, end) = stores[server as usize].receiving.serve(now, small.whole);
                heap.push(end.max(tail), At::Disk, client, server, 0);
            }
            At::Disk => {
                let (_, end) = stores[server as usize].disk.serve(now, disk_time);
                heap.push(end, At::ServerSends, client, server, 0);
            }
            At::ServerSends => {
                let turn = &mut stores[server as usize].sending;
                send(turn, large, At::ClientReceivesData, server);
            }
            At::ClientReceivesData => {
                let (_, end) = own.receiving.serve(now, large.whole);
                heap.push(end.max(tail), At::Back, client, server, 0);
            }
            At::Back => {
                own.jobs_left -= 1;
                if own.jobs_left == 0 {
                    requests += 1;
                    latency += (now - own.asked) as f64 * 1e-12;
                    own.files_left -= 1;
                    if own.files_left > 0 {
                        heap.push(now, At::Ask, client, 0, 0);
                    }
                }
            }
        }
    }
    println!(
        "{{\"simulated_seconds\": {}, \"wall_seconds\": {}, \"requests\": {requests}, \
         \"mean_latency\": {}}}",
        now as f64 * 1e-12,
        start.elapsed().as_secs_f64(),
        latency / requests as f64
    );
}
