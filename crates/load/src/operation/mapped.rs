//! Reads by a mapping of the whole file: `interface = "mapped"`.

use headrace_workload::Ask;
use rustix::io::Errno;

use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is copied from a mapping of all of it, which is made before the first.
pub struct MappedRead;

impl FileOperation for MappedRead {
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
        let target = Target::mappable(context, ask)?;
        if !context.kept.mapped.contains_key(&ask.file) {
            let length = context.calls.length(target.open()?)?;
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let mapping = context.calls.map(target.open()?, 0, length)?;
            context.kept.mapped.insert(ask.file, mapping);
        }
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let buffer = context.buffer.bytes_mut(target.size);
        let mapping = context.kept.mapped.get(&target.number);
        Ok(mapping.ok_or(Errno::BADF)?.load(target.offset, buffer) as u64)
    }
}
