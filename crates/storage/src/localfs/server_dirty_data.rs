//! A page cache above servers: the data that they do not have yet, server by server.
//!
//! Dirty data is sent as soon as it fills a request, aligned to requests, independently of the
//! flusher. Lustre's osc_makes_rpc in lustre/osc makes a request when there are pages for a full
//! one. Otherwise it behaves as on a local file system. A server's dirty data has a limit (Lustre,
//! max_dirty_mb) that counts until the server has answered. A writer that would exceed it has all
//! dirty data sent, and waits.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::Time;
use headrace_trace::Operation;
use smallvec::SmallVec;

use super::active_inactive_lru::ActiveInactiveLru;
use super::call::{Call, Stage};
use super::extents::Range;
use super::flusher::CHUNK;
use super::volume::Step;
use crate::layout::{FirstTargets, Layouts, ON_METADATA};
use crate::locks::{LockSet, Oplocks};
use crate::tokens::Extent;

/// Per-server state of a client's page cache.
#[derive(Clone, Debug)]
pub struct Remote {
    layouts: Layouts,
    /// The references that the stores around the cache lend it.
    pub(super) lent: Lent,
    /// Bytes of the largest request to a server; 0: of any size, and nothing goes out
    /// because it fills one.
    request: u64,
    /// The most dirty bytes for a server, or for each of its targets; 0: any number.
    limit: u64,
    /// Number of servers, if the limit holds for each with all its targets.
    servers: Option<u32>,
    page: u64,
    /// True if the client has locks on parts of files.
    locked: bool,
    /// Dirty bytes by server or target, until the server has them.
    dirty: BTreeMap<u32, u64>,
    /// Effect of closing a file, and the files written since their last sync.
    closing: Closing,
    unstable: BTreeSet<u32>,
}

/// State that a client's cache shares with others: the net's stores hold it, and it is here
/// while a transition borrows them.
#[derive(Clone, Default, Debug)]
pub(super) struct Lent {
    /// First targets of the files.
    pub first_targets: FirstTargets,
    /// The client's locks, if there are any.
    pub held: LockSet,
    /// Files that no client may cache, if oplocks are modelled.
    pub oplocks: Oplocks,
}

/// Parts of a range, with their servers.
type Parts = SmallVec<[(u32, Range); 4]>;

/// Effect of closing a file on data that only the client holds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Closing {
    /// Nothing.
    #[default]
    Keeps,
    /// It goes to the servers (Linux, fs/smb/client/file.c: `cifs_flush`).
    Sends,
    /// The servers bring it to stable storage (close-to-open consistency: Linux,
    /// fs/nfs/file.c: `nfs_file_flush`).
    Stores,
}

impl Remote {
    /// Servers that have all data, with requests of `request` bytes (0: of any size)
    /// and a limit of dirty bytes for each (0: none).
    pub fn new(layouts: Layouts, request: u64, limit: u64, page: u64) -> Remote {
        Remote {
            layouts,
            lent: Lent::default(),
            request,
            limit,
            servers: None,
            page,
            locked: false,
            dirty: BTreeMap::new(),
            closing: Closing::Keeps,
            unstable: BTreeSet::new(),
        }
    }

    /// The same with a limit for each of these servers, not for each of their targets.
    pub fn per_server(self, servers: Option<u32>) -> Remote {
        Remote { servers, ..self }
    }

    /// The same under a client's locks on parts of files.
    pub fn locked(self, locked: bool) -> Remote {
        Remote { locked, ..self }
    }

    /// The byte up to which a file's bytes from `at` on, at most up to `end`, may be read ahead.
    /// Unlocked bytes may be another client's.
    pub(super) fn readable_until(&self, file: u32, at: u64, end: u64) -> u64 {
        if !self.locked {
            return end;
        }
        let Some(layout) = self.layouts.known_file(file, &self.lent.first_targets) else {
            return at.min(end);
        };
        let mut at = at;
        while at < end {
            let (object, strip) = layout.object_at(at);
            if object.target == ON_METADATA {
                // No lock is modelled there.
                at = strip;
                continue;
            }
            let first = layout.offset_in_object(at);
            let locked = self.lent.held.locked_until(file, object, first) - first;
            if locked < strip - at {
                return (at + locked).min(end);
            }
            at = strip;
        }
        end
    }

    /// Returns the part of a file's range that a lock covers.
    pub(super) fn under_lock(&self, lock: Extent, range: Range) -> Vec<Range> {
        let mut parts = Vec::new();
        let Some(layout) = (self.layouts).known_file(lock.file, &self.lent.first_targets) else {
            return parts;
        };
        let mut at = range.start;
        while at < range.end {
            let (object, strip) = layout.object_at(at);
            let stop = strip.min(range.end);
            if object == lock.object {
                let first = layout.offset_in_object(at);
                if first >= lock.end {
                    break;
                }
                let start = at.saturating_add(lock.start.saturating_sub(first));
                let end = at.saturating_add(lock.end - first).min(stop);
                if start < end {
                    let file = lock.file;
                    parts.push(Range { file, start, end });
                }
            }
            at = stop;
        }
        parts
    }

    /// Bytes of a file that fill requests, in whole pages.
    fn full(&self, file: u32) -> u64 {
        let full = self.layouts.of(file).filling(self.request);
        full - full % self.page
    }

    /// The same, where closing a file does this.
    pub fn closing(self, closing: Closing) -> Remote {
        Remote { closing, ..self }
    }

    /// Returns true if a file may not be cached.
    pub(super) fn passes(&self, file: u32) -> bool {
        self.lent.oplocks.is_broken(file)
    }

    /// Returns the bytes of a write that may be copied before the limit is checked.
    pub(super) fn most(&self) -> u64 {
        match self.limit {
            0 => u64::MAX,
            // Whole pages, so that none is written in two parts.
            limit => (limit / 4 / self.page).max(1) * self.page,
        }
    }

    /// The parts of a range by server or target, whole pages each: a page counts for that of its
    /// first byte.
    fn parts(&mut self, range: Range) -> Parts {
        let mut parts = Parts::new();
        if range.start >= range.end {
            return parts;
        }
        let layout = (self.layouts).file(range.file, &mut self.lent.first_targets);
        let mut at = range.start;
        while at < range.end {
            let start = at;
            let (target, end) = layout.target_at(start - start % self.page);
            let server = match self.servers {
                Some(servers) if target != ON_METADATA => target % servers,
                _ => target,
            };
            // A strip may last to the end of all files.
            let end = end.checked_next_multiple_of(self.page).unwrap_or(u64::MAX);
            at = end.max(start + 1).min(range.end);
            let part = Range {
                file: range.file,
                start,
                end: at,
            };
            parts.push((server, part));
        }
        parts
    }

    /// Returns true if pages of a range that are not dirty can become so.
    fn has_room(&mut self, range: Range, cache: &ActiveInactiveLru) -> bool {
        let mut new: BTreeMap<u32, u64> = BTreeMap::new();
        for (server, part) in self.parts(range) {
            *new.entry(server).or_default() += cache.clean_bytes(part, self.page);
        }
        new.iter().all(|(server, new)| {
            let dirty = self.dirty.get(server).copied().unwrap_or(0);
            dirty == 0 || dirty.saturating_add(*new) <= self.limit
        })
    }

    /// Bytes go out, or become dirty.
    fn add(&mut self, server: u32, bytes: u64) {
        *self.dirty.entry(server).or_default() += bytes;
    }

    /// The servers have a range, or will never get it.
    fn settle(&mut self, range: Range) {
        for (server, part) in self.parts(range) {
            if let Some(dirty) = self.dirty.get_mut(&server) {
                *dirty = dirty.saturating_sub(part.len());
            }
        }
    }
}

impl Step<'_> {
    /// Returns true if the servers' limits let a range become dirty; if not, all that is dirty goes
    /// out.
    pub(super) fn servers_let(&mut self, range: Range, now: Time) -> bool {
        let Some(remote) = &mut self.mount.remote else {
            return true;
        };
        if remote.limit == 0 || remote.has_room(range, &self.pages.lru) {
            return true;
        }
        self.write_everything(now);
        false
    }

    /// A range is about to be made dirty.
    pub(super) fn count_for_servers(&mut self, range: Range) {
        if let Some(remote) = &mut self.mount.remote
            && remote.limit > 0
        {
            for (server, part) in remote.parts(range) {
                remote.add(server, self.pages.lru.clean_bytes(part, remote.page));
            }
        }
    }

    /// A range goes out past the cache.
    pub(super) fn passes_to_servers(&mut self, range: Range) {
        if let Some(remote) = &mut self.mount.remote
            && remote.limit > 0
        {
            for (server, part) in remote.parts(range) {
                remote.add(server, part.len());
            }
        }
    }

    /// Returns true if a call that closes a file brings it to the servers, with NFS' close-to-open
    /// consistency. That is so if they lack any data, or have no request to bring it to stable
    /// storage (COMMIT).
    pub(super) fn closing_syncs(&self, call: &Call) -> bool {
        let closes = |remote: &&Remote| remote.closing != Closing::Keeps;
        let Some(remote) = self.mount.remote.as_ref().filter(closes) else {
            return false;
        };
        call.stage != Stage::Entered
            || remote.unstable.contains(&call.file)
            || self.flusher.is_writing(call.file)
            || self.pages.lru.next_dirty(call.file, 0).is_some()
    }

    /// Returns true if a call needs its data on the servers, and not on their devices.
    pub(super) fn only_sends(&self, call: &Call) -> bool {
        let sends = |remote: &Remote| remote.closing == Closing::Sends;
        call.operation == Operation::Close && self.mount.remote.as_ref().is_some_and(sends)
    }

    /// The servers have been given something of a file, or have brought all of it to stable
    /// storage.
    pub(super) fn set_unstable(&mut self, file: u32, unstable: bool) {
        let stores = |remote: &&mut Remote| remote.closing == Closing::Stores;
        if let Some(remote) = self.mount.remote.as_mut().filter(stores) {
            match unstable {
                true => remote.unstable.insert(file),
                false => remote.unstable.remove(&file),
            };
        }
    }

    /// The servers have a range, or will never get it.
    pub(super) fn servers_have(&mut self, range: Range) {
        if let Some(remote) = &mut self.mount.remote
            && remote.limit > 0
        {
            remote.settle(range);
        }
    }

    /// Sends full requests of a range that was just written.
    pub(super) fn write_full_requests(&mut self, range: Range, now: Time) {
        let full = self
            .mount
            .remote
            .as_ref()
            .map_or(0, |remote| remote.full(range.file));
        if full == 0 {
            return;
        }
        let file = range.file;
        let mut at = range.start - range.start % full;
        while at < range.end {
            if self.pages.lru.dirty_until(file, at, at + full) == at + full
                && let Some(all) = self.pages.lru.clean_next(file, at, full)
            {
                self.goes_to_servers(all, now);
            }
            at += full;
        }
    }

    /// All that is dirty goes out.
    fn write_everything(&mut self, now: Time) {
        for file in self.flusher.dirty_files() {
            while let Some(range) = self.pages.lru.clean_next(file, 0, CHUNK) {
                self.goes_to_servers(range, now);
            }
        }
    }

    fn goes_to_servers(&mut self, range: Range, now: Time) {
        self.cleaned(range, range.len());
        self.flusher.sent(now);
        self.write_back(range, None, now);
        self.charge(range);
    }
}
