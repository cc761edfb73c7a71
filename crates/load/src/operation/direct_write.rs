//! pwrite(2) of a file opened with O_DIRECT.

use headrace_workload::Ask;

use super::write::Write;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A part of a file is written past the page cache.
pub struct DirectWrite;

impl FileOperation for DirectWrite {
    fn name(&self) -> &'static str {
        "direct-write"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::direct(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        Write.execute(context, target)
    }
}
