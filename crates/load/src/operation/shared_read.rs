//! pread(2) of a file that all processes share.

use headrace_workload::Ask;

use super::read::Read;
use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file that all processes share is read.
pub struct SharedRead;

impl FileOperation for SharedRead {
    fn name(&self) -> &'static str {
        "shared-read"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        Some(ReadMethod::ThroughCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Read.prepare(context, ask)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        Read.execute(context, target)
    }
}
