//! fstat(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// Attributes of an open file are looked up.
pub struct Fstat;

impl FileOperation for Fstat {
    fn name(&self) -> &'static str {
        "fstat"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, false)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.stat_open(target.open()?)?;
        Ok(0)
    }
}
