//! A rate that is shared fairly: n requests each get 1/n of it.
//!
//! Processor sharing. With Poisson arrivals of utilisation ρ a request takes E\[S\] / (1 − ρ) on
//! average, for any distribution of service times. Source: Kleinrock 1976, Queueing Systems II,
//! section 4.4.
//!
//! Not modelled: seeks and rotation; caches on the device.

use headrace_net::{Node, Page, Random, Sharing, Span};
use headrace_spec::SharedDevice;
use headrace_trace::Operation;

use crate::tokens::Transfer;

pub(super) fn station(page: &mut Page<'_>, spec: &SharedDevice) -> Node<Transfer> {
    let fixed = Span::from_seconds(spec.time_per_request.0);
    let (read, write) = (1e12 / spec.read_rate.0, 1e12 / spec.write_rate.0);
    let service = move |transfer: &Transfer, _: &mut Random<'_>| {
        let per_byte = match transfer.operation {
            Operation::Write => write,
            _ => read,
        };
        fixed + Span((transfer.size as f64 * per_byte + 0.5) as u64)
    };
    page.station("device", Sharing::new(1, service))
}
