//! A bus or host adapter that several devices share.
//!
//! Transfers come when their devices are done with them. Their data passed while the devices
//! worked, through buffers of their own. A transfer is released when all earlier ones have passed.
//!
//! Not modelled: the arbitration of a bus; commands apart from their data; several buses in a row.

use headrace_net::{Discipline, Node, Page, Slot, Span, Station};
use headrace_spec::Bus;
use headrace_trace::Operation;

use crate::tokens::Transfer;

/// The bus, as a station called "bus"; none if nothing limits what passes.
pub(super) fn station(page: &mut Page<'_>, spec: &Bus) -> Option<Node<Transfer>> {
    let rate = spec.rate?;
    let picoseconds_per_byte = 1e12 / rate.0;
    let besides = Span::from_seconds(spec.time_per_transfer.0);
    let time = move |transfer: &Transfer| {
        (transfer.operation != Operation::Sync)
            .then(|| besides + Span((transfer.size as f64 * picoseconds_per_byte + 0.5) as u64))
    };
    Some(page.station("bus", Passing { time }))
}

/// A resource that transfers pass while another station works for them. It gives the time of each,
/// or none for one that does not pass it.
#[derive(Clone, Debug)]
pub(super) struct Passing<F> {
    pub time: F,
}

impl<F> Discipline<Transfer> for Passing<F>
where
    F: Fn(&Transfer) -> Option<Span> + Clone + Send + 'static,
{
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let Some(time) = (self.time)(station.token(slot)) else {
            station.release(slot);
            return;
        };
        let (others_passed, _) = station.book(slot, time);
        if others_passed <= station.now() {
            station.release(slot);
        } else {
            station.wake_at(others_passed, slot.0);
        }
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Transfer>) {
        station.release(Slot(tag));
    }

    fn name(&self) -> String {
        "shared bus".to_owned()
    }
}
