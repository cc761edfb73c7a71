//! Open files by handle number.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use fuser::FileHandle;
use rustix::io::{Errno, Result};

/// An open file or directory.
#[derive(Debug)]
pub struct Open {
    pub file: OwnedFd,
    /// Held while a directory is read: its position belongs to one request at a time.
    pub position: Mutex<()>,
}

/// All that is open.
#[derive(Debug, Default)]
pub struct Handles {
    next: AtomicU64,
    open: RwLock<HashMap<u64, Arc<Open>>>,
}

impl Handles {
    pub fn add(&self, file: OwnedFd) -> FileHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let open = Arc::new(Open {
            file,
            position: Mutex::default(),
        });
        let mut all = self.open.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(number, open);
        FileHandle(number)
    }

    pub fn get(&self, handle: FileHandle) -> Result<Arc<Open>> {
        let all = self.open.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&handle.0).cloned().ok_or(Errno::BADF)
    }

    pub fn remove(&self, handle: FileHandle) {
        let mut all = self.open.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(&handle.0);
    }
}
