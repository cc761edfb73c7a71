//! pread(2).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target, Way};
use crate::calls::Result;

/// A part of a file is read.
pub struct Read;

impl FileOperation for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn group(&self) -> Group {
        Group::Read
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<Way> {
        Some(Way::ThroughCache)
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::transfer(hands, ask, false)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        let buffer = hands.buffer.bytes_mut(target.size);
        let read = hands.calls.read(target.open()?, buffer, target.offset)?;
        Ok(read as u64)
    }
}
