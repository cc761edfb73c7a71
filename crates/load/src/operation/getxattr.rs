//! fgetxattr(2): the access control list, or another attribute where there are no lists.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// An extended attribute is looked up.
pub struct Getxattr;

impl FileOperation for Getxattr {
    fn name(&self) -> &'static str {
        "getxattr"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let target = Target::file(context, ask, true)?;
        context.give_attribute(ask.file, target.open()?)?;
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        let name = context.kept.attribute.name();
        context.calls.attribute(target.open()?, name)?;
        Ok(0)
    }
}
