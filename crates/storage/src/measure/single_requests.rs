//! The single requests of a run: none of them, all of them in memory, or a part at a time to a
//! receiver.

use std::sync::Arc;

use super::Completed;

/// Message to the recipient of single requests.
#[derive(Debug)]
pub enum Recorded {
    /// The next of them, in the order in which they were done.
    Requests(Vec<Completed>),
    /// The warm-up is over: those so far do not count.
    Forget,
}

/// Recipient of single requests during the run.
pub type Recipient = Arc<dyn Fn(Recorded) + Send + Sync>;

/// Requests of a part: some megabytes.
const PART: usize = 1 << 16;

/// Destination of single request records.
pub(crate) enum SingleRequests {
    Dropped,
    Kept(Vec<Completed>),
    Sent(Vec<Completed>, Recipient),
}

impl SingleRequests {
    /// One more is done.
    pub fn push(&mut self, request: Completed) {
        match self {
            SingleRequests::Dropped => {}
            SingleRequests::Kept(all) => all.push(request),
            SingleRequests::Sent(part, to) => {
                part.push(request);
                if part.len() >= PART {
                    to(Recorded::Requests(std::mem::take(part)));
                }
            }
        }
    }

    /// Discards all counts so far.
    pub fn forget(&mut self) {
        match self {
            SingleRequests::Dropped => {}
            SingleRequests::Kept(all) => all.clear(),
            SingleRequests::Sent(part, to) => {
                part.clear();
                to(Recorded::Forget);
            }
        }
    }

    /// The run is over: sends the rest; returns all, if they were recorded.
    pub fn take(&mut self) -> Vec<Completed> {
        match std::mem::replace(self, SingleRequests::Dropped) {
            SingleRequests::Dropped => Vec::new(),
            SingleRequests::Kept(all) => all,
            SingleRequests::Sent(part, to) => {
                to(Recorded::Requests(part));
                Vec::new()
            }
        }
    }
}
