//! pwrite(2) of a file that all processes share.

use headrace_workload::Ask;

use super::write::Write;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A part of a file that all processes share is written.
pub struct SharedWrite;

impl FileOperation for SharedWrite {
    fn name(&self) -> &'static str {
        "shared-write"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Write.prepare(context, ask)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        Write.execute(context, target)
    }
}
