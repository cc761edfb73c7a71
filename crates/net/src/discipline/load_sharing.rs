use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::discipline::sharing::Finish;
use crate::discipline::{Discipline, NO_WORK, Station};
use crate::random::Random;
use crate::slab::Slot;
use crate::time::{Span, Time};
use crate::token::Token;

/// Work of a token at a [`LoadSharing`] station.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Its class, which selects the rate.
    pub class: usize,
    /// Its amount, in a unit of the model's such as bytes.
    pub amount: f64,
}

/// Processor sharing whose total rate depends on the number of tokens present (a load-dependent
/// station of Baskett et al. 1975).
///
/// With n tokens present, each gets 1/n of the total rate for n tokens of its class. Each class has
/// a virtual clock that advances by the work one of its tokens gets. A token leaves when the clock
/// has advanced by its work. Arrivals and departures cost O(log n). Departures are rounded up to
/// whole picoseconds.
#[derive(Clone, Debug)]
pub struct LoadSharing<W> {
    work: W,
    classes: Vec<Class>,
    present: usize,
    arrivals: u64,
    clocks_at: Time,
    /// Picoseconds of the server's time that a token which was always here has had.
    shares: f64,
    /// Time of the event for the next departure. Events with other tags are obsolete.
    pending: Option<Time>,
    tag: u32,
}

/// The clock's reading at which a token leaves, its number, its slot, and the reading of
/// [`LoadSharing::shares`] when it came.
type Leaving = (Finish, u64, Slot, Finish);

/// Tokens that are served at the same rates.
#[derive(Clone, Debug)]
struct Class {
    /// Work of one token in a picosecond with 1, 2, … tokens present.
    speeds: Vec<f64>,
    /// The total rate with more, in work per picosecond.
    most: f64,
    /// Work done so far for a token that was always here.
    clock: f64,
    /// Tokens by the clock's reading at which they leave, equal ones in order of arrival.
    leaving: BinaryHeap<Reverse<Leaving>>,
}

impl Class {
    /// `rates` are total rates per second with 1, 2, … tokens; the last one holds beyond.
    fn new(rates: &[f64]) -> Class {
        let per_picosecond = |rate: &f64| rate * 1e-12;
        let totals = rates.iter().map(per_picosecond);
        let speeds = totals.zip(1_u32..).map(|(rate, n)| rate / f64::from(n));
        Class {
            speeds: speeds.collect(),
            most: rates.last().map_or(0.0, per_picosecond),
            clock: 0.0,
            leaving: BinaryHeap::new(),
        }
    }

    /// Work of one token in a picosecond while `present` are there.
    fn speed(&self, present: usize) -> f64 {
        match self.speeds.get(present.saturating_sub(1)) {
            Some(&speed) => speed,
            None => self.most / present as f64,
        }
    }
}

impl<W> LoadSharing<W> {
    /// A station whose tokens of class k share the total rate `rates[k][n - 1]`, in work per
    /// second, while n tokens of any class are present. The last rate of a class holds for more.
    pub fn new(rates: &[Vec<f64>], work: W) -> LoadSharing<W> {
        LoadSharing {
            work,
            classes: rates.iter().map(|rates| Class::new(rates)).collect(),
            present: 0,
            arrivals: 0,
            clocks_at: Time::ZERO,
            shares: 0.0,
            pending: None,
            tag: 0,
        }
    }

    fn advance(&mut self, now: Time) {
        let passed = now.since(self.clocks_at).0 as f64;
        self.clocks_at = now;
        if self.present == 0 || passed <= 0.0 {
            return;
        }
        self.shares += passed / self.present as f64;
        for class in &mut self.classes {
            class.clock += class.speed(self.present) * passed;
        }
    }

    /// Makes sure of an event no later than the next departure. One that comes too early only
    /// checks; one that would come too late is replaced.
    fn arm<T: Token>(&mut self, station: &mut Station<'_, T>) {
        let lefts = self.classes.iter().filter_map(|class| {
            let Reverse((Finish(finish), ..)) = class.leaving.peek()?;
            Some(((finish - class.clock) / class.speed(self.present)).max(0.0))
        });
        let Some(left) = lefts.min_by(f64::total_cmp) else {
            return;
        };
        let due = station.now() + Span(libm::ceil(left) as u64);
        if self.pending.is_none_or(|time| due < time) {
            self.tag = self.tag.wrapping_add(1);
            self.pending = Some(due);
            station.wake_at(due, self.tag);
        }
    }
}

impl<T, W> Discipline<T> for LoadSharing<W>
where
    T: Token,
    W: FnMut(&T, &mut Random<'_>) -> Work + Send + 'static,
{
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        self.advance(station.now());
        let token = *station.token(slot);
        let work = (self.work)(&token, &mut station.random());
        let Some(class) = self.classes.get_mut(work.class) else {
            station.fail(format!(
                "a token of class {}, which has no rate",
                work.class
            ));
            return;
        };
        if work.amount.is_nan() {
            station.fail(NO_WORK);
            return;
        }
        let finish = Finish(class.clock + work.amount);
        let came = Finish(self.shares);
        let leaving = (finish, self.arrivals, slot, came);
        class.leaving.push(Reverse(leaving));
        self.arrivals += 1;
        self.present += 1;
        if self.present == 1 {
            station.start_serving();
        }
        self.arm(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        if tag != self.tag {
            return;
        }
        self.pending = None;
        self.advance(station.now());
        let present = self.present;
        for class in &mut self.classes {
            // The event was rounded up to a picosecond; half of one is the most that rounding of
            // the clock itself can lack here.
            let reached = class.clock + 0.5 * class.speed(present);
            while let Some(&Reverse((Finish(finish), _, slot, Finish(came)))) = class.leaving.peek()
                && finish <= reached
            {
                class.leaving.pop();
                self.present -= 1;
                if self.present == 0 {
                    station.stop_serving();
                }
                station.add_service(slot, Span((self.shares - came + 0.5) as u64));
                station.release(slot);
            }
        }
        if self.present == 0 {
            // An empty station forgets its past: the clocks stay exact.
            self.shares = 0.0;
            for class in &mut self.classes {
                class.clock = 0.0;
            }
        }
        self.arm(station);
    }

    fn name(&self) -> String {
        "load-dependent processor sharing".to_owned()
    }
}
