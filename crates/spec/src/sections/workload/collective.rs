//! `[workload.collective]`: calls that all processes make together.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{Access, Order, Phase, Scenario, Workload, WorkloadKind};
use crate::values::{AtLeastOne, Bytes};

kinds! {
    /// Collective I/O of processes.
    pub enum Collective default "none", "IOR without its option -c" {
        NoCollective = "none",
        TwoPhase = "two-phase",
    }
}

section! {
    /// Each process asks for itself.
    pub struct NoCollective {}
}

section! {
    /// Two-phase I/O (Thakur, Gropp and Lusk, Frontiers 1999): the clients exchange the data of one
    /// call of all processes. A few of them, the aggregators, read or write it in large contiguous
    /// parts. All wait for each other in each call.
    pub struct TwoPhase {
        /// Number of aggregator processes that access the file system for all.
        aggregators: Option<u32> as Option<AtLeastOne> = optional("one on each client, as ROMIO's cb_config_list \"*:1\" has it") aka ["cb_nodes"],
        /// Bytes that an aggregator reads or writes in one request, at the most.
        buffer: Bytes = default("16 MiB", "ROMIO's cb_buffer_size: ADIOI_CB_BUFFER_SIZE_DFLT") aka ["cb_buffer_size"],
    }
    check buffer_holds_something;
}

/// Smallest amount that a server stores.
const SMALLEST: Bytes = Bytes(4096);

fn buffer_holds_something(spec: &TwoPhase, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if spec.buffer < SMALLEST {
        let message = format!(
            "each buffer is a request: expected at least a page, \"{SMALLEST}\", such as \"16 MiB\""
        );
        return Err(at.error("buffer", message));
    }
    Ok(())
}

impl Collective {
    /// Returns the settings of collective I/O, if used.
    #[must_use]
    pub fn two_phase(&self) -> Option<&TwoPhase> {
        match self {
            Collective::NoCollective(_) => None,
            Collective::TwoPhase(spec) => Some(spec),
        }
    }

    /// Rejects options that cannot be combined.
    pub(super) fn suits(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
        if workload.collective.two_phase().is_none() {
            return Ok(());
        }
        let expected = r#"expected "none""#;
        let refused = |why: &str| Err(at.error("collective", format!("{why}; {expected}")));
        let WorkloadKind::Ior(ior) = &workload.kind else {
            return refused(&format!(
                "only a workload of kind \"ior\" has collective calls: kind = {:?}",
                workload.kind.kind()
            ));
        };
        if all.parallel().is_none() {
            return refused("on a local file system there is nobody to exchange with");
        }
        if ior.access != Access::Shared {
            return refused(
                "processes with files of their own have nothing to exchange: access = \
                 \"file-per-process\"",
            );
        }
        if ior.stonewall.0 > 0.0 {
            return refused(
                "calls of all processes end together, and those that stop at a deadline do not: \
                 stonewall is more than 0 s",
            );
        }
        if ior.by_rank() {
            return refused(
                "processes make as many calls of one size: block or transfer is by rank",
            );
        }
        if workload.delay.0 > 0.0 {
            return refused("processes call together, and think gives their pause: delay is given");
        }
        if ior.order != Order::Sequential {
            return refused("collective calls are in order: order is not \"sequential\"");
        }
        if ior.phases.contains(&Phase::Mixed) {
            return refused("a collective call reads or writes: phases has \"mixed\"");
        }
        Ok(())
    }
}
