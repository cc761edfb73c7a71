//! `[clients.rpc]`: requests of a client to the data servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Grain, Parallel, Scenario};
use crate::values::{AtLeastOne, Bytes, CountOr, Limit, choice};

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
        /// Connections of a client to each server. Messages take them in turn, and those of one
        /// connection go one after the other. `in_flight` counts all of them. Only with
        /// `network.grain = "flow"`.
        connections: u32 as AtLeastOne = default(1, "nfs(5), nconnect: one connection") aka ["nconnect"],
    }
    check has_an_effect;
}

fn has_an_effect(rpc: &Rpc, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let local = all.local().is_some();
    let given = [
        ("size", rpc.size.0 > 0),
        ("in_flight", rpc.in_flight != Limit::Unlimited),
        ("per", rpc.per != LimitsPer::Server),
        ("connections", rpc.connections > 1),
    ];
    if let Some((field, _)) = given.iter().find(|(_, given)| *given)
        && local
    {
        let message = "a local file system has no servers: leave it out";
        return Err(at.error(field, message));
    }
    if let Some(parallel) = all.parallel() {
        connections_are_possible(rpc, all, parallel, at)?;
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

/// The most connections of a mount (Linux, fs/nfs/fs_context.c: NFS_MAX_CONNECTIONS).
const MOST_CONNECTIONS: u32 = 16;

/// The most connections of all clients and servers, which are as many links of the model.
const MOST_OF_ALL: u64 = 4_000_000;

fn connections_are_possible(
    rpc: &Rpc,
    all: &Scenario,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let network = &parallel.network;
    if rpc.connections == 1 && network.connection_rate.is_none() {
        return Ok(());
    }
    let pairs = u64::from(all.clients.count)
        * (u64::from(parallel.servers.count) + u64::from(parallel.metadata.servers));
    let message = if rpc.connections > MOST_CONNECTIONS {
        format!("expected at most {MOST_CONNECTIONS}")
    } else if rpc.connections > 1 && network.grain != Grain::Flow {
        format!(
            "messages and packets share one connection: expected network.grain = \"flow\" in \
             place of \"{}\"",
            network.grain.word()
        )
    } else if rpc.connections > 1 && parallel.messages.rdma().is_some() {
        "RDMA moves data beside connections of TCP: messages.kind = \"rdma\"; expected 1".to_owned()
    } else if pairs.saturating_mul(u64::from(rpc.connections)) > MOST_OF_ALL {
        format!("expected at most {MOST_OF_ALL} connections of all clients to all servers")
    } else {
        return Ok(());
    };
    Err(at.error("connections", message))
}
