//! A node at run time: a place or a station, all copies of it together.

use std::any::Any;
use std::collections::VecDeque;

use crate::discipline::{Bank, Message, Station};
use crate::heap::Kind;
use crate::kernel::{Consumer, Kernel};
use crate::page::Token;
use crate::slab::{Line, Slab, Slot};
use crate::time::Time;

/// What one copy of a node holds and has seen.
#[derive(Clone, Default, Debug)]
pub(crate) struct CopyState {
    pub ready: Line,
    /// Tokens inside: waiting, served or ready.
    pub inside: u32,
    /// Servers at work now, and the integral of their number over time.
    pub serving: u32,
    pub arrivals: u64,
    last: u64,
    area: u128,
    serving_last: u64,
    serving_area: u128,
    /// Work booked by `Station::book` and not yet in `serving_area`: start and
    /// end, in order, neighbours joined.
    booked: VecDeque<(u64, u64)>,
    pub draws: u64,
}

impl CopyState {
    fn account(&mut self, now: Time) {
        self.area += u128::from(self.inside) * u128::from(now.0 - self.last);
        self.last = now.0;
    }

    pub fn enter(&mut self, now: Time) {
        self.account(now);
        self.inside += 1;
        self.arrivals += 1;
    }

    pub fn leave(&mut self, now: Time) {
        self.account(now);
        self.inside -= 1;
    }

    pub fn serve(&mut self, now: Time, change: i32) {
        self.serving_area += u128::from(self.serving) * u128::from(now.0 - self.serving_last);
        self.serving_last = now.0;
        self.serving = self.serving.saturating_add_signed(change);
    }

    pub fn book(&mut self, now: Time, start: Time, end: Time) {
        self.settle(now);
        match self.booked.back_mut() {
            Some((_, last)) if *last == start.0 => *last = end.0.max(start.0),
            _ => self.booked.push_back((start.0, end.0.max(start.0))),
        }
    }

    /// Moves booked work that is done into the area.
    fn settle(&mut self, now: Time) {
        while let Some(&(start, end)) = self.booked.front()
            && end <= now.0
        {
            self.serving_area += u128::from(end - start);
            self.booked.pop_front();
        }
    }

    /// Forgets what was seen, keeps what is there.
    pub fn reset(&mut self, now: Time) {
        self.settle(now);
        for (start, _) in &mut self.booked {
            *start = now.0.max(*start);
        }
        self.arrivals = 0;
        self.area = 0;
        self.last = now.0;
        self.serving_area = 0;
        self.serving_last = now.0;
    }

    /// Token-picoseconds spent inside up to now.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.inside) * u128::from(now.0 - self.last)
    }

    /// Server-picoseconds worked up to now, booked work that is done included.
    pub fn serving_area(&self, now: Time) -> u128 {
        let done = |&(start, end): &(u64, u64)| u128::from(end.min(now.0) - start.min(now.0));
        let booked: u128 = self.booked.iter().map(done).sum();
        let counted = u128::from(self.serving) * u128::from(now.0 - self.serving_last);
        self.serving_area + counted + booked
    }
}

/// The part of a node that does not depend on its discipline.
pub(crate) struct Core<T> {
    pub id: u32,
    pub key: u64,
    pub slab: Slab<T>,
    pub copies: Vec<CopyState>,
    pub consumers: Vec<Consumer>,
    /// Tokens put with a delay that have not arrived yet.
    pub coming: u64,
}

impl<T: Token> Core<T> {
    /// Makes a token visible to transitions.
    pub fn make_ready(&mut self, copy: u32, slot: Slot, kernel: &mut Kernel) {
        let line = &mut self.copies[copy as usize].ready;
        self.slab.push(line, slot);
        let len = line.len();
        kernel.grew(&self.consumers, copy, len, self.slab.is_bag());
    }
}

pub(crate) struct NodeOf<T> {
    pub core: Core<T>,
    pub bank: Option<Box<dyn Bank<T>>>,
}

impl<T: Token> NodeOf<T> {
    pub fn new(id: u32, key: u64, copies: u32, bag: bool, bank: Option<Box<dyn Bank<T>>>) -> Self {
        NodeOf {
            core: Core {
                id,
                key,
                slab: Slab::new(bag),
                copies: vec![CopyState::default(); copies as usize],
                consumers: Vec::new(),
                coming: 0,
            },
            bank,
        }
    }

    /// A token arrives now.
    pub fn arrive(&mut self, copy: u32, token: T, kernel: &mut Kernel) -> Slot {
        let slot = self.core.slab.insert(token);
        self.enter(copy, slot, kernel);
        slot
    }

    /// A token will arrive later.
    pub fn arrive_at(&mut self, time: Time, copy: u32, token: T, kernel: &mut Kernel) -> Slot {
        let slot = self.core.slab.insert(token);
        self.core.coming += 1;
        kernel.schedule(time, self.core.id, copy, slot.0, Kind::Token);
        slot
    }

    fn enter(&mut self, copy: u32, slot: Slot, kernel: &mut Kernel) {
        self.core.copies[copy as usize].enter(kernel.now());
        match &mut self.bank {
            None => self.core.make_ready(copy, slot, kernel),
            Some(bank) => bank.arrive(slot, &mut Station::new(&mut self.core, copy, kernel)),
        }
    }

    /// Takes a ready token: the given one, or the first in line.
    pub fn take(&mut self, copy: u32, slot: Option<Slot>, kernel: &mut Kernel) -> Option<T> {
        let core = &mut self.core;
        let state = &mut core.copies[copy as usize];
        let slot = match slot {
            None => core.slab.pop(&mut state.ready)?,
            Some(slot) => {
                core.slab.unlink(&mut state.ready, slot);
                slot
            }
        };
        let len = state.ready.len();
        state.leave(kernel.now());
        kernel.shrank(&core.consumers, copy, len);
        Some(core.slab.remove(slot))
    }

    /// The ready tokens that a transition may look at: all of a bag's, the
    /// first of any other's.
    pub fn candidates(&self, copy: u32) -> impl Iterator<Item = Slot> + '_ {
        let most = if self.core.slab.is_bag() {
            usize::MAX
        } else {
            1
        };
        self.line(copy).take(most)
    }

    /// The ready tokens, first to last.
    pub fn line(&self, copy: u32) -> impl Iterator<Item = Slot> + '_ {
        self.core.slab.walk(&self.core.copies[copy as usize].ready)
    }
}

/// A node of any colour.
pub(crate) trait AnyNode: Any + Send {
    fn due(&mut self, copy: u32, tag: u32, kind: Kind, kernel: &mut Kernel);
    fn states(&self) -> &[CopyState];
    fn coming(&self) -> u64;
    fn reset(&mut self, now: Time);
    fn consumers_mut(&mut self) -> &mut Vec<Consumer>;
    fn footprint(&self) -> (usize, usize);
    /// Servers of one copy, if it is a station with a number of them.
    fn servers(&self) -> Option<u32>;
    fn discipline(&self) -> Option<String>;
}

impl<T: Token> AnyNode for NodeOf<T> {
    fn due(&mut self, copy: u32, tag: u32, kind: Kind, kernel: &mut Kernel) {
        match (kind, &mut self.bank) {
            (Kind::Token, _) => {
                self.core.coming -= 1;
                self.enter(copy, Slot(tag), kernel);
            }
            (Kind::Wake, Some(bank)) => {
                bank.wake(tag, &mut Station::new(&mut self.core, copy, kernel));
            }
            (Kind::Message, Some(bank)) => {
                let (from, message): (u32, Message) = kernel.messages.remove(Slot(tag));
                let station = &mut Station::new(&mut self.core, copy, kernel);
                bank.message(from, message, station);
            }
            (Kind::Wake | Kind::Message, None) => {}
        }
    }

    fn states(&self) -> &[CopyState] {
        &self.core.copies
    }

    fn coming(&self) -> u64 {
        self.core.coming
    }

    fn reset(&mut self, now: Time) {
        for state in &mut self.core.copies {
            state.reset(now);
        }
    }

    fn consumers_mut(&mut self) -> &mut Vec<Consumer> {
        &mut self.core.consumers
    }

    fn footprint(&self) -> (usize, usize) {
        let (bytes, tokens) = self.core.slab.footprint();
        let states = self.core.copies.capacity() * size_of::<CopyState>();
        let bank = self.bank.as_ref().map_or(0, |bank| bank.bytes());
        (bytes + states + bank, tokens)
    }

    fn servers(&self) -> Option<u32> {
        self.bank.as_ref().and_then(|bank| bank.servers())
    }

    fn discipline(&self) -> Option<String> {
        self.bank.as_ref().map(|bank| bank.name())
    }
}

/// The node of a known colour behind an erased one.
///
/// The colour is right by construction: handles are typed and only made for
/// nodes of their own colour, so the downcast cannot fail.
pub(crate) fn typed<T: Token>(node: &dyn AnyNode) -> &NodeOf<T> {
    let node: &dyn Any = node;
    node.downcast_ref()
        .expect("handles carry their node's colour")
}

/// Like [`typed`], to change it.
pub(crate) fn typed_mut<T: Token>(node: &mut dyn AnyNode) -> &mut NodeOf<T> {
    let node: &mut dyn Any = node;
    node.downcast_mut()
        .expect("handles carry their node's colour")
}
