//! link(2).

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file gets another name.
pub struct Link;

impl FileOperation for Link {
    fn name(&self) -> &'static str {
        "link"
    }

    fn group(&self) -> Group {
        Group::SymbolicLink
    }

    /// Of a mix, a file that an earlier operation has made gets it; if none is left, one is
    /// made first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let path = match hands.one_name(Kind::File, ask.file) {
            Some(path) => path,
            None => hands.make_file()?,
        };
        Ok(Target {
            path,
            other: hands.new_name(Kind::SecondName, ask.file),
            ..Target::default()
        })
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.link(&target.path, &target.other)?;
        Ok(0)
    }
}
