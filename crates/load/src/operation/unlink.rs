//! unlink(2).

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file, or one of its names, is removed.
pub struct Unlink;

impl FileOperation for Unlink {
    fn name(&self) -> &'static str {
        "unlink"
    }

    /// In an operation mix, removes a file that an earlier operation created; creates one first if
    /// none is left.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        if context.own.is_none() {
            context.files.forget(ask.file);
            context.kept.streams.remove(&ask.file);
            return Ok(Target::named(context.path(ask.file)));
        }
        let name = context.old_name(Kind::SecondName, ask.file);
        if let Some(path) = name.or_else(|| context.old_name(Kind::File, ask.file)) {
            return Ok(Target::named(path));
        }
        let path = context.passing_name(Kind::File, ask.file);
        context.make_file_at(&path)?;
        Ok(Target::named(path))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.unlink(&target.path)?;
        Ok(0)
    }
}
