//! rename(2).

use headrace_workload::Ask;

use super::private_names::Kind;
use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file's name is changed.
pub struct Rename;

impl FileOperation for Rename {
    fn name(&self) -> &'static str {
        "rename"
    }

    /// A numbered file gets its other name, and its first one again if it is renamed twice. In a
    /// mix, a file that an earlier operation made gets a new name; if none is left, one is made
    /// first.
    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        if context.own.is_none() {
            let path = context.path(ask.file);
            let other = context.changed_path(ask.file);
            return Ok(Target {
                path,
                other,
                ..Target::default()
            });
        }
        let path = match context.old_name(Kind::File, ask.file) {
            Some(path) => path,
            None => {
                let path = context.passing_name(Kind::File, ask.file);
                context.make_file_at(&path)?;
                path
            }
        };
        Ok(Target {
            path,
            other: context.new_name(Kind::File, ask.file),
            ..Target::default()
        })
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        context.calls.rename(&target.path, &target.other)?;
        Ok(0)
    }

    fn verify(
        &self,
        context: &mut OpContext,
        ask: &Ask,
        _: Target,
        _: u64,
    ) -> std::result::Result<(), String> {
        context.is_renamed(ask.file);
        Ok(())
    }
}
