//! mmap(2), and loads from all that is mapped.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is mapped and copied from there, as IOR reads by mapping.
pub struct Mmap;

impl FileOperation for Mmap {
    fn name(&self) -> &'static str {
        "mmap"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        Some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        context.kept.forget_a_mapping();
        Target::mappable(context, ask)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let mapping = context
            .calls
            .map(target.open()?, target.offset, target.size)?;
        let read = mapping.load(target.offset, context.buffer.bytes_mut(target.size));
        context.kept.mappings.push(mapping);
        Ok(read as u64)
    }
}
