//! fsync(2), and fflush(3) before it of what the C library still has.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file's written data is brought to stable storage.
pub struct Sync;

impl FileOperation for Sync {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn group(&self) -> Group {
        Group::Write
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::file(hands, ask, true)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        if let Some(stream) = hands.kept.streams.get_mut(&target.number) {
            stream.flush()?;
        }
        hands.calls.sync(target.open()?)?;
        Ok(0)
    }
}
