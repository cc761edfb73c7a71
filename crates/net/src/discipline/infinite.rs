use crate::discipline::{Discipline, ServiceTime, Station};
use crate::slab::Slot;
use crate::time::Span;
use crate::token::Token;

/// Infinitely many servers: every token is served at once, none waits. For
/// thinking, and for delays that differ between tokens; [`Delay`](super::Delay)
/// is cheaper where all take the same time.
#[derive(Clone, Debug)]
pub struct Infinite<S>(pub S);

impl<T: Token, S: ServiceTime<T>> Discipline<T> for Infinite<S> {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        station.start_serving();
        let service = station.service(&mut self.0, slot);
        station.wake_in(service, slot.0);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        station.stop_serving();
        station.release(Slot(tag));
    }

    fn name(&self) -> String {
        "infinite server".to_owned()
    }

    fn servers(&self) -> Option<u32> {
        None
    }

    fn service(&self) -> Option<Span> {
        self.0.constant()
    }
}
