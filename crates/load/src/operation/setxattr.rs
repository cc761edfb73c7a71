//! fsetxattr(2).

use headrace_workload::Ask;

use super::attribute::USER_ATTRIBUTE;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A user's extended attribute is set.
pub struct Setxattr;

impl FileOperation for Setxattr {
    fn name(&self) -> &'static str {
        "setxattr"
    }

    fn group(&self) -> Group {
        Group::SetAttribute
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::file(hands, ask, true)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands
            .calls
            .set_attribute(target.open()?, USER_ATTRIBUTE, b"1")?;
        Ok(0)
    }
}
