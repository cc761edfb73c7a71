//! stat(2).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file's attributes are looked up by its name.
pub struct Stat;

impl FileOperation for Stat {
    fn name(&self) -> &'static str {
        "stat"
    }

    fn group(&self) -> Group {
        Group::FileStat
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.path(ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.stat(&target.path)?;
        Ok(0)
    }
}
