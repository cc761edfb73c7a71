//! Calls of the C library that move a few bytes within its buffer: fgetc and fputc, and fread and
//! fwrite of up to 64 bytes.
//!
//! Such a call takes less time than reading the clock. So the calls of one bufferful are issued and
//! timed as one batch. The system calls stay the same, and each call gets an equal part of the
//! batch's time.

use headrace_spec::{
    Bytes, Interface, Ior, Order, Phase, Pipeline, Scenario, Workload, WorkloadKind,
};

/// Bytes of the largest call that is timed in batches: a cache line. Its copy takes less time than
/// two reads of the clock (20 to 50 ns).
const LONGEST: u64 = 64;

/// A scenario whose workloads ask for batches where they make short calls, and the bytes of one
/// call of each workload that does.
pub fn batched(scenario: &Scenario) -> (Scenario, Vec<Option<usize>>) {
    let mut scenario = scenario.clone();
    // `run.stop.requests` counts calls, not batches.
    let counted = scenario.run.stop.requests.is_some();
    let calls = scenario.workload.iter_mut().map(|workload| match counted {
        true => None,
        false => batch(workload),
    });
    let calls = calls.collect();
    (scenario, calls)
}

/// Makes a workload ask for batches; bytes of each call, if it makes short ones.
fn batch(workload: &mut Workload) -> Option<usize> {
    if workload.io.interface != Interface::Library || workload.delay.0 > 0.0 {
        return None;
    }
    let buffer = workload.io.buffer.0;
    let (request, batch) = match &workload.kind {
        WorkloadKind::Ior(ior) if is_in_order(ior) => {
            let (block, transfer) = (ior.block.same()?.0, ior.transfer.same()?.0);
            (transfer, divisor(block, transfer, buffer))
        }
        // Each call of a rewrite seeks, and the buffer goes with it.
        WorkloadKind::Pipeline(pipeline) if !pipeline.in_place => {
            let calls = buffer.min(pipeline.input.0) / pipeline.request.0.max(1);
            (pipeline.request.0, calls * pipeline.request.0)
        }
        _ => return None,
    };
    if request > LONGEST || batch <= request {
        return None;
    }
    match &mut workload.kind {
        WorkloadKind::Ior(Ior { transfer: size, .. }) => *size = Bytes(batch).into(),
        WorkloadKind::Pipeline(Pipeline { request: size, .. }) => *size = Bytes(batch),
        _ => return None,
    }
    usize::try_from(request).ok()
}

/// Returns true if transfers follow each other in a file, with nothing in between.
fn is_in_order(ior: &Ior) -> bool {
    ior.order == Order::Sequential
        && ior.streams == 1
        && ior.requests.is_none()
        && !ior.sync_per_write
        && ior.think.0 == 0.0
        && !ior.phases.contains(&Phase::Mixed)
}

/// The largest multiple of a call's size that the buffer holds and the block is made of.
fn divisor(block: u64, call: u64, buffer: u64) -> u64 {
    let calls = (1..=buffer.min(block) / call.max(1)).rev();
    let mut sizes = calls.map(|calls| calls * call);
    sizes
        .find(|size| block.is_multiple_of(*size))
        .unwrap_or(call)
}
