//! Disciplines: how a station queues and serves its tokens.
//!
//! A discipline sees tokens arrive and decides, now or at a wake-up that it
//! requested, which to release. A released token is ready for transitions. To
//! add one, write a file with a type that implements [`Discipline`].

mod barrier;
mod delay;
mod fcfs;
mod flows;
mod infinite;
mod load_sharing;
mod priority;
mod sharing;

pub use barrier::Barrier;
pub use delay::Delay;
pub use fcfs::Fcfs;
pub use flows::Flows;
pub use infinite::Infinite;
pub use load_sharing::{LoadSharing, Work};
pub use priority::Priority;
pub use sharing::Sharing;

use crate::accounts::WaitId;
use crate::heap::Kind;
use crate::kernel::{By, Halt, Kernel};
use crate::random::Random;
use crate::slab::{Line, Slot};
use crate::state::Core;
use crate::time::{Span, Time};
use crate::token::{Message, News, Token};

/// Decides order and service time of the tokens at one copy of a station.
pub trait Discipline<T: Token>: Send + 'static {
    /// A token has come. It stays until the discipline releases it.
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>);

    /// A time asked for with [`Station::wake_at`] has come.
    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>);

    /// A transition reports something about a token that this station let go
    /// ([`Firing::signal`](crate::Firing::signal)): a scheduler's "job done".
    fn signal(&mut self, token: &T, station: &mut Station<'_, T>) {
        let _ = (token, station);
    }

    /// A message from another copy of the same station has come.
    fn message(&mut self, from: u32, message: Message, station: &mut Station<'_, T>) {
        let _ = (from, message, station);
    }

    /// A transition announces something to all copies of this station
    /// ([`Firing::announce`](crate::Firing::announce)): the state of others.
    fn news(&mut self, news: &News, station: &mut Station<'_, T>) {
        let _ = (news, station);
    }

    /// Returns the name in reports and drawings, such as "FCFS, 4 servers".
    fn name(&self) -> String;

    /// Servers, to tell utilisation from; none if their number is unbounded.
    fn servers(&self) -> Option<u32> {
        Some(1)
    }

    /// Returns the service time if it is the same for all tokens.
    fn service(&self) -> Option<Span> {
        None
    }

    /// Returns the level, from 0 to 1, of a resource that service consumes or fills, such as
    /// credits or a write cache. A run is not in steady state while the level drifts.
    fn level(&self) -> Option<f64> {
        None
    }

    /// Returns named numbers for reports and playback, such as hits of a cache or dirty bytes,
    /// the same names in the same order each time.
    fn gauges(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Mean time per token between the end of its service and its release, in seconds: the
    /// propagation delay of a link. Reports show it apart from service and queueing.
    fn delay(&self) -> f64 {
        0.0
    }
}

/// Time that serving a token takes: a [`Span`], an [`Exponential`], or a function of the token and
/// the station's random stream.
pub trait ServiceTime<T>: Send + 'static {
    /// The service time of this token, asked when its service starts.
    fn sample(&mut self, token: &T, random: &mut Random<'_>) -> Span;

    /// Returns the time if it is the same for all tokens.
    fn constant(&self) -> Option<Span> {
        None
    }

    /// Why there was no service time, after [`ServiceTime::sample`] returned `Span(u64::MAX)`: the
    /// run ends with this message.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

impl<T> ServiceTime<T> for Span {
    fn sample(&mut self, _: &T, _: &mut Random<'_>) -> Span {
        *self
    }

    fn constant(&self) -> Option<Span> {
        Some(*self)
    }
}

/// The work of a token has no value.
pub(crate) const NO_WORK: &str = "the work of a token is no number of 0 or more";

/// Exponentially distributed service with this mean.
#[derive(Clone, Copy, Debug)]
pub struct Exponential(pub Span);

impl<T> ServiceTime<T> for Exponential {
    fn sample(&mut self, _: &T, random: &mut Random<'_>) -> Span {
        random.exponential_span(self.0)
    }
}

impl<T, F> ServiceTime<T> for F
where
    F: FnMut(&T, &mut Random<'_>) -> Span + Send + 'static,
{
    fn sample(&mut self, token: &T, random: &mut Random<'_>) -> Span {
        self(token, random)
    }
}

/// One copy of a station, as its discipline sees it.
pub struct Station<'a, T> {
    core: &'a mut Core<T>,
    copy: u32,
    kernel: &'a mut Kernel,
}

impl<'a, T: Token> Station<'a, T> {
    pub(crate) fn new(core: &'a mut Core<T>, copy: u32, kernel: &'a mut Kernel) -> Self {
        Station { core, copy, kernel }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        self.kernel.now()
    }

    /// Returns the copy of the station.
    pub fn copy(&self) -> u32 {
        self.copy
    }

    /// Number of copies.
    pub fn copies(&self) -> u32 {
        self.core.copies.len() as u32
    }

    /// The token in a slot.
    #[inline]
    pub fn token(&self, slot: Slot) -> &T {
        self.core.slab.get(slot)
    }

    /// The token in a slot, to change.
    pub fn token_mut(&mut self, slot: Slot) -> &mut T {
        self.core.slab.get_mut(slot)
    }

    /// The random stream of this copy.
    pub fn random(&mut self) -> Random<'_> {
        let draws = &mut self.core.serving[self.copy as usize].draws;
        Random::of_copy(self.core.key, self.copy, draws)
    }

    /// Draws the service time of the token in a slot, and counts it as its service.
    #[inline]
    pub fn service(&mut self, time: &mut impl ServiceTime<T>, slot: Slot) -> Span {
        let draws = &mut self.core.serving[self.copy as usize].draws;
        let mut random = Random::of_copy(self.core.key, self.copy, draws);
        let span = time.sample(self.core.slab.get(slot), &mut random);
        if span == Span(u64::MAX)
            && let Some(message) = time.failure()
        {
            self.fail(message);
        }
        self.core.give_service(self.copy, slot, span);
        span
    }

    /// Counts service of a token whose time was not drawn by [`Station::service`], for the mean
    /// service time of completed visits. A discipline that gives none to any token has its busy
    /// time divided among them.
    #[inline]
    pub fn add_service(&mut self, slot: Slot, span: Span) {
        self.core.give_service(self.copy, slot, span);
    }

    /// Counts all time since a token's arrival as its service.
    #[inline]
    pub fn add_stay_as_service(&mut self, slot: Slot) {
        let span = self.now().since(self.core.slab.entered(slot));
        self.add_service(slot, span);
    }

    /// Puts a token at the end of a line of the discipline's own.
    #[inline]
    pub fn push(&mut self, line: &mut Line, slot: Slot) {
        self.core.slab.push(line, slot);
    }

    /// Takes the first token of a line of the discipline's own.
    #[inline]
    pub fn pop(&mut self, line: &mut Line) -> Option<Slot> {
        self.core.slab.pop(line)
    }

    /// Asks for [`Discipline::wake`] with this tag.
    #[inline]
    pub fn wake_at(&mut self, time: Time, tag: u32) {
        self.kernel
            .schedule(time, self.core.id, self.copy, tag, Kind::Wake);
    }

    /// Asks for [`Discipline::wake`] with this tag, this much later.
    #[inline]
    pub fn wake_in(&mut self, span: Span, tag: u32) {
        self.wake_at(self.now() + span, tag);
    }

    /// Lets a token go: transitions see it from now on.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.core.make_ready(self.copy, slot, self.kernel);
    }

    /// Charges the elapsed part of a token's time to this station.
    pub fn settle(&mut self, slot: Slot) {
        self.core.settle(slot, None, self.kernel);
    }

    /// Charges the part of a token's time since it was settled to a wait.
    pub fn settle_in(&mut self, slot: Slot, wait: WaitId) {
        self.core.settle(slot, Some(wait), self.kernel);
    }

    /// One server more is at work.
    #[inline]
    pub fn start_serving(&mut self) {
        self.core.serving[self.copy as usize].serve(self.kernel.now(), 1);
    }

    /// One server fewer is at work.
    #[inline]
    pub fn stop_serving(&mut self) {
        self.core.serving[self.copy as usize].serve(self.kernel.now(), -1);
    }

    /// Books a token's service by a single server, after all that is booked already; gives
    /// its start and end. For disciplines that know a token's times when it
    /// arrives.
    #[inline]
    pub fn book(&mut self, slot: Slot, work: Span) -> (Time, Time) {
        let now = self.kernel.now();
        let serving = self.core.give_service(self.copy, slot, work);
        serving.book(now, work)
    }

    /// Counts the single server as busy until then, whatever is booked already. For
    /// disciplines with several things that can be busy, of which the last counts.
    #[inline]
    pub fn busy_until(&mut self, end: Time) {
        let now = self.kernel.now();
        self.core.serving[self.copy as usize].busy_until(now, end);
    }

    /// Counts work that was done before the token came that wants it: for utilisation, and
    /// for no token's service.
    pub fn work_ahead(&mut self, span: Span) {
        self.core.serving[self.copy as usize].work_ahead(span);
    }

    /// Counts time that a token whose work is booked waits besides, for
    /// something else than its turn.
    #[inline]
    pub fn wait_besides(&mut self, span: Span) {
        self.core.serving[self.copy as usize].wait_besides(span);
    }

    /// Sends a message to another copy of this station, to arrive after `delay`.
    pub fn send(&mut self, to: u32, message: Message, delay: Span) {
        let copies = self.copies();
        if to >= copies {
            self.kernel.halt(Halt::NoSuchCopy {
                node: self.core.id,
                asked: to,
                copies,
            });
            return;
        }
        let slot = self.kernel.messages.insert((self.copy, message), to);
        let time = self.kernel.now() + delay;
        self.kernel
            .schedule(time, self.core.id, to, slot.0, Kind::Message);
    }

    /// Ends the run with an error of the model's.
    pub fn fail(&mut self, message: impl Into<String>) {
        self.kernel.halt(Halt::Failed {
            by: By::Node(self.core.id),
            message: message.into(),
        });
    }
}

/// The disciplines of all copies of a station, side by side.
pub(crate) trait Bank<T>: Send {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>);
    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>);
    fn signal(&mut self, token: &T, station: &mut Station<'_, T>);
    fn message(&mut self, from: u32, message: Message, station: &mut Station<'_, T>);
    fn news(&mut self, news: &News, station: &mut Station<'_, T>);
    fn name(&self) -> String;
    fn servers(&self) -> Option<u32>;
    fn service(&self) -> Option<Span>;
    /// The mean level of all copies.
    fn level(&self) -> Option<f64>;
    /// Named numbers of a copy.
    fn gauges(&self, copy: usize) -> Vec<(&'static str, u64)>;
    /// The mean delay of a copy.
    fn delay(&self, copy: usize) -> f64;
    fn bytes(&self) -> usize;
}

impl<T: Token, D: Discipline<T>> Bank<T> for Vec<D> {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        self[station.copy as usize].arrive(slot, station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        self[station.copy as usize].wake(tag, station);
    }

    fn signal(&mut self, token: &T, station: &mut Station<'_, T>) {
        self[station.copy as usize].signal(token, station);
    }

    fn message(&mut self, from: u32, message: Message, station: &mut Station<'_, T>) {
        self[station.copy as usize].message(from, message, station);
    }

    fn news(&mut self, news: &News, station: &mut Station<'_, T>) {
        self[station.copy as usize].news(news, station);
    }

    fn name(&self) -> String {
        self.first().map_or_else(String::new, Discipline::name)
    }

    fn servers(&self) -> Option<u32> {
        self.first().and_then(Discipline::servers)
    }

    fn service(&self) -> Option<Span> {
        self.first().and_then(Discipline::service)
    }

    fn level(&self) -> Option<f64> {
        let sum: Option<f64> = self.iter().map(Discipline::level).sum();
        sum.map(|sum| sum / self.len() as f64)
    }

    fn gauges(&self, copy: usize) -> Vec<(&'static str, u64)> {
        self.get(copy).map(Discipline::gauges).unwrap_or_default()
    }

    fn delay(&self, copy: usize) -> f64 {
        self.get(copy).map_or(0.0, Discipline::delay)
    }

    fn bytes(&self) -> usize {
        self.capacity() * size_of::<D>()
    }
}
