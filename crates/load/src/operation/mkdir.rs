//! mkdir(2).

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A directory is made.
pub struct Mkdir;

impl FileOperation for Mkdir {
    fn name(&self) -> &'static str {
        "mkdir"
    }

    fn group(&self) -> Group {
        Group::Directory
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.new_name(Kind::Directory, ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.make_directory(&target.path)?;
        Ok(0)
    }
}
