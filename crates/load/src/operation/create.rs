//! open(2) of a file that is not there.

use headrace_workload::Ask;
use rustix::fs::OFlags;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;
use crate::files::{MODE, WRITING};

/// A file is made. Unless the workload closes it, that is done at once, and not timed.
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
        let flags = WRITING | OFlags::EXCL | hands.flags;
        target.file = Some(hands.calls.open(&target.path, flags, MODE)?);
        Ok(0)
    }

    fn verify(
        &self,
        hands: &mut Hands,
        ask: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let Some(file) = target.file else {
            return Err("nothing was made".to_owned());
        };
        let kept = match hands.names.closes {
            true => {
                let flags = WRITING | hands.flags;
                hands.files.keep(&mut *hands.calls, ask.file, flags, file)
            }
            false => hands.calls.close(file),
        };
        kept.map_err(|errno| format!("closing a file: {errno}"))
    }
}
