//! fread(3).

use headrace_workload::Ask;
use rustix::io::Errno;

use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is read by the C library.
pub struct Fread;

impl FileOperation for Fread {
    fn name(&self) -> &'static str {
        "fread"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        Some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::streamed(context, ask, false)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let buffer = context.buffer.bytes_mut(target.size);
        let stream = context.kept.streams.get_mut(&target.number);
        let stream = stream.ok_or(Errno::BADF)?;
        let read = match context.short_call {
            Some(call) => stream.read_by(buffer, target.offset, call)?,
            None => stream.read(buffer, target.offset)?,
        };
        Ok(read as u64)
    }
}
