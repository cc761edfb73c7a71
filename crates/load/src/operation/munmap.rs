//! munmap(2).

use headrace_spec::DIRECT_UNIT;
use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// Unmaps the mapped part of a file.
pub struct Munmap;

impl FileOperation for Munmap {
    fn name(&self) -> &'static str {
        "munmap"
    }

    /// Uses the mapping of an earlier mmap; if there is none, maps a page of the file first.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let target = Target::file(context, ask, false)?;
        if context.kept.mappings.is_empty() {
            let file = target.open()?;
            let size = usize::try_from(DIRECT_UNIT).unwrap_or(usize::MAX);
            let mapping = context.calls.map(file, 0, size)?;
            context.kept.mappings.push(mapping);
        }
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, _: &mut Target) -> Result<u64> {
        match context.kept.mappings.pop() {
            Some(mapping) => mapping.unmap().map(|()| 0),
            None => Ok(0),
        }
    }
}
