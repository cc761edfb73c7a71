//! open(2) of a file that is not there.

use headrace_workload::Ask;
use rustix::fs::OFlags;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;
use crate::files::MODE;

/// A file is made; closing it is not timed.
pub struct Create;

impl FileOperation for Create {
    fn name(&self) -> &'static str {
        "create"
    }

    fn group(&self) -> Group {
        Group::File
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.new_name(Kind::File, ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | hands.flags;
        target.file = Some(hands.calls.open(&target.path, flags, MODE)?);
        Ok(0)
    }

    fn verify(
        &self,
        hands: &mut Hands,
        _: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let closed = target.file.map(|file| hands.calls.close(file));
        closed
            .transpose()
            .map_err(|errno| format!("closing a new file: {errno}"))?;
        Ok(())
    }
}
