//! I/O schedulers: the queue of a block device, which merges and orders requests to it.
//!
//! With `kind = "none"` and no `depth` there is no queue. Otherwise at most `depth` requests are at
//! the device, and waiting requests are merged and ordered (`queue.rs`). To add one, write a file
//! with a type that implements [`IoScheduler`] and name it in [`scheduler`].
//!
//! Priorities (ionice(1)) apply to requests that a process waits for: reads, direct and synchronous
//! writes, the data of an `fsync`. Writes of the flusher and the journal have "best-effort 4",
//! whichever process dirtied the data. All transfers of a simple server count as one process; on a
//! machine each daemon thread is one.
//!
//! | scheduler | classes | levels |
//! | --- | --- | --- |
//! | `cfq` | higher ones first; idle when no other has requests | slices of 180 to 40 ms |
//! | `bfq` | higher ones first; idle at least once in 200 ms | weights of 80 to 10 |
//! | `mq-deadline` | higher ones first; lower ones after 10 s | none |
//! | others | none | none |
//!
//! Schedulers that do not idle serve a read after the write at the device, with any priority.
//! Priorities matter for slices and budgets.
//!
//! Not modelled: the processor time of a scheduler; a queue for each processor; the priority 3 of
//! ext4's journal; priorities from a process's nice value.

mod anticipatory;
mod bfq;
mod cfq;
mod deadline;
mod elevator;
mod kyber;
mod list;
mod queue;
mod requests;

pub use anticipatory::Anticipatory;
pub use bfq::Bfq;
pub use cfq::Cfq;
pub use deadline::Deadline;
pub use kyber::Kyber;
pub use list::Fifo;
pub use queue::Queue;
pub use requests::{List, Request, RequestId, Requests, Tree};

use headrace_net::{Node, Page, Slot, Time};
use headrace_spec::IoSchedulerKind;

use crate::tokens::Transfer;

/// Decides in which order requests go to the device. The methods are those of
/// Linux's elevators (struct elevator_mq_ops in include/linux/elevator.h, up to
/// 4.20 struct elevator_ops).
pub trait IoScheduler: Send {
    /// A request has come, and nothing that waits took it along; it waits
    /// until [`IoScheduler::next`] gives it.
    fn add(&mut self, id: RequestId, requests: &mut Requests);

    /// Returns the merge candidates of a new request.
    fn merges(&mut self, request: &Request) -> Merging<'_>;

    /// A request that waits went along in another that waits: it must be
    /// forgotten.
    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests);

    /// Returns the next action; called whenever the device can take a request, and possibly again
    /// at any time.
    fn next(&mut self, requests: &mut Requests) -> Next;

    /// The device is done with a request.
    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        let _ = (id, requests);
    }

    /// Returns its name, such as "deadline".
    fn name(&self) -> String;
}

/// Decision of a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This request goes to the device; the scheduler has forgotten it.
    Dispatch(RequestId),
    /// Nothing may go before this time, unless something happens.
    Wait(Time),
    /// Nothing may go unless something happens.
    Nothing,
}

/// Lookup of a merge candidate for a new request.
#[derive(Debug)]
pub enum Merging<'a> {
    /// Nowhere.
    Never,
    /// Among the requests of this tree: behind one that ends where it begins
    /// and, if `front`, before one that begins where it ends.
    Sorted {
        /// The requests.
        tree: &'a mut Tree,
        /// True if the transfer may also be merged in front of a request.
        front: bool,
    },
    /// Behind or before one of the last eight of this list
    /// (blk_bio_list_merge in block/blk-merge.c, Linux 5.15).
    Latest(&'a List),
}

/// The I/O scheduler of this kind.
pub fn scheduler(kind: &IoSchedulerKind) -> Box<dyn IoScheduler> {
    match kind {
        IoSchedulerKind::NoIoScheduler(_) => Box::new(Fifo::new("none", false)),
        IoSchedulerKind::Noop(_) => Box::new(Fifo::new("noop", true)),
        IoSchedulerKind::Deadline(spec) => Box::new(Deadline::new(spec)),
        IoSchedulerKind::MqDeadline(spec) => Box::new(Deadline::multi_queue(spec)),
        IoSchedulerKind::Anticipatory(spec) => Box::new(Anticipatory::new(spec)),
        IoSchedulerKind::Cfq(spec) => Box::new(Cfq::new(spec)),
        IoSchedulerKind::Bfq(spec) => Box::new(Bfq::new(spec)),
        IoSchedulerKind::Kyber(spec) => Box::new(Kyber::new(spec)),
    }
}

/// A block device in a page.
#[derive(Clone, Copy)]
pub struct BlockDevice {
    /// Destination of transfers.
    pub submit: Node<Transfer>,
    /// Place of completed transfers.
    pub done: Node<Transfer>,
}

/// A device with its queue before it; the device itself if the scenario says
/// that nothing is queued.
///
/// ```text
///   (I/O) ─▶ [queue I/O] ─▶ (I/O queue) ─▶ [issue I/O] ─▶ device ─┐
///                 ▼          ╎ finished      ▼ went along         ▼
///           (queued I/O) ────╎──────────▶ (I/O done) ◀── [complete I/O]
/// ```
///
/// Transfers wait in the bag "queued I/O" as they were submitted. The station
/// holds a copy of each, with the slot in the bag as its owner. It changes the
/// copies' addresses and sizes as it merges them. The submitter gets its
/// transfer back unchanged.
pub fn build(
    page: &mut Page<'_>,
    spec: &headrace_spec::IoScheduler,
    device: BlockDevice,
) -> BlockDevice {
    if !spec.queues() {
        return device;
    }
    let submit = page.place::<Transfer>("I/O");
    let queued = page.bag::<Transfer>("queued I/O");
    let done = page.place::<Transfer>("I/O done");
    let queue = page.stations("I/O queue", |_| Queue::new(spec, scheduler(&spec.kind)));
    page.transition("queue I/O")
        .take(submit)
        .puts(queued)
        .puts(queue)
        .fires(move |firing, transfer: Transfer, ()| {
            let slot = firing.put(queued, transfer);
            let owner = Some(slot.0);
            firing.put(queue, Transfer { owner, ..transfer });
        });
    page.transition("issue I/O")
        .take(queue)
        .may_pass(queued, done)
        .may_put(device.submit)
        .fires(move |firing, transfer: Transfer, ()| {
            if !transfer.absorbed {
                firing.put(device.submit, transfer);
            } else if let Some(slot) = transfer.owner
                && let Some(original) = firing.take(queued, Slot(slot))
            {
                let absorbed = true;
                firing.put(
                    done,
                    Transfer {
                        absorbed,
                        ..original
                    },
                );
            }
        });
    page.transition("complete I/O")
        .take(device.done)
        .may_pass(queued, done)
        .signals(queue)
        .fires(move |firing, transfer: Transfer, ()| {
            if let Some(slot) = transfer.owner
                && let Some(original) = firing.take(queued, Slot(slot))
            {
                firing.put(done, original);
            }
            firing.signal(queue, &transfer);
        });
    BlockDevice { submit, done }
}
