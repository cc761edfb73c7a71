//! Requests by address, reads before writes, none too late: `deadline` and
//! `mq-deadline`.
//!
//! After block/deadline-iosched.c (Linux 4.20) and block/mq-deadline.c (Linux
//! 6.6). Requests of one direction go in batches of at most `fifo_batch` by
//! rising address. A new batch reads, unless writes have been passed over
//! `writes_starved` times. It starts at the request that has waited longest if
//! that has expired or nothing lies ahead, and else goes on where the direction
//! was left. `mq-deadline` remembers the positions of both directions, `deadline`
//! only of the last.
//!
//! Not modelled: the priority classes of `mq-deadline` (5.14) and its limit of
//! asynchronous requests, zoned devices. `deadline` goes on with the request that
//! was next when the last one left; here it is the next by address, even if it
//! came later, as in `mq-deadline`.

use headrace_net::Span;
use headrace_spec::{Deadline as Spec, MqDeadline};

use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next, span};

const READ: usize = 0;
const WRITE: usize = 1;

/// Requests of both directions, sorted by address and by age.
#[derive(Debug)]
pub struct Deadline {
    name: &'static str,
    expire: [Span; 2],
    writes_starved: u32,
    fifo_batch: u32,
    front_merges: bool,
    /// Whether a direction's position outlives a batch of the other.
    remembers: bool,
    sorted: [Tree; 2],
    aged: [List; 2],
    /// Where each direction goes on, if it does.
    position: [Option<u64>; 2],
    direction: usize,
    batched: u32,
    starved: u32,
}

impl Deadline {
    /// The scheduler of the single-queue block layer.
    pub fn new(spec: &Spec) -> Deadline {
        Deadline {
            name: "deadline",
            expire: [span(spec.read_expire), span(spec.write_expire)],
            writes_starved: spec.writes_starved,
            fifo_batch: spec.fifo_batch,
            front_merges: spec.front_merges,
            remembers: false,
            sorted: Default::default(),
            aged: Default::default(),
            position: [None; 2],
            direction: READ,
            batched: 0,
            starved: 0,
        }
    }

    /// The scheduler of the multi-queue block layer.
    pub fn multi_queue(spec: &MqDeadline) -> Deadline {
        Deadline {
            name: "mq-deadline",
            remembers: true,
            ..Deadline::new(&Spec {
                read_expire: spec.read_expire,
                write_expire: spec.write_expire,
                writes_starved: spec.writes_starved,
                fifo_batch: spec.fifo_batch,
                front_merges: spec.front_merges,
            })
        }
    }

    fn ahead(&self, direction: usize, requests: &Requests) -> Option<RequestId> {
        let position = self.position[direction]?;
        requests.at_or_after(&self.sorted[direction], position)
    }

    fn take(&mut self, id: RequestId, requests: &mut Requests) {
        let direction = direction(requests.get(id));
        requests.unlink(&mut self.aged[direction], id);
        requests.remove(&mut self.sorted[direction], id);
    }
}

fn direction(request: &Request) -> usize {
    usize::from(request.writes())
}

impl IoScheduler for Deadline {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let direction = direction(requests.get(id));
        let deadline = requests.now + self.expire[direction];
        requests.get_mut(id).deadline = deadline;
        requests.push(&mut self.aged[direction], id);
        requests.insert(&mut self.sorted[direction], id);
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        Merging::Sorted {
            tree: &mut self.sorted[direction(request)],
            front: self.front_merges,
        }
    }

    /// The request that stays gets the earlier of both deadlines
    /// (deadline_merged_requests).
    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let deadline = requests.get(id).deadline;
        if deadline < requests.get(into).deadline {
            requests.get_mut(into).deadline = deadline;
            let direction = direction(requests.get(id));
            requests.move_before(&mut self.aged[direction], id, into);
        }
        self.take(id, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        let going_on = self.ahead(self.direction, requests);
        let id = match going_on.filter(|_| self.batched < self.fifo_batch) {
            Some(id) => id,
            None => {
                let direction = match (self.aged[READ].first(), self.aged[WRITE].first()) {
                    (None, None) => return Next::Nothing,
                    (Some(_), None) => READ,
                    (None, Some(_)) => WRITE,
                    (Some(_), Some(_)) if self.starved >= self.writes_starved => WRITE,
                    (Some(_), Some(_)) => {
                        self.starved += 1;
                        READ
                    }
                };
                if direction == WRITE {
                    self.starved = 0;
                }
                self.direction = direction;
                self.batched = 0;
                let oldest = self.aged[direction].first();
                let expired = oldest.filter(|&id| requests.get(id).deadline <= requests.now);
                match expired.or(self.ahead(direction, requests)).or(oldest) {
                    Some(id) => id,
                    None => return Next::Nothing,
                }
            }
        };
        self.batched += 1;
        self.take(id, requests);
        if !self.remembers {
            self.position = [None; 2];
        }
        self.position[self.direction] = Some(requests.get(id).address);
        Next::Dispatch(id)
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }
}
