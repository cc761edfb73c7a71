//! `kind = "parallel"`: a parallel file system.

use crate::declare::section;
use crate::sections::{Hosts, Layout, Messages, Metadata, Network, Scheduler, Servers};

section! {
    /// A parallel file system: the clients reach servers over a network.
    pub struct Parallel {
        /// The machines that hold the data.
        servers: Servers = section() aka ["server"],
        /// The machines that know where the data is.
        metadata: Metadata = section(),
        /// What connects them.
        network: Network = section(),
        /// How data crosses it.
        messages: Messages = section() aka ["protocol"],
        /// What all hosts have.
        hosts: Hosts = section(),
        /// Which server holds which part of a file.
        layout: Layout = section() aka ["striping", "distribution"],
        /// Who decides which job is served next.
        scheduler: Scheduler = section(),
    }
}
