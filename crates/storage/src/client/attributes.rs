//! Attribute cache of a client, with timeouts, as in Linux's NFS client.
//!
//! Attributes are valid for a time. The next call after that revalidates them. If nothing has
//! changed, the time doubles, up to a bound; otherwise it is the shortest again (fs/nfs/inode.c,
//! nfs_attribute_timeout and nfs_update_inode). With Linux's times, a file checked every second is
//! revalidated after 3, 9, 21, 45 and 93 seconds, then once a minute. Answers to reads and writes
//! bring attributes too. A client does not count its own changes as changes (RFC 1813, section 2.6,
//! weak cache consistency).
//!
//! A name is valid as long as its directory. A lookup brings the attributes of both (RFC 1813,
//! section 3.3.3).
//!
//! `open` always revalidates (close-to-open consistency), unless `close_to_open` is off. A close
//! then sends written data to stable storage (WRITE and COMMIT). Cached data is read without a
//! message while the attributes are valid. If another client has changed the file since, its clean
//! cached data is dropped.
//!
//! | mount or export option | field |
//! | --- | --- |
//! | `acregmin`, `acregmax` | `file_min`, `file_max` |
//! | `acdirmin`, `acdirmax` | `directory_min`, `directory_max` |
//! | `nocto` | `close_to_open = false` |
//! | `noac` | all four times 0; for its synchronous writes, `workload.io.synchronous` |
//! | `sync` of the mount | `workload.io.synchronous` |
//! | `sync` of the export | a simple server stores each write at once; else at the COMMIT |
//!
//! Not modelled: a second request to revalidate both a directory and a file in it; visibility of a
//! change before its writer has the answer; parts of directories' lists; negative lookups, and
//! READDIRPLUS; a COMMIT apart from close and `fsync`; the export option `async`, with which a
//! COMMIT stores nothing; delegations of NFS version 4.

use std::collections::BTreeMap;

use headrace_net::{Span, Time};
use headrace_spec::TimedAttributes;
use headrace_trace::Operation;
use headrace_workload::Directories;

use crate::cache_counts::CacheCounts;
use crate::time_conversion::span;

/// Object with attributes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Object {
    File(u32),
    Directory(u32),
}

/// Number of times files and directories have been changed: the server's knowledge.
#[derive(Clone, Default, Debug)]
pub struct Changes(BTreeMap<Object, u64>);

impl Changes {
    /// Number of times it has been changed.
    fn of(&self, object: Object) -> u64 {
        self.0.get(&object).copied().unwrap_or(0)
    }

    /// It is changed; gives how often it had been before.
    fn count(&mut self, object: Object) -> u64 {
        let changes = self.0.entry(object).or_insert(0);
        *changes += 1;
        *changes - 1
    }
}

/// Cached attributes of a file or directory.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time of the request for the cached attributes.
    asked: Time,
    /// Since when it has lasted for so long.
    since: Time,
    /// Validity of cached attributes.
    lasts: Span,
    /// Number of times it had been changed.
    changes: u64,
    /// Change counter. For a directory: changes by other clients. For a file: its directory's
    /// counter at the lookup.
    names: u64,
    /// For a directory: true if its list is cached.
    listed: bool,
}

/// The times for which a client believes.
#[derive(Clone, Copy, Debug)]
struct Times {
    file: (Span, Span),
    directory: (Span, Span),
    close_to_open: bool,
}

impl Times {
    fn new(spec: &TimedAttributes) -> Times {
        Times {
            file: (span(spec.file_min), span(spec.file_max)),
            directory: (span(spec.directory_min), span(spec.directory_max)),
            close_to_open: spec.close_to_open,
        }
    }

    fn of(&self, object: Object) -> (Span, Span) {
        match object {
            Object::File(_) => self.file,
            Object::Directory(_) => self.directory,
        }
    }
}

/// Attributes that a client keeps.
#[derive(Clone, Debug)]
pub(super) struct Attributes {
    times: Times,
    directories: Directories,
    known: BTreeMap<Object, Entry>,
    counts: CacheCounts,
}

impl Attributes {
    /// None known yet.
    pub fn new(spec: &TimedAttributes, directories: &Directories) -> Attributes {
        Attributes {
            times: Times::new(spec),
            directories: directories.clone(),
            known: BTreeMap::new(),
            counts: CacheCounts::default(),
        }
    }

    /// Requests that the cached attributes answered, and those that they did not.
    pub fn counts(&self) -> CacheCounts {
        self.counts
    }

    /// Counts a question that is answered, or not, and gives that back.
    fn counted(&mut self, answered: bool) -> bool {
        match answered {
            true => self.counts.hits += 1,
            false => self.counts.misses += 1,
        }
        answered
    }

    fn directory_of(&self, file: u32) -> Object {
        Object::Directory(self.directories.of(file))
    }

    fn is_fresh(&self, object: Object, now: Time) -> bool {
        let entry = self.known.get(&object);
        entry.is_some_and(|it| now.since(it.asked) < it.lasts)
    }

    /// Returns true if a name was looked up since its directory was last found changed.
    fn has_name(&self, file: u32) -> bool {
        let names = |object| self.known.get(&object).map(|it| it.names);
        let of_file = names(Object::File(file));
        of_file.is_some() && of_file == names(self.directory_of(file))
    }

    /// Returns true if cached data may be read without asking.
    pub fn let_read(&mut self, file: u32, now: Time) -> bool {
        let is_fresh = self.is_fresh(Object::File(file), now);
        self.counted(is_fresh)
    }

    /// Returns true if the cached attributes answer an operation on a name.
    pub fn answer(&mut self, operation: Operation, file: u32, now: Time) -> bool {
        let directory = self.directory_of(file);
        let known = || {
            self.has_name(file)
                && self.is_fresh(directory, now)
                && self.is_fresh(Object::File(file), now)
        };
        let answered = match operation {
            Operation::Open => !self.times.close_to_open && known(),
            // A link's target is cached like a file's data.
            Operation::Stat | Operation::Readlink => known(),
            Operation::Readdir => {
                let listed = self.known.get(&directory).is_some_and(|it| it.listed);
                listed && self.is_fresh(directory, now)
            }
            // The cache cannot answer it.
            _ => return false,
        };
        self.counted(answered)
    }

    /// The server has answered about a file's data, asked at that time. Returns true if the cached
    /// data is invalid.
    pub fn data_answered(
        &mut self,
        operation: Operation,
        file: u32,
        asked: Time,
        changes: &mut Changes,
    ) -> bool {
        if operation == Operation::Write {
            self.change(Object::File(file), changes);
        }
        self.learn(Object::File(file), asked, changes)
    }

    /// The server has answered a request about a name, issued at that time. Returns true if the
    /// cached data of the file is invalid.
    pub fn name_answered(
        &mut self,
        operation: Operation,
        file: u32,
        asked: Time,
        changes: &mut Changes,
    ) -> bool {
        use Operation::{
            Create, Link, Mkdir, Open, Readdir, Readlink, Rename, Rmdir, Setattr, Setxattr, Stat,
            Symlink, Unlink,
        };
        let directory = self.directory_of(file);
        match operation {
            Create | Mkdir | Symlink | Link | Rename => {
                self.change(directory, changes);
                self.look_up(file, asked, changes)
            }
            Unlink | Rmdir => {
                self.change(directory, changes);
                self.change(Object::File(file), changes);
                self.learn(directory, asked, changes);
                self.known.remove(&Object::File(file));
                false
            }
            Setattr | Setxattr => {
                self.change(Object::File(file), changes);
                self.learn(Object::File(file), asked, changes)
            }
            Readdir => {
                self.learn(directory, asked, changes);
                if let Some(entry) = self.known.get_mut(&directory) {
                    entry.listed = true;
                }
                false
            }
            Open | Stat | Readlink if !self.has_name(file) => self.look_up(file, asked, changes),
            Open | Stat | Readlink if self.is_fresh(directory, asked) => {
                self.learn(Object::File(file), asked, changes)
            }
            // The directory was asked about, and if it has not changed, that was all.
            Stat | Readlink if self.is_fresh(Object::File(file), asked) => {
                self.learn(directory, asked, changes) && self.look_up(file, asked, changes)
            }
            Open | Stat | Readlink => self.look_up(file, asked, changes),
            _ => false,
        }
    }

    /// A name was looked up.
    fn look_up(&mut self, file: u32, asked: Time, changes: &Changes) -> bool {
        let directory = self.directory_of(file);
        self.learn(directory, asked, changes);
        let stale = self.learn(Object::File(file), asked, changes);
        let names = self.known.get(&directory).map_or(0, |it| it.names);
        if let Some(entry) = self.known.get_mut(&Object::File(file)) {
            entry.names = names;
        }
        stale
    }

    /// The client itself has changed something.
    fn change(&mut self, object: Object, changes: &mut Changes) {
        let before = changes.count(object);
        if let Some(entry) = self.known.get_mut(&object)
            && entry.changes == before
        {
            entry.changes += 1;
        }
    }

    /// The server has reported attributes; returns true if others have changed them.
    fn learn(&mut self, object: Object, asked: Time, changes: &Changes) -> bool {
        let (least, most) = self.times.of(object);
        let changes = changes.of(object);
        let Some(entry) = self.known.get_mut(&object) else {
            let entry = Entry {
                asked,
                since: asked,
                lasts: least,
                changes,
                names: 0,
                listed: false,
            };
            self.known.insert(object, entry);
            return false;
        };
        let changed = entry.changes != changes;
        if changed {
            entry.lasts = least;
            entry.changes = changes;
            entry.listed = false;
            if matches!(object, Object::Directory(_)) {
                entry.names += 1;
            }
        } else if asked.since(entry.since) >= entry.lasts {
            entry.lasts = Span(entry.lasts.0.saturating_mul(2)).min(most);
        }
        entry.since = asked.max(entry.since);
        entry.asked = asked.max(entry.asked);
        changed
    }
}
