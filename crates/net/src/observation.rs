//! Observations that a transition makes of the pages within its own: the tokens and servers of
//! nodes, and gauges of stores. It changes nothing there.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use crate::firing::Firing;
use crate::time::{Span, Time};

/// Reads a number off some copies of a store, or off all.
pub(crate) type GaugeOf = dyn Fn(&dyn Any, Option<Range<usize>>, &mut dyn FnMut(u64)) + Send + Sync;

/// A node or a gauge of a store, in all copies within one copy of the page that found it.
#[derive(Clone)]
pub struct Sight(pub(crate) Seen);

#[derive(Clone)]
pub(crate) enum Seen {
    Node {
        node: u32,
        per: u32,
    },
    Gauge {
        store: u32,
        per: u32,
        of: Arc<GaugeOf>,
    },
}

/// The state of the observed nodes or stores together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Observation {
    /// Tokens in the nodes.
    pub tokens: u64,
    /// Servers of stations at work.
    pub busy: u64,
    /// Servers of stations, as far as they have a number of them.
    pub servers: u64,
    /// Servers' time at work since the statistics began.
    pub worked: Span,
    /// Sum of the gauges of stores.
    pub sum: u64,
}

impl Seen {
    pub(crate) fn add_to(
        &self,
        seen: &mut Observation,
        firing: &Firing<'_>,
        stores: &[Box<dyn Any + Send>],
    ) {
        let now: Time = firing.now();
        let copies = |per: u32| {
            let first = firing.copy() as usize * per as usize;
            first..first + per as usize
        };
        match self {
            Seen::Node { node, per } => {
                let node = &firing.nodes[*node as usize];
                let copies = copies(*per);
                let inside = node.states()[copies.clone()].iter();
                seen.tokens += inside.map(|it| u64::from(it.inside)).sum::<u64>();
                if node.serving().is_empty() {
                    return;
                }
                let number = u64::from(node.servers().unwrap_or(0));
                seen.servers += number * u64::from(*per);
                for it in &node.serving()[copies] {
                    seen.busy += it.busy(now);
                    let worked = u64::try_from(it.area(now)).unwrap_or(u64::MAX);
                    seen.worked = Span(seen.worked.0.saturating_add(worked));
                }
            }
            Seen::Gauge { store, per, of } => {
                let add = &mut |value| seen.sum += value;
                of(&*stores[*store as usize], Some(copies(*per)), add);
            }
        }
    }
}
