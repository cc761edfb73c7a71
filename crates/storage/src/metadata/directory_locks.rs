//! Threads of a metadata server that lock directories.
//!
//! ```text
//!   arrive ─▶ (line) ─▶ a thread is free ─▶ (wait for the directory's lock) ─▶ work ─▶ release
//! ```
//!
//! A thread takes the oldest operation, waits for the lock of its directory, works for the
//! operation's time, and unlocks the directory. While it waits, it takes no other operation and no
//! processor time. Locks are granted in the order in which threads ask for them.
//!
//! | `metadata.directory_locks` | exclusive | shared | no lock |
//! | --- | --- | --- | --- |
//! | `changes` | create, unlink, rename, link, symlink, mkdir, rmdir | readdir | the others |
//! | `exclusive` | these, and open, stat, readdir | | the others |
//!
//! `changes` are the rules of Linux (Documentation/filesystems/directory-locking.rst), where a name
//! that is looked up is in the directory cache (path-lookup.rst, RCU-walk).
//!
//! Names in a directory of a single process (`names.made_in = "process"`) need no lock.
//!
//! Not modelled: the second directory of a rename; a lock that lasts until a change is stored;
//! names of a directory that lie on several servers: each server locks its part.

use std::collections::{HashMap, VecDeque};

use headrace_net::{Discipline, Line, Slot, Span, Station};
use headrace_spec::DirectoryLocks;
use headrace_trace::Operation;
use headrace_workload::Directories;

use super::Times;
use crate::tokens::Job;

/// Threads that serve operations first come, first served, each under the lock of its directory.
#[derive(Clone)]
pub struct LockingThreads {
    threads: u32,
    /// Threads that have an operation.
    taken: u32,
    times: Times,
    locks: DirectoryLocks,
    directories: Directories,
    /// Operations that no thread has taken.
    line: Line,
    /// Directories that are locked.
    locked: HashMap<u32, Lock>,
}

#[derive(Clone, Default)]
struct Lock {
    /// Number of operations that hold it.
    holders: u32,
    exclusive: bool,
    /// Operations whose threads wait for it, and whether they need it exclusively.
    waiting: VecDeque<(Slot, bool)>,
}

impl Lock {
    fn can_be_had(&self, exclusive: bool) -> bool {
        self.holders == 0 || !(self.exclusive || exclusive)
    }

    fn hold(&mut self, exclusive: bool) {
        self.holders += 1;
        self.exclusive = exclusive;
    }
}

impl LockingThreads {
    /// Creates `threads` threads, for files in these directories.
    pub fn new(
        threads: u32,
        times: Times,
        locks: DirectoryLocks,
        directories: Directories,
    ) -> LockingThreads {
        LockingThreads {
            threads,
            taken: 0,
            times,
            locks,
            directories,
            line: Line::default(),
            locked: HashMap::new(),
        }
    }

    /// The directory that an operation locks, and whether exclusively; none if it locks none.
    fn lock_of(&self, job: &Job) -> Option<(u32, bool)> {
        use Operation::{Create, Link, Mkdir, Open, Readdir, Rename, Rmdir, Stat, Symlink, Unlink};
        let every = self.locks == DirectoryLocks::Exclusive;
        let exclusive = match job.operation {
            Create | Unlink | Rename | Link | Symlink | Mkdir | Rmdir => true,
            Readdir => every,
            Open | Stat if every => true,
            _ => return None,
        };
        Some((self.directories.shared(job.file)?, exclusive))
    }

    /// A thread takes an operation.
    fn take(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        if let Some((directory, exclusive)) = self.lock_of(station.token(slot)) {
            let lock = self.locked.entry(directory).or_default();
            if !lock.waiting.is_empty() || !lock.can_be_had(exclusive) {
                lock.waiting.push_back((slot, exclusive));
                return;
            }
            lock.hold(exclusive);
        }
        self.work(slot, station);
    }

    fn work(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        station.start_serving();
        let time = self.times.of(station.token(slot).operation);
        let mut service: Span = time;
        let time = station.service(&mut service, slot);
        station.wake_in(time, slot.0);
    }

    /// Unlocks a directory, and returns the operations that have its lock now.
    fn unlock(&mut self, directory: u32) -> Vec<Slot> {
        let Some(lock) = self.locked.get_mut(&directory) else {
            return Vec::new();
        };
        lock.holders -= 1;
        let mut next = Vec::new();
        while let Some(&(slot, exclusive)) = lock.waiting.front()
            && lock.can_be_had(exclusive)
        {
            lock.waiting.pop_front();
            lock.hold(exclusive);
            next.push(slot);
        }
        if lock.holders == 0 {
            self.locked.remove(&directory);
        }
        next
    }
}

impl Discipline<Job> for LockingThreads {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        if self.taken == self.threads {
            station.push(&mut self.line, slot);
            return;
        }
        self.taken += 1;
        self.take(slot, station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Job>) {
        let slot = Slot(tag);
        let lock = self.lock_of(station.token(slot));
        station.stop_serving();
        station.release(slot);
        if let Some((directory, _)) = lock {
            for next in self.unlock(directory) {
                self.work(next, station);
            }
        }
        match station.pop(&mut self.line) {
            Some(next) => self.take(next, station),
            None => self.taken -= 1,
        }
    }

    fn name(&self) -> String {
        format!("FCFS, {} servers", self.threads)
    }

    fn servers(&self) -> Option<u32> {
        Some(self.threads)
    }

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        let waiting = self.locked.values().map(|lock| lock.waiting.len() as u64);
        vec![("waiting for directories", waiting.sum())]
    }
}
