//! pwrite(2) of a file that all processes share.

use headrace_workload::Ask;

use super::write::Write;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A part of a file that all processes share is written.
pub struct SharedWrite;

impl FileOperation for SharedWrite {
    fn name(&self) -> &'static str {
        "shared-write"
    }

    fn group(&self) -> Group {
        Group::WriteSharing
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Write.prepare(hands, ask)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        Write.execute(hands, target)
    }
}
