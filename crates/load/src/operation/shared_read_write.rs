//! pread(2) or pwrite(2), as is asked, of a file that all processes share.

use headrace_workload::Ask;

use super::read_write::ReadWrite;
use super::{FileOperation, Group, Hands, Target, Way};
use crate::calls::Result;

/// A part of a file that all processes share is read or written.
pub struct SharedReadWrite;

impl FileOperation for SharedReadWrite {
    fn name(&self) -> &'static str {
        "shared-read-write"
    }

    fn group(&self) -> Group {
        Group::ReadWriteSharing
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, target: &Target) -> Option<Way> {
        (!target.writes).then_some(Way::ThroughCache)
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        ReadWrite.prepare(hands, ask)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        ReadWrite.execute(hands, target)
    }
}
