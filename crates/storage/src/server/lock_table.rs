//! The locks of one object: clients that have some, and clients that wait for one.
//!
//! Like the server's part of Lustre's lock manager (lustre/ldlm/ldlm_extent.c). A lock without a
//! conflict with granted or earlier waiting ones is granted at once, larger than requested.
//! Otherwise the holders of conflicting locks are called back, and it waits in line.
//!
//! Not modelled: locks that the server takes for the client when too many wait (`contended_locks`
//! in ldlm_check_contention); glimpses of a file's size; locks that clients release because they
//! have too many.

use headrace_spec::ExtentLocks;

/// Number of conflicting locks that stop a new lock from growing towards the start.
const MANY: usize = 4;

/// A lock that a client has or waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    /// The client.
    pub client: u32,
    /// The client's number of it.
    pub number: u32,
    /// To write; otherwise to read.
    pub write: bool,
    /// The first byte.
    pub start: u64,
    /// The byte after the last; the largest number: to the end of whatever there will be.
    pub end: u64,
    /// The client has been called back, or will be as soon as it has the lock.
    pub called: bool,
}

impl Lock {
    fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }

    /// Returns true if both cannot be granted.
    pub fn conflicts(&self, other: &Lock) -> bool {
        (self.write || other.write) && self.overlaps(other.start, other.end)
    }
}

/// Notice to a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockNotice {
    /// It has this lock.
    Granted(Lock),
    /// It is to give this lock up.
    Blocking(Lock),
}

/// Growth of locks.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    unit: u64,
    grow: bool,
    contended: usize,
    most: u64,
}

impl Growth {
    /// The scenario's way.
    pub fn new(spec: &ExtentLocks) -> Growth {
        Growth {
            unit: spec.unit.0,
            grow: spec.grow,
            contended: spec.contended_locks as usize,
            most: spec.contended_growth.0,
        }
    }
}

/// The locks of an object.
#[derive(Default, Debug)]
pub struct Object {
    granted: Vec<Lock>,
    waiting: Vec<Lock>,
}

impl Object {
    /// Returns true if no client has a lock or waits for one.
    pub fn is_free(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    /// The locks that are granted.
    #[cfg(test)]
    pub fn granted(&self) -> &[Lock] {
        &self.granted
    }

    /// A client asks for a lock.
    pub fn enqueue(&mut self, lock: Lock, growth: Growth, tell: &mut Vec<LockNotice>) {
        let mut free = true;
        for other in self.granted.iter_mut().chain(&mut self.waiting) {
            if other.conflicts(&lock) {
                free = false;
                call_back(other, tell);
            }
        }
        match free {
            true => self.grant(lock, growth, tell),
            false => self.waiting.push(lock),
        }
    }

    /// A client gives a lock up; those that waited for it go on.
    pub fn cancel(&mut self, client: u32, number: u32, growth: Growth, tell: &mut Vec<LockNotice>) {
        let is = |lock: &Lock| (lock.client, lock.number) == (client, number);
        self.granted.retain(|lock| !is(lock));
        let mut at = 0;
        while at < self.waiting.len() {
            let lock = self.waiting[at];
            let before = self.granted.iter().chain(&self.waiting[..at]);
            if before.clone().any(|other| other.conflicts(&lock)) {
                at += 1;
            } else {
                self.waiting.remove(at);
                self.grant(lock, growth, tell);
            }
        }
    }

    fn grant(&mut self, lock: Lock, growth: Growth, tell: &mut Vec<LockNotice>) {
        let mut lock = match growth.grow {
            true => self.grown(lock, growth),
            false => lock,
        };
        tell.push(LockNotice::Granted(lock));
        if self.waiting.iter().any(|other| other.conflicts(&lock)) {
            call_back(&mut lock, tell);
        }
        self.granted.push(lock);
    }

    /// The largest extent around the request that conflicts with no other lock:
    /// ldlm_extent_internal_policy_granted and _waiting, and their fixup.
    fn grown(&self, lock: Lock, growth: Growth) -> Lock {
        let Lock { start, end, .. } = lock;
        let (mut low, mut high) = (0, u64::MAX);
        let limit = |conflicting: usize, low: &mut u64, high: &mut u64| {
            if conflicting > MANY {
                *low = start;
            }
            if conflicting > growth.contended && lock.write {
                *high = (*high).min(start.saturating_add(growth.most).max(end));
            }
        };
        let granted = self.granted.iter();
        let granted = granted.filter(|other| other.write || lock.write);
        let mut conflicting = 0;
        for other in granted {
            conflicting += 1;
            if other.end <= start {
                low = low.max(other.end);
            }
            if other.start >= end {
                high = high.min(other.start);
            }
        }
        limit(conflicting, &mut low, &mut high);
        let waiting = self.waiting.iter();
        let waiting =
            waiting.filter(|other| other.write || lock.write || other.client == lock.client);
        let mut conflicting = 0;
        for other in waiting {
            conflicting += 1;
            if !other.overlaps(low, high) || other.overlaps(start, end) {
                continue;
            }
            if other.end <= start {
                low = low.max(other.end);
            } else {
                high = high.min(other.start);
            }
        }
        limit(conflicting, &mut low, &mut high);
        // As aligned as the request, so that others can have the rest.
        let alignment = alignment(start, end, growth.unit);
        low = low.next_multiple_of(alignment);
        if high < u64::MAX {
            high -= high % alignment;
        }
        Lock {
            start: low.min(start),
            end: high.max(end),
            ..lock
        }
    }
}

/// Tells a client once.
fn call_back(lock: &mut Lock, tell: &mut Vec<LockNotice>) {
    if !std::mem::replace(&mut lock.called, true) {
        tell.push(LockNotice::Blocking(*lock));
    }
}

/// The largest of the unit, its double and so on that both ends are multiples of.
fn alignment(start: u64, end: u64, unit: u64) -> u64 {
    let both = |alignment: u64| {
        start.is_multiple_of(alignment) && (end == u64::MAX || end.is_multiple_of(alignment))
    };
    let mut alignment = unit;
    // An extent at the beginning is aligned to its length.
    while both(alignment) && alignment < 1 << 62 && both(alignment * 2) && alignment < end - start {
        alignment *= 2;
    }
    alignment
}

#[cfg(test)]
mod tests;
