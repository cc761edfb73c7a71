//! ftruncate(2).

use headrace_spec::DIRECT_UNIT;
use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file is made shorter, to its first length.
pub struct Truncate;

impl FileOperation for Truncate {
    fn name(&self) -> &'static str {
        "truncate"
    }

    fn group(&self) -> Group {
        Group::Write
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let mut target = Target::file(hands, ask, true)?;
        target.offset = ask.offset;
        if hands.calls.length(target.open()?)? <= ask.offset {
            // Something behind it that can be cut off.
            let unit = usize::try_from(DIRECT_UNIT).unwrap_or(usize::MAX);
            let end = ask.offset.next_multiple_of(DIRECT_UNIT);
            hands.fill(ask.file, end, unit);
            hands
                .calls
                .write(target.open()?, hands.buffer.bytes(unit), end)?;
        }
        Ok(target)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.truncate(target.open()?, target.offset)?;
        Ok(0)
    }
}
