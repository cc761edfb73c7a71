//! `[network.tcp]`: the connections between hosts.

use crate::declare::section;
use crate::values::{AtLeastOne, Bytes, Seconds};

section! {
    /// TCP at the grain of packets: slow start, congestion avoidance, fast retransmit and fast
    /// recovery (RFC 5681, RFC 6582). The retransmission timer (RFC 6298) has timestamps (RFC
    /// 7323).
    pub struct Tcp {
        /// The least time until unacknowledged data is sent again.
        minimum_timeout: Seconds = default("200 ms", "Linux, include/net/tcp.h: TCP_RTO_MIN")
            aka ["rto_min", "minimum_rto"],
        /// The congestion window at the start and after a pause, in segments.
        initial_window: u32 as AtLeastOne = default(10, "RFC 6928; Linux, include/net/tcp.h: TCP_INIT_CWND"),
        /// The most bytes in flight on a connection: at least a segment.
        window: Bytes = default("4 MiB", "Linux, Documentation/networking/ip-sysctl.rst: the maximum of tcp_wmem"),
    }
}
