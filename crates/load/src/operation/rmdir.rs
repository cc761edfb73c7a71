//! rmdir(2).

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// An empty directory is removed.
pub struct Rmdir;

impl FileOperation for Rmdir {
    fn name(&self) -> &'static str {
        "rmdir"
    }

    fn group(&self) -> Group {
        Group::Directory
    }

    /// Of a mix, a directory that an earlier operation has made is removed; if none is left,
    /// one is made first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        if let Some(path) = hands.old_name(Kind::Directory, ask.file) {
            return Ok(Target::named(path));
        }
        let path = hands.passing_name(Kind::Directory);
        hands.calls.make_directory(&path)?;
        Ok(Target::named(path))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.remove_directory(&target.path)?;
        Ok(0)
    }
}
