//! fsync(2).

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
        Ok(Target {
            file: Some(hands.open(ask.file, true)?),
            ..Target::default()
        })
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.sync(target.open()?)?;
        Ok(0)
    }
}
