//! A further readdir(3): getdents(2).

use headrace_workload::Ask;
use rustix::fs::Mode;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;
use crate::files::DIRECTORY;

/// The next part of an open directory is listed.
pub struct FindNext;

impl FileOperation for FindNext {
    fn name(&self) -> &'static str {
        "find-next"
    }

    /// It follows find-first or another; at the end of the directory it restarts.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let directory = match context.kept.listed.take() {
            Some(directory) => directory,
            None => {
                let path = context.names.directory(ask.file);
                let directory = context.calls.open(&path, DIRECTORY, Mode::empty())?;
                context.calls.list(&directory)?;
                directory
            }
        };
        Ok(Target::opened(directory))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        target.size = context.calls.list(target.open()?)?;
        Ok(0)
    }

    fn verify(
        &self,
        context: &mut OpContext,
        _: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        context.kept.listed = target.file.filter(|_| target.size > 0);
        Ok(())
    }
}
