//! ftruncate(2).

use headrace_spec::DIRECT_UNIT;
use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file is made shorter, to its first length.
pub struct Truncate;

impl FileOperation for Truncate {
    fn name(&self) -> &'static str {
        "truncate"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let mut target = Target::file(context, ask, true)?;
        target.offset = ask.offset;
        if context.calls.length(target.open()?)? <= ask.offset {
            // Something behind it that can be cut off.
            let unit = usize::try_from(DIRECT_UNIT).unwrap_or(usize::MAX);
            let end = ask.offset.next_multiple_of(DIRECT_UNIT);
            context.fill(ask.file, end, unit);
            context
                .calls
                .write(target.open()?, context.buffer.bytes(unit), end)?;
        }
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.truncate(target.open()?, target.offset)?;
        Ok(0)
    }
}
