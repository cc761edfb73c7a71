//! getdents(2).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// The first part of a directory that is open is listed.
pub struct Readdir;

impl FileOperation for Readdir {
    fn name(&self) -> &'static str {
        "readdir"
    }

    fn group(&self) -> Group {
        Group::Directory
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let directory = hands.open_directory(ask.file)?;
        hands.calls.rewind(&directory)?;
        Ok(Target::opened(directory))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.list(target.open()?)?;
        Ok(0)
    }
}
