//! symlink(2).

use std::ffi::CStr;

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// Target of symbolic links: a sibling name, which need not exist.
pub const LEADS_TO: &CStr = c"f0";

/// A symbolic link is made.
pub struct Symlink;

impl FileOperation for Symlink {
    fn name(&self) -> &'static str {
        "symlink"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        Ok(Target::named(
            context.new_name(Kind::SymbolicLink, ask.file),
        ))
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.symbolic_link(LEADS_TO, &target.path)?;
        Ok(0)
    }
}
