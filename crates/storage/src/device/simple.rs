//! A queue with a rate: one transfer after the other, each for a fixed time and
//! its bytes at the rate of its operation.
//!
//! Not modelled: seeks and rotation; caches on the device; the order of requests; faults.

use headrace_net::{Fcfs, Node, Page, Random, Span};
use headrace_spec::SimpleDevice;
use headrace_trace::Operation;

use crate::tokens::Transfer;

pub(super) fn station(page: &mut Page<'_>, spec: &SimpleDevice) -> Node<Transfer> {
    let fixed = Span::from_seconds(spec.time_per_request.0);
    let (read, write) = (1e12 / spec.read_rate.0, 1e12 / spec.write_rate.0);
    let service = move |transfer: &Transfer, _: &mut Random<'_>| {
        let per_byte = if transfer.operation == Operation::Write {
            write
        } else {
            read
        };
        fixed + Span((transfer.size as f64 * per_byte + 0.5) as u64)
    };
    page.station("device", Fcfs::new(1, service))
}
