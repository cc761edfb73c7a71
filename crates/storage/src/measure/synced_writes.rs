//! Writes and the syncs that store them, as benchmarks with fsync at the end count them
//! (IOR's option -e, fio's end_fsync, dd's conv=fsync). Where a close writes back, it counts as
//! IOR counts it: with the writes of its phase.

use headrace_trace::Operation;
use serde::Serialize;

use super::activity::Activity;
use super::recorder::Recorder;

/// Writes and syncs together.
#[derive(Clone, Debug, Serialize)]
pub struct SyncedWrites {
    /// Bytes written.
    pub bytes: u64,
    /// Seconds in which writes, syncs or closes that write back were active, counted once.
    pub active_seconds: f64,
    /// Bytes per second of that time.
    pub throughput: f64,
}

/// Returns the synced writes of all groups; none unless writes and syncs occurred. With
/// `closing_writes_back`, closes are syncs too.
pub(crate) fn synced_writes(
    recorder: &Recorder,
    closing_writes_back: bool,
) -> Option<SyncedWrites> {
    let mut activity = Activity::default();
    let (mut bytes, mut syncs) = (0, 0);
    for group in 0..recorder.groups() {
        let Some(writes) = recorder.seen(group, Operation::Write) else {
            continue;
        };
        bytes += writes.bytes;
        activity.join(&writes.activity);
        let closes = recorder.seen(group, Operation::Close);
        if let Some(closes) = closes.filter(|_| closing_writes_back) {
            syncs += closes.count;
            activity.join_in_phases_of(&closes.activity, &writes.activity);
        }
    }
    for group in 0..recorder.groups() {
        if let Some(sync) = recorder.seen(group, Operation::Sync) {
            syncs += sync.count;
            activity.join(&sync.activity);
        }
    }
    let active_seconds = activity.total().as_seconds();
    (bytes > 0 && syncs > 0 && active_seconds > 0.0).then(|| SyncedWrites {
        bytes,
        active_seconds,
        throughput: bytes as f64 / active_seconds,
    })
}
