//! open(2) of a file that is there, or is to be written.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;
use crate::files::{MODE, WRITING};

/// A file is opened.
pub struct Open;

impl FileOperation for Open {
    fn name(&self) -> &'static str {
        "open"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.path(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let flags = WRITING | context.flags;
        target.file = Some(context.calls.open(&target.path, flags, MODE)?);
        Ok(0)
    }

    /// A workload of numbered files works on and closes the files that it opened; a mix's
    /// operations are independent of each other.
    fn verify(
        &self,
        context: &mut OpContext,
        ask: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let Some(file) = target.file else {
            return Err("nothing was opened".to_owned());
        };
        let kept = match context.own {
            Some(_) => context.calls.close(file),
            None => {
                let flags = WRITING | context.flags;
                context
                    .files
                    .keep(&mut *context.calls, ask.file, flags, file)
            }
        };
        kept.map_err(|errno| format!("closing a file: {errno}"))
    }
}
