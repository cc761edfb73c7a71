//! `[servers]`: the machines that hold the data.

use crate::declare::section;
use crate::sections::{Card, Daemon, Device, IoScheduler, Memory};
use crate::values::AtLeastOne;

section! {
    /// The data servers.
    pub struct Servers {
        /// How many data servers there are.
        count: u32 as AtLeastOne = required(4) aka ["number", "servers"],
        /// The servers' network cards.
        card: Card = section(),
        /// The process that serves the jobs.
        daemon: Daemon = section(),
        /// The servers' page cache.
        memory: Memory = section() aka ["cache"],
        /// The queue of the device; of an array that the operating system makes,
        /// one for each member.
        io_scheduler: IoScheduler = section() aka ["elevator"],
        /// What the data is stored on.
        device: Device = section() aka ["disk", "storage"],
    }
}
