//! The place of a policy that is written elsewhere.

use super::{CachedPage, Fifo, ReplacementPolicy};

/// Can be drawn; a run needs a policy in its place.
#[derive(Clone, Debug)]
pub(super) struct ExternalPolicy(Fifo);

impl ExternalPolicy {
    pub fn new(capacity: usize) -> ExternalPolicy {
        ExternalPolicy(Fifo::new(capacity))
    }
}

impl ReplacementPolicy for ExternalPolicy {
    fn access(&mut self, _: CachedPage) {}

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        self.0.insert(page)
    }

    fn remove(&mut self, page: CachedPage) {
        self.0.remove(page);
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn failure(&self) -> Option<String> {
        Some(
            "servers.memory.python is a class in Python: run the scenario with `headrace run` or \
             `headrace.run`"
                .to_owned(),
        )
    }
}
