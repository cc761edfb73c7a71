//! readlink(2).

use headrace_workload::Ask;
use rustix::io::Errno;

use super::symlink::LEADS_TO;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A symbolic link's target is read.
pub struct Readlink;

impl FileOperation for Readlink {
    fn name(&self) -> &'static str {
        "readlink"
    }

    fn group(&self) -> Group {
        Group::SymbolicLink
    }

    /// Where no links were there before the run, there is one beside each file that is asked
    /// for: it is made before it is read first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        if let Some(path) = hands.names.symbolic_link(ask.file) {
            return Ok(Target::named(path));
        }
        let path = hands.names.beside(ask.file, "link");
        if hands.kept.links.insert(ask.file) {
            match hands.calls.symbolic_link(LEADS_TO, &path) {
                // Another process has made it.
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(Target::named(path))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.read_link(&target.path)?;
        Ok(0)
    }
}
