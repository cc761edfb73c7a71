//! mkdir(2).

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A directory is made.
pub struct Mkdir;

impl FileOperation for Mkdir {
    fn name(&self) -> &'static str {
        "mkdir"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(context.new_name(Kind::Directory, ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.make_directory(&target.path)?;
        Ok(0)
    }
}
