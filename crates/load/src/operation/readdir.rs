//! getdents(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// The first part of a directory that is open is listed.
pub struct Readdir;

impl FileOperation for Readdir {
    fn name(&self) -> &'static str {
        "readdir"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let directory = context.open_directory(ask.file)?;
        context.calls.rewind(&directory)?;
        Ok(Target::opened(directory))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.list(target.open()?)?;
        Ok(0)
    }
}
