//! `[clients.rpc]`: requests of a client to the data servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, CountOr, Limit, choice};

choice! {
    /// The scope of a client's limits.
    pub enum LimitsPer {
        /// Each server.
        Server = "server",
        /// Each target of each server.
        Target = "target",
    }
}

section! {
    /// Requests of a client to the data servers: their size, and the number in flight to each
    /// server.
    pub struct Rpc {
        /// The largest request to a server; 0: as large as `layout.packet` lets it
        /// be. With a `[clients.machine]` dirty data goes out as soon as it fills one.
        size: Bytes = default("0 B", "no limit of its own") aka ["max", "largest", "max_pages_per_rpc"],
        /// Maximum number of a client's requests in flight to one server, or to one target where
        /// `per` says so. Others wait on the client in order of arrival.
        in_flight: Limit as CountOr<Limit> = default("unlimited", "no limit is assumed")
            aka ["max_rpcs_in_flight", "depth", "window"],
        /// Scope of `in_flight`, and of `dirty_per_server` of a `[clients.machine]`: each server, or
        /// each of its targets.
        per: LimitsPer = default("server", "a client has one connection to a server: RFC 5531 for NFS over TCP") aka ["limits_per"],
    }
    check has_an_effect;
}

fn has_an_effect(rpc: &Rpc, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let local = all.local().is_some();
    let given = [
        ("size", rpc.size.0 > 0),
        ("in_flight", rpc.in_flight != Limit::Unlimited),
        ("per", rpc.per != LimitsPer::Server),
    ];
    if let Some((field, _)) = given.iter().find(|(_, given)| *given)
        && local
    {
        let message = "a local file system has no servers: leave it out";
        return Err(at.error(field, message));
    }
    if let Some(machine) = all.clients.machine() {
        let page = machine.memory.page;
        if rpc.size.0 > 0 && rpc.size.0 < page.0 {
            let message =
                format!("expected 0 or at least a page: clients.machine.memory.page = \"{page}\"");
            return Err(at.error("size", message));
        }
    }
    Ok(())
}
