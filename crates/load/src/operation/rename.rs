//! rename(2).

use headrace_workload::Ask;

use super::own_names::Kind;
use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file's name is changed.
pub struct Rename;

impl FileOperation for Rename {
    fn name(&self) -> &'static str {
        "rename"
    }

    fn group(&self) -> Group {
        Group::File
    }

    /// A numbered file gets its other name, and its first one again if it is renamed twice. Of
    /// a mix, a file that an earlier operation has made gets a new name; if none is left, one
    /// is made first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        if hands.own.is_none() {
            let path = hands.path(ask.file);
            let other = hands.changed_path(ask.file);
            return Ok(Target {
                path,
                other,
                ..Target::default()
            });
        }
        let path = match hands.old_name(Kind::File, ask.file) {
            Some(path) => path,
            None => {
                let path = hands.passing_name(Kind::File);
                hands.make_file_at(&path)?;
                path
            }
        };
        Ok(Target {
            path,
            other: hands.new_name(Kind::File, ask.file),
            ..Target::default()
        })
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.rename(&target.path, &target.other)?;
        Ok(0)
    }

    fn verify(
        &self,
        hands: &mut Hands,
        ask: &Ask,
        _: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        hands.is_renamed(ask.file);
        Ok(())
    }
}
