//! The place of a scheduler that is written elsewhere.

use super::{Dispatcher, JobId, Scheduler};

/// Has the name of a scheduler in Python, for drawings; cannot run.
#[derive(Debug)]
pub(super) struct ExternalScheduler(pub String);

impl Scheduler for ExternalScheduler {
    fn job_arrival(&mut self, _: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        dispatcher.fail(format!(
            "scheduler.python = {:?} is a class in Python: run the scenario with `headrace run` \
             or `headrace.run`",
            self.0
        ));
    }

    fn name(&self) -> String {
        self.0.clone()
    }
}
