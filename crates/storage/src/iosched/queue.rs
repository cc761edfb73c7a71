//! The queue of a block device: plugging, merging, the limit of requests, and the number at the
//! device. A scheduler decides the order.
//!
//! After Linux's block layer:
//!
//! - A batch that a process submits in one instant is held ("plugged",
//!   block/blk-mq.c): its contiguous transfers become one request. It is sorted
//!   by address before the first goes on (sorted up to 5.15; 5.16 keeps the
//!   order of submission). It goes on at the end of the instant, or earlier
//!   when a request comes while it holds [`PLUG_REQUESTS`] or its last has
//!   [`PLUG_BYTES`].
//! - A request that cannot be merged counts for the limit of requests
//!   (nr_requests). Synchronous and asynchronous ones have separate limits
//!   (struct request_list, up to 4.20). Beyond it, requests wait in the order
//!   they came, unseen by the scheduler.
//! - Flushes of the device's cache pass by the scheduler. One is at the device
//!   at a time, and all that come meanwhile are done by the next
//!   (block/blk-flush.c).
//! - Forced writes (FUA) are never merged (REQ_NOMERGE_FLAGS), nor are requests of
//!   different priorities (blk_rq_merge_ok, attempt_merge).
//!
//! Not modelled: processor time; splitting of transfers larger than the largest request; the limit
//! of segments; processes that stop submitting while there are too many requests; requeueing and
//! I/O polling.

use std::collections::HashMap;

use headrace_net::{Discipline, Slot, Station, Time};
use headrace_trace::Operation;

use super::requests::{List, NONE, Request, RequestId, Requests};
use super::{IoScheduler, Merging, Next};
use crate::tokens::Transfer;

/// Requests that a plug holds at most (BLK_MAX_REQUEST_COUNT, block/blk.h,
/// Linux 5.15; 16 before).
pub const PLUG_REQUESTS: u32 = 32;

/// A plug whose last request is this large lets all go when another comes
/// (BLK_PLUG_FLUSH_SIZE, block/blk.h, Linux 5.15).
pub const PLUG_BYTES: u64 = 128 * 1024;

/// Number of requests of a list that are checked for a merge ("a hand wavy stop count of 8",
/// blk_bio_list_merge in block/blk-merge.c, Linux 5.15).
const LATEST: usize = 8;

/// Reason of a wake-up.
const UNPLUG: u32 = 0;
const TIMER: u32 = 1;

/// The discipline of a device's queue.
pub struct Queue {
    scheduler: Box<dyn IoScheduler>,
    requests: Requests,
    /// Requests at the device, and how many may be.
    out: u32,
    depth: u32,
    /// Requests that count for each limit, and those that wait for it.
    admitted: [u32; 2],
    limit: u32,
    backlog: [List; 2],
    largest: u64,
    /// One for each process that submitted in this instant.
    plugs: Vec<(u32, List)>,
    plug_of: HashMap<u32, usize>,
    batch: Vec<(u64, u64, RequestId)>,
    /// Flushes: one waits, with all that are done by it; one is out.
    flush: Option<RequestId>,
    flushing: bool,
    /// The request of each transfer at the device, by the transfer's owner.
    carried: Vec<RequestId>,
    /// Time when the scheduler is to be asked again.
    timer: Option<Time>,
}

impl Queue {
    /// An empty queue.
    pub fn new(spec: &headrace_spec::IoScheduler, scheduler: Box<dyn IoScheduler>) -> Queue {
        Queue {
            scheduler,
            requests: Requests::new(),
            out: 0,
            depth: spec.depth(),
            admitted: [0; 2],
            limit: spec.requests,
            backlog: [List::default(); 2],
            largest: spec.largest_request.0,
            plugs: Vec::new(),
            plug_of: HashMap::new(),
            batch: Vec::new(),
            flush: None,
            flushing: false,
            carried: Vec::new(),
            timer: None,
        }
    }

    /// Returns true if two requests can become one.
    fn fit(one: &Request, other: &Request, largest: u64) -> bool {
        (one.end() == other.address || other.end() == one.address)
            && one.operation == other.operation
            && one.priority == other.priority
            && !(one.forced || other.forced)
            && one.size > 0
            && other.size > 0
            && one.size.saturating_add(other.size) <= largest
    }

    /// Holds a request back with those that its process submitted in the same
    /// instant.
    fn plug(&mut self, id: RequestId, station: &mut Station<'_, Transfer>) {
        let process = self.requests.get(id).process;
        let new = self.plugs.len();
        let index = match self.plugs.last() {
            None => {
                station.wake_at(self.requests.now, UNPLUG);
                new
            }
            Some(&(last, _)) if last == process => new - 1,
            // Mostly there is only one: no need to look it up.
            Some(&(last, _)) => {
                if new == 1 {
                    self.plug_of.insert(last, 0);
                }
                *self.plug_of.entry(process).or_insert(new)
            }
        };
        if index == new {
            self.plugs.push((process, List::default()));
        }
        if let Some(last) = self.plugs[index].1.last() {
            let request = *self.requests.get(last);
            if Self::fit(&request, self.requests.get(id), self.largest) {
                self.requests.join(last, id);
                self.requests.free(id);
                return;
            }
            if self.plugs[index].1.len() >= PLUG_REQUESTS || request.size >= PLUG_BYTES {
                self.unplug(index);
                self.dispatch(station);
            }
        }
        self.requests.push(&mut self.plugs[index].1, id);
    }

    fn unplug(&mut self, index: usize) {
        let mut batch = std::mem::take(&mut self.batch);
        while let Some(id) = self.requests.pop(&mut self.plugs[index].1) {
            let request = self.requests.get(id);
            batch.push((request.address, request.order, id));
        }
        batch.sort_unstable();
        for (_, _, id) in batch.drain(..) {
            self.insert(id);
        }
        self.batch = batch;
    }

    fn insert(&mut self, id: RequestId) {
        if self.merge(id) {
            return;
        }
        let pool = usize::from(self.requests.get(id).pool);
        if self.admitted[pool] < self.limit {
            self.admitted[pool] += 1;
            self.scheduler.add(id, &mut self.requests);
        } else {
            self.requests.push(&mut self.backlog[pool], id);
        }
    }

    /// Lets a new request go along in one that waits, if there is one to go
    /// along with.
    fn merge(&mut self, id: RequestId) -> bool {
        let requests = &mut self.requests;
        let request = *requests.get(id);
        let fits = |other: RequestId, requests: &Requests| {
            Self::fit(requests.get(other), &request, self.largest)
        };
        let into = match self.scheduler.merges(&request) {
            Merging::Never => None,
            Merging::Latest(list) => {
                let mut latest = list.last();
                let latest = std::iter::from_fn(|| {
                    let this = latest?;
                    latest = requests.before_in_list(this);
                    Some(this)
                });
                let found = latest.take(LATEST).find(|&other| fits(other, requests));
                if let Some(other) = found {
                    requests.join(other, id);
                }
                found
            }
            Merging::Sorted { tree, front } => {
                let behind = requests.before(tree, request.address);
                let before = requests.at_or_after(tree, request.end());
                if let Some(other) = behind.filter(|&other| fits(other, requests)) {
                    requests.join(other, id);
                    // It may have filled a gap (attempt_back_merge).
                    if let Some(next) = before
                        && Self::fit(requests.get(other), requests.get(next), self.largest)
                    {
                        self.scheduler.absorbed(next, other, requests);
                        self.admitted[usize::from(requests.get(next).pool)] -= 1;
                        requests.join(other, next);
                        requests.free(next);
                    }
                    Some(other)
                } else if let Some(other) = before.filter(|&other| front && fits(other, requests)) {
                    requests.remove(tree, other);
                    requests.join(other, id);
                    requests.insert(tree, other);
                    Some(other)
                } else {
                    None
                }
            }
        };
        if into.is_some() {
            self.requests.free(id);
        }
        into.is_some()
    }

    /// Sends requests to the device for as long as it and the scheduler allow.
    fn dispatch(&mut self, station: &mut Station<'_, Transfer>) {
        while self.out < self.depth {
            let id = if let Some(flush) = self.flush.take_if(|_| !self.flushing) {
                self.flushing = true;
                flush
            } else {
                match self.scheduler.next(&mut self.requests) {
                    Next::Dispatch(id) => id,
                    Next::Wait(time) => {
                        if self.timer.is_none_or(|timer| time < timer) {
                            self.timer = Some(time);
                            station.wake_at(time, TIMER);
                        }
                        return;
                    }
                    Next::Nothing => return,
                }
            };
            self.out += 1;
            let now = self.requests.now;
            let request = self.requests.get_mut(id);
            request.issued = now;
            let slot = request.first;
            let carrier = station.token_mut(Slot(slot));
            carrier.address = request.address;
            carrier.size = request.size;
            carrier.first_used = request.first_used;
            carrier.synchronous = request.synchronous;
            if let Some(owner) = carrier.owner {
                let owner = owner as usize;
                if owner >= self.carried.len() {
                    self.carried.resize(owner + 1, NONE);
                }
                self.carried[owner] = id;
            }
            // The carrier's slot is free from now on.
            let rest = self.requests.transfer_after(slot);
            self.requests.get_mut(id).first = rest.unwrap_or(NONE);
            station.release(Slot(slot));
        }
    }
}

impl Discipline<Transfer> for Queue {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        self.requests.now = station.now();
        let transfer = station.token(slot);
        let id = self.requests.make(slot, transfer);
        if transfer.operation != Operation::Sync {
            self.plug(id, station);
            return;
        }
        match self.flush {
            Some(flush) => {
                self.requests.join_sync(flush, id);
                self.requests.free(id);
            }
            None => self.flush = Some(id),
        }
        self.dispatch(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Transfer>) {
        self.requests.now = station.now();
        if tag == UNPLUG {
            for index in 0..self.plugs.len() {
                self.unplug(index);
            }
            if self.plugs.len() > 1 {
                self.plug_of.clear();
            }
            self.plugs.clear();
        } else if self.timer == Some(self.requests.now) {
            self.timer = None;
        } else {
            // An earlier time was asked for later.
            return;
        }
        self.dispatch(station);
    }

    fn signal(&mut self, transfer: &Transfer, station: &mut Station<'_, Transfer>) {
        self.requests.now = station.now();
        let owner = transfer.owner.unwrap_or(NONE) as usize;
        let Some(&id) = self.carried.get(owner) else {
            station.fail("a device gave back a transfer that it was not given");
            return;
        };
        self.out -= 1;
        let request = *self.requests.get(id);
        let mut absorbed = request.first;
        while absorbed != NONE {
            station.token_mut(Slot(absorbed)).absorbed = true;
            station.release(Slot(absorbed));
            absorbed = self.requests.transfer_after(absorbed).unwrap_or(NONE);
        }
        if request.operation == Operation::Sync {
            self.flushing = false;
        } else {
            self.scheduler.finished(id, &mut self.requests);
            self.admitted[usize::from(request.pool)] -= 1;
            for pool in 0..self.backlog.len() {
                while self.admitted[pool] < self.limit
                    && let Some(next) = self.requests.pop(&mut self.backlog[pool])
                {
                    self.insert(next);
                }
            }
        }
        self.requests.free(id);
        self.dispatch(station);
    }

    fn name(&self) -> String {
        self.scheduler.name()
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}
