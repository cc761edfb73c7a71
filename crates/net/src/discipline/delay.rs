use std::collections::VecDeque;

use crate::discipline::{Discipline, Station};
use crate::slab::Slot;
use crate::time::{Span, Time};
use crate::token::Token;

/// The same delay for every token, such as a cable. It is an infinite server
/// whose tokens leave in the order of arrival, so only the first needs an
/// event.
#[derive(Clone, Debug)]
pub struct Delay {
    span: Span,
    due: VecDeque<(Time, Slot)>,
}

impl Delay {
    /// Every token stays for this long.
    pub fn new(span: Span) -> Delay {
        Delay {
            span,
            due: VecDeque::new(),
        }
    }
}

impl<T: Token> Discipline<T> for Delay {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        station.start_serving();
        station.add_service(slot, self.span);
        let time = station.now() + self.span;
        if self.due.is_empty() {
            station.wake_at(time, 0);
        }
        self.due.push_back((time, slot));
    }

    fn wake(&mut self, _: u32, station: &mut Station<'_, T>) {
        if let Some((_, slot)) = self.due.pop_front() {
            station.stop_serving();
            station.release(slot);
        }
        if let Some(&(time, _)) = self.due.front() {
            station.wake_at(time, 0);
        }
    }

    fn name(&self) -> String {
        "delay".to_owned()
    }

    fn servers(&self) -> Option<u32> {
        None
    }

    fn service(&self) -> Option<Span> {
        Some(self.span)
    }
}
