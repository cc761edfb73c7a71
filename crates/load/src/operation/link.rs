//! link(2).

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file gets another name.
pub struct Link;

impl FileOperation for Link {
    fn name(&self) -> &'static str {
        "link"
    }

    /// In an operation mix, renames a file that an earlier operation created; creates one first if
    /// none is left.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let path = match context.one_name(Kind::File, ask.file) {
            Some(path) => path,
            None => context.make_file(ask.file)?,
        };
        Ok(Target {
            path,
            other: context.new_name(Kind::SecondName, ask.file),
            ..Target::default()
        })
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.link(&target.path, &target.other)?;
        Ok(0)
    }
}
