//! unlink(2).

use headrace_workload::Ask;
use rustix::fs::OFlags;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;
use crate::files::MODE;

/// A file is removed.
pub struct Unlink;

impl FileOperation for Unlink {
    fn name(&self) -> &'static str {
        "unlink"
    }

    fn group(&self) -> Group {
        Group::File
    }

    /// Of a mix, a file that an earlier operation has made is removed; if none is left,
    /// one is made first.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let Some(own) = &mut hands.own else {
            hands.files.forget(ask.file);
            return Ok(Target {
                path: hands.names.path(ask.file),
                ..Target::default()
            });
        };
        if let Some(path) = own.take() {
            return Ok(Target {
                path,
                ..Target::default()
            });
        }
        let path = own.fresh();
        own.take();
        let made = hands
            .calls
            .open(&path, OFlags::WRONLY | OFlags::CREATE, MODE)?;
        hands.calls.close(made)?;
        Ok(Target {
            path,
            ..Target::default()
        })
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.unlink(&target.path)?;
        Ok(0)
    }
}
