//! open(2) of a file that is not there.

use headrace_workload::Ask;
use rustix::fs::OFlags;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;
use crate::files::{MODE, WRITING};

/// A file is made. Unless the workload closes it, that is done at once, and not timed.
pub struct Create;

impl FileOperation for Create {
    fn name(&self) -> &'static str {
        "create"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.new_name(Kind::File, ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let flags = WRITING | OFlags::EXCL | context.flags;
        target.file = Some(context.calls.open(&target.path, flags, MODE)?);
        Ok(0)
    }

    fn verify(
        &self,
        context: &mut OpContext,
        ask: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let Some(file) = target.file else {
            return Err("nothing was made".to_owned());
        };
        let kept = match context.names.closes {
            true => {
                let flags = WRITING | context.flags;
                context
                    .files
                    .keep(&mut *context.calls, ask.file, flags, file)
            }
            false => context.calls.close(file),
        };
        kept.map_err(|errno| format!("closing a file: {errno}"))
    }
}
