//! readlink(2).

use headrace_workload::Ask;
use rustix::io::Errno;

use super::symlink::LEADS_TO;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A symbolic link's target is read.
pub struct Readlink;

impl FileOperation for Readlink {
    fn name(&self) -> &'static str {
        "readlink"
    }

    /// If no links exist before the run, a link is created beside each requested file before its
    /// first use.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        if let Some(path) = context.names.symbolic_link(ask.file) {
            return Ok(Target::named(path));
        }
        let path = context.names.beside(ask.file, "link");
        if context.kept.links.insert(ask.file) {
            match context.calls.symbolic_link(LEADS_TO, &path) {
                // Another process has made it.
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(Target::named(path))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.read_link(&target.path)?;
        Ok(0)
    }
}
