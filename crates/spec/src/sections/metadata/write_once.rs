//! `write_once`: workloads whose files are written more than once, or not in order by one
//! process, do not suit.

use crate::Error;
use crate::declare::Place;
use crate::sections::{
    Access, Ior, MixedOperation, Order, Phase, Repeat, Scenario, Workload, WorkloadKind,
};

/// Rejects the first workload that writes in another way. The writes of a trace are known only at
/// its replay, and are not checked.
pub(super) fn suits(all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    for (number, workload) in all.workload.iter().enumerate() {
        if let Some(what) = otherwise(all, workload) {
            let message = format!(
                "files are written once, in order, by one process, and workload.{number} {what}: \
                 change it, or give false"
            );
            return Err(at.error("write_once", message));
        }
    }
    Ok(())
}

/// Returns the difference from other workloads, if any.
fn otherwise(all: &Scenario, workload: &Workload) -> Option<&'static str> {
    match &workload.kind {
        WorkloadKind::Ior(ior) => ior_otherwise(all, ior),
        WorkloadKind::OperationMix(mix) => {
            let writes = mix.weights.values().any(MixedOperation::writes);
            writes.then_some("writes into files that are there")
        }
        WorkloadKind::Pipeline(pipeline) => pipeline
            .in_place
            .then_some("writes the files that it reads"),
        WorkloadKind::Mdtest(_)
        | WorkloadKind::TreeCopy(_)
        | WorkloadKind::Training(_)
        | WorkloadKind::TraceReplay(_) => None,
    }
}

fn ior_otherwise(all: &Scenario, ior: &Ior) -> Option<&'static str> {
    let times = match ior.repeat {
        Repeat::Forever => 2,
        Repeat::Times(times) => times,
    };
    let of = |phase| ior.phases.iter().filter(|it| **it == phase).count();
    let writes = of(Phase::Write);
    let one_process = all.clients.count == 1 && all.clients.processes == 1;
    if of(Phase::Mixed) > 0 {
        Some("writes among reads")
    } else if writes == 0 {
        None
    } else if writes > 1 || times > 1 || ior.phases.first() != Some(&Phase::Write) {
        Some("writes files again")
    } else if ior.access == Access::Shared && !one_process {
        Some("writes files from several processes")
    } else if ior.order != Order::Sequential || ior.streams > 1 {
        Some("does not write in order")
    } else {
        None
    }
}
