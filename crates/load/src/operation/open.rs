//! open(2) of a file that is there, or is to be written.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;
use crate::files::{MODE, WRITING};

/// A file is opened.
pub struct Open;

impl FileOperation for Open {
    fn name(&self) -> &'static str {
        "open"
    }

    fn group(&self) -> Group {
        Group::File
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Ok(Target::named(hands.path(ask.file)))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        let flags = WRITING | hands.flags;
        target.file = Some(hands.calls.open(&target.path, flags, MODE)?);
        Ok(0)
    }

    /// A workload of numbered files works on and closes what it has opened; a mix's
    /// operations have nothing to do with each other.
    fn verify(
        &self,
        hands: &mut Hands,
        ask: &Ask,
        target: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        let Some(file) = target.file else {
            return Err("nothing was opened".to_owned());
        };
        let kept = match hands.own {
            Some(_) => hands.calls.close(file),
            None => {
                let flags = WRITING | hands.flags;
                hands.files.keep(&mut *hands.calls, ask.file, flags, file)
            }
        };
        kept.map_err(|errno| format!("closing a file: {errno}"))
    }
}
