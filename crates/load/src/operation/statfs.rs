//! statvfs(3), by a name.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// The state of the file system is looked up: free space, among others.
pub struct Statfs;

impl FileOperation for Statfs {
    fn name(&self) -> &'static str {
        "statfs"
    }

    fn group(&self) -> Group {
        Group::FileStat
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.absolute(ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.state(&target.path)?;
        Ok(0)
    }
}
