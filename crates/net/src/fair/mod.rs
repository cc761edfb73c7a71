//! Max-min fair sharing of several resources. Every flow uses a path of resources at one rate. No
//! rate can grow without reducing one that is no larger (Bertsekas and Gallager 1992, *Data
//! Networks*, §6.5.2).
//!
//! Each saturated resource has a *level*, the rate of the flows that it limits. The rate of a flow
//! is the least level on its path. When a flow arrives or leaves, levels are corrected from its
//! path outwards. A resource's level follows from the rates that the others allow its flows, until
//! nothing changes. The fixed point is the max-min allocation (Charny, Clark and Jain 1995,
//! "Congestion control with explicit rate indication"). The cost is that of the resources whose
//! level changes, not of all. When that is no saving, progressive filling computes all levels at
//! once.

mod filling;

use std::collections::VecDeque;

/// Levels that differ by less, relatively, are the same: sums of rates are not
/// exact.
const TOLERANCE: f64 = 1e-12;

/// The number of a flow; used again once the flow has gone.
pub(crate) type FlowId = u32;

/// Flows and the resources that they share, at most `LONGEST` on a path.
#[derive(Clone, Debug)]
pub(crate) struct Fair<const LONGEST: usize = 8> {
    resources: Vec<Resource>,
    flows: Vec<Flow<LONGEST>>,
    free: Vec<FlowId>,
    present: usize,
    /// Resources to be checked.
    queue: VecDeque<u32>,
    /// Flows whose rate the resources that are not saturated have not heard of.
    fresh: Vec<FlowId>,
    /// Rates of flows, while a level is found.
    undecided: Vec<f64>,
    /// Resources whose level is another than when this was last emptied.
    changed: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Resource {
    capacity: f64,
    /// The rate of the flows that it limits; infinite if it is not saturated.
    level: f64,
    /// If it is not saturated: how much more it could carry, at least.
    spare: f64,
    flows: Vec<FlowId>,
    queued: bool,
    changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Flow<const LONGEST: usize> {
    path: [u32; LONGEST],
    /// Its place among the flows of each.
    seats: [u32; LONGEST],
    length: usize,
    /// It is in [`Fair::fresh`].
    fresh: bool,
}

impl<const LONGEST: usize> Flow<LONGEST> {
    fn path(&self) -> &[u32] {
        &self.path[..self.length]
    }
}

#[cfg(test)]
impl Fair {
    /// Resources of these capacities, at most eight on a path.
    pub fn new(capacities: impl IntoIterator<Item = f64>) -> Self {
        Fair::with_longest_path(capacities)
    }
}

impl<const LONGEST: usize> Fair<LONGEST> {
    /// Resources of these capacities, in work per picosecond.
    pub fn with_longest_path(capacities: impl IntoIterator<Item = f64>) -> Self {
        let resource = |capacity: f64| Resource {
            capacity,
            level: f64::INFINITY,
            spare: capacity,
            flows: Vec::new(),
            queued: false,
            changed: false,
        };
        Fair {
            resources: capacities.into_iter().map(resource).collect(),
            flows: Vec::new(),
            free: Vec::new(),
            present: 0,
            queue: VecDeque::new(),
            fresh: Vec::new(),
            undecided: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Number of resources.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// A flow comes. Its rate is known after [`Fair::solve`]. A resource that is
    /// named twice counts once; none if the path is too long, or empty, or names a
    /// resource that is not there.
    pub fn add(&mut self, path: &[u32]) -> Option<FlowId> {
        let mut flow = Flow {
            path: [0; LONGEST],
            seats: [0; LONGEST],
            length: 0,
            fresh: true,
        };
        for &resource in path {
            if flow.path().contains(&resource) {
                continue;
            }
            if flow.length == LONGEST || resource as usize >= self.resources.len() {
                return None;
            }
            flow.path[flow.length] = resource;
            flow.length += 1;
        }
        if flow.length == 0 {
            return None;
        }
        let id = self.free.pop().unwrap_or(self.flows.len() as FlowId);
        for at in 0..flow.length {
            let resource = flow.path[at];
            let flows = &mut self.resources[resource as usize].flows;
            flow.seats[at] = flows.len() as u32;
            flows.push(id);
            if self.level(resource).is_finite() {
                self.enqueue(resource);
            }
        }
        self.fresh.push(id);
        match self.flows.get_mut(id as usize) {
            Some(place) => *place = flow,
            None => self.flows.push(flow),
        }
        self.present += 1;
        Some(id)
    }

    /// A flow goes.
    pub fn remove(&mut self, id: FlowId) {
        let flow = self.flows[id as usize];
        let rate = self.level(self.bottleneck(id));
        for (&resource, &seat) in flow.path().iter().zip(&flow.seats) {
            let it = &mut self.resources[resource as usize];
            it.flows.swap_remove(seat as usize);
            if let Some(&moved) = it.flows.get(seat as usize) {
                let moved = &mut self.flows[moved as usize];
                let at = moved.path().iter().position(|&it| it == resource);
                moved.seats[at.unwrap_or(0)] = seat;
            }
            if it.level.is_finite() {
                self.enqueue(resource);
            } else if rate.is_finite() && !flow.fresh {
                it.spare += rate;
            }
        }
        if flow.fresh {
            self.fresh.retain(|&it| it != id);
        }
        self.free.push(id);
        self.present -= 1;
    }

    /// Makes the levels right. [`Fair::take_changed`] has the changes.
    pub fn solve(&mut self) {
        let waiting = self.queue.iter();
        let to_see: usize = waiting
            .map(|&it| self.resources[it as usize].flows.len())
            .sum();
        if to_see > 2 * self.present {
            self.fill();
            return;
        }
        // The cost of filling all of them.
        let mut budget = (8 * self.present + 64) as i64;
        while let Some(resource) = self.next_to_see() {
            self.resources[resource as usize].queued = false;
            budget -= self.resources[resource as usize].flows.len() as i64 + 1;
            if budget < 0 {
                self.fill();
                return;
            }
            let new = self.level_of(resource);
            let old = self.resources[resource as usize].level;
            if !same(new, old) {
                self.set_level(resource, new);
                self.tell_others(resource, old, new);
            }
        }
    }

    /// The next resource to be checked. When there is none, those that are not saturated hear of
    /// flows that have come.
    fn next_to_see(&mut self) -> Option<u32> {
        while self.queue.is_empty() {
            let flow = self.fresh.pop()?;
            self.flows[flow as usize].fresh = false;
            for at in 0..self.flows[flow as usize].length {
                let resource = self.flows[flow as usize].path[at];
                if self.level(resource).is_infinite() {
                    let rate = self.allowed_by_others(flow, resource);
                    self.resources[resource as usize].spare -= rate;
                    if self.resources[resource as usize].spare < 0.0 {
                        self.enqueue(resource);
                    }
                }
            }
        }
        self.queue.pop_front()
    }

    /// Resources whose level has changed since this was asked last.
    pub fn take_changed(&mut self, into: &mut Vec<u32>) {
        into.clear();
        std::mem::swap(into, &mut self.changed);
        for &resource in into.iter() {
            self.resources[resource as usize].changed = false;
        }
    }

    /// The rate of the flows that a resource limits; infinite if none.
    pub fn level(&self, resource: u32) -> f64 {
        self.resources[resource as usize].level
    }

    /// The flows on a resource.
    pub fn flows(&self, resource: u32) -> &[FlowId] {
        &self.resources[resource as usize].flows
    }

    /// The resource that holds a flow back: the first of those of the least level
    /// on its path.
    pub fn bottleneck(&self, flow: FlowId) -> u32 {
        let path = self.flows[flow as usize].path();
        let mut least = (path[0], self.level(path[0]));
        for &resource in &path[1..] {
            let level = self.level(resource);
            if level < least.1 {
                least = (resource, level);
            }
        }
        least.0
    }

    fn enqueue(&mut self, resource: u32) {
        let it = &mut self.resources[resource as usize];
        if !it.queued {
            it.queued = true;
            self.queue.push_back(resource);
        }
    }

    fn set_level(&mut self, resource: u32, level: f64) {
        let it = &mut self.resources[resource as usize];
        it.level = level;
        if !it.changed {
            it.changed = true;
            self.changed.push(resource);
        }
    }

    /// Returns the rate that the other flows on its path leave for a flow.
    fn allowed_by_others(&self, flow: FlowId, but: u32) -> f64 {
        let path = self.flows[flow as usize].path().iter();
        path.filter(|&&it| it != but)
            .fold(f64::INFINITY, |least, &it| least.min(self.level(it)))
    }

    /// The level that fills a resource, with the rates that the others allow its flows; infinite if
    /// they leave room.
    fn level_of(&mut self, resource: u32) -> f64 {
        let it = &self.resources[resource as usize];
        let capacity = it.capacity;
        let mut undecided = std::mem::take(&mut self.undecided);
        undecided.clear();
        let allowed = |&flow: &FlowId| self.allowed_by_others(flow, resource);
        undecided.extend(it.flows.iter().map(allowed));
        let mut left = capacity;
        let mut level = f64::INFINITY;
        // Flows that are limited elsewhere leave the others more, until all that remain are limited
        // here.
        while !undecided.is_empty() {
            level = left.max(0.0) / undecided.len() as f64;
            let before = undecided.len();
            let bound = level * (1.0 + TOLERANCE);
            undecided.retain(|&allowed| {
                let here = allowed > bound;
                if !here {
                    left -= allowed;
                }
                here
            });
            if undecided.len() == before {
                break;
            }
            level = f64::INFINITY;
        }
        if level.is_infinite() {
            self.resources[resource as usize].spare = left.max(0.0);
        }
        self.undecided = undecided;
        level
    }

    /// A level has changed: those are checked again whose own may follow.
    fn tell_others(&mut self, resource: u32, old: f64, new: f64) {
        for seat in 0..self.resources[resource as usize].flows.len() {
            let id = self.resources[resource as usize].flows[seat];
            let flow = self.flows[id as usize];
            // The least of the others' levels, and the least but for that one.
            let (mut least, mut next, mut at_least) = (f64::INFINITY, f64::INFINITY, resource);
            for &other in flow.path() {
                let level = self.level(other);
                if other == resource {
                    continue;
                }
                if level < least {
                    (next, least, at_least) = (least, level, other);
                } else {
                    next = next.min(level);
                }
            }
            for &other in flow.path() {
                if other == resource {
                    continue;
                }
                let rest = if other == at_least { next } else { least };
                let (before, after) = (rest.min(old), rest.min(new));
                if before == after {
                    continue;
                }
                let it = &mut self.resources[other as usize];
                let concerned = if it.level.is_infinite() {
                    it.spare -= (after - before).max(0.0);
                    it.spare < 0.0
                } else {
                    // The flow is limited here before and after; the amount does not matter.
                    before < it.level || after < it.level
                };
                if concerned {
                    self.enqueue(other);
                }
            }
        }
    }
}

/// Returns true if two levels are the same but for rounding.
fn same(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= TOLERANCE * one.min(other)
}

#[cfg(test)]
mod tests;
