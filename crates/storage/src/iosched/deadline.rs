//! `deadline` and `mq-deadline`: requests by address, reads before writes, within deadlines.
//!
//! After block/deadline-iosched.c (Linux 4.20) and block/mq-deadline.c (Linux 6.6). Requests of one
//! direction go in batches of at most `fifo_batch` by rising address. A new batch reads, unless
//! writes have been passed over `writes_starved` times. It starts at the request that has waited
//! longest if that has expired or nothing lies ahead. Else it goes on where the direction was left.
//! `mq-deadline` remembers the positions of both directions, `deadline` only of the last.
//!
//! `mq-deadline` knows priority classes (since 5.14). Requests of a lower one wait while requests
//! of a higher one wait or are at the device, up to `prio_aging_expire`. Batches are counted over
//! all classes.
//!
//! Not modelled: the limit of asynchronous requests of `mq-deadline`; zoned devices; the place
//! where `deadline` continues: at the request that was next when the last one left, here at the
//! next by address.

use headrace_net::{Span, Time};
use headrace_spec::{Deadline as Spec, IoClass, MqDeadline};

use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next};
use crate::time_conversion::span;

const READ: usize = 0;
const WRITE: usize = 1;

/// The requests of a priority class, of both directions, sorted by address and by age
/// (struct dd_per_prio).
#[derive(Default, Debug)]
struct Class {
    sorted: [Tree; 2],
    aged: [List; 2],
    /// Next position of each direction, if any.
    position: [Option<u64>; 2],
    /// Requests that wait or are at the device.
    here: u32,
}

impl Class {
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

/// Progress of a batch.
#[derive(Clone, Copy, Debug)]
struct Batch {
    direction: usize,
    requests: u32,
    /// Number of times writes have been passed over.
    starved: u32,
}

/// Requests of both directions, in batches by address.
#[derive(Debug)]
pub struct Deadline {
    name: &'static str,
    expire: [Span; 2],
    writes_starved: u32,
    fifo_batch: u32,
    front_merges: bool,
    /// Aging time of lower classes. Set for the multi-queue block layer, where a direction keeps
    /// its position across batches of the other.
    aging: Option<Span>,
    classes: [Class; 3],
    batch: Batch,
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
            aging: None,
            classes: Default::default(),
            batch: Batch {
                direction: READ,
                requests: 0,
                starved: 0,
            },
        }
    }

    /// The scheduler of the multi-queue block layer.
    pub fn multi_queue(spec: &MqDeadline) -> Deadline {
        Deadline {
            name: "mq-deadline",
            aging: Some(span(spec.prio_aging_expire)),
            ..Deadline::new(&Spec {
                read_expire: spec.read_expire,
                write_expire: spec.write_expire,
                writes_starved: spec.writes_starved,
                fifo_batch: spec.fifo_batch,
                front_merges: spec.front_merges,
            })
        }
    }

    /// The class of a request: the single-queue scheduler has one.
    fn class_of(&self, request: &Request) -> usize {
        let class = self.aging.map(|_| request.priority.class());
        class.unwrap_or(IoClass::BestEffort) as usize
    }

    /// The next request of a class, and how far the batch is with it
    /// (__dd_dispatch_request).
    fn choose(&self, class: &Class, requests: &Requests) -> Option<(RequestId, Batch)> {
        let mut batch = self.batch;
        let going_on = class.ahead(batch.direction, requests);
        if let Some(id) = going_on.filter(|_| batch.requests < self.fifo_batch) {
            batch.requests += 1;
            return Some((id, batch));
        }
        let direction = match (class.aged[READ].first(), class.aged[WRITE].first()) {
            (None, None) => return None,
            (Some(_), None) => READ,
            (None, Some(_)) => WRITE,
            (Some(_), Some(_)) if batch.starved >= self.writes_starved => WRITE,
            (Some(_), Some(_)) => {
                batch.starved += 1;
                READ
            }
        };
        if direction == WRITE {
            batch.starved = 0;
        }
        batch.direction = direction;
        batch.requests = 1;
        let oldest = class.aged[direction].first();
        let expired = oldest.filter(|&id| requests.get(id).deadline <= requests.now);
        let id = expired.or(class.ahead(direction, requests)).or(oldest)?;
        Some((id, batch))
    }

    /// A request of a lower class that has waited for too long, if several classes
    /// have any (dd_dispatch_prio_aged_requests).
    fn aged(&self, requests: &Requests) -> Option<(RequestId, Batch)> {
        let aging = self.aging?;
        if self.classes.iter().filter(|class| class.here > 0).count() < 2 {
            return None;
        }
        let came_by = requests.now.since(Time::ZERO).0.checked_sub(aging.0)?;
        let lower = &self.classes[IoClass::BestEffort as usize..];
        let mut next = lower
            .iter()
            .filter_map(|class| self.choose(class, requests));
        next.find(|&(id, _)| requests.get(id).arrived.0 <= came_by)
    }
}

fn direction(request: &Request) -> usize {
    usize::from(request.writes())
}

impl IoScheduler for Deadline {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        let direction = direction(requests.get(id));
        let number = self.class_of(requests.get(id));
        let deadline = requests.now + self.expire[direction];
        let request = requests.get_mut(id);
        request.deadline = deadline;
        request.tag = number as u32;
        let class = &mut self.classes[number];
        class.here += 1;
        requests.push(&mut class.aged[direction], id);
        requests.insert(&mut class.sorted[direction], id);
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        let class = self.class_of(request);
        Merging::Sorted {
            tree: &mut self.classes[class].sorted[direction(request)],
            front: self.front_merges,
        }
    }

    /// The request that stays gets the earlier of both deadlines
    /// (deadline_merged_requests).
    fn absorbed(&mut self, id: RequestId, into: RequestId, requests: &mut Requests) {
        let class = &mut self.classes[requests.get(id).tag as usize];
        let deadline = requests.get(id).deadline;
        if deadline < requests.get(into).deadline {
            requests.get_mut(into).deadline = deadline;
            let direction = direction(requests.get(id));
            requests.move_before(&mut class.aged[direction], id, into);
        }
        class.here -= 1;
        class.take(id, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        // Only the highest class that has any at all.
        let highest = self.classes.iter().find(|class| class.here > 0);
        let next = self
            .aged(requests)
            .or_else(|| self.choose(highest?, requests));
        let Some((id, batch)) = next else {
            return Next::Nothing;
        };
        self.batch = batch;
        let class = &mut self.classes[requests.get(id).tag as usize];
        class.take(id, requests);
        if self.aging.is_none() {
            class.position = [None; 2];
        }
        class.position[batch.direction] = Some(requests.get(id).address);
        Next::Dispatch(id)
    }

    fn finished(&mut self, id: RequestId, requests: &mut Requests) {
        self.classes[requests.get(id).tag as usize].here -= 1;
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }
}
