//! fstatvfs(3).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// The state of an open file's file system is looked up.
pub struct Fstatfs;

impl FileOperation for Fstatfs {
    fn name(&self) -> &'static str {
        "fstatfs"
    }

    fn group(&self) -> Group {
        Group::FileStat
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::file(hands, ask, false)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.state_open(target.open()?)?;
        Ok(0)
    }
}
