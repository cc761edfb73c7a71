//! A node at run time: a place or a station, all copies of it together.

use std::any::Any;

use crate::accounts::{Account, Mark, WaitId};
use crate::discipline::{Bank, Message, Station};
use crate::heap::Kind;
use crate::kernel::{Consumer, Kernel};
use crate::page::Token;
use crate::slab::{Line, Slab, Slot};
use crate::time::{Span, Time};

/// Tokens and statistics of one copy of a node.
#[derive(Clone, Default, Debug)]
pub(crate) struct CopyState {
    pub ready: Line,
    /// Tokens inside: waiting, served or ready.
    pub inside: u32,
    pub arrivals: u64,
    last: u64,
    area: u128,
}

impl CopyState {
    #[inline]
    fn account(&mut self, now: Time) {
        self.area += u128::from(self.inside) * u128::from(now.0 - self.last);
        self.last = now.0;
    }

    #[inline]
    pub fn enter(&mut self, now: Time) {
        self.account(now);
        self.inside += 1;
        self.arrivals += 1;
    }

    #[inline]
    pub fn leave(&mut self, now: Time) {
        self.account(now);
        self.inside -= 1;
    }

    /// Token-picoseconds spent inside up to now.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.inside) * u128::from(now.0 - self.last)
    }

    /// Forgets what was seen, keeps what is there.
    fn reset(&mut self, now: Time) {
        self.arrivals = 0;
        self.area = 0;
        self.last = now.0;
    }
}

/// Current and past work of the servers of one copy of a station. Separate from [`CopyState`]
/// because places have none and small states stay in the processor's cache.
#[derive(Clone, Default, Debug)]
pub(crate) struct ServingState {
    /// Servers at work now.
    serving: u32,
    pub draws: u64,
    last: u64,
    /// Server-picoseconds, booked work that lies ahead included.
    area: u128,
    booked_until: u64,
    /// Picoseconds that booked work had to wait for its start.
    waited: u128,
    /// Server-picoseconds worked before the token came that wanted it.
    ahead: u128,
}

impl ServingState {
    #[inline]
    pub fn serve(&mut self, now: Time, change: i32) {
        self.area += u128::from(self.serving) * u128::from(now.0 - self.last);
        self.last = now.0;
        self.serving = self.serving.saturating_add_signed(change);
    }

    /// Books work for one server, after what is booked already; gives its
    /// start and end.
    #[inline]
    pub fn book(&mut self, now: Time, work: Span) -> (Time, Time) {
        let start = now.max(Time(self.booked_until));
        let end = start + work;
        self.booked_until = end.0;
        self.area += u128::from(end.0 - start.0);
        self.waited += u128::from(start.0 - now.0);
        (start, end)
    }

    /// Books work until then, as far as less is booked.
    #[inline]
    pub fn busy_until(&mut self, now: Time, end: Time) {
        let start = now.0.max(self.booked_until);
        if end.0 > start {
            self.area += u128::from(end.0 - start);
            self.booked_until = end.0;
        }
    }

    /// Server-picoseconds worked up to now. Booked work leaves no gap before
    /// its end, so what lies ahead is all that is left until then.
    pub fn area(&self, now: Time) -> u128 {
        self.area + u128::from(self.serving) * u128::from(now.0 - self.last)
            - u128::from(self.booked_until.saturating_sub(now.0))
    }

    /// The same with what was worked ahead, which no token waited for.
    pub fn worked(&self, now: Time) -> u128 {
        self.area(now) + self.ahead
    }

    /// Servers at work.
    pub fn busy(&self, now: Time) -> u64 {
        u64::from(self.serving) + u64::from(self.booked_until > now.0)
    }

    pub fn work_ahead(&mut self, span: Span) {
        self.ahead += u128::from(span.0);
    }

    #[inline]
    pub fn wait_besides(&mut self, span: Span) {
        self.waited += u128::from(span.0);
    }

    /// Picoseconds that booked work had to wait; none if none was booked.
    pub fn waited(&self) -> Option<u128> {
        (self.booked_until > 0).then_some(self.waited)
    }

    fn reset(&mut self, now: Time) {
        self.waited = 0;
        self.ahead = 0;
        self.area = u128::from(self.booked_until.saturating_sub(now.0));
        self.last = now.0;
    }
}

/// Accounts of a node's tokens, by slot. Most nodes are not counted, and a model can have millions
/// of tokens: these keep no times.
pub(crate) enum Marks {
    Uncounted(Vec<Account>),
    /// Accounts' time is divided among the tokens here.
    Counted(Vec<Mark>),
}

impl Marks {
    /// Marks of the tokens inside or on their way; none if they are not counted.
    fn counted(&self) -> impl Iterator<Item = &Mark> {
        let marks = match self {
            Marks::Uncounted(_) => &[],
            Marks::Counted(marks) => marks.as_slice(),
        };
        marks.iter().filter(|mark| mark.account.is_somebody())
    }

    fn counted_mut(&mut self, slot: Slot) -> Option<&mut Mark> {
        match self {
            Marks::Uncounted(_) => None,
            Marks::Counted(marks) => marks.get_mut(slot.0 as usize),
        }
    }
}

/// Sets the entry of a slot; those of slots before it are the default.
#[inline]
fn set<M: Clone + Default>(all: &mut Vec<M>, slot: Slot, entry: M) {
    let index = slot.0 as usize;
    if index >= all.len() {
        all.resize(index + 1, M::default());
    }
    all[index] = entry;
}

/// The part of a node that does not depend on its discipline.
pub(crate) struct Core<T> {
    pub id: u32,
    pub key: u64,
    pub slab: Slab<T>,
    pub copies: Vec<CopyState>,
    /// By copy; empty for places.
    pub serving: Vec<ServingState>,
    pub consumers: Vec<Consumer>,
    /// Tokens put with a delay that have not arrived yet.
    pub coming: u64,
    /// Tokens' accounts by slot, as far as they have had any.
    pub marks: Marks,
    /// Accounts' time that went on tokens that have left, in picoseconds.
    pub charged: f64,
}

impl<T: Token> Core<T> {
    /// Marks a token as the firing's account's; it comes after a delay, if so in that wait.
    #[inline]
    fn mark(&mut self, slot: Slot, on_the_way: Option<u32>, kernel: &mut Kernel) {
        let account = kernel.accounts.current;
        if account.is_somebody() {
            self.mark_of(slot, account, on_the_way, kernel);
        }
    }

    fn mark_of(
        &mut self,
        slot: Slot,
        account: Account,
        on_the_way: Option<u32>,
        kernel: &mut Kernel,
    ) {
        match &mut self.marks {
            Marks::Uncounted(accounts) => set(accounts, slot, account),
            Marks::Counted(marks) => {
                let mut mark = kernel.accounts.enter(account, kernel.now());
                mark.on_the_way = on_the_way;
                set(marks, slot, mark);
            }
        }
    }

    /// A token leaves; what the firing puts from now on is its account's.
    #[inline]
    fn unmark(&mut self, slot: Slot, kernel: &mut Kernel) {
        let account = match &mut self.marks {
            Marks::Uncounted(accounts) => {
                let account = accounts.get_mut(slot.0 as usize);
                account.map(std::mem::take).unwrap_or_default()
            }
            Marks::Counted(marks) => {
                let mark = marks.get_mut(slot.0 as usize);
                let mark = mark.map(std::mem::take).unwrap_or_default();
                if mark.account.is_somebody() {
                    self.charged += kernel.accounts.leave(mark, kernel.now());
                }
                mark.account
            }
        };
        if account.is_somebody() {
            kernel.accounts.current = account;
        }
    }

    /// Charges the elapsed time of a token to its node or to a wait.
    pub fn settle(&mut self, slot: Slot, wait: Option<WaitId>, kernel: &mut Kernel) {
        let now = kernel.now();
        let mark = self.marks.counted_mut(slot);
        if let Some(mark) = mark.filter(|mark| mark.account.is_somebody()) {
            let wait = wait.map(|wait| wait.0);
            let share = kernel.accounts.settle(mark, now, wait);
            if wait.is_none() {
                self.charged += share;
            }
        }
    }

    /// A token is on its way no more.
    #[inline]
    fn has_come(&mut self, slot: Slot, kernel: &mut Kernel) {
        let mark = self.marks.counted_mut(slot);
        if let Some(wait) = mark.and_then(|mark| mark.on_the_way.take()) {
            self.settle(slot, Some(WaitId(wait)), kernel);
        }
    }

    /// Makes a token visible to transitions.
    #[inline]
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
                serving: match bank {
                    None => Vec::new(),
                    Some(_) => vec![ServingState::default(); copies as usize],
                },
                consumers: Vec::new(),
                coming: 0,
                marks: Marks::Uncounted(Vec::new()),
                charged: 0.0,
            },
            bank,
        }
    }

    /// A token arrives now.
    #[inline]
    pub fn arrive(&mut self, copy: u32, token: T, kernel: &mut Kernel) -> Slot {
        let slot = self.core.slab.insert(token);
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
        let slot = self.core.slab.insert(token);
        self.core.mark(slot, wait.map(|wait| wait.0), kernel);
        self.core.coming += 1;
        kernel.schedule(time, self.core.id, copy, slot.0, Kind::Token);
        slot
    }

    #[inline]
    fn enter(&mut self, copy: u32, slot: Slot, kernel: &mut Kernel) {
        self.core.copies[copy as usize].enter(kernel.now());
        match &mut self.bank {
            None => self.core.make_ready(copy, slot, kernel),
            Some(bank) => bank.arrive(slot, &mut Station::new(&mut self.core, copy, kernel)),
        }
    }

    /// Takes a ready token: the given one, or the first in line.
    #[inline]
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
        core.unmark(slot, kernel);
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
    fn serving(&self) -> &[ServingState];
    fn coming(&self) -> u64;
    fn count(&mut self);
    /// Picoseconds of accounts that went on tokens here.
    fn charged(&self, kernel: &Kernel) -> f64;
    /// The same of those on their way here, by wait.
    fn charged_on_the_way(&self, kernel: &Kernel, charge: &mut dyn FnMut(u32, f64));
    fn reset(&mut self, now: Time);
    fn consumers_mut(&mut self) -> &mut Vec<Consumer>;
    fn footprint(&self) -> (usize, usize);
    /// Servers of one copy, if it is a station with a number of them.
    fn servers(&self) -> Option<u32>;
    fn discipline(&self) -> Option<String>;
    fn level(&self) -> Option<f64>;
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

    fn footprint(&self) -> (usize, usize) {
        let (bytes, tokens) = self.core.slab.footprint();
        let states = self.core.copies.capacity() * size_of::<CopyState>()
            + self.core.serving.capacity() * size_of::<ServingState>();
        let bank = self.bank.as_ref().map_or(0, |bank| bank.bytes());
        (bytes + states + bank, tokens)
    }

    fn servers(&self) -> Option<u32> {
        self.bank.as_ref().and_then(|bank| bank.servers())
    }

    fn level(&self) -> Option<f64> {
        self.bank.as_ref().and_then(|bank| bank.level())
    }

    fn delay(&self) -> f64 {
        self.bank.as_ref().map_or(0.0, |bank| bank.delay())
    }

    fn discipline(&self) -> Option<String> {
        self.bank.as_ref().map(|bank| bank.name())
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
