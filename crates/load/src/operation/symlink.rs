//! symlink(2).

use std::ffi::CStr;

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// What symbolic links lead to: a name beside them, whether it is there or not.
pub const LEADS_TO: &CStr = c"f0";

/// A symbolic link is made.
pub struct Symlink;

impl FileOperation for Symlink {
    fn name(&self) -> &'static str {
        "symlink"
    }

    fn group(&self) -> Group {
        Group::SymbolicLink
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.new_name(Kind::SymbolicLink, ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.symbolic_link(LEADS_TO, &target.path)?;
        Ok(0)
    }
}
