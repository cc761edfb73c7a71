//! Computes all levels by progressive filling. The resource whose flows get least when filled is a
//! bottleneck. Its flows are final; the others share the remaining capacity (Bertsekas and Gallager
//! 1992, §6.5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Fair, same};

/// A share, by which resources are taken; never not a number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct ByShare(f64);

impl Eq for ByShare {}

impl PartialOrd for ByShare {
    fn partial_cmp(&self, other: &ByShare) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByShare {
    fn cmp(&self, other: &ByShare) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Remaining capacity of a resource.
#[derive(Clone, Copy, Debug)]
struct RemainingCapacity {
    capacity: f64,
    flows: u32,
    /// Number of times that has changed: older entries in the heap say nothing.
    version: u32,
    touched: bool,
    settled: bool,
}

impl RemainingCapacity {
    fn share(&self) -> ByShare {
        ByShare(self.capacity.max(0.0) / f64::from(self.flows))
    }
}

impl<const LONGEST: usize> Fair<LONGEST> {
    /// Computes all levels from the start.
    pub(super) fn fill(&mut self) {
        self.queue.clear();
        for flow in self.fresh.drain(..) {
            self.flows[flow as usize].fresh = false;
        }
        let mut heap = BinaryHeap::new();
        let mut left: Vec<RemainingCapacity> = Vec::with_capacity(self.resources.len());
        for (number, resource) in (0_u32..).zip(&mut self.resources) {
            resource.queued = false;
            let it = RemainingCapacity {
                capacity: resource.capacity,
                flows: resource.flows.len() as u32,
                version: 0,
                touched: false,
                settled: false,
            };
            if it.flows > 0 {
                heap.push(Reverse((it.share(), number, 0)));
            }
            left.push(it);
        }
        let mut settled = vec![false; self.flows.len()];
        let mut levels = vec![f64::INFINITY; self.resources.len()];
        let mut touched = Vec::new();
        while let Some(Reverse((ByShare(share), resource, version))) = heap.pop() {
            let it = &mut left[resource as usize];
            if it.settled || it.version != version || it.flows == 0 {
                continue;
            }
            it.settled = true;
            levels[resource as usize] = share;
            for &flow in &self.resources[resource as usize].flows {
                if std::mem::replace(&mut settled[flow as usize], true) {
                    continue;
                }
                for &other in self.flows[flow as usize].path() {
                    let it = &mut left[other as usize];
                    if it.settled {
                        continue;
                    }
                    it.capacity -= share;
                    it.flows -= 1;
                    if !it.touched {
                        it.touched = true;
                        touched.push(other);
                    }
                }
            }
            for other in touched.drain(..) {
                let it = &mut left[other as usize];
                it.touched = false;
                it.version += 1;
                if it.flows > 0 {
                    heap.push(Reverse((it.share(), other, it.version)));
                }
            }
        }
        for (resource, (level, left)) in (0_u32..).zip(levels.into_iter().zip(left)) {
            self.resources[resource as usize].spare = left.capacity.max(0.0);
            if !same(level, self.level(resource)) {
                self.set_level(resource, level);
            }
        }
    }
}
