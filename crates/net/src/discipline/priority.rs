use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::discipline::{Discipline, ServiceTime, Station};
use crate::slab::{Line, Slot};
use crate::time::{Span, Time};
use crate::token::Token;

/// Serves the most urgent class first (the lowest number), first come, first
/// served within a class.
#[derive(Clone, Debug)]
pub struct Priority<T, S, C = fn(&T) -> u32> {
    servers: u32,
    service: S,
    class: C,
    colour: PhantomData<fn(T)>,
    preemptive: bool,
    /// Tokens that wait, by class; those cut short keep their place at the
    /// front of their class in `interrupted`.
    waiting: BTreeMap<u32, Line>,
    interrupted: BTreeMap<u32, Vec<(Slot, Span)>>,
    serving: Vec<Job>,
    tag: u32,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    slot: Slot,
    class: u32,
    ends: Time,
    tag: u32,
}

impl<T: Token, S: ServiceTime<T>, C: Fn(&T) -> u32 + Send + 'static> Priority<T, S, C> {
    /// A service once started is finished. `class` tells a token's class.
    pub fn new(servers: u32, service: S, class: C) -> Self {
        Priority {
            servers: servers.max(1),
            service,
            class,
            colour: PhantomData,
            preemptive: false,
            waiting: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            serving: Vec::new(),
            tag: 0,
        }
    }

    /// A more urgent token interrupts the least urgent one served, whose
    /// service is resumed later where it was cut short.
    pub fn preemptive(servers: u32, service: S, class: C) -> Self {
        Priority {
            preemptive: true,
            ..Priority::new(servers, service, class)
        }
    }

    fn start(&mut self, slot: Slot, class: u32, service: Span, station: &mut Station<'_, T>) {
        self.tag = self.tag.wrapping_add(1);
        let ends = station.now() + service;
        let tag = self.tag;
        self.serving.push(Job {
            slot,
            class,
            ends,
            tag,
        });
        station.wake_at(ends, tag);
    }

    /// The next to serve, with the service it still needs.
    fn next(&mut self, station: &mut Station<'_, T>) -> Option<(Slot, u32, Span)> {
        let interrupted = self.interrupted.first_key_value().map(|(&class, _)| class);
        let waiting = self.waiting.first_key_value().map(|(&class, _)| class);
        if let Some(class) = interrupted.filter(|&class| waiting.is_none_or(|other| class <= other))
        {
            let jobs = self.interrupted.get_mut(&class)?;
            let (slot, left) = jobs.pop()?;
            if jobs.is_empty() {
                self.interrupted.remove(&class);
            }
            return Some((slot, class, left));
        }
        let class = waiting?;
        let line = self.waiting.get_mut(&class)?;
        let slot = station.pop(line)?;
        if line.is_empty() {
            self.waiting.remove(&class);
        }
        let service = station.service(&mut self.service, slot);
        Some((slot, class, service))
    }

    /// Interrupts the least urgent job if it is less urgent than `class`.
    fn interrupt(&mut self, class: u32, now: Time) -> bool {
        let least = (0..self.serving.len()).max_by_key(|&index| self.serving[index].class);
        match least.filter(|&index| self.serving[index].class > class) {
            None => false,
            Some(index) => {
                let job = self.serving.swap_remove(index);
                let left = (job.slot, job.ends.since(now));
                self.interrupted.entry(job.class).or_default().push(left);
                true
            }
        }
    }
}

impl<T, S, C> Discipline<T> for Priority<T, S, C>
where
    T: Token,
    S: ServiceTime<T>,
    C: Fn(&T) -> u32 + Send + 'static,
{
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        let class = (self.class)(station.token(slot));
        let idle = (self.serving.len() as u32) < self.servers;
        if idle {
            station.start_serving();
        } else if !(self.preemptive && self.interrupt(class, station.now())) {
            station.push(self.waiting.entry(class).or_default(), slot);
            return;
        }
        let service = station.service(&mut self.service, slot);
        self.start(slot, class, service, station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        // The end of an interrupted service is ignored.
        let Some(index) = self.serving.iter().position(|job| job.tag == tag) else {
            return;
        };
        let job = self.serving.swap_remove(index);
        station.release(job.slot);
        match self.next(station) {
            Some((slot, class, service)) => self.start(slot, class, service, station),
            None => station.stop_serving(),
        }
    }

    fn name(&self) -> String {
        let kind = if self.preemptive {
            "preemptive"
        } else {
            "non-preemptive"
        };
        match self.servers {
            1 => format!("priority, {kind}"),
            servers => format!("priority, {kind}, {servers} servers"),
        }
    }

    fn servers(&self) -> Option<u32> {
        Some(self.servers)
    }

    fn service(&self) -> Option<Span> {
        self.service.constant()
    }
}
