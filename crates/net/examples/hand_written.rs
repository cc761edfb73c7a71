//! The common net of `common_net.rs` without a net: one loop over one heap,
//! the client's number as the event, counters as the only statistics. How fast
//! such a loop goes is the ceiling for any kernel.
//!
//! `cargo run --release -p headrace-net --example hand_written [seconds] [clients] [servers]`

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;

use headrace_net::Random;

const THINK: f64 = 5e9;
const SERVE: u64 = 1_000_000_000;

/// A client has thought enough, or its server has served it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Thought,
    Served(u32),
}

struct Office {
    events: BinaryHeap<Reverse<(u64, u64, u32, Kind)>>,
    sequence: u64,
    draws: u64,
}

impl Office {
    fn at(&mut self, time: u64, client: u32, kind: Kind) {
        self.events
            .push(Reverse((time, self.sequence, client, kind)));
        self.sequence += 1;
    }

    fn think(&mut self, now: u64, client: u32) {
        let think = Random::named(1, "think", &mut self.draws).exponential(THINK);
        self.at(now + think as u64, client, Kind::Thought);
    }
}

fn main() {
    let argument = |index: usize, default: f64| -> f64 {
        std::env::args()
            .nth(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let until = (argument(1, 1000.0) * 1e12) as u64;
    let (clients, servers) = (argument(2, 64.0) as u32, argument(3, 4.0) as usize);
    let mut office = Office {
        events: BinaryHeap::new(),
        sequence: 0,
        draws: 0,
    };
    let mut queues: Vec<VecDeque<u32>> = vec![VecDeque::new(); servers];
    let (mut arrivals, mut events) = (0_u64, 0_u64);
    let start = Instant::now();
    for client in 0..clients {
        office.think(0, client);
    }
    while let Some(Reverse((now, _, client, kind))) = office.events.pop() {
        if now > until {
            break;
        }
        events += 1;
        match kind {
            Kind::Thought => {
                let server =
                    Random::named(1, "choose", &mut office.draws).below(servers as u64) as usize;
                arrivals += 1;
                queues[server].push_back(client);
                if queues[server].len() == 1 {
                    office.at(now + SERVE, client, Kind::Served(server as u32));
                }
            }
            Kind::Served(server) => {
                let queue = &mut queues[server as usize];
                queue.pop_front();
                if let Some(&next) = queue.front() {
                    office.at(now + SERVE, next, Kind::Served(server));
                }
                office.think(now, client);
            }
        }
    }
    let wall = start.elapsed().as_secs_f64();
    println!(
        "{:.4} requests/ms, {events} events in {wall:.3} s: {:.2} million firings/s",
        arrivals as f64 / (until as f64 * 1e-9),
        events as f64 / wall / 1e6,
    );
}
