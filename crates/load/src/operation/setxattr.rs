//! fsetxattr(2).

use headrace_workload::Ask;

use super::attribute::USER_ATTRIBUTE;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A user's extended attribute is set.
pub struct Setxattr;

impl FileOperation for Setxattr {
    fn name(&self) -> &'static str {
        "setxattr"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Target::file(context, ask, true)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context
            .calls
            .set_attribute(target.open()?, USER_ATTRIBUTE, b"1")?;
        Ok(0)
    }
}
