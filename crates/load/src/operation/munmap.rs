//! munmap(2).

use headrace_spec::DIRECT_UNIT;
use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// What is mapped of a file is unmapped.
pub struct Munmap;

impl FileOperation for Munmap {
    fn name(&self) -> &'static str {
        "munmap"
    }

    fn group(&self) -> Group {
        Group::MemoryMapping
    }

    /// What an earlier mmap has mapped; if nothing is, a page of the file is mapped first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let target = Target::file(hands, ask, false)?;
        if hands.kept.mappings.is_empty() {
            let file = target.open()?;
            let size = usize::try_from(DIRECT_UNIT).unwrap_or(usize::MAX);
            let mapping = hands.calls.map(file, 0, size)?;
            hands.kept.mappings.push(mapping);
        }
        Ok(target)
    }

    fn execute(&self, hands: &mut Hands, _: &mut Target) -> Result<u64> {
        match hands.kept.mappings.pop() {
            Some(mapping) => mapping.unmap().map(|()| 0),
            None => Ok(0),
        }
    }
}
