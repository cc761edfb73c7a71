//! `[servers]`: the machines that hold the data.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{Card, Daemon, Device, IoScheduler, Machine, Memory, Scenario};
use crate::values::{AtLeastOne, Rate};

section! {
    /// The data servers.
    pub struct Servers {
        /// How many data servers there are.
        count: u32 as AtLeastOne = required(4) aka ["number", "servers"],
        /// The servers' network cards.
        card: Card = section(),
        /// The process that serves the jobs.
        daemon: Daemon = section(),
        /// What the data lies on; a `[servers.machine]` says that it is a machine.
        #[serde(flatten)]
        kind: ServerKind = kinds(),
    }
}

kinds! {
    /// What a server's data lies on.
    pub enum ServerKind default "simple", "few numbers, and enough where the network or the disk is the limit" {
        SimpleServer = "simple",
        MachineServer = "machine",
    }
}

section! {
    /// A page cache and a device; files lie in one piece.
    pub struct SimpleServer {
        /// The servers' page cache.
        memory: Memory = section() aka ["cache"],
        /// The queue of the device; of an array that the operating system makes,
        /// one for each member.
        io_scheduler: IoScheduler = section() aka ["elevator"],
        /// What the data is stored on.
        device: Device = section() aka ["disk", "storage"],
    }
}

section! {
    /// A whole machine with a local file system, the same as `[machine]` of
    /// `kind = "local"`: processor, copies, memory, write-back, read-ahead, journal,
    /// I/O scheduler, device.
    pub struct MachineServer {
        /// The machine below the daemon.
        machine: Machine = section() aka ["host"],
    }
    check files_lie_on_one_file_system;
}

impl Servers {
    /// The device that a rate is of, as the scenario names it, and the smallest rate
    /// with which it reads or writes.
    pub(crate) fn slowest(&self, write: bool) -> (String, Rate) {
        let (section, device) = match &self.kind {
            ServerKind::SimpleServer(simple) => ("servers.device", &simple.device),
            ServerKind::MachineServer(server) => ("servers.machine.device", &server.machine.device),
        };
        let (field, rate) = device.slowest(write);
        (format!("{section}.{field}"), rate)
    }

    /// The machine below the daemon, if there is one.
    #[must_use]
    pub fn machine(&self) -> Option<&Machine> {
        match &self.kind {
            ServerKind::SimpleServer(_) => None,
            ServerKind::MachineServer(server) => Some(&server.machine),
        }
    }
}

fn files_lie_on_one_file_system(
    server: &MachineServer,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if server.machine.volumes().is_empty() {
        return Ok(());
    }
    let message = "the files of a server lie on its first file system: leave it out";
    Err(at.field("machine").error("volume", message))
}
