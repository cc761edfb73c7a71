//! `[servers]`: the machines that hold the data.

use crate::Error;
use crate::declare::{Place, Tables, kinds, section};
use crate::sections::{
    Card, Daemon, Device, Failover, Grain, IoScheduler, Machine, Memory, Parallel, Position,
    ReceiveBuffer, Scenario, ServerGroup,
};
use crate::values::{AtLeastOne, Rate};

section! {
    /// The data servers.
    pub struct Servers {
        /// Number of data servers.
        count: u32 as AtLeastOne = required(4) aka ["number", "servers"],
        /// Devices of each server, behind one card: layouts count them one by one. They are
        /// numbered by turns, the first of every server, then the second, so that neighbouring
        /// stripes lie on different servers. Lustre distributes its targets in this order
        /// (lustre/lod/lod_qos.c, `lod_qos_calc_rr`).
        targets: u32 as AtLeastOne = default(1, "one device in each server") aka ["osts", "devices"],
        /// If true, data streams through network and device at the rate of the slower one, without
        /// intermediate storage. It needs `network.grain = "flow"` and a simple device without a
        /// cache.
        streaming: bool = default(false, "a job is read or written as a whole, as with small ones"),
        /// The servers' network cards.
        card: Card = section(),
        /// Buffer for received jobs.
        receive_buffer: ReceiveBuffer = section(),
        /// The process that serves the jobs.
        daemon: Daemon = section(),
        /// Takeover of its targets when it fails.
        failover: Failover = section() aka ["high_availability"],
        /// Kind of data server; with `[servers.machine]` it is a machine.
        #[serde(flatten)]
        kind: ServerKind = kinds(),
        /// Servers that differ from the others.
        group: Option<Vec<ServerGroup>> as Option<Tables<ServerGroup>> = optional("all servers are alike") aka ["groups"],
    }
    check targets_and_streams_fit;
}

kinds! {
    /// Kind of data server.
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
        /// Device that stores the data.
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

    /// Targets of all servers, over which layouts spread files. The check of a scenario refuses
    /// counts whose product is too large.
    #[must_use]
    pub fn all_targets(&self) -> u32 {
        self.count.saturating_mul(self.targets)
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

/// The most targets of a server: their numbers have 16 bits.
const MOST_TARGETS: u32 = 65_536;

fn targets_and_streams_fit(servers: &Servers, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let simple = match &servers.kind {
        ServerKind::SimpleServer(simple) => Some(simple),
        ServerKind::MachineServer(_) => None,
    };
    if servers.targets > MOST_TARGETS {
        let message = format!("expected at most {MOST_TARGETS}");
        return Err(at.error("targets", message));
    }
    if servers.targets > 1 && simple.is_none() {
        let message = "the files of a machine lie on its first file system: expected 1, with an \
                       array as its device perhaps";
        return Err(at.error("targets", message));
    }
    if !servers.streaming {
        return Ok(());
    }
    let refused = |why: String| {
        let message = format!("data cannot pass the device while it is on its way {why}");
        Err(at.error("streaming", message))
    };
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    if parallel.network.grain != Grain::Flow {
        let grain = parallel.network.grain.word();
        return refused(format!(
            "where messages are whole: network.grain = \"{grain}\"; expected \"flow\""
        ));
    }
    let Some(simple) = simple else {
        return refused("in a machine: expected [servers.device]".to_owned());
    };
    if simple.memory.cache.0 > 0 {
        let cache = simple.memory.cache;
        return refused(format!(
            "with a page cache between: servers.memory.cache = \"{cache}\"; expected \"0 B\""
        ));
    }
    match &simple.device {
        Device::SimpleDevice(device) if device.time_per_request.0 > 0.0 => refused(format!(
            "with a time for each request: servers.device.time_per_request = \"{}\"; expected \
             \"0 s\"",
            device.time_per_request
        )),
        Device::SimpleDevice(_) => at_servers(parallel, refused),
        device => refused(format!(
            "with a device that is more than a rate: servers.device.kind = \"{}\"; expected \
             \"simple\"",
            device.kind()
        )),
    }
}

/// A scheduler before a server would see data that has passed the device.
fn at_servers(
    parallel: &Parallel,
    refused: impl Fn(String) -> Result<(), Error>,
) -> Result<(), Error> {
    if parallel.scheduler_at(Position::Server).is_none() {
        return Ok(());
    }
    refused(
        "before a server's scheduler has seen it: expected scheduler.position = \"client\" or \
         \"gateway\""
            .to_owned(),
    )
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
