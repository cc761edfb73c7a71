//! pread(2) or pwrite(2), as is asked, of a file that all processes share.

use headrace_workload::Ask;

use super::read_write::ReadWrite;
use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file that all processes share is read or written.
pub struct SharedReadWrite;

impl FileOperation for SharedReadWrite {
    fn name(&self) -> &'static str {
        "shared-read-write"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, target: &Target) -> Option<ReadMethod> {
        (!target.writes).then_some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        ReadWrite.prepare(context, ask)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        ReadWrite.execute(context, target)
    }
}
