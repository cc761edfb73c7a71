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
    let shared = Shared {
        picoseconds_per_byte: 1e12 / rate.0,
        besides: Span::from_seconds(spec.time_per_transfer.0),
    };
    Some(page.station("bus", shared))
}

#[derive(Clone, Debug)]
struct Shared {
    picoseconds_per_byte: f64,
    besides: Span,
}

impl Discipline<Transfer> for Shared {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let transfer = station.token(slot);
        if transfer.operation == Operation::Sync {
            station.release(slot);
            return;
        }
        let data = Span((transfer.size as f64 * self.picoseconds_per_byte + 0.5) as u64);
        let (others_passed, _) = station.book(slot, self.besides + data);
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
