//! unlink(2).

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file, or one of its names, is removed.
pub struct Unlink;

impl FileOperation for Unlink {
    fn name(&self) -> &'static str {
        "unlink"
    }

    fn group(&self) -> Group {
        Group::SymbolicLink
    }

    /// Of a mix, a file that an earlier operation has made is removed; if none is left,
    /// one is made first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        if hands.own.is_none() {
            hands.files.forget(ask.file);
            hands.kept.streams.remove(&ask.file);
            return Ok(Target::named(hands.path(ask.file)));
        }
        let name = hands.old_name(Kind::SecondName, ask.file);
        if let Some(path) = name.or_else(|| hands.old_name(Kind::File, ask.file)) {
            return Ok(Target::named(path));
        }
        let path = hands.passing_name(Kind::File);
        hands.make_file_at(&path)?;
        Ok(Target::named(path))
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.unlink(&target.path)?;
        Ok(0)
    }
}
