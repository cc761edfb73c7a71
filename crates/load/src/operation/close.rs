//! close(2), and fclose(3) before it of what the C library has open.

use headrace_workload::Ask;

use super::{FileOperation, OpContext, Target};
use crate::calls::Result;

/// A file is closed.
pub struct Close;

impl FileOperation for Close {
    fn name(&self) -> &'static str {
        "close"
    }

    fn prepare(&self, context: &mut OpContext, ask: &Ask) -> Result<Target> {
        let file = match context.files.take(ask.file) {
            Some(file) => file,
            None => {
                let file = context.open(ask.file, true)?;
                context.files.forget(ask.file);
                file
            }
        };
        let mut target = Target::opened(file);
        target.number = ask.file;
        Ok(target)
    }

    fn execute(&self, context: &mut OpContext, target: &mut Target) -> Result<u64> {
        if let Some(stream) = context.kept.streams.remove(&target.number) {
            stream.close()?;
        }
        if let Some(file) = target.file.take() {
            context.calls.close(file)?;
        }
        Ok(0)
    }
}
