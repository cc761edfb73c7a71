//! The locks that a client has.

use std::collections::BTreeMap;

use crate::tokens::{Extent, ObjectId};

/// A lock that a client has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    pub number: u32,
    pub extent: Extent,
    pub write: bool,
    /// Requests in progress that need it.
    pub users: u32,
    /// The server wants it back: no request uses it any more.
    pub called: bool,
}

/// Locks by file and object.
type ByObject = BTreeMap<(u32, ObjectId), Vec<Lock>>;

/// The locks that a client has.
#[derive(Clone, Default, Debug)]
pub struct LockSet(ByObject);

impl LockSet {
    /// Uses a lock that is good for an extent, if there is one; gives its number.
    pub(crate) fn take(&mut self, extent: Extent, write: bool) -> Option<u32> {
        let locks = self.0.get_mut(&(extent.file, extent.object))?;
        let lock = locks.iter_mut().find(|lock| {
            let covers = lock.extent.start <= extent.start && extent.end <= lock.extent.end;
            covers && !lock.called && (lock.write || !write)
        })?;
        lock.users += 1;
        Some(lock.number)
    }

    /// A new lock.
    pub(crate) fn add(&mut self, lock: Lock) {
        let key = (lock.extent.file, lock.extent.object);
        self.0.entry(key).or_default().push(lock);
    }

    /// A request does not need a lock any more. Gives it if it is to be given up now.
    pub(crate) fn release(&mut self, file: u32, object: ObjectId, number: u32) -> Option<Lock> {
        let locks = self.0.get_mut(&(file, object))?;
        let lock = locks.iter_mut().find(|lock| lock.number == number)?;
        lock.users -= 1;
        (lock.users == 0 && lock.called).then_some(*lock)
    }

    /// The server wants a lock back. Returns it if it is unused.
    pub(crate) fn call_back(&mut self, file: u32, object: ObjectId, number: u32) -> Option<Lock> {
        let locks = self.0.get_mut(&(file, object))?;
        let lock = locks.iter_mut().find(|lock| lock.number == number)?;
        let first = !std::mem::replace(&mut lock.called, true);
        (first && lock.users == 0).then_some(*lock)
    }

    /// A lock is removed.
    pub(crate) fn remove(&mut self, file: u32, object: ObjectId, number: u32) {
        if let Some(locks) = self.0.get_mut(&(file, object)) {
            locks.retain(|lock| lock.number != number);
            if locks.is_empty() {
                self.0.remove(&(file, object));
            }
        }
    }

    /// The byte up to which an object of a file is locked from `at` on, without a lock that is to be
    /// released.
    pub fn locked_until(&self, file: u32, object: ObjectId, at: u64) -> u64 {
        let Some(locks) = self.0.get(&(file, object)) else {
            return at;
        };
        let mut until = at;
        let covers =
            |lock: &&Lock, at: u64| !lock.called && lock.extent.start <= at && at < lock.extent.end;
        while let Some(lock) = locks.iter().find(|lock| covers(lock, until)) {
            until = lock.extent.end;
        }
        until
    }
}
