use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use crate::discipline::{Discipline, NO_WORK, Station};
use crate::fair::{Fair, FlowId};
use crate::slab::Slot;
use crate::time::{Span, Time};
use crate::token::Token;

/// Flows through shared resources, such as the links of a network. Every token
/// takes a path of resources at one rate; all rates are max-min fair, and are
/// recomputed at arrivals and departures.
///
/// A virtual clock for each resource runs at the rate of the flows that it limits. A flow leaves
/// when the clock of its bottleneck has advanced by its work. So a change of rate costs O(log n)
/// for all the flows of a resource together, and only flows whose bottleneck changes are touched.
/// Arrivals and departures in one instant are solved once.
///
/// If a resource shared by nearly all flows is saturated and others are too, each arrival or
/// departure changes all rates. [`Flows::every`] then finds them less often.
///
/// Times are rounded up to whole picoseconds. A path has at most `LONGEST` resources; longer
/// ones take more memory for every flow.
#[derive(Clone, Debug)]
pub struct Flows<P, const LONGEST: usize = 8> {
    path: P,
    fair: Fair<LONGEST>,
    clocks: Vec<Clock>,
    flows: Vec<Flow>,
    /// Resources by when their next flow leaves; the last number tells stale
    /// entries.
    due: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Flows that have come since rates were last found.
    fresh: Vec<(FlowId, f64)>,
    arrivals: u64,
    /// True if rates are about to be found.
    solving: bool,
    /// Time of the last solution, and the minimum time until the next.
    solved: Option<Time>,
    interval: Span,
    pending: Option<Time>,
    tag: u32,
    /// Tokens that wait for another one's flow, by the first and the last resource of their path;
    /// none if flows with equal ends share them.
    lines: Option<BTreeMap<(u32, u32), VecDeque<Slot>>>,
    resources: Vec<u32>,
    changed: Vec<u32>,
    touched: Vec<u32>,
}

/// The flows that one resource limits.
#[derive(Clone, Default, Debug)]
struct Clock {
    /// Work per picosecond that each of them gets, 0 without any.
    speed: f64,
    reading: f64,
    at: Time,
    leaving: BinaryHeap<Reverse<Leaving>>,
    /// Number of valid entries.
    held: u32,
    version: u32,
    touched: bool,
}

/// An entry of a clock: the reading at which a flow leaves.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Leaving {
    finish: f64,
    /// Equal ones leave in order of arrival.
    order: u64,
    flow: FlowId,
    version: u32,
}

impl Eq for Leaving {}

impl PartialOrd for Leaving {
    fn partial_cmp(&self, other: &Leaving) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Leaving {
    fn cmp(&self, other: &Leaving) -> std::cmp::Ordering {
        let by = self.finish.total_cmp(&other.finish);
        by.then(self.order.cmp(&other.order))
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    slot: Slot,
    /// First and last resource of its path.
    ends: (u32, u32),
    order: u64,
    /// The clock it is on, and the reading at which it leaves.
    bottleneck: u32,
    finish: f64,
    /// Version of its valid entry.
    version: u32,
    present: bool,
}

/// Tag of the wake-up that finds the rates; others are numbered.
const SOLVE: u32 = u32::MAX;

/// A flow that is on no clock yet.
const NONE: u32 = u32::MAX;

impl Clock {
    fn advance(&mut self, now: Time) {
        self.reading += self.speed * now.since(self.at).0 as f64;
        self.at = now;
    }
}

impl<P> Flows<P> {
    /// Resources of these rates, in work per second, and how to find a token's
    /// work and its path: at most eight resources, by number. A token without a
    /// path, or without work, leaves at once.
    pub fn new<T>(rates: impl IntoIterator<Item = f64>, path: P) -> Flows<P>
    where
        P: FnMut(&T, &mut Vec<u32>) -> f64,
    {
        Flows::with_longest_path(rates, path)
    }
}

impl<P, const LONGEST: usize> Flows<P, LONGEST> {
    /// The same as [`Flows::new`] with paths of at most `LONGEST` resources.
    pub fn with_longest_path<T>(rates: impl IntoIterator<Item = f64>, path: P) -> Flows<P, LONGEST>
    where
        P: FnMut(&T, &mut Vec<u32>) -> f64,
    {
        let fair = Fair::with_longest_path(rates.into_iter().map(|rate| rate * 1e-12));
        Flows {
            path,
            clocks: vec![Clock::default(); fair.len()],
            fair,
            flows: Vec::new(),
            due: BinaryHeap::new(),
            fresh: Vec::new(),
            arrivals: 0,
            solving: false,
            solved: None,
            interval: Span::ZERO,
            pending: None,
            tag: 0,
            lines: None,
            resources: Vec::new(),
            changed: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Recomputes rates at most once in this interval. Until then a new flow does not begin, and
    /// the bandwidth of a finished one is unused.
    #[must_use]
    pub fn every(mut self, interval: Span) -> Flows<P, LONGEST> {
        self.interval = interval;
        self
    }

    /// Serves tokens whose paths have the same first and last resource one after the other, as
    /// messages of one connection, instead of side by side.
    #[must_use]
    pub fn in_lines(mut self) -> Flows<P, LONGEST> {
        self.lines = Some(BTreeMap::new());
        self
    }

    fn touch(&mut self, resource: u32) {
        let clock = &mut self.clocks[resource as usize];
        if !clock.touched {
            clock.touched = true;
            self.touched.push(resource);
        }
    }

    /// Puts a flow with `left` work left on the clock of its bottleneck.
    fn put(&mut self, id: FlowId, left: f64, now: Time) {
        let bottleneck = self.fair.bottleneck(id);
        let clock = &mut self.clocks[bottleneck as usize];
        if clock.held == 0 {
            // A clock without flows forgets its past: it stays exact.
            clock.reading = 0.0;
            clock.at = now;
            clock.leaving.clear();
            let level = self.fair.level(bottleneck);
            clock.speed = if level.is_finite() { level } else { 0.0 };
        }
        clock.advance(now);
        clock.held += 1;
        let flow = &mut self.flows[id as usize];
        flow.bottleneck = bottleneck;
        flow.finish = clock.reading + left;
        flow.version = flow.version.wrapping_add(1);
        clock.leaving.push(Reverse(Leaving {
            finish: flow.finish,
            order: flow.order,
            flow: id,
            version: flow.version,
        }));
        self.touch(bottleneck);
    }

    /// Takes a flow off its clock; gives the work that it has left.
    fn take(&mut self, id: FlowId, now: Time) -> f64 {
        let flow = &mut self.flows[id as usize];
        flow.version = flow.version.wrapping_add(1);
        let (bottleneck, finish) = (flow.bottleneck, flow.finish);
        let clock = &mut self.clocks[bottleneck as usize];
        clock.advance(now);
        clock.held -= 1;
        let left = (finish - clock.reading).max(0.0);
        self.touch(bottleneck);
        left
    }

    /// Finds the rates, and puts the flows on the clocks that are right now.
    fn solve(&mut self, now: Time) {
        self.fair.solve();
        let mut changed = std::mem::take(&mut self.changed);
        self.fair.take_changed(&mut changed);
        for &resource in &changed {
            let level = self.fair.level(resource);
            let clock = &mut self.clocks[resource as usize];
            clock.advance(now);
            clock.speed = if level.is_finite() { level } else { 0.0 };
            self.touch(resource);
        }
        for &resource in &changed {
            for seat in 0..self.fair.flows(resource).len() {
                let id = self.fair.flows(resource)[seat];
                let flow = self.flows[id as usize];
                if flow.bottleneck != NONE && flow.bottleneck != self.fair.bottleneck(id) {
                    let left = self.take(id, now);
                    self.put(id, left, now);
                }
            }
        }
        self.changed = changed;
        let mut fresh = std::mem::take(&mut self.fresh);
        for (id, work) in fresh.drain(..) {
            self.put(id, work, now);
        }
        self.fresh = fresh;
        let mut touched = std::mem::take(&mut self.touched);
        for resource in touched.drain(..) {
            self.clocks[resource as usize].touched = false;
            self.look(resource, now);
        }
        self.touched = touched;
    }

    /// Notes when the next flow of a resource leaves.
    fn look(&mut self, resource: u32, now: Time) {
        let clock = &mut self.clocks[resource as usize];
        clock.version = clock.version.wrapping_add(1);
        while let Some(&Reverse(next)) = clock.leaving.peek() {
            let flow = &self.flows[next.flow as usize];
            if !flow.present || flow.version != next.version {
                clock.leaving.pop();
                continue;
            }
            if clock.speed > 0.0 {
                let left = ((next.finish - clock.reading) / clock.speed).max(0.0);
                let time = now + Span(libm::ceil(left) as u64);
                self.due.push(Reverse((time, resource, clock.version)));
            }
            return;
        }
    }

    /// Makes sure of an event no later than the next departure.
    fn arm<T: Token>(&mut self, station: &mut Station<'_, T>) {
        while let Some(&Reverse((time, resource, version))) = self.due.peek() {
            if self.clocks[resource as usize].version != version {
                self.due.pop();
                continue;
            }
            if self.pending.is_none_or(|pending| time < pending) {
                self.tag = (self.tag + 1) % SOLVE;
                self.pending = Some(time);
                station.wake_at(time, self.tag);
            }
            return;
        }
    }

    /// Releases the flows that are done by now.
    fn leave<T: Token>(&mut self, station: &mut Station<'_, T>)
    where
        P: FnMut(&T, &mut Vec<u32>) -> f64,
    {
        let now = station.now();
        while let Some(&Reverse((time, resource, version))) = self.due.peek() {
            let clock = &mut self.clocks[resource as usize];
            if clock.version == version && time > now {
                break;
            }
            self.due.pop();
            if clock.version != version {
                continue;
            }
            clock.advance(now);
            while let Some(&Reverse(next)) = self.clocks[resource as usize].leaving.peek() {
                let clock = &mut self.clocks[resource as usize];
                let flow = &mut self.flows[next.flow as usize];
                let stale = !flow.present || flow.version != next.version;
                // The event was rounded up to a picosecond; half of one is the
                // most that rounding of the clock itself can lack here.
                if !stale && next.finish - clock.reading > 0.5 * clock.speed {
                    break;
                }
                clock.leaving.pop();
                if stale {
                    continue;
                }
                clock.held -= 1;
                flow.present = false;
                let (slot, ends) = (flow.slot, flow.ends);
                self.fair.remove(next.flow);
                station.stop_serving();
                station.add_stay_as_service(slot);
                station.release(slot);
                self.solve_soon(station);
                self.next_in_line(ends, station);
            }
            self.look(resource, now);
        }
    }

    /// Begins the flow of a token, whose path is in `self.resources`.
    fn begin<T: Token>(&mut self, slot: Slot, work: f64, station: &mut Station<'_, T>) {
        let Some(id) = self.fair.add(&self.resources) else {
            station.fail(format!(
                "a flow's path is {:?}: expected at most {} resources below {}",
                self.resources,
                LONGEST,
                self.fair.len()
            ));
            return;
        };
        let flow = Flow {
            slot,
            ends: self.ends(),
            order: self.arrivals,
            bottleneck: NONE,
            finish: 0.0,
            version: self.flows.get(id as usize).map_or(0, |old| old.version),
            present: true,
        };
        self.arrivals += 1;
        match self.flows.get_mut(id as usize) {
            Some(place) => *place = flow,
            None => self.flows.push(flow),
        }
        self.fresh.push((id, work));
        station.start_serving();
        self.solve_soon(station);
    }

    /// The first and the last resource of the path in `self.resources`.
    fn ends(&self) -> (u32, u32) {
        let ends = self.resources.first().zip(self.resources.last());
        ends.map_or((0, 0), |(first, last)| (*first, *last))
    }

    /// The flow between two resources has left: the next token in their line begins.
    fn next_in_line<T: Token>(&mut self, ends: (u32, u32), station: &mut Station<'_, T>)
    where
        P: FnMut(&T, &mut Vec<u32>) -> f64,
    {
        let Some(lines) = &mut self.lines else {
            return;
        };
        let Some(slot) = lines.get_mut(&ends).and_then(VecDeque::pop_front) else {
            lines.remove(&ends);
            return;
        };
        self.resources.clear();
        let work = (self.path)(station.token(slot), &mut self.resources);
        self.begin(slot, work, station);
    }

    fn solve_soon<T: Token>(&mut self, station: &mut Station<'_, T>) {
        if !self.solving {
            self.solving = true;
            let earliest = self.solved.map_or(Time::ZERO, |it| it + self.interval);
            station.wake_at(station.now().max(earliest), SOLVE);
        }
    }
}

impl<T, P, const LONGEST: usize> Discipline<T> for Flows<P, LONGEST>
where
    T: Token,
    P: FnMut(&T, &mut Vec<u32>) -> f64 + Send + 'static,
{
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        self.resources.clear();
        let work = (self.path)(station.token(slot), &mut self.resources);
        if work.is_nan() {
            station.fail(NO_WORK);
            return;
        }
        if work <= 0.0 || self.resources.is_empty() {
            station.release(slot);
            return;
        }
        let ends = self.ends();
        if let Some(lines) = &mut self.lines {
            if let Some(line) = lines.get_mut(&ends) {
                line.push_back(slot);
                return;
            }
            lines.insert(ends, VecDeque::new());
        }
        self.begin(slot, work, station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        if tag == SOLVE {
            self.solving = false;
            self.solved = Some(station.now());
            self.solve(station.now());
        } else if tag == self.tag {
            self.pending = None;
            self.leave(station);
        }
        self.arm(station);
    }

    fn name(&self) -> String {
        format!("max-min fair, {} resources", self.fair.len())
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}
