//! stat(2).

use headrace_workload::{Ask, Named};

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file's attributes are looked up by its name.
pub struct Stat;

impl FileOperation for Stat {
    fn name(&self) -> &'static str {
        "stat"
    }

    /// In a mix whose processes share directories, a file that an earlier operation made is looked
    /// up; if none is left, one is made first.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        if let Named::Made(_) = context.names.named(ask.file)
            && context.names.are_shared()
        {
            let path = match context.one_name(Kind::File, ask.file) {
                Some(path) => path,
                None => context.make_file(ask.file)?,
            };
            return Ok(Target::named(path));
        }
        Ok(Target::named(context.path(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.stat(&target.path)?;
        Ok(0)
    }
}
