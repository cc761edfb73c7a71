//! A node at run time: a place or a station, all copies of it together.

use std::any::Any;

use crate::accounts::WaitId;
use crate::discipline::{Bank, Station};
use crate::heap::Kind;
use crate::kernel::{Consumer, Kernel};
use crate::slab::{Slab, Slot};
use crate::state::{CopyState, Core, Marks, ServingState, Visits};
use crate::time::{Span, Time};
use crate::token::{Message, Token};

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
                serving: match bank {
                    None => Vec::new(),
                    Some(_) => vec![ServingState::default(); copies as usize],
                },
                consumers: Vec::new(),
                inhibited: Vec::new(),
                coming: 0,
                services: Vec::new(),
                before: Vec::new(),
                marks: Marks::Uncounted(Vec::new()),
                charged: 0.0,
            },
            bank,
        }
    }

    /// A token arrives now.
    #[inline]
    pub fn arrive(&mut self, copy: u32, token: T, kernel: &mut Kernel) -> Slot {
        let slot = self.core.slab.insert(token, copy);
        self.core.mark(slot, None, kernel);
        self.enter(copy, slot, kernel);
        slot
    }

    /// A token will arrive later, and is in a wait until then.
    #[inline]
    pub fn arrive_at(
        &mut self,
        time: Time,
        copy: u32,
        token: T,
        wait: Option<WaitId>,
        kernel: &mut Kernel,
    ) -> Slot {
        let slot = self.core.slab.insert(token, copy);
        self.core.mark(slot, wait.map(|wait| wait.0), kernel);
        self.core.coming += 1;
        kernel.schedule(time, self.core.id, copy, slot.0, Kind::Token);
        slot
    }

    #[inline(always)]
    fn enter(&mut self, copy: u32, slot: Slot, kernel: &mut Kernel) {
        let state = &mut self.core.copies[copy as usize];
        state.enter(kernel.now());
        if !self.core.inhibited.is_empty() {
            kernel.inhibit(&self.core.inhibited, copy, state.inside);
        }
        self.core.slab.enter(slot, kernel.now());
        match &mut self.bank {
            None => self.core.make_ready(copy, slot, kernel),
            Some(bank) => {
                self.core.clear_service(slot);
                bank.arrive(slot, &mut Station::new(&mut self.core, copy, kernel));
            }
        }
    }

    /// Takes a ready token: the given one, or the first in line.
    #[inline]
    pub fn take(&mut self, copy: u32, slot: Option<Slot>, kernel: &mut Kernel) -> Option<T> {
        let slot = self.take_out(copy, slot, kernel)?;
        Some(self.core.slab.remove(slot))
    }

    /// Takes a ready token out of its line; it still has its slot. Apart from [`NodeOf::take`], so
    /// that a token is copied once, to where it is used.
    #[inline(always)]
    pub fn take_out(&mut self, copy: u32, slot: Option<Slot>, kernel: &mut Kernel) -> Option<Slot> {
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
        if !core.inhibited.is_empty() {
            kernel.release(&core.inhibited, copy, state.inside);
        }
        kernel.shrank(&core.consumers, copy, len);
        core.unmark(slot, kernel);
        Some(slot)
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
    fn serving(&self) -> &[ServingState];
    fn coming(&self) -> u64;
    /// Completed visits of each copy since the start or the last reset.
    fn visits(&self, now: Time) -> Vec<Visits>;
    fn count(&mut self);
    /// Picoseconds of accounts that went on tokens here.
    fn charged(&self, kernel: &Kernel) -> f64;
    /// The same of those on their way here, by wait.
    fn charged_on_the_way(&self, kernel: &Kernel, charge: &mut dyn FnMut(u32, f64));
    fn reset(&mut self, now: Time);
    fn consumers_mut(&mut self) -> &mut Vec<Consumer>;
    fn inhibited_mut(&mut self) -> &mut Vec<Consumer>;
    fn footprint(&self) -> (usize, usize);
    /// Servers of one copy, if it is a station with a number of them.
    fn servers(&self) -> Option<u32>;
    fn discipline(&self) -> Option<String>;
    /// The service time of a station, if it is the same for all tokens.
    fn service(&self) -> Option<Span>;
    fn level(&self) -> Option<f64>;
    fn gauges(&self, copy: usize) -> Vec<(&'static str, u64)>;
    fn delay(&self) -> f64;
}

impl<T: Token> AnyNode for NodeOf<T> {
    fn due(&mut self, copy: u32, tag: u32, kind: Kind, kernel: &mut Kernel) {
        match (kind, &mut self.bank) {
            (Kind::Token, _) => {
                self.core.coming -= 1;
                self.core.has_come(Slot(tag), kernel);
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

    fn serving(&self) -> &[ServingState] {
        &self.core.serving
    }

    fn coming(&self) -> u64 {
        self.core.coming
    }

    fn visits(&self, now: Time) -> Vec<Visits> {
        self.core.visits(now)
    }

    fn count(&mut self) {
        // Before the first run no token has an account.
        self.core.marks = Marks::Counted(Vec::new());
    }

    fn charged(&self, kernel: &Kernel) -> f64 {
        let inside = self.core.marks.counted();
        let inside = inside.filter(|mark| mark.on_the_way.is_none());
        let inside = inside.map(|mark| kernel.accounts.share(mark, kernel.now()));
        self.core.charged + inside.sum::<f64>()
    }

    fn charged_on_the_way(&self, kernel: &Kernel, charge: &mut dyn FnMut(u32, f64)) {
        for mark in self.core.marks.counted() {
            if let Some(wait) = mark.on_the_way {
                charge(wait, kernel.accounts.share(mark, kernel.now()));
            }
        }
    }

    fn reset(&mut self, now: Time) {
        self.core.charged = 0.0;
        self.core.before = self.core.unfinished(now);
        self.core
            .copies
            .iter_mut()
            .for_each(|state| state.reset(now));
        self.core
            .serving
            .iter_mut()
            .for_each(|state| state.reset(now));
    }

    fn consumers_mut(&mut self) -> &mut Vec<Consumer> {
        &mut self.core.consumers
    }

    fn inhibited_mut(&mut self) -> &mut Vec<Consumer> {
        &mut self.core.inhibited
    }

    fn footprint(&self) -> (usize, usize) {
        let (bytes, tokens) = self.core.slab.footprint();
        let states = self.core.copies.capacity() * size_of::<CopyState>()
            + self.core.serving.capacity() * size_of::<ServingState>();
        let bank = self.bank.as_ref().map_or(0, |bank| bank.bytes());
        let services = self.core.services.capacity() * size_of::<Span>();
        (bytes + states + services + bank, tokens)
    }

    fn servers(&self) -> Option<u32> {
        self.bank.as_ref().and_then(|bank| bank.servers())
    }

    fn level(&self) -> Option<f64> {
        self.bank.as_ref().and_then(|bank| bank.level())
    }

    fn gauges(&self, copy: usize) -> Vec<(&'static str, u64)> {
        let bank = self.bank.as_ref();
        bank.map_or_else(Vec::new, |bank| bank.gauges(copy))
    }

    fn delay(&self) -> f64 {
        let Some(bank) = &self.bank else {
            return 0.0;
        };
        // A copy without tokens has no delay: it must not shorten the mean of the others.
        let arrivals = self.core.copies.iter().map(|state| state.arrivals as f64);
        let all = arrivals.clone().sum::<f64>().max(1.0);
        let delays = arrivals.enumerate();
        let delays = delays.map(|(copy, arrivals)| arrivals * bank.delay(copy));
        delays.sum::<f64>() / all
    }

    fn discipline(&self) -> Option<String> {
        self.bank.as_ref().map(|bank| bank.name())
    }

    fn service(&self) -> Option<Span> {
        self.bank.as_ref().and_then(|bank| bank.service())
    }
}

/// The node of a known colour behind an erased one.
///
/// The colour is right by construction: handles are typed and only made for
/// nodes of their own colour, so the downcast cannot fail.
#[inline]
pub(crate) fn typed<T: Token>(node: &dyn AnyNode) -> &NodeOf<T> {
    let node: &dyn Any = node;
    node.downcast_ref()
        .expect("handles carry their node's colour")
}

/// Like [`typed`], to change it.
#[inline]
pub(crate) fn typed_mut<T: Token>(node: &mut dyn AnyNode) -> &mut NodeOf<T> {
    let node: &mut dyn Any = node;
    node.downcast_mut()
        .expect("handles carry their node's colour")
}
