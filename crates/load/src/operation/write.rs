//! pwrite(2).

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A part of a file is written.
pub struct Write;

impl FileOperation for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::transfer(context, ask, true)
    }

    /// Repeats partial writes; the last call reports the reason.
    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let bytes = context.buffer.bytes(target.size);
        let mut done = 0;
        loop {
            let at = target.offset + done as u64;
            match context.calls.write(target.open()?, &bytes[done..], at)? {
                0 => return Ok(done as u64),
                written => done += written,
            }
            if done == bytes.len() {
                return Ok(done as u64);
            }
        }
    }
}
