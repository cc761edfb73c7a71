//! `kind = "concurrent"`: rates by the number of requests in progress.

use crate::declare::section;
use crate::values::{ByConcurrency, RatesByConcurrency, Seconds, table_of_rates};

section! {
    /// A device whose throughput depends on the requests in progress, such as a solid-state
    /// drive or an array. They share the total rate equally. Not modelled: seeks, the order of
    /// requests, caches.
    pub struct ConcurrentDevice {
        /// Total rate of reading by the number of requests in progress. Between two numbers the
        /// rate is interpolated; above the largest it is that one's.
        read_rates: RatesByConcurrency as ByConcurrency =
            required(table_of_rates([(1, "100 MB/s"), (8, "500 MB/s")])) aka ["read"],
        /// The same of writing. The number counts reads too.
        write_rates: RatesByConcurrency as ByConcurrency = same(read_rates) aka ["write"],
        /// Time that each request takes in addition, if it is alone; it is shared as the bytes'
        /// time is.
        time_per_request: Seconds = default("0 s", "nothing is assumed: measure it")
            aka ["overhead"],
    }
}
