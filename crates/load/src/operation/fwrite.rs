//! fwrite(3).

use headrace_workload::Ask;
use rustix::io::Errno;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A part of a file is written by the C library.
pub struct Fwrite;

impl FileOperation for Fwrite {
    fn name(&self) -> &'static str {
        "fwrite"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::streamed(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let bytes = context.buffer.bytes(target.size);
        let stream = context.kept.streams.get_mut(&target.number);
        let stream = stream.ok_or(Errno::BADF)?;
        let written = match context.short_call {
            Some(call) => stream.write_by(bytes, target.offset, call)?,
            None => stream.write(bytes, target.offset)?,
        };
        Ok(written as u64)
    }
}
