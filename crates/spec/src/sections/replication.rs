//! `[replication]`: copies of the data on several servers, or pieces of a code.

use crate::Error;
use crate::declare::{Place, section};
use crate::presets;
use crate::sections::{
    ClientLeaves, Code, Crush, Duplex, LayoutKind, Parallel, Repair, RepairKind, Scenario,
    ServersPerFile, Topology, erasure_code,
};
use crate::values::{AtLeastOne, Bytes, choice};

choice! {
    /// Component that creates the copies of written data, or the pieces of its code.
    pub enum ReplicatedBy {
        /// The client sends it to the servers of all copies and waits for all of them.
        Client = "client",
        /// The client sends it to the first server, and each server forwards each message to the
        /// next. The client gets the reply when all servers have stored it.
        Chain = "chain",
        /// The client sends it to the first server, which forwards each message to all others at the
        /// same time, as with Ceph. The client gets the reply when all servers have stored it.
        /// With a code it encodes, and reads go through it too.
        Primary = "primary",
    }
}

choice! {
    /// Copy that serves a read.
    pub enum ReadFrom {
        /// The first: it has to do all reads.
        First = "first",
        /// Clients take the copies in turn, each always the same.
        ByClient = "by-client",
        /// Any, with equal probability, drawn for each request.
        Random = "random",
        /// The one that is reached over the fewest links between switches. Ties are drawn with
        /// equal probability for each job.
        Nearest = "nearest",
    }
}

choice! {
    /// Servers that hold copies of the same data.
    pub enum ReplicaSets {
        /// Neighbours: the first `copies` targets are a set, then the next.
        Neighbours = "neighbours",
        /// Each file has sets of its own, drawn from all servers.
        Random = "random",
        /// Each block of `layout.unit` bytes has its own set, as with HDFS. The first server is
        /// drawn from all, the second from other racks, and the third from the rack of the second.
        /// Further ones are drawn from the rest, at most (`copies` - 1) / racks + 2 per rack.
        Blocks = "blocks",
    }
}

section! {
    /// Copies of the data. A set of servers has the same data; the layout spreads files
    /// over sets as it would over servers (`layout.servers` counts sets).
    pub struct Replication {
        /// Number of copies of each byte; 1: no replication.
        copies: u32 as AtLeastOne = default(1, "nothing is replicated") aka ["count", "factor", "replicas", "replica"],
        /// Component that creates the copies of written data, or the pieces of its code.
        by: ReplicatedBy = default("client", "as GlusterFS does (cluster/replicate), and what a client can do without the servers' help"),
        /// Copy that serves a read.
        read_from: ReadFrom = default("by-client", "spreads reads of one file over its servers") aka ["read"],
        /// Servers that hold copies of the same data.
        sets: ReplicaSets = default("neighbours", "as GlusterFS makes its sets: bricks in the order they are listed") aka ["placement"],
        /// Number of servers that are in a rack, in the order of their numbers; only with `sets =
        /// "blocks"` or `layout.kind = "crush"`.
        servers_per_rack: Option<u32> as Option<AtLeastOne> = optional("those on one leaf of a leaf-spine network; else all are in one rack") aka ["rack"],
        /// Erasure code in place of copies.
        code: Code = section() aka ["erasure_code", "ec"],
        /// Repair of copies or pieces lost by a failure.
        repair: Repair = section() aka ["rebuild", "self_heal"],
    }
    check copies_fit;
}

impl Replication {
    /// Returns true if servers send copies or pieces to servers.
    #[must_use]
    pub fn chained(&self) -> bool {
        self.by != ReplicatedBy::Client && self.pieces() > 1
    }
}

fn copies_fit(replication: &Replication, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    erasure_code::fits(replication, parallel, at)?;
    copies_have_servers(replication, parallel, at)?;
    copies_differ_in_distance(replication, parallel, at)?;
    repair_has_copies(replication, at)?;
    blocks_have_places(replication, all, parallel, at)?;
    chains_have_ways(replication, parallel, at)
}

fn copies_have_servers(
    replication: &Replication,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let (copies, servers) = (replication.pieces(), parallel.servers.count);
    let coded = replication.reed_solomon().is_some();
    let field = if coded { "code" } else { "copies" };
    if copies > servers {
        let message = format!("there are fewer servers: servers.count = {servers}");
        return Err(at.error("copies", message));
    }
    let targets = parallel.servers.all_targets();
    if replication.sets == ReplicaSets::Neighbours
        && parallel.crush().is_none()
        && !targets.is_multiple_of(copies)
    {
        let message = format!(
            "sets of {copies} neighbours would leave some of {targets} servers or targets without a \
             set: expected a number that divides it, or replication.sets = \"random\""
        );
        return Err(at.error(field, message));
    }
    Ok(())
}

fn copies_differ_in_distance(
    replication: &Replication,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    if replication.read_from != ReadFrom::Nearest || replication.reed_solomon().is_some() {
        return Ok(());
    }
    let message = match &parallel.network.topology {
        Topology::Star(_) | Topology::Pairs(_) => {
            "no switches are between hosts, so that all copies are equally near: expected \
             \"random\", or a network.topology with several switches"
        }
        Topology::LeafSpine(it) if it.clients == ClientLeaves::Own => {
            "clients are on leaves of their own, so that all copies are equally near: expected \
             \"random\", or network.topology.clients = \"with-servers\""
        }
        _ => return Ok(()),
    };
    Err(at.error("read_from", message))
}

/// A preset says how its system repairs copies, whether it has any or not.
fn repair_has_copies(replication: &Replication, at: &Place<'_>) -> Result<(), Error> {
    let repairs = !matches!(replication.repair.kind, RepairKind::NoRepair(_));
    if replication.pieces() > 1 || !repairs || presets::says(at.root, "replication.repair.kind") {
        return Ok(());
    }
    let message = "without copies nothing can be made anew: expected replication.copies of at \
                   least 2, a code, or leave it out";
    Err(at.field("repair").error("kind", message))
}

/// Each block has an address of its own on whatever server it is, which only simple
/// servers make nothing of.
fn blocks_have_places(
    replication: &Replication,
    all: &Scenario,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    if parallel.crush().is_some() {
        return match replication.sets {
            ReplicaSets::Neighbours => Ok(()),
            _ => {
                let message = "layout.kind = \"crush\" chooses the servers of copies: leave it out";
                Err(at.error("sets", message))
            }
        };
    }
    if replication.sets != ReplicaSets::Blocks {
        return match replication.servers_per_rack {
            Some(_) => {
                let message = "racks say where blocks are: give replication.sets = \"blocks\", or \
                               leave it out";
                Err(at.error("servers_per_rack", message))
            }
            None => Ok(()),
        };
    }
    let all_servers = match &parallel.layout.kind {
        LayoutKind::Striped(striped) => striped.servers == ServersPerFile::All,
        _ => false,
    };
    let message = if !all_servers || parallel.layout.pool.is_some() {
        "blocks go to all servers: expected layout.kind = \"striped\", layout.servers = \"all\" and \
         no layout.pool"
    } else if all.workload.iter().any(|it| it.layout.is_some()) {
        "all files have blocks of layout.unit: leave the workloads' own layouts out"
    } else if parallel.servers.machine().is_some() {
        "on a [servers.machine] it is not modelled: expected simple servers, or \"random\""
    } else {
        return Ok(());
    };
    Err(at.error("sets", message))
}

impl Parallel {
    /// The layout of objects that a hash places, if files consist of such.
    #[must_use]
    pub fn crush(&self) -> Option<&Crush> {
        match &self.layout.kind {
            LayoutKind::Crush(crush) => Some(crush),
            _ => None,
        }
    }

    /// Bytes of a block, if each block of a file has servers of its own.
    #[must_use]
    pub fn block(&self) -> Option<Bytes> {
        match (self.replication.sets, &self.layout.kind) {
            (_, LayoutKind::Crush(crush)) => Some(crush.unit),
            (ReplicaSets::Blocks, LayoutKind::Striped(striped)) => Some(striped.unit),
            _ => None,
        }
    }

    /// Number of servers that are in a rack, in the order of their numbers.
    #[must_use]
    pub fn servers_per_rack(&self) -> u32 {
        match (self.replication.servers_per_rack, &self.network.topology) {
            (Some(given), _) => given,
            (None, Topology::LeafSpine(it)) => it.hosts,
            (None, _) => self.servers.count,
        }
    }
}

fn chains_have_ways(
    replication: &Replication,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    if !replication.chained() {
        return Ok(());
    }
    let network = &parallel.network;
    let message = if matches!(network.topology, Topology::Pairs(_)) {
        r#"with network.topology = "pairs" there is no way from server to server: expected another topology, or "client""#
    } else if network.duplex == Duplex::Half {
        r#"with network.duplex = "half" it is not modelled: expected "client""#
    } else if parallel.servers.streaming {
        r#"with servers.streaming = true a server passes on what it has all of, so servers would work one after the other: expected servers.streaming = false, or "client""#
    } else if parallel.messages.rendezvous().is_some() {
        r#"with messages.kind = "rendezvous" it is not modelled: expected "client""#
    } else if parallel.messages.rdma().is_some() {
        r#"with messages.kind = "rdma" it is not modelled: expected "client""#
    } else {
        return Ok(());
    };
    Err(at.error("by", message))
}
