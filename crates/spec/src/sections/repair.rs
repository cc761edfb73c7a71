//! `[replication.repair]`: how copies that a failure has cost are recreated.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Seconds};

section! {
    /// Repair of copies lost by a `[[failure]]` of a data server.
    pub struct Repair {
        /// Kind of repair.
        #[serde(flatten)]
        kind: RepairKind = kinds(),
    }
}

kinds! {
    /// The ways to re-create copies.
    pub enum RepairKind default "none", "nothing is assumed; see the presets" {
        NoRepair = "none",
        SelfHeal = "self-heal",
        ReReplication = "re-replication",
    }
}

section! {
    /// No re-replication: a server never gets the writes that it missed.
    pub struct NoRepair {}
}

section! {
    /// A restarted server gets the data written during its failure from the others (GlusterFS'
    /// self-heal).
    pub struct SelfHeal {
        /// Delay between its return and the start of the repair.
        after: Seconds = default("0 s", "clients and the self-heal daemon begin when a brick is back: GlusterFS Administration Guide, triggering self-heal") aka ["delay"],
        /// Files that a server sends copies of at a time.
        streams: u32 as AtLeastOne = default(16, "cluster.background-self-heal-count: GlusterFS 3.x, cluster/replicate") aka ["parallel"],
        /// Messages of each that are in progress at a time.
        window: u32 as AtLeastOne = default(1, "cluster.self-heal-window-size: GlusterFS 3.x, cluster/replicate"),
        /// Bytes in each of them.
        message: Bytes = default("128 KiB", "a block of the window: GlusterFS 3.x, cluster/replicate") aka ["block"],
    }
    check messages_carry_something;
}

section! {
    /// Copies the data of a server that does not return from the remaining copies to other servers
    /// (HDFS' replication monitor). A server that restarts before that begins gets the writes that
    /// it missed.
    pub struct ReReplication {
        /// Delay between the failure and the start of the repair.
        after: Seconds = default("630 s", "2 · heartbeat.recheck.interval + 10 · dfs.heartbeat.interval, 5 min and 3 s: Hadoop 0.20, FSNamesystem.java") aka ["delay", "dead_interval"],
        /// Blocks that a server sends copies of at a time.
        streams: u32 as AtLeastOne = default(2, "dfs.max-repl-streams: Hadoop 0.20, FSNamesystem.java") aka ["parallel"],
        /// Messages of each that are in progress at a time.
        window: u32 as AtLeastOne = default(2, "DEFAULT_DATA_SOCKET_SIZE, 128 KiB, of packets of 64 KiB: Hadoop 0.20, FSConstants.java"),
        /// Bytes in each of them.
        message: Bytes = default("64 KiB", "dfs.write.packet.size: Hadoop 0.20, hdfs-default.xml") aka ["packet"],
        /// Bytes that go from one server to one other; with `sets = "blocks"` a block of
        /// the layout does.
        block: Bytes = default("64 MiB", "dfs.block.size: Hadoop 0.20, hdfs-default.xml"),
    }
    check messages_and_blocks_carry_something;
}

fn messages_carry_something(heal: &SelfHeal, _: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    carries_something("message", heal.message, at)
}

fn messages_and_blocks_carry_something(
    copy: &ReReplication,
    _: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    carries_something("message", copy.message, at)?;
    carries_something("block", copy.block, at)
}

fn carries_something(field: &str, size: Bytes, at: &Place<'_>) -> Result<(), Error> {
    match size.0 {
        0 => Err(at.error(field, "expected a size of more than 0 such as \"64 KiB\"")),
        _ => Ok(()),
    }
}
