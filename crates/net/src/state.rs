//! State of a node at run time that does not depend on its discipline.

use crate::accounts::{Account, Mark, WaitId};
use crate::kernel::{Consumer, Kernel};
use crate::slab::{Line, Slab, Slot};
use crate::time::{Span, Time};
use crate::token::Token;

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

    /// Resets the statistics, and leaves the tokens.
    pub fn reset(&mut self, now: Time) {
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
    /// Picoseconds of service that tokens were given, which may lie ahead.
    given: u128,
    /// True if the discipline gives service token by token.
    gives: bool,
}

/// Tokens that are inside a copy, and their time so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Unfinished {
    pub tokens: u32,
    /// Sum of the picoseconds since they came.
    age: u128,
    /// Sum of the picoseconds of service that they were given.
    given: u128,
}

/// Visits of one copy that have ended, each with its whole stay.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Visits {
    pub count: u64,
    /// Sum of their picoseconds.
    pub stay: u128,
    /// Sum of their picoseconds of service.
    pub service: u128,
}

impl Visits {
    /// Returns seconds per visit of a sum of picoseconds; none without visits.
    pub fn mean(&self, sum: u128) -> Option<f64> {
        (self.count > 0).then(|| sum as f64 * 1e-12 / self.count as f64)
    }
}

impl ServingState {
    #[inline]
    pub fn serve(&mut self, now: Time, change: i32) {
        self.area += u128::from(self.serving) * u128::from(now.0 - self.last);
        self.last = now.0;
        self.serving = self.serving.saturating_add_signed(change);
    }

    /// Books work for one server, after the work booked already; gives its
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

    /// The same with work done ahead, which no token waited for.
    pub fn worked(&self, now: Time) -> u128 {
        self.area(now) + self.ahead
    }

    /// Servers at work.
    pub fn busy(&self, now: Time) -> u64 {
        u64::from(self.serving) + u64::from(self.booked_until > now.0)
    }

    #[inline]
    pub fn give(&mut self, span: Span) {
        self.given += u128::from(span.0);
        self.gives = true;
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

    pub fn reset(&mut self, now: Time) {
        self.waited = 0;
        self.ahead = 0;
        self.given = 0;
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
    pub fn counted(&self) -> impl Iterator<Item = &Mark> {
        let marks = match self {
            Marks::Uncounted(_) => &[],
            Marks::Counted(marks) => marks.as_slice(),
        };
        marks.iter().filter(|mark| mark.account.is_somebody())
    }

    /// Returns the account of the token in a slot.
    pub fn account(&self, slot: Slot) -> Account {
        let index = slot.0 as usize;
        let account = match self {
            Marks::Uncounted(accounts) => accounts.get(index).copied(),
            Marks::Counted(marks) => marks.get(index).map(|mark| mark.account),
        };
        account.unwrap_or_default()
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
    /// Transitions that tokens inside inhibit; the weight is the number that does.
    pub inhibited: Vec<Consumer>,
    /// Tokens put with a delay that have not arrived yet.
    pub coming: u64,
    /// Service that tokens were given, by slot; empty for places.
    pub services: Vec<Span>,
    /// By copy: tokens that were inside at the last reset of statistics; empty before.
    pub before: Vec<Unfinished>,
    /// Tokens' accounts by slot, as far as they have had any.
    pub marks: Marks,
    /// Accounts' time that went on tokens that have left, in picoseconds.
    pub charged: f64,
}

impl<T: Token> Core<T> {
    /// Marks a token as the firing's account's; it comes after a delay, if so in that wait.
    #[inline]
    pub fn mark(&mut self, slot: Slot, on_the_way: Option<u32>, kernel: &mut Kernel) {
        let account = kernel.accounts.current;
        if account.is_somebody() {
            self.mark_of(slot, account, on_the_way, kernel);
        }
    }

    pub fn mark_of(
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

    /// A token that arrives has had no service.
    #[inline]
    pub fn clear_service(&mut self, slot: Slot) {
        set(&mut self.services, slot, Span::ZERO);
    }

    /// Gives a token so much service; returns the state of the copy's servers.
    #[inline]
    pub fn give_service(&mut self, copy: u32, slot: Slot, span: Span) -> &mut ServingState {
        self.services[slot.0 as usize] += span;
        let serving = &mut self.serving[copy as usize];
        serving.give(span);
        serving
    }

    /// The tokens inside, by copy. It looks at every token.
    pub fn unfinished(&self, now: Time) -> Vec<Unfinished> {
        let mut copies = vec![Unfinished::default(); self.copies.len()];
        for (slot, copy, _) in self.slab.all() {
            let entered = self.slab.entered(slot);
            if entered == Time::NEVER {
                continue;
            }
            let service = self.services.get(slot.0 as usize);
            let own = &mut copies[copy as usize];
            own.tokens += 1;
            own.age += u128::from(now.since(entered).0);
            own.given += service.map_or(0, |service| u128::from(service.0));
        }
        copies
    }

    /// The completed visits of each copy: what all tokens had less what those inside have.
    /// Disciplines that do not give service token by token divide their busy time among the
    /// visits.
    pub fn visits(&self, now: Time) -> Vec<Visits> {
        let inside = self.unfinished(now);
        let visits = inside.iter().zip(&self.copies).enumerate();
        let visits = visits.map(|(copy, (inside, state))| {
            let before = self.before.get(copy).copied().unwrap_or_default();
            let serving = self.serving.get(copy);
            Visits {
                count: state.arrivals + u64::from(before.tokens) - u64::from(inside.tokens),
                stay: state.area(now) + before.age - inside.age,
                service: match serving {
                    None => 0,
                    Some(serving) if serving.gives => serving.given + before.given - inside.given,
                    Some(serving) => serving.area(now),
                },
            }
        });
        visits.collect()
    }

    /// A token leaves; what the firing puts from now on is its account's.
    #[inline]
    pub fn unmark(&mut self, slot: Slot, kernel: &mut Kernel) {
        let account = match &mut self.marks {
            Marks::Uncounted(accounts) => {
                let account = accounts.get_mut(slot.0 as usize);
                account.map(std::mem::take).unwrap_or_default()
            }
            Marks::Counted(marks) => {
                let Some(mark) = marks.get_mut(slot.0 as usize) else {
                    return;
                };
                let mark = mark.take();
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
    pub fn has_come(&mut self, slot: Slot, kernel: &mut Kernel) {
        let mark = self.marks.counted_mut(slot);
        if let Some(wait) = mark.and_then(|mark| mark.on_the_way.take()) {
            self.settle(slot, Some(WaitId(wait)), kernel);
        }
    }

    /// Makes a token visible to transitions.
    #[inline(always)]
    pub fn make_ready(&mut self, copy: u32, slot: Slot, kernel: &mut Kernel) {
        let line = &mut self.copies[copy as usize].ready;
        self.slab.push(line, slot);
        let len = line.len();
        kernel.grew(&self.consumers, copy, len, self.slab.is_bag());
    }
}
