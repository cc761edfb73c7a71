//! Accounts: on what the time of a request goes.
//!
//! A transition opens an account for a request and closes it when the request is done. The tokens
//! that a firing puts belong to the account of the tokens that it took. So every token that works
//! for a request is found without a field of its own. While an account is open, its time is divided
//! equally among its tokens in counted nodes ([`Net::count`](crate::Net::count)). The shares of all
//! nodes add up to the time that requests were in progress. Time in which an account has no such
//! token is counted separately ([`Net::unattributed`](crate::Net::unattributed)).
//!
//! A request may also wait without any counted token, for example on a resource that others have
//! requested. [`Firing::begin_gap_wait`](crate::Firing::begin_gap_wait) names a wait for such time.
//!
//! A [`WaitId`] is charged for tokens in no node, and for tokens whose wait in a node has another
//! cause than the node's name.

use crate::time::Time;

const NONE: u32 = u32::MAX;

/// A request's account. One that was closed stays closed: what still belongs to it counts
/// for nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Account {
    slot: u32,
    generation: u32,
}

impl Account {
    /// Account of background work.
    pub const NOBODY: Account = Account {
        slot: NONE,
        generation: 0,
    };

    #[inline]
    pub(crate) fn is_somebody(self) -> bool {
        self.slot != NONE
    }
}

impl Default for Account {
    fn default() -> Account {
        Account::NOBODY
    }
}

/// A wait that is no place: time on the way, or in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitId(pub(crate) u32);

/// A wait that [`Firing::hold`](crate::Firing::hold) began.
#[derive(Clone, Copy, Debug)]
pub struct Held(u32);

/// Statistics of a wait since the start or the last reset.
#[derive(Clone, Debug)]
pub(crate) struct WaitState {
    pub path: String,
    /// The accounts' shares, in picoseconds.
    pub charged: f64,
    /// Tokens that are over it, and their picoseconds.
    pub count: u64,
    pub area: u128,
}

impl WaitState {
    pub fn new(path: String) -> WaitState {
        WaitState {
            path,
            charged: 0.0,
            count: 0,
            area: 0,
        }
    }
}

/// Account and time mark of a token in a node, in transit, or in a store.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mark {
    pub account: Account,
    /// The account's clock when the token came, or was settled last.
    since: f64,
    /// The time then.
    at: Time,
    /// The wait that it is on its way in.
    pub on_the_way: Option<u32>,
}

impl Mark {
    /// Returns the mark, and leaves an empty one in its place.
    #[inline]
    pub fn take(&mut self) -> Mark {
        let mark = *self;
        self.account = Account::NOBODY;
        mark
    }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    generation: u32,
    /// Tokens that count now.
    tokens: u32,
    last: Time,
    /// Time so far, each instant divided by the number of tokens, in picoseconds.
    clock: f64,
    /// The clock at the last reset of statistics.
    from: f64,
    /// Number of [`Accounts::begin_gap`] without end, and the wait of the last.
    gaps: u32,
    gap_wait: u32,
}

#[derive(Default, Debug)]
pub(crate) struct Accounts {
    all: Vec<Open>,
    free: Vec<u32>,
    /// Account of this firing's tokens.
    pub current: Account,
    pub waits: Vec<WaitState>,
    /// Tokens that wait in stores, and on which wait that is booked.
    held: Vec<Option<(Mark, WaitId)>>,
    free_held: Vec<u32>,
    unattributed: f64,
    /// The last reset of statistics.
    reset: Time,
}

impl Accounts {
    pub fn open(&mut self, now: Time) {
        let slot = self.free.pop().unwrap_or(self.all.len() as u32);
        let old = self.all.get(slot as usize);
        let generation = old.map_or(0, |old| old.generation);
        let open = Open {
            generation,
            tokens: 0,
            last: now,
            clock: 0.0,
            from: 0.0,
            gaps: 0,
            gap_wait: 0,
        };
        match self.all.get_mut(slot as usize) {
            Some(place) => *place = open,
            None => self.all.push(open),
        }
        self.current = Account { slot, generation };
    }

    /// Closes the firing's account.
    pub fn close(&mut self, now: Time) {
        let account = std::mem::take(&mut self.current);
        self.advance(account, now);
        if let Some(open) = Self::find(&mut self.all, account) {
            open.generation = open.generation.wrapping_add(1);
            self.free.push(account.slot);
        }
    }

    #[inline]
    fn find(all: &mut [Open], account: Account) -> Option<&mut Open> {
        let open = all.get_mut(account.slot as usize)?;
        (open.generation == account.generation).then_some(open)
    }

    /// Brings an account's clock to now; none if it is closed.
    #[inline]
    fn advance(&mut self, account: Account, now: Time) -> Option<&mut Open> {
        let open = Self::find(&mut self.all, account)?;
        let span = now.0 - open.last.0;
        if span > 0 {
            open.last = now;
            match open.tokens {
                0 if open.gaps > 0 => {
                    self.waits[open.gap_wait as usize].charged += span as f64;
                }
                0 => self.unattributed += span as f64,
                1 => open.clock += span as f64,
                tokens => open.clock += span as f64 / f64::from(tokens),
            }
        }
        Some(open)
    }

    /// A token of the account counts from now on.
    #[inline]
    pub fn enter(&mut self, account: Account, now: Time) -> Mark {
        let since = self.advance(account, now).map_or(0.0, |open| {
            open.tokens += 1;
            open.clock
        });
        Mark {
            account,
            since,
            at: now,
            on_the_way: None,
        }
    }

    /// It counts no more; gives its share since it came or was settled.
    #[inline]
    pub fn leave(&mut self, mark: Mark, now: Time) -> f64 {
        self.advance(mark.account, now).map_or(0.0, |open| {
            open.tokens -= 1;
            open.clock - mark.since.max(open.from)
        })
    }

    /// Gives a token's share since it came or was settled, and settles it; books it on a
    /// wait if there is one.
    pub fn settle(&mut self, mark: &mut Mark, now: Time, wait: Option<u32>) -> f64 {
        let since = std::mem::replace(&mut mark.at, now);
        let Some(open) = self.advance(mark.account, now) else {
            return 0.0;
        };
        let share = open.clock - mark.since.max(open.from);
        mark.since = open.clock;
        if let Some(wait) = wait {
            self.book(wait, share, since, now);
        }
        share
    }

    /// A token's share so far.
    pub fn share(&self, mark: &Mark, now: Time) -> f64 {
        let open = self.all.get(mark.account.slot as usize);
        let open = open.filter(|open| open.generation == mark.account.generation);
        open.map_or(0.0, |open| {
            let since = (now.0 - open.last.0) as f64 / f64::from(open.tokens.max(1));
            open.clock + since - mark.since.max(open.from)
        })
    }

    /// From now on, time in which the account has no token that counts goes on a wait.
    pub fn begin_gap(&mut self, account: Account, wait: WaitId, now: Time) {
        if let Some(open) = self.advance(account, now) {
            open.gaps += 1;
            open.gap_wait = wait.0;
        }
    }

    /// One such wait is over.
    pub fn end_gap(&mut self, account: Account, now: Time) {
        if let Some(open) = self.advance(account, now) {
            open.gaps = open.gaps.saturating_sub(1);
        }
    }

    /// Gives the time of gaps since accounts were brought to their time, in picoseconds.
    pub fn in_gaps(&self, now: Time) -> impl Iterator<Item = (WaitId, f64)> {
        let open = self.without_tokens().filter(|open| open.gaps > 0);
        open.map(move |open| (WaitId(open.gap_wait), (now.0 - open.last.0) as f64))
    }

    fn without_tokens(&self) -> impl Iterator<Item = &Open> {
        let free = |slot: usize| self.free.contains(&(slot as u32));
        let open = self.all.iter().enumerate();
        let open = open.filter(move |(slot, open)| open.tokens == 0 && !free(*slot));
        open.map(|(_, open)| open)
    }

    /// A token begins to wait in a store.
    pub fn hold(&mut self, account: Account, wait: WaitId, now: Time) -> Held {
        let mark = self.enter(account, now);
        let index = self.free_held.pop().unwrap_or(self.held.len() as u32);
        if index as usize == self.held.len() {
            self.held.push(None);
        }
        self.held[index as usize] = Some((mark, wait));
        Held(index)
    }

    /// It waits no more; gives whose it is.
    pub fn let_go(&mut self, held: Held, now: Time) -> Account {
        let Held(index) = held;
        let Some((mark, wait)) = self.held[index as usize].take() else {
            return Account::NOBODY;
        };
        self.free_held.push(index);
        let share = self.leave(mark, now);
        self.book(wait.0, share, mark.at, now);
        mark.account
    }

    /// Gives the share so far of every token that waits in a store.
    pub fn in_stores(&self, now: Time) -> impl Iterator<Item = (WaitId, f64)> {
        let held = self.held.iter().flatten();
        held.map(move |(mark, wait)| (*wait, self.share(mark, now)))
    }

    fn book(&mut self, wait: u32, share: f64, since: Time, now: Time) {
        let stay = now.since(since.max(self.reset));
        let wait = &mut self.waits[wait as usize];
        wait.charged += share;
        wait.count += 1;
        wait.area += u128::from(stay.0);
    }

    /// Time in which open accounts had no token that counts, in picoseconds.
    pub fn unattributed(&self, now: Time) -> f64 {
        let holes = self.without_tokens().filter(|open| open.gaps == 0);
        let now: f64 = holes.map(|open| (now.0 - open.last.0) as f64).sum();
        self.unattributed + now
    }

    pub fn reset(&mut self, now: Time) {
        for slot in 0..self.all.len() {
            let generation = self.all[slot].generation;
            let slot = slot as u32;
            if let Some(open) = self.advance(Account { slot, generation }, now) {
                open.from = open.clock;
            }
        }
        for wait in &mut self.waits {
            (wait.charged, wait.count, wait.area) = (0.0, 0, 0);
        }
        self.unattributed = 0.0;
        self.reset = now;
    }
}
