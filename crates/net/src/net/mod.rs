//! A compiled net, and how it runs.

mod choice;
mod copy_series;
mod gauges;
mod playback;
mod race;
mod steps;

pub use copy_series::{CopySample, CopySeries};
pub use gauges::Gauge;
pub use playback::{Frame, NodeFrame, Playback};
pub(crate) use race::Race;
pub use steps::{Due, Standing, Step};

use std::any::Any;
use std::ops::ControlFlow;

use self::choice::Choice;
use self::copy_series::CopySampling;
use self::playback::Recording;
use crate::accounts::Account;
use crate::arc::{Arcs, Reach};
use crate::builder::{Action, StoreGauge, StoreLevel};
use crate::drift::History;
use crate::error::{RunError, listed};
use crate::firing::Firing;
use crate::handles::{Store, TallyId};
use crate::heap::Event;
use crate::invariants::Invariants;
use crate::kernel::{By, Halt, Kernel};
use crate::node::AnyNode;
use crate::structure::{NodeStructure, Structure};
use crate::tally::Tally;
use crate::time::{Span, Time};

/// Transitions of which instances must be asked again when a store changes.
pub(crate) struct Watcher {
    pub base: u32,
    pub ratio: u32,
}

pub(crate) struct Transition {
    pub path: String,
    pub priority: i32,
    pub base: u32,
    pub key: u64,
    pub arcs: Arcs,
    pub stores: Vec<Reach>,
    /// Borrowed stores that a guard somewhere looks at.
    pub touches: Vec<Reach>,
    pub action: Box<dyn Action>,
    pub firings: u64,
}

/// Time when a run ends. The first limit that is reached counts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// At this time; everything due by then has happened.
    pub until: Time,
    /// Tally, and the number of its samples at which the run stops.
    pub count: Option<(TallyId, u64)>,
    /// Time when a mean is known well enough.
    pub precision: Option<Precision>,
    /// Number of times the net may fire in one instant before it counts as a zero-time loop.
    pub firings_in_an_instant: u64,
}

/// A mean known well enough: the half-width of its confidence interval, from
/// batch means, is at most `relative` times the mean.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The figures.
    pub tally: TallyId,
    /// Half-width over mean, such as 0.05.
    pub relative: f64,
    /// Confidence, such as 0.95.
    pub confidence: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            until: Time::NEVER,
            count: None,
            precision: None,
            firings_in_an_instant: 10_000_000,
        }
    }
}

impl Limits {
    /// Ends after `seconds` of simulated time.
    pub fn until_seconds(seconds: f64) -> Limits {
        Limits {
            until: Time::from_seconds(seconds),
            ..Limits::default()
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// `Limits::until` was reached.
    Time,
    /// `Limits::count` was reached.
    Count,
    /// `Limits::precision` was reached.
    Precision,
    /// Nothing can happen any more, and tokens stand only where they may.
    Quiet,
    /// A transition asked for it.
    Asked,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Simulated time.
    pub now: Time,
    /// Firings and events so far.
    pub steps: u64,
    tallies: &'a [Tally],
}

impl<'a> Progress<'a> {
    /// Figures recorded so far.
    pub fn tally(&self, tally: TallyId) -> &'a Tally {
        &self.tallies[tally.0 as usize]
    }
}

/// A compiled net with its marking: it runs, and reports its statistics.
pub struct Net {
    pub(crate) kernel: Kernel,
    pub(crate) nodes: Vec<Box<dyn AnyNode>>,
    pub(crate) stores: Vec<Box<dyn Any + Send>>,
    tallies: Vec<Tally>,
    pub(crate) transitions: Vec<Transition>,
    /// The transition of each instance.
    owners: Vec<u32>,
    draws: Vec<u64>,
    /// By store.
    watchers: Vec<Vec<Watcher>>,
    pub(crate) node_paths: Vec<String>,
    rest: Vec<bool>,
    pub(crate) invariants: Invariants,
    /// The invariants' sums at the start.
    pub(crate) sums: Vec<i128>,
    structure: Structure,
    pub(crate) reset_at: Time,
    firings: u64,
    events: u64,
    levels: Levels,
    pub(crate) gauges: Vec<StoreGauge>,
    pub(crate) recording: Option<Box<Recording>>,
    /// Time of the next frame of the recording, or of the next sample of copies; never without
    /// either.
    pub(crate) next_frame: Time,
    pub(crate) copy_sampling: Option<Box<CopySampling>>,
    /// Chance chooses among transitions that may fire.
    choice: Option<Box<Choice>>,
    race: Race,
}

/// Parts of a net that compilation makes.
pub(crate) struct NetParts {
    /// With the marking at the start.
    pub kernel: Kernel,
    pub nodes: Vec<Box<dyn AnyNode>>,
    pub stores: Vec<Box<dyn Any + Send>>,
    pub tallies: Vec<Tally>,
    pub transitions: Vec<Transition>,
    /// The transition of each instance.
    pub owners: Vec<u32>,
    /// By store.
    pub watchers: Vec<Vec<Watcher>>,
    /// By node.
    pub node_paths: Vec<String>,
    /// By node: true if tokens may stay there.
    pub rest: Vec<bool>,
    pub invariants: Invariants,
    pub structure: Structure,
    pub race: Race,
}

/// Levels and their histories.
#[derive(Default)]
struct Levels {
    of_stores: Vec<StoreLevel>,
    /// Stations that have a level.
    of_nodes: Vec<u32>,
    histories: Vec<History>,
    /// Number of steps between two samples, a power of two.
    every: u64,
}

/// The operations of an instance of a transition.
macro_rules! firing_of {
    ($net:ident, $transition:ident, $index:expr, $instance:expr) => {
        Firing {
            nodes: &mut $net.nodes,
            kernel: &mut $net.kernel,
            tallies: &mut $net.tallies,
            arcs: &$transition.arcs,
            transition: $index,
            copy: $instance - $transition.base,
            key: $transition.key,
            draws: &mut $net.draws[$instance as usize],
            #[cfg(debug_assertions)]
            put: vec![0; $transition.arcs.outputs.len()],
            #[cfg(debug_assertions)]
            node_paths: &$net.node_paths,
        }
    };
}

/// Number of steps between two checks of the precision and calls of the observer.
const STEPS_PER_LOOK: u64 = 1 << 16;

impl Net {
    pub(crate) fn new(parts: NetParts) -> Net {
        let mut net = Net {
            kernel: parts.kernel,
            nodes: parts.nodes,
            stores: parts.stores,
            tallies: parts.tallies,
            transitions: parts.transitions,
            draws: vec![0; parts.owners.len()],
            owners: parts.owners,
            watchers: parts.watchers,
            node_paths: parts.node_paths,
            rest: parts.rest,
            invariants: parts.invariants,
            sums: Vec::new(),
            structure: parts.structure,
            reset_at: Time::ZERO,
            firings: 0,
            events: 0,
            levels: Levels::default(),
            gauges: Vec::new(),
            recording: None,
            next_frame: Time::NEVER,
            copy_sampling: None,
            choice: None,
            race: parts.race,
        };
        net.sums = net.invariant_sums();
        net
    }

    /// Levels to watch: those of stores, and of stations that have one.
    pub(crate) fn watch_levels(&mut self, of_stores: Vec<StoreLevel>) {
        let nodes = self.nodes.iter().zip(0..);
        let nodes = nodes.filter(|(node, _)| node.level().is_some());
        let of_nodes: Vec<u32> = nodes.map(|(_, index)| index).collect();
        let copies = of_nodes
            .iter()
            .map(|&it| self.nodes[it as usize].states().len());
        let copies = copies.sum::<usize>() + of_stores.len();
        self.levels = Levels {
            histories: vec![History::default(); of_stores.len() + of_nodes.len()],
            of_stores,
            of_nodes,
            // Few enough to cost little.
            every: (64 * copies as u64)
                .next_power_of_two()
                .clamp(256, STEPS_PER_LOOK),
        };
    }

    /// Runs until a limit is reached.
    ///
    /// # Errors
    /// A zero-time loop, a deadlock, or an error of the model's.
    pub fn run(&mut self, limits: &Limits) -> Result<Stop, RunError> {
        self.run_watched(limits, &mut |_| ControlFlow::Continue(()))
    }

    /// Runs until a limit is reached or `watch`, asked every 65,536 steps, stops.
    ///
    /// # Errors
    /// As [`Net::run`]; [`RunError::Interrupted`] if `watch` broke off. The net
    /// stays as it was reached and can be run on.
    pub fn run_watched(
        &mut self,
        limits: &Limits,
        watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Stop, RunError> {
        let mut in_this_instant = 0;
        // Tokens that were there from the start may have halted the net already.
        if self.kernel.halt.is_some() {
            return self.halted();
        }
        let steps_per_look = match limits.precision {
            None => STEPS_PER_LOOK,
            Some(_) => self.levels.every,
        };
        // Without a division in every step: both are powers of two.
        let between_looks = steps_per_look - 1;
        loop {
            if (self.firings + self.events) & between_looks == 0
                && let Some(stop) = self.look(limits, watch)?
            {
                return Ok(stop);
            }
            let enabled = self.next_enabled();
            if let Some(instance) = enabled {
                let transition = self.owners[instance as usize];
                if !self.fire(transition, instance) {
                    continue;
                }
                if let Some((tally, count)) = limits.count
                    && self.tallies[tally.0 as usize].count() >= count
                    && self.kernel.halt.is_none()
                {
                    return Ok(Stop::Count);
                }
            } else {
                let event = self.kernel.next_event();
                let timed = self.next_timed(event);
                if self.kernel.halt.is_some() {
                    return self.halted();
                }
                let timed_at = timed.map(|(time, _)| time);
                let Some(time) = timed_at.or(event.map(|event| event.time())) else {
                    return self.quiet(limits.until);
                };
                if time > limits.until {
                    self.wait_until(limits.until);
                    return Ok(Stop::Time);
                }
                if time > self.kernel.now() {
                    in_this_instant = 0;
                    self.advance(time);
                }
                match (timed, event) {
                    (Some((_, instance)), _) => {
                        self.fire(self.owners[instance as usize], instance);
                    }
                    (None, Some(event)) => self.deliver(event),
                    (None, None) => {}
                }
            }
            if self.kernel.halt.is_some() {
                return self.halted();
            }
            in_this_instant += 1;
            if in_this_instant > limits.firings_in_an_instant {
                return Err(self.zero_time_loop(in_this_instant));
            }
        }
    }

    /// Asks the observer, and checks the precision, every 65,536 steps; samples the levels for it
    /// more often.
    #[cold]
    fn look(
        &mut self,
        limits: &Limits,
        watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Stop>, RunError> {
        let steps = self.firings + self.events;
        if steps.is_multiple_of(STEPS_PER_LOOK) {
            let now = self.now();
            let tallies = &self.tallies;
            if watch(Progress {
                now,
                steps,
                tallies,
            })
            .is_break()
            {
                return Err(RunError::Interrupted { time: now });
            }
            if self.precise(limits.precision) {
                return Ok(Some(Stop::Precision));
            }
        }
        if limits.precision.is_some() {
            self.sample_levels();
        }
        Ok(None)
    }

    /// Lets time pass without anything due; a limit in the past changes nothing.
    fn wait_until(&mut self, time: Time) {
        self.advance(time.max(self.now()));
    }

    #[inline]
    fn advance(&mut self, time: Time) {
        if time > self.next_frame {
            self.record_frames(time);
        }
        self.kernel.advance(time);
    }

    #[inline]
    fn deliver(&mut self, event: Event) {
        self.kernel.take_next_event();
        self.events += 1;
        let node = &mut self.nodes[event.node as usize];
        node.due(event.copy, event.tag, event.kind, &mut self.kernel);
    }

    /// Fires one instance; false if its guard refused.
    #[inline(always)]
    fn fire(&mut self, index: u32, instance: u32) -> bool {
        let transition = &mut self.transitions[index as usize];
        let copy = instance - transition.base;
        self.kernel.accounts.current = Account::NOBODY;
        let mut firing = firing_of!(self, transition, index, instance);
        if !transition
            .action
            .fire(&mut firing, &mut self.stores, &transition.stores)
        {
            self.kernel.refuse(instance);
            return false;
        }
        #[cfg(debug_assertions)]
        firing.check_declared();
        self.firings += 1;
        transition.firings += 1;
        for &store in &transition.touches {
            for watcher in &self.watchers[store.index as usize] {
                let first = watcher.base + store.copy(copy) * watcher.ratio;
                for instance in first..first + watcher.ratio {
                    self.kernel.reconsider(instance);
                }
            }
        }
        true
    }

    /// Firings a second of an instance of a timed transition.
    fn rate(&mut self, instance: u32) -> f64 {
        let index = self.owners[instance as usize];
        let transition = &self.transitions[index as usize];
        let mut firing = firing_of!(self, transition, index, instance);
        let action = &transition.action;
        action.rate(&mut firing, &mut self.stores, &transition.stores)
    }

    fn precise(&self, precision: Option<Precision>) -> bool {
        precision.is_some_and(|wanted| {
            let tally = &self.tallies[wanted.tally.0 as usize];
            let half_width = tally.half_width(wanted.confidence);
            half_width.is_some_and(|half_width| half_width <= wanted.relative * tally.mean().abs())
                && self.levels.histories.iter().all(History::is_enough)
                && self.drift(wanted.tally, wanted.relative).is_none()
        })
    }

    fn sample_levels(&mut self) {
        let Levels {
            of_stores,
            of_nodes,
            histories,
            ..
        } = &mut self.levels;
        let stores = of_stores.iter();
        let stores = stores.map(|it| (it.of)(&*self.stores[it.store as usize]));
        let nodes = of_nodes.iter();
        let nodes = nodes.map(|&it| self.nodes[it as usize].level().unwrap_or(0.0));
        for (history, level) in histories.iter_mut().zip(stores.chain(nodes)) {
            history.record(level);
        }
    }

    /// Returns the path of a drifting level, or of a tally whose values drift by more than this
    /// fraction of their mean. While it drifts, a confidence interval is meaningless. Only runs
    /// with [`Limits::precision`] sample levels.
    pub fn drift(&self, tally: TallyId, relative: f64) -> Option<&str> {
        let levels = &self.levels;
        let stores = levels.of_stores.iter().map(|it| it.path.as_str());
        let nodes = levels.of_nodes.iter();
        let nodes = nodes.map(|&it| self.node_paths[it as usize].as_str());
        let mut paths = stores.chain(nodes).zip(&levels.histories);
        let level = paths.find(|(_, history)| history.drifts());
        let tally = &self.tallies[tally.0 as usize];
        let figures = tally.drifts(relative).then(|| tally.path());
        level.map(|(path, _)| path).or(figures)
    }

    fn quiet(&mut self, until: Time) -> Result<Stop, RunError> {
        let standing: Vec<(String, u64)> = (0..self.nodes.len())
            .filter(|&node| !self.rest[node])
            .map(|node| {
                let states = self.nodes[node].states().iter();
                (
                    node,
                    states.map(|state| u64::from(state.inside)).sum::<u64>(),
                )
            })
            .filter(|&(_, tokens)| tokens > 0)
            .map(|(node, tokens)| (self.node_paths[node].clone(), tokens))
            .collect();
        if standing.is_empty() {
            if until != Time::NEVER {
                self.wait_until(until);
                return Ok(Stop::Time);
            }
            return Ok(Stop::Quiet);
        }
        Err(RunError::Deadlock {
            time: self.now(),
            standing,
        })
    }

    fn halted(&mut self) -> Result<Stop, RunError> {
        match self.kernel.halt.take() {
            None | Some(Halt::Asked) => Ok(Stop::Asked),
            Some(Halt::NoSuchCopy {
                node,
                asked,
                copies,
            }) => Err(RunError::NoSuchCopy {
                path: self.node_paths[node as usize].clone(),
                asked,
                copies,
            }),
            Some(Halt::Failed { by, message }) => Err(RunError::Failed {
                path: match by {
                    By::Node(node) => self.node_paths[node as usize].clone(),
                    By::Transition(index) => self.transitions[index as usize].path.clone(),
                },
                message,
            }),
        }
    }

    /// Goes on for a few more firings to see which transitions go in turn.
    fn zero_time_loop(&mut self, firings: u64) -> RunError {
        let mut cycle: Vec<u32> = Vec::new();
        let mut stations: Vec<u32> = Vec::new();
        for _ in 0..4096 {
            if let Some(instance) = self.next_enabled() {
                let transition = self.owners[instance as usize];
                if self.fire(transition, instance) && !cycle.contains(&transition) {
                    cycle.push(transition);
                }
            } else if let Some(event) = self.kernel.next_event()
                && event.time() == self.now()
            {
                if !stations.contains(&event.node) {
                    stations.push(event.node);
                }
                self.deliver(event);
            } else {
                break;
            }
        }
        // The cycle begins at the transition declared first.
        let first = cycle.iter().min().copied();
        let from = cycle.iter().position(|&index| Some(index) == first);
        cycle.rotate_left(from.unwrap_or(0));
        cycle.extend(cycle.first().copied());
        let mut paths: Vec<&str> = cycle
            .iter()
            .map(|&index| self.transitions[index as usize].path.as_str())
            .collect();
        if paths.is_empty() {
            // No transition fires: a discipline wakes itself for ever.
            let nodes = stations
                .iter()
                .map(|&node| &*self.node_paths[node as usize]);
            paths.extend(nodes);
        }
        RunError::ZeroTimeLoop {
            time: self.now(),
            firings,
            cycle: listed(paths.iter().map(|path| (*path).to_owned()), " → "),
        }
    }

    /// Resets the statistics, for the end of a warm-up: areas, counts and
    /// tallies start again from the state reached.
    pub fn reset_statistics(&mut self) {
        self.keep_counts_of_frames();
        let now = self.now();
        for node in &mut self.nodes {
            node.reset(now);
        }
        for tally in &mut self.tallies {
            tally.reset();
        }
        for transition in &mut self.transitions {
            transition.firings = 0;
        }
        self.kernel.accounts.reset(now);
        self.levels.histories.fill(History::default());
        self.reset_at = now;
        self.restart_copy_samples();
    }

    /// Divides the time of accounts among tokens in the nodes that `counts` chooses by
    /// path. To be said before the first run.
    pub fn count(&mut self, counts: impl Fn(&NodeStructure, &str) -> bool) {
        let mut pages = vec![&self.structure.page];
        while let Some(page) = pages.pop() {
            for node in &page.nodes {
                let index = node.id as usize;
                if counts(node, &self.node_paths[index]) {
                    self.nodes[index].count();
                }
            }
            pages.extend(&page.pages);
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    /// Simulated time since the start or the last reset of statistics.
    pub fn measured(&self) -> Span {
        self.now().since(self.reset_at)
    }

    /// Transitions fired since the start.
    pub fn firings(&self) -> u64 {
        self.firings
    }

    /// Future events that came true since the start.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The most future events that were pending at once.
    pub fn most_pending(&self) -> usize {
        self.kernel.heap().peak()
    }

    /// The store's state in one copy of its page.
    ///
    /// # Panics
    /// If there is no such copy.
    pub fn store<S: 'static>(&self, store: Store<S>, copy: u32) -> &S {
        let copies: &Vec<S> = self.stores[store.store as usize]
            .downcast_ref()
            .expect("handles carry their store's type");
        &copies[copy as usize]
    }

    /// Like [`Net::store`], to change it between runs. Guards that look at it
    /// are not asked again.
    ///
    /// # Panics
    /// If there is no such copy.
    pub fn store_mut<S: 'static>(&mut self, store: Store<S>, copy: u32) -> &mut S {
        let copies: &mut Vec<S> = self.stores[store.store as usize]
            .downcast_mut()
            .expect("handles carry their store's type");
        &mut copies[copy as usize]
    }

    /// All stores of a type, copy after copy, in the order in which they were written.
    pub fn stores_mut<S: 'static>(&mut self) -> impl Iterator<Item = &mut S> {
        let stores = self.stores.iter_mut();
        stores
            .filter_map(|it| it.downcast_mut::<Vec<S>>())
            .flatten()
    }

    /// Figures recorded.
    pub fn tally(&self, tally: TallyId) -> &Tally {
        &self.tallies[tally.0 as usize]
    }

    /// The net as it was written.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }
}
