//! pread(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is read.
pub struct Read;

impl FileOperation for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        Some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::transfer(context, ask, false)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let buffer = context.buffer.bytes_mut(target.size);
        let read = context.calls.read(target.open()?, buffer, target.offset)?;
        Ok(read as u64)
    }
}
