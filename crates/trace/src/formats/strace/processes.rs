//! The traced processes and their descriptors, as POSIX has them. Descriptors
//! made by dup or inherited by fork share one open file description, and with
//! it one position. Threads share the table of descriptors.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::kinds;
use crate::Kind;

/// An open file description.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) file: AtomicU32,
    pub(super) position: AtomicU64,
    pub(super) append: AtomicBool,
    /// True if the position is a mere assumption.
    pub(super) assumed: AtomicBool,
    /// True if that assumption has been counted.
    pub(super) counted: AtomicBool,
}

impl Description {
    pub(super) fn new(file: u32, append: bool) -> Arc<Self> {
        Arc::new(Self {
            file: AtomicU32::new(file),
            position: AtomicU64::new(0),
            append: AtomicBool::new(append),
            assumed: AtomicBool::new(false),
            counted: AtomicBool::new(false),
        })
    }

    /// A description that was open before the trace began.
    pub(super) fn inherited(file: u32) -> Arc<Self> {
        let new = Self::new(file, false);
        new.assumed
            .store(true, std::sync::atomic::Ordering::Relaxed);
        new
    }
}

/// Object of a descriptor.
#[derive(Clone, Debug)]
pub(super) enum OpenObject {
    File(Arc<Description>),
    Other(&'static Kind),
}

/// A descriptor: a number's reference to a description.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    pub(super) opened: OpenObject,
    pub(super) close_on_exec: bool,
    /// The process that made it.
    pub(super) by: u32,
}

pub(super) type Table = FxHashMap<i32, Descriptor>;

/// A value that threads or related processes share.
///
/// The reader is used from one thread at a time, so the lock never waits; it
/// makes the reader `Send`.
#[derive(Debug, Default)]
pub(super) struct Shared<T>(Arc<Mutex<T>>);

impl<T: Clone> Shared<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another reference to the same value.
    pub(super) fn share(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Returns true if both are the same value.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A copy that goes its own way.
    pub(super) fn copy(&self) -> Self {
        Self(Arc::new(Mutex::new(self.lock().clone())))
    }
}

/// A call that has begun and not ended.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) call: Option<super::calls::Call>,
    pub(super) name: Box<[u8]>,
    /// Its arguments as far as printed; empty if `call` is none.
    pub(super) text: Vec<u8>,
    pub(super) time_ns: i64,
    pub(super) line: u64,
    /// For a fork: the child that is assumed to be its.
    pub(super) child: Option<u32>,
    /// For a close: the object that it closes. The number is free from the call's begin.
    pub(super) closing: Option<OpenObject>,
}

impl Pending {
    /// Returns the kind under which it is counted if it does not end: `kind` for file operations.
    pub(super) fn without_end(&self, kind: &'static Kind) -> &'static Kind {
        match self.call {
            Some(_) => kind,
            None => &kinds::OTHER_CALL,
        }
    }
}

/// A process or thread.
#[derive(Debug)]
pub(super) struct Process {
    /// Its number among the trace's process names, once it needs one.
    pub(super) name: Option<u32>,
    /// The process that a thread belongs to.
    pub(super) leader: u32,
    /// True if no clone shows it, and it is taken for a thread of its leader.
    pub(super) assumed: bool,
    /// Its parent, until it is seen.
    pub(super) expected_by: Option<u32>,
    pub(super) table: Shared<Table>,
    /// The current directory, where it is known.
    pub(super) directory: Shared<Option<Box<str>>>,
    pub(super) pending: Option<Pending>,
    /// True if strace has shown it, or said that it is attached to it: a fork may return before.
    pub(super) attached: bool,
    /// True if the trace shows the call that made it, and no line of its own yet.
    pub(super) forked: bool,
    /// Start and end of a poll that found something to read, until that is read.
    pub(super) polled: Option<(i64, i64)>,
}

impl Process {
    /// A process that shares nothing.
    pub(super) fn new(number: u32) -> Self {
        Self {
            name: None,
            leader: number,
            assumed: false,
            expected_by: None,
            table: Shared::default(),
            directory: Shared::default(),
            pending: None,
            attached: false,
            forked: false,
            polled: None,
        }
    }

    /// Drops the descriptors marked close-on-exec, as execve does; the table
    /// is no longer shared after it.
    pub(super) fn execute(&mut self) {
        self.table = self.table.copy();
        self.table.lock().retain(|_, it| !it.close_on_exec);
    }
}

/// Resources that a clone shares between parent and child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub(super) files: bool,
    pub(super) directory: bool,
    pub(super) thread: bool,
}

impl Sharing {
    pub(super) fn of(arguments: &[u8]) -> Self {
        let has = |flag| super::syntax::has_flag(arguments, flag);
        Self {
            files: has(b"CLONE_FILES"),
            directory: has(b"CLONE_FS"),
            thread: has(b"CLONE_THREAD"),
        }
    }
}
