//! stat(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file's attributes are looked up by its name.
pub struct Stat;

impl FileOperation for Stat {
    fn name(&self) -> &'static str {
        "stat"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.path(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.stat(&target.path)?;
        Ok(0)
    }
}
