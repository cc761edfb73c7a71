//! mmap(2), and loads from all that is mapped.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target, Way};
use crate::calls::Result;

/// A part of a file is mapped and copied from there, as IOR reads by mapping.
pub struct Mmap;

impl FileOperation for Mmap {
    fn name(&self) -> &'static str {
        "mmap"
    }

    fn group(&self) -> Group {
        Group::MemoryMapping
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<Way> {
        Some(Way::ThroughCache)
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        hands.kept.forget_a_mapping();
        Target::mappable(hands, ask)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        let mapping = hands
            .calls
            .map(target.open()?, target.offset, target.size)?;
        let read = mapping.load(target.offset, hands.buffer.bytes_mut(target.size));
        hands.kept.mappings.push(mapping);
        Ok(read as u64)
    }
}
