//! chdir(2), by a process whose current directory is its own.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// Another directory becomes the current one.
pub struct Chdir;

impl FileOperation for Chdir {
    fn name(&self) -> &'static str {
        "chdir"
    }

    fn group(&self) -> Group {
        Group::Directory
    }

    /// Each begins at the same place, as its path is relative.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        hands.calls.leave_directory()?;
        Ok(Target::named(hands.names.directory(ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.enter_directory(&target.path)?;
        Ok(0)
    }
}
