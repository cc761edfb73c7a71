//! The requests of an I/O queue: where they lie, and the lists and sorted trees
//! that schedulers keep them in.
//!
//! As in Linux, a request carries the links of one list (`queuelist`) and one
//! tree (`rb_node`) with it. So schedulers allocate nothing for a request and
//! remove it from either in O(log n).

use headrace_net::{Slot, Time};
use headrace_spec::IoPriority;
use headrace_trace::Operation;

use crate::splitmix;
use crate::tokens::Transfer;

/// The number of a request in its queue; free again once it is done.
pub type RequestId = u32;

pub(super) const NONE: u32 = u32::MAX;

/// One or more contiguous transfers that go to the device as one.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The process that submitted the first of its transfers.
    pub process: u32,
    /// The first byte on the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// For a write: newly allocated blocks. For a read: memory pages used for the first time.
    pub first_used: u32,
    /// [`Operation::Read`], [`Operation::Write`] or [`Operation::Sync`].
    pub operation: Operation,
    /// A call waits for one of its transfers.
    pub synchronous: bool,
    /// The priority of its transfers.
    pub priority: IoPriority,
    /// Done only when the medium has it.
    pub forced: bool,
    /// Time when the first of its transfers was submitted.
    pub arrived: Time,
    /// Time when it was sent to the device.
    pub issued: Time,
    /// Deadline for dispatch to the device, for deadline schedulers.
    pub deadline: Time,
    /// Counts up with every request: breaks ties.
    pub order: u64,
    /// Any value that the scheduler stores with it.
    pub tag: u32,
    /// Request pool that it counts against.
    pub(super) pool: u8,
    /// Its transfers, by address: slots at the station.
    pub(super) first: u32,
    last: u32,
    left: u32,
    right: u32,
    next: u32,
    previous: u32,
}

impl Request {
    /// The byte after the last.
    pub fn end(&self) -> u64 {
        self.address + self.size
    }

    /// Returns true if it writes.
    pub fn writes(&self) -> bool {
        self.operation == Operation::Write
    }

    fn key(&self) -> (u64, u64) {
        (self.address, self.order)
    }

    /// Random, and the same in every run.
    fn height(&self) -> u64 {
        splitmix::finalise(self.order.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A list of requests in an order of its keeper's; a request is in at most one.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for List {
    fn default() -> List {
        List {
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }
}

impl List {
    /// The first request.
    pub fn first(&self) -> Option<RequestId> {
        some(self.head)
    }

    /// The last request.
    pub fn last(&self) -> Option<RequestId> {
        some(self.tail)
    }

    /// Number of there that are.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Requests sorted by address; a request is in at most one. A treap (Seidel and
/// Aragon 1996): O(log n) expected for everything.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    root: u32,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: NONE }
    }
}

impl Tree {
    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.root == NONE
    }
}

fn some(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// All requests of a queue, and the time.
#[derive(Debug)]
pub struct Requests {
    /// The time now.
    pub now: Time,
    requests: Vec<Request>,
    free: Vec<u32>,
    /// The transfer after each within its request, by slot.
    next_transfer: Vec<u32>,
    made: u64,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests {
            now: Time::ZERO,
            requests: Vec::new(),
            free: Vec::new(),
            next_transfer: Vec::new(),
            made: 0,
        }
    }

    /// A request.
    pub fn get(&self, id: RequestId) -> &Request {
        &self.requests[id as usize]
    }

    /// A request, to change; its address and size are the queue's affair.
    pub fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.requests[id as usize]
    }

    pub(super) fn make(&mut self, slot: Slot, transfer: &Transfer) -> RequestId {
        let request = Request {
            process: transfer.process,
            address: transfer.address,
            size: transfer.size,
            first_used: transfer.first_used,
            operation: transfer.operation,
            synchronous: transfer.synchronous,
            priority: transfer.priority,
            forced: transfer.forced,
            arrived: self.now,
            issued: self.now,
            deadline: Time::NEVER,
            order: self.made,
            tag: 0,
            pool: u8::from(transfer.synchronous),
            first: slot.0,
            last: slot.0,
            left: NONE,
            right: NONE,
            next: NONE,
            previous: NONE,
        };
        self.made += 1;
        let slot = slot.0 as usize;
        if slot >= self.next_transfer.len() {
            self.next_transfer.resize(slot + 1, NONE);
        }
        self.next_transfer[slot] = NONE;
        match self.free.pop() {
            Some(id) => {
                self.requests[id as usize] = request;
                id
            }
            None => {
                self.requests.push(request);
                self.requests.len() as u32 - 1
            }
        }
    }

    pub(super) fn free(&mut self, id: RequestId) {
        self.free.push(id);
    }

    /// The slots of a request's transfers, by address.
    pub(super) fn transfer_after(&self, slot: u32) -> Option<u32> {
        some(self.next_transfer[slot as usize])
    }

    /// Lets all that `other` carries go along in `into`, whose end or beginning
    /// it touches. `other` must be in no list or tree, and `into` in no tree if
    /// its address changes.
    pub(super) fn join(&mut self, into: RequestId, other: RequestId) {
        let moved = *self.get(other);
        let grown = *self.get(into);
        let (head, tail) = if grown.end() == moved.address {
            (grown, moved)
        } else {
            (moved, grown)
        };
        self.next_transfer[head.last as usize] = tail.first;
        let request = self.get_mut(into);
        request.address = head.address;
        request.size += moved.size;
        request.first_used += moved.first_used;
        request.first = head.first;
        request.last = tail.last;
        request.synchronous |= moved.synchronous;
    }

    /// Lets a transfer be done together with a request that moves no bytes.
    pub(super) fn join_sync(&mut self, into: RequestId, other: RequestId) {
        let (last, moved) = (self.get(into).last, *self.get(other));
        self.next_transfer[last as usize] = moved.first;
        self.get_mut(into).last = moved.last;
    }

    /// Puts a request at the end of a list.
    pub fn push(&mut self, list: &mut List, id: RequestId) {
        let tail = list.tail;
        let request = self.get_mut(id);
        request.previous = tail;
        request.next = NONE;
        match some(tail) {
            Some(tail) => self.get_mut(tail).next = id,
            None => list.head = id,
        }
        list.tail = id;
        list.len += 1;
    }

    /// Takes the first request out of a list.
    pub fn pop(&mut self, list: &mut List) -> Option<RequestId> {
        let first = list.first()?;
        self.unlink(list, first);
        Some(first)
    }

    /// Takes a request out of the list that it is in.
    pub fn unlink(&mut self, list: &mut List, id: RequestId) {
        let Request { previous, next, .. } = *self.get(id);
        match some(previous) {
            Some(previous) => self.get_mut(previous).next = next,
            None => list.head = next,
        }
        match some(next) {
            Some(next) => self.get_mut(next).previous = previous,
            None => list.tail = previous,
        }
        list.len -= 1;
    }

    /// Moves `id` within its list to just before `other`.
    pub fn move_before(&mut self, list: &mut List, other: RequestId, id: RequestId) {
        self.unlink(list, id);
        let previous = self.get(other).previous;
        self.get_mut(other).previous = id;
        let request = self.get_mut(id);
        (request.previous, request.next) = (previous, other);
        match some(previous) {
            Some(previous) => self.get_mut(previous).next = id,
            None => list.head = id,
        }
        list.len += 1;
    }

    /// The request before this one in its list.
    pub fn before_in_list(&self, id: RequestId) -> Option<RequestId> {
        some(self.get(id).previous)
    }

    /// Sorts a request into a tree.
    pub fn insert(&mut self, tree: &mut Tree, id: RequestId) {
        let (key, height) = (self.get(id).key(), self.get(id).height());
        // Down to the first lower node; `parent` is the one above it.
        let (mut parent, mut below) = (NONE, tree.root);
        while let Some(node) = some(below)
            && self.get(node).height() >= height
        {
            parent = node;
            below = self.child(node, key);
        }
        let (left, right) = self.split(below, key);
        let request = self.get_mut(id);
        (request.left, request.right) = (left, right);
        self.put_below(tree, parent, key, id);
    }

    /// Takes a request out of the tree that it is in.
    pub fn remove(&mut self, tree: &mut Tree, id: RequestId) {
        let key = self.get(id).key();
        let (mut parent, mut below) = (NONE, tree.root);
        while below != id {
            parent = below;
            below = self.child(below, key);
        }
        let Request { left, right, .. } = *self.get(id);
        let rest = self.merge(left, right);
        self.put_below(tree, parent, key, rest);
    }

    fn child(&self, node: u32, key: (u64, u64)) -> u32 {
        let node = self.get(node);
        if key < node.key() {
            node.left
        } else {
            node.right
        }
    }

    fn put_below(&mut self, tree: &mut Tree, parent: u32, key: (u64, u64), id: u32) {
        match some(parent) {
            None => tree.root = id,
            Some(parent) if key < self.get(parent).key() => self.get_mut(parent).left = id,
            Some(parent) => self.get_mut(parent).right = id,
        }
    }

    fn split(&mut self, node: u32, key: (u64, u64)) -> (u32, u32) {
        if node == NONE {
            return (NONE, NONE);
        }
        let Request { left, right, .. } = *self.get(node);
        if key < self.get(node).key() {
            let (less, more) = self.split(left, key);
            self.get_mut(node).left = more;
            (less, node)
        } else {
            let (less, more) = self.split(right, key);
            self.get_mut(node).right = less;
            (node, more)
        }
    }

    fn merge(&mut self, less: u32, more: u32) -> u32 {
        if less == NONE {
            return more;
        }
        if more == NONE {
            return less;
        }
        if self.get(less).height() >= self.get(more).height() {
            let rest = self.merge(self.get(less).right, more);
            self.get_mut(less).right = rest;
            less
        } else {
            let rest = self.merge(less, self.get(more).left);
            self.get_mut(more).left = rest;
            more
        }
    }

    /// The request with the lowest address that is not below `address`.
    pub fn at_or_after(&self, tree: &Tree, address: u64) -> Option<RequestId> {
        let (mut best, mut below) = (None, tree.root);
        while let Some(node) = some(below) {
            if self.get(node).address >= address {
                best = Some(node);
                below = self.get(node).left;
            } else {
                below = self.get(node).right;
            }
        }
        best
    }

    /// The request with the highest address below `address`.
    pub fn before(&self, tree: &Tree, address: u64) -> Option<RequestId> {
        let (mut best, mut below) = (None, tree.root);
        while let Some(node) = some(below) {
            if self.get(node).address < address {
                best = Some(node);
                below = self.get(node).right;
            } else {
                below = self.get(node).left;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn transfer(address: u64) -> Transfer {
        Transfer {
            synchronous: true,
            ..Transfer::new(Operation::Read, address, 1)
        }
    }

    proptest! {
        /// A tree and a list agree with a sorted and an unsorted vector.
        #[test]
        fn trees_and_lists_hold_what_vectors_hold(
            steps in prop::collection::vec((0..40_u64, prop::bool::weighted(0.6)), 1..200),
        ) {
            let mut requests = Requests::new();
            let (mut tree, mut list) = (Tree::default(), List::default());
            let mut model: Vec<(u64, u64, RequestId)> = Vec::new();
            for (slot, (address, add)) in steps.into_iter().enumerate() {
                if add || model.is_empty() {
                    let id = requests.make(Slot(slot as u32), &transfer(address));
                    requests.insert(&mut tree, id);
                    requests.push(&mut list, id);
                    model.push((address, requests.get(id).order, id));
                } else {
                    let (_, _, id) = model.remove(address as usize % model.len());
                    requests.remove(&mut tree, id);
                    requests.unlink(&mut list, id);
                    requests.free(id);
                }
                prop_assert_eq!(list.len() as usize, model.len());
                let above = model.iter().filter(|entry| entry.0 >= address).min();
                let below = model.iter().filter(|entry| entry.0 < address).max();
                prop_assert_eq!(requests.at_or_after(&tree, address), above.map(|entry| entry.2));
                prop_assert_eq!(requests.before(&tree, address), below.map(|entry| entry.2));
                let mut back = Vec::new();
                let mut at = list.last();
                while let Some(id) = at {
                    back.push(id);
                    at = requests.before_in_list(id);
                }
                back.reverse();
                let order: Vec<RequestId> = model.iter().map(|entry| entry.2).collect();
                prop_assert_eq!(&back, &order);
                prop_assert_eq!(list.first(), order.first().copied());
            }
        }
    }
}
