//! `none` and `noop`: first in, first out.
//!
//! `none` is the absence of a scheduler in the multi-queue block layer (block/blk-mq-sched.c, Linux
//! 5.15). A request is merged with one of the last eight that wait, behind or before it. `noop`
//! (block/noop-iosched.c, Linux 2.6–4.20) lets a request go along behind any that waits, found
//! there by a hash of their ends.
//!
//! Not modelled: one queue for each processor and each hardware queue: requests leave in their
//! order of arrival over all.

use super::requests::{List, Request, RequestId, Requests, Tree};
use super::{IoScheduler, Merging, Next};

/// Requests go on in the order in which they came.
#[derive(Debug)]
pub struct Fifo {
    name: &'static str,
    /// By operation, to find contiguous requests; none to look at the latest.
    sorted: Option<[Tree; 2]>,
    waiting: List,
}

impl Fifo {
    /// `merging`: a request may go along with any that waits.
    pub fn new(name: &'static str, merging: bool) -> Fifo {
        Fifo {
            name,
            sorted: merging.then(Default::default),
            waiting: List::default(),
        }
    }

    fn take(&mut self, id: RequestId, requests: &mut Requests) {
        requests.unlink(&mut self.waiting, id);
        if let Some(trees) = &mut self.sorted {
            let tree = &mut trees[usize::from(requests.get(id).writes())];
            requests.remove(tree, id);
        }
    }
}

impl IoScheduler for Fifo {
    fn add(&mut self, id: RequestId, requests: &mut Requests) {
        requests.push(&mut self.waiting, id);
        if let Some(trees) = &mut self.sorted {
            let tree = &mut trees[usize::from(requests.get(id).writes())];
            requests.insert(tree, id);
        }
    }

    fn merges(&mut self, request: &Request) -> Merging<'_> {
        match &mut self.sorted {
            None => Merging::Latest(&self.waiting),
            Some(trees) => Merging::Sorted {
                tree: &mut trees[usize::from(request.writes())],
                front: false,
            },
        }
    }

    fn absorbed(&mut self, id: RequestId, _: RequestId, requests: &mut Requests) {
        self.take(id, requests);
    }

    fn next(&mut self, requests: &mut Requests) -> Next {
        match self.waiting.first() {
            None => Next::Nothing,
            Some(id) => {
                self.take(id, requests);
                Next::Dispatch(id)
            }
        }
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }
}
