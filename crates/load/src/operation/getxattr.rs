//! fgetxattr(2): the access control list, or another attribute where there are no lists.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// An extended attribute is looked up.
pub struct Getxattr;

impl FileOperation for Getxattr {
    fn name(&self) -> &'static str {
        "getxattr"
    }

    fn group(&self) -> Group {
        Group::GetAttribute
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let target = Target::file(hands, ask, true)?;
        hands.give_attribute(ask.file, target.open()?)?;
        Ok(target)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        let name = hands.kept.attribute.name();
        hands.calls.attribute(target.open()?, name)?;
        Ok(0)
    }
}
