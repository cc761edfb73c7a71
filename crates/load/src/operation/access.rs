//! access(2).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// Permission to read is checked.
pub struct Access;

impl FileOperation for Access {
    fn name(&self) -> &'static str {
        "access"
    }

    fn group(&self) -> Group {
        Group::GetAttribute
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.path(ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.access(&target.path)?;
        Ok(0)
    }
}
