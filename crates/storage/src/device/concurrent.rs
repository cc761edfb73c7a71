//! Rates by the number of requests in progress, which share the total rate equally.
//!
//! A load-dependent station (Baskett et al. 1975): a closed system of it and think times has a
//! product form.
//!
//! Not modelled: seeks; caches on the device; a dependence on the sizes of the other requests.

use headrace_net::{LoadSharing, Node, Page, Random, Work};
use headrace_spec::{ConcurrentDevice, RatesByConcurrency};
use headrace_trace::Operation;

use crate::tokens::Transfer;

/// Classes of the station.
const READ: usize = 0;
const WRITE: usize = 1;

pub(super) fn station(page: &mut Page<'_>, spec: &ConcurrentDevice) -> Node<Transfer> {
    let rates = [&spec.read_rates, &spec.write_rates].map(RatesByConcurrency::each);
    // The fixed time, as bytes of a single request.
    let fixed = [READ, WRITE].map(|class| spec.time_per_request.0 * rates[class][0]);
    let work = move |transfer: &Transfer, _: &mut Random<'_>| {
        let class = match transfer.operation {
            Operation::Write => WRITE,
            _ => READ,
        };
        Work {
            class,
            amount: transfer.size as f64 + fixed[class],
        }
    };
    page.station("device", LoadSharing::new(&rates, work))
}
