//! opendir(3) and the first readdir(3): open(2) and getdents(2).

use headrace_workload::Ask;
use rustix::fs::Mode;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;
use crate::files::DIRECTORY;

/// A directory is opened and its first part listed.
pub struct FindFirst;

impl FileOperation for FindFirst {
    fn name(&self) -> &'static str {
        "find-first"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        context.kept.listed = None;
        Ok(Target::named(context.names.directory(ask.file)))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let directory = context.calls.open(&target.path, DIRECTORY, Mode::empty())?;
        context.calls.list(&directory)?;
        target.file = Some(directory);
        Ok(0)
    }

    /// It stays open for what follows.
    fn verify(
        &self,
        context: &mut OpContext,
        _: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        context.kept.listed = target.file;
        Ok(())
    }
}
