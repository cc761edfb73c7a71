//! Closed nets of any shape: stations of any discipline, some in folded pages,
//! joined by routes, delays and forks with joins. Each token makes a number of
//! hops and then goes to the sink "done", so every run comes to rest.

use headrace_net::{
    Builder, Discipline, Exponential, Fcfs, Infinite, Net, Node, Page, Priority, Sharing, Slot,
    Span, Station, Store, TallyId, Time, To,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub struct Plan {
    pub stations: Vec<StationPlan>,
    pub tokens: u32,
    pub hops: u32,
}

#[derive(Clone, Debug)]
pub struct StationPlan {
    pub kind: Kind,
    /// Mean service time in microseconds.
    pub service: u64,
    pub servers: u32,
    pub random: bool,
    /// Copies of the page that it lies in.
    pub copies: u32,
    pub then: Then,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Fcfs,
    Infinite,
    Sharing,
    Priority,
    Preemptive,
    LastFirst,
}

/// Action on a served token. Station numbers are taken modulo the number of stations.
#[derive(Clone, Debug)]
pub enum Then {
    Route(Vec<usize>),
    Delay(usize, u64),
    /// Fork into branches that are served separately, then continue at the station.
    Fork(u32, usize),
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let kind = prop::sample::select(vec![
        Kind::Fcfs,
        Kind::Infinite,
        Kind::Sharing,
        Kind::Priority,
        Kind::Preemptive,
        Kind::LastFirst,
    ]);
    let then = prop_oneof![
        prop::collection::vec(0..8_usize, 1..4).prop_map(Then::Route),
        (0..8_usize, 0..50_u64).prop_map(|(to, delay)| Then::Delay(to, delay)),
        (2..4_u32, 0..8_usize).prop_map(|(branches, to)| Then::Fork(branches, to)),
    ];
    let station = (kind, 1..20_u64, 1..4_u32, any::<bool>(), 1..4_u32, then).prop_map(
        |(kind, service, servers, random, copies, then)| StationPlan {
            kind,
            service,
            servers,
            random,
            copies,
            then,
        },
    );
    let stations = prop::collection::vec(station, 1..6);
    (stations, 1..12_u32, 1..12_u32).prop_map(|(stations, tokens, hops)| Plan {
        stations,
        tokens,
        hops,
    })
}

#[derive(Clone, Copy, Debug)]
pub struct Walker {
    pub id: u32,
    hops: u32,
    /// The copy it goes to.
    copy: u32,
    entered: Time,
}

/// (time, transition, copy, token) of each firing; and by station the time
/// that tokens spent there, from their own watches.
#[derive(Default, Debug, PartialEq, Clone)]
pub struct Trace {
    pub firings: Vec<(Time, usize, u32, u32)>,
    pub stays: Vec<u128>,
    pub visits: Vec<u64>,
}

pub struct Built {
    pub net: Net,
    pub stations: Vec<Node<Walker>>,
    pub done: Node<Walker>,
    pub trace: Store<Trace>,
    /// One figure a firing.
    pub firings: TallyId,
}

/// Last come, first served; and makes sure that time goes on.
#[derive(Clone)]
struct LastFirst {
    service: Span,
    waiting: Vec<Slot>,
    serving: Option<Slot>,
    last: Time,
}

impl LastFirst {
    fn look(&mut self, station: &Station<'_, Walker>) {
        assert!(station.now() >= self.last, "time went back");
        self.last = station.now();
    }

    fn start(&mut self, slot: Slot, station: &mut Station<'_, Walker>) {
        self.serving = Some(slot);
        station.wake_in(self.service, 0);
    }
}

impl Discipline<Walker> for LastFirst {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Walker>) {
        self.look(station);
        if self.serving.is_some() {
            self.waiting.push(slot);
        } else {
            station.start_serving();
            self.start(slot, station);
        }
    }

    fn wake(&mut self, _: u32, station: &mut Station<'_, Walker>) {
        self.look(station);
        if let Some(slot) = self.serving.take() {
            station.release(slot);
        }
        match self.waiting.pop() {
            Some(slot) => self.start(slot, station),
            None => station.stop_serving(),
        }
    }

    fn name(&self) -> String {
        "last come, first served".to_owned()
    }
}

impl StationPlan {
    fn write(&self, page: &mut Page<'_>) -> Node<Walker> {
        let mean = Span::from_micros(self.service);
        match self.random {
            true => self.with(page, Exponential(mean)),
            false => self.with(page, mean),
        }
    }

    fn with<S>(&self, page: &mut Page<'_>, service: S) -> Node<Walker>
    where
        S: headrace_net::ServiceTime<Walker> + Clone,
    {
        let class: fn(&Walker) -> u32 = |walker| walker.id % 3;
        let (name, servers) = ("station", self.servers);
        match self.kind {
            Kind::Fcfs => page.station(name, Fcfs::new(servers, service)),
            Kind::Infinite => page.station(name, Infinite(service)),
            Kind::Sharing => page.station(name, Sharing::new(servers, service)),
            Kind::Priority => page.station(name, Priority::new(servers, service, class)),
            Kind::Preemptive => page.station(name, Priority::preemptive(servers, service, class)),
            Kind::LastFirst => page.station(
                name,
                LastFirst {
                    service: Span::from_micros(self.service),
                    waiting: Vec::new(),
                    serving: None,
                    last: Time::ZERO,
                },
            ),
        }
    }
}

/// Waiting place of a station's tokens, and its copies.
struct Way {
    out: Node<Walker>,
    copies: u32,
}

pub fn build(plan: &Plan, seed: u64) -> Built {
    let mut builder = Builder::new("main", seed);
    let mut page = builder.root();
    let firings = page.tally("firings");
    let count = plan.stations.len();
    let trace = page.store("trace", |_| Trace {
        firings: Vec::new(),
        stays: vec![0; count],
        visits: vec![0; count],
    });
    let done = page.place("done");
    page.sink(done);
    let mut stations = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    for (index, spec) in plan.stations.iter().enumerate() {
        let out = page.place(&format!("out of {index}"));
        let station = page.fold(&format!("page {index}"), spec.copies, |page| {
            let station = spec.write(page);
            page.transition("leave").take(station).with(trace).put(
                out,
                move |firing, walker, trace| {
                    trace
                        .firings
                        .push((firing.now(), index, firing.copy(), walker.id));
                    trace.visits[index] += 1;
                    trace.stays[index] += u128::from(firing.now().since(walker.entered).0);
                    firing.record(firings, 1.0);
                    walker
                },
            );
            station
        });
        stations.push(station);
        let copies = spec.copies;
        ways.push(Way { out, copies });
    }
    for (index, spec) in plan.stations.iter().enumerate() {
        let arrows = Arrows {
            from: ways[index].out,
            done,
            hops: plan.hops,
            targets: stations
                .iter()
                .zip(&ways)
                .map(|(station, way)| (station.by(|walker| walker.copy), way.copies))
                .collect(),
            count: firings,
        };
        arrows.write(&mut page, index, &spec.then);
    }
    for (index, &station) in stations.iter().enumerate() {
        let (tokens, copies) = (plan.tokens, plan.stations[index].copies);
        // Each token starts somewhere else.
        page.tokens(station, move |copy| {
            let here = move |id: &u32| {
                *id as usize % count == index && *id / count as u32 % copies == copy
            };
            (0..tokens).filter(here).map(|id| Walker {
                id,
                hops: 0,
                copy: 0,
                entered: Time::ZERO,
            })
        });
    }
    page.conserve(done);
    let net = builder.compile().expect("any such net is sound");
    Built {
        net,
        stations,
        done,
        trace,
        firings,
    }
}

/// The transitions behind one station.
struct Arrows {
    from: Node<Walker>,
    done: Node<Walker>,
    hops: u32,
    /// Every station, and how many copies it has.
    targets: Vec<(To<Walker>, u32)>,
    count: TallyId,
}

impl Arrows {
    fn target(&self, index: usize) -> (To<Walker>, u32) {
        self.targets[index % self.targets.len()]
    }

    fn write(self, page: &mut Page<'_>, index: usize, then: &Then) {
        let (hops, done, count) = (self.hops, self.done, self.count);
        let finish = page
            .transition(&format!("finish {index}"))
            .take(self.from)
            .priority(1)
            .when(move |walker: &Walker, ()| walker.hops >= hops);
        finish.put(done, move |firing, walker, ()| {
            firing.record(count, 1.0);
            walker
        });
        let name = format!("go on {index}");
        match then {
            Then::Route(to) => {
                let targets: Vec<_> = to.iter().map(|&to| self.target(to)).collect();
                let mut all: Vec<To<Walker>> = Vec::new();
                let mut seen = Vec::new();
                for &to in to {
                    if !seen.contains(&(to % self.targets.len())) {
                        seen.push(to % self.targets.len());
                        all.push(self.target(to).0);
                    }
                }
                let transition = page.transition(&name).take(self.from);
                let transition = match all[..] {
                    [a] => transition.puts_one_of([a]),
                    [a, b] => transition.puts_one_of([a, b]),
                    [a, b, c, ..] => transition.puts_one_of([a, b, c]),
                    [] => transition,
                };
                transition.fires(move |firing, walker, ()| {
                    firing.record(count, 1.0);
                    let choice = firing.random().below(targets.len() as u64) as usize;
                    let (to, copies) = targets[choice];
                    let walker = walker.hop(firing.now(), firing.random().below(copies.into()));
                    firing.put(to, walker);
                });
            }
            &Then::Delay(to, delay) => {
                let (to, copies) = self.target(to);
                page.transition(&name)
                    .take(self.from)
                    .puts(to)
                    .later()
                    .fires(move |firing, walker, ()| {
                        firing.record(count, 1.0);
                        let delay = Span::from_micros(delay);
                        let then = firing.now() + delay;
                        let copy = firing.random().below(copies.into());
                        firing.put_after(to, walker.hop(then, copy), delay);
                    });
            }
            &Then::Fork(branches, to) => {
                let parts: Vec<Node<Walker>> = (0..branches)
                    .map(|part| {
                        let service = Exponential(Span::from_micros(3));
                        page.station(&format!("part {index}.{part}"), Fcfs::new(1, service))
                    })
                    .collect();
                let all = parts.clone();
                let fork = page.transition(&name).take(self.from);
                let fork = parts.iter().fold(fork, |fork, &part| fork.puts(part));
                fork.fires(move |firing, walker, ()| {
                    firing.record(count, 1.0);
                    for &part in &all {
                        firing.put(part, walker);
                    }
                });
                let (to, copies) = self.target(to);
                let join = page.transition(&format!("join {index}"));
                let go = move |firing: &mut headrace_net::Firing<'_>, walker: Walker| {
                    firing.record(count, 1.0);
                    let copy = firing.random().below(copies.into());
                    walker.hop(firing.now(), copy)
                };
                match parts[..] {
                    [a, b] => join
                        .take(a)
                        .take(b)
                        .put(to, move |firing, (walker, _), ()| go(firing, walker)),
                    [a, b, c, ..] => join
                        .take(a)
                        .take(b)
                        .take(c)
                        .put(to, move |firing, (walker, _, _), ()| go(firing, walker)),
                    _ => unreachable!("forks have two or three branches"),
                }
            }
        }
    }
}

impl Walker {
    fn hop(self, entered: Time, copy: u64) -> Walker {
        Walker {
            hops: self.hops + 1,
            copy: copy as u32,
            entered,
            ..self
        }
    }
}
