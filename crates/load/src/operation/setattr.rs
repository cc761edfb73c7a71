//! chmod(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;
use crate::files::MODE;

/// A file's permissions are set to their present value: its change time is another in any case.
pub struct Setattr;

impl FileOperation for Setattr {
    fn name(&self) -> &'static str {
        "setattr"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.path(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.change_mode(&target.path, MODE)?;
        Ok(0)
    }
}
