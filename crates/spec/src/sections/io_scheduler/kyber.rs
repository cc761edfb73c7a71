//! `kind = "kyber"`: tokens by latency.

use crate::declare::section;
use crate::values::Seconds;

section! {
    /// Reads and writes have tokens, whose number follows their latencies (Linux
    /// 4.12 and later, in the form of 4.20).
    pub struct Kyber {
        /// The latency that reads should have.
        read_latency: Seconds = default("2 ms", "block/kyber-iosched.c: kyber_latency_targets")
            aka ["read_lat_nsec"],
        /// The latency that writes should have.
        write_latency: Seconds = default("10 ms", "block/kyber-iosched.c: kyber_latency_targets")
            aka ["write_lat_nsec"],
    }
}
