//! close(2), and fclose(3) before it of what the C library has open.

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// A file is closed.
pub struct Close;

impl FileOperation for Close {
    fn name(&self) -> &'static str {
        "close"
    }

    fn group(&self) -> Group {
        Group::File
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        let file = match hands.files.take(ask.file) {
            Some(file) => file,
            None => {
                let file = hands.open(ask.file, true)?;
                hands.files.forget(ask.file);
                file
            }
        };
        let mut target = Target::opened(file);
        target.number = ask.file;
        Ok(target)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        if let Some(stream) = hands.kept.streams.remove(&target.number) {
            stream.close()?;
        }
        if let Some(file) = target.file.take() {
            hands.calls.close(file)?;
        }
        Ok(0)
    }
}
