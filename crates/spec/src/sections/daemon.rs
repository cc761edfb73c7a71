//! `[servers.daemon]`: the process that serves the jobs.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Seconds};

section! {
    /// The server process.
    pub struct Daemon {
        /// Number of jobs served at once. With a `[servers.machine]` a thread has its job until the
        /// file system is done with it; without one, for `time_per_job`.
        threads: u32 as AtLeastOne = default(1, "one job is handled after the other"),
        /// Processor time for each job.
        time_per_job: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// If true, the server acknowledges a write only when the device has it; only with a
        /// `[servers.machine]`.
        synchronous: bool = default(false, "PVFS2: TroveSyncData no, as pvfs2-genconfig writes it") aka ["sync"],
        /// The largest read that it asks of the file system at once; 0: a job is one call.
        /// Writes are passed on as they are. Only with a `[servers.machine]`.
        chunk: Bytes = default("0 B", "a job is one call, as of PVFS2's Trove"),
    }
    check machines_can_do_it;
}

/// Processor time of a job on a machine is counted in nanoseconds, in 32 bits.
const LONGEST_JOB: f64 = 4.0;

/// Threads of all servers, where each is modelled: some hundred bytes each.
const MOST_THREADS: u64 = 10_000_000;

fn machines_can_do_it(daemon: &Daemon, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(servers) = all.parallel().map(|it| &it.servers) else {
        return Ok(());
    };
    if servers.machine().is_none() {
        if daemon.synchronous {
            let message = "it has an effect with a [servers.machine] only: leave it out, or give \
                           servers.memory.dirty_limit = \"0 B\"";
            return Err(at.error("synchronous", message));
        }
        if daemon.chunk.0 > 0 {
            let message = "it has an effect with a [servers.machine] only: leave it out";
            return Err(at.error("chunk", message));
        }
        return Ok(());
    }
    if daemon.time_per_job.0 > LONGEST_JOB {
        let message = r#"with a [servers.machine] expected at most "4 s""#;
        return Err(at.error("time_per_job", message));
    }
    let threads = u64::from(daemon.threads) * u64::from(servers.count);
    if threads > MOST_THREADS {
        let message = format!(
            "these are {threads} threads on all servers: with a [servers.machine] expected at most \
             {MOST_THREADS}"
        );
        return Err(at.error("threads", message));
    }
    Ok(())
}
