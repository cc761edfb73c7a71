//! Nets and disciplines that several tests have.

use headrace_net::{Builder, Discipline, Net, Page, Slot, Span, Station};

/// A net of one page, and what its author returns.
pub fn net<R>(write: impl FnOnce(&mut Page<'_>) -> R) -> (Net, R) {
    let mut builder = Builder::new("main", 1);
    let handles = write(&mut builder.root());
    (builder.compile().expect("a sound net"), handles)
}

/// Books each token for a time as soon as it comes, one after the other.
#[derive(Clone)]
pub struct Booked(pub Span);

impl Discipline<()> for Booked {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, ()>) {
        let (_, end) = station.book(slot, self.0);
        station.wake_at(end, slot.0);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, ()>) {
        station.release(Slot(tag));
    }

    fn name(&self) -> String {
        "booked".to_owned()
    }
}
