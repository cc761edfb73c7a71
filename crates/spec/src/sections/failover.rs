//! `[servers.failover]`: another machine serves the targets of a data server that fails.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{MetadataHosts, Scenario, Servers};
use crate::values::Seconds;

kinds! {
    /// Machine that can access the targets of a data server besides itself.
    pub enum Failover default "none", "each machine alone reaches its devices" {
        NoFailover = "none",
        ActivePassive = "active-passive",
        ActiveActive = "active-active",
    }
}

section! {
    /// None: a server's targets are unavailable until it restarts.
    pub struct NoFailover {}
}

section! {
    /// A machine that otherwise does nothing, and is like the one that fails (Lustre
    /// Operations Manual, "Types of Failover Configurations").
    pub struct ActivePassive {
        /// Time from the failure of a server (`[[failure]]`) until its targets are served again. It
        /// includes detection, mounting the targets, and reconnecting the clients.
        takeover: Seconds = required("45 s") aka ["time", "recovery_time"],
    }
}

section! {
    /// Servers 0 and 1 form a pair, 2 and 3, and so on. Each can access the targets of both. If one
    /// fails, the other serves all of them with its own card, daemon and memory (Lustre Operations
    /// Manual, "Types of Failover Configurations").
    pub struct ActiveActive {
        /// Time from the failure of a server (`[[failure]]`) until its partner serves its targets.
        /// It includes detection, mounting the targets, and reconnecting the clients.
        takeover: Seconds = required("45 s") aka ["time", "recovery_time"],
    }
    check partners_can_serve;
}

impl Failover {
    /// Time from a server's failure until its targets are served again, if another machine
    /// does.
    #[must_use]
    pub fn takeover(&self) -> Option<Seconds> {
        match self {
            Failover::NoFailover(_) => None,
            Failover::ActivePassive(it) => Some(it.takeover),
            Failover::ActiveActive(it) => Some(it.takeover),
        }
    }
}

impl Servers {
    /// The server that reaches another one's targets too, if any does.
    #[must_use]
    pub fn partner(&self, server: u32) -> Option<u32> {
        let pairs = matches!(self.failover, Failover::ActiveActive(_));
        pairs.then_some(server ^ 1)
    }
}

/// The most targets of each server of a pair: both together have numbers of 16 bits.
const MOST_TARGETS: u32 = 32_768;

fn partners_can_serve(_: &ActiveActive, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let servers = &parallel.servers;
    let expected = "\"active-passive\" or \"none\"";
    let why = if !servers.count.is_multiple_of(2) {
        format!("servers are pairs: servers.count = {}", servers.count)
    } else if servers.targets > MOST_TARGETS {
        format!("a pair has at most {} targets", 2 * MOST_TARGETS)
    } else if servers.machine().is_some() {
        "that a machine serves two servers' file systems is not modelled".to_owned()
    } else if servers.streaming {
        "with servers.streaming the paths of data end at one server's devices".to_owned()
    } else if parallel.metadata.on != MetadataHosts::Own {
        "the names on a data server would have no server: metadata.on is not \"own-hosts\""
            .to_owned()
    } else if parallel.replication.pieces() > 1 {
        let copies = parallel.replication.pieces();
        format!(
            "servers with copies or a code do without partners: their sets have {copies} servers"
        )
    } else {
        return Ok(());
    };
    Err(at.error("kind", format!("{why}: expected {expected}")))
}
