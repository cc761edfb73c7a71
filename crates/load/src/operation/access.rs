//! access(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// Permission to read is checked.
pub struct Access;

impl FileOperation for Access {
    fn name(&self) -> &'static str {
        "access"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.path(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.access(&target.path)?;
        Ok(0)
    }
}
