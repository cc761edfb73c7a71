//! pread(2) of a file opened with O_DIRECT.

use headrace_workload::Ask;

use super::read::Read;
use super::{FileOperation, OpContext, ReadMethod, Target};
use crate::calls::Result;

/// A part of a file is read past the page cache.
pub struct DirectRead;

impl FileOperation for DirectRead {
    fn name(&self) -> &'static str {
        "direct-read"
    }

    fn moves_bytes(&self) -> bool {
        true
    }

    fn reads(&self, _: &Target) -> Option<ReadMethod> {
        Some(ReadMethod::PastCache)
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::direct(context, ask, false)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        Read.execute(context, target)
    }
}
