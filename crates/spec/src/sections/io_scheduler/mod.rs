//! `[servers.io_scheduler]`: the queue of a block device.

mod anticipatory;
mod bfq;
mod cfq;
mod deadline;
mod kyber;
mod mq_deadline;
mod none;
mod noop;
mod priority;

pub use anticipatory::Anticipatory;
pub use bfq::Bfq;
pub use cfq::Cfq;
pub use deadline::Deadline;
pub use kyber::Kyber;
pub use mq_deadline::MqDeadline;
pub use none::NoIoScheduler;
pub use noop::Noop;

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes};

/// Commands that a disk takes at once: tags of Native Command Queuing.
const DEPTH: u32 = 32;

/// Requests of each sort that a queue holds.
const REQUESTS: u32 = 128;

/// Bytes of the largest request.
const LARGEST: u64 = 1280 << 10;

section! {
    /// The queue before a block device, which merges and orders requests; of an
    /// array that the operating system makes, one before each member.
    pub struct IoScheduler {
        /// Kind of I/O scheduler.
        #[serde(flatten)]
        kind: IoSchedulerKind = kinds(),
        /// Queue depth of the device; 1: it queues no commands.
        depth: Option<u32> as Option<AtLeastOne> = optional("32, the tags of Serial ATA's Native Command Queuing; with kind = \"none\", transfers go to the device as they come, any number and unmerged") aka ["queue_depth"],
        /// Maximum number of synchronous requests in the queue and at the device, and of
        /// asynchronous ones. Further requests wait before the queue.
        requests: u32 as AtLeastOne = default(REQUESTS, "nr_requests: BLKDEV_MAX_RQ in include/linux/blkdev.h, Linux 2.6-5.16") aka ["nr_requests"],
        /// The most bytes that merging makes one request of.
        largest_request: Bytes = default("1280 KiB", "max_sectors_kb: BLK_DEF_MAX_SECTORS in include/linux/blkdev.h, Linux 4.3-6.14 (512 KiB before)") aka ["max_sectors_kb"],
    }
    check has_effect;
}

kinds! {
    /// The ways to order requests.
    pub enum IoSchedulerKind default "none", "nothing is assumed about a queue" {
        NoIoScheduler = "none",
        Noop = "noop",
        Deadline = "deadline",
        MqDeadline = "mq-deadline",
        Anticipatory = "anticipatory",
        Cfq = "cfq",
        Bfq = "bfq",
        Kyber = "kyber",
    }
}

impl IoScheduler {
    /// Returns true if there is a queue at all.
    #[must_use]
    pub fn queues(&self) -> bool {
        self.depth.is_some() || !matches!(self.kind, IoSchedulerKind::NoIoScheduler(_))
    }

    /// Returns the queue depth of the device, if there is a queue.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth.unwrap_or(DEPTH)
    }
}

fn has_effect(queue: &IoScheduler, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if queue.largest_request.0 == 0 {
        let message = r#"expected a size of more than 0 such as "1280 KiB""#;
        return Err(at.error("largest_request", message));
    }
    let field = match (queue.requests, queue.largest_request.0) {
        _ if queue.queues() => return Ok(()),
        (REQUESTS, LARGEST) => return Ok(()),
        (REQUESTS, _) => "largest_request",
        _ => "requests",
    };
    let message = format!(
        "nothing is queued: leave it out, or give {} or a kind other than \"none\"",
        at.field("depth").path
    );
    Err(at.error(field, message))
}
