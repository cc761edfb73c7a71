//! pread(2) or pwrite(2), as is asked.

use headrace_trace::Operation;
use headrace_workload::Ask;

use super::read::Read;
use super::write::Write;
use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is read or written.
pub struct ReadWrite;

impl FileOperation for ReadWrite {
    fn name(&self) -> &'static str {
        "read-write"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, target: &Target) -> Option<ReadMethod> {
        (!target.writes).then_some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let writes = ask.operation == Operation::Write;
        let mut target = Target::transfer(context, ask, writes)?;
        target.writes = writes;
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        match target.writes {
            true => Write.execute(context, target),
            false => Read.execute(context, target),
        }
    }
}
