//! Nodes that the kernel knows, until it forgets them.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use fuser::INodeNo;
use rustix::fs::Stat;
use rustix::io::{Errno, Result};

/// A file, directory or anything else that has been looked up. It is open only to be named
/// (O_PATH), so its inode number cannot be reused.
#[derive(Clone, Debug)]
pub struct Node(Arc<OwnedFd>);

impl Node {
    pub fn new(file: OwnedFd) -> Node {
        Node(Arc::new(file))
    }

    pub fn file(&self) -> &OwnedFd {
        &self.0
    }

    /// A path that leads to it by whatever name, even if it has none any more: for calls that
    /// take no O_PATH descriptor.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
}

/// All nodes, by number.
#[derive(Debug)]
pub struct Nodes {
    root: Node,
    root_number: u64,
    known: RwLock<HashMap<u64, Known>>,
}

#[derive(Debug)]
struct Known {
    node: Node,
    /// Number of references that the kernel holds (lookups minus forgets).
    lookups: u64,
}

impl Nodes {
    pub fn new(root: Node, stat: &Stat) -> Nodes {
        Nodes {
            root,
            root_number: stat.st_ino,
            known: RwLock::default(),
        }
    }

    /// The node's number: the inode number below, but for the root's, which is 1 in FUSE.
    pub fn number(&self, inode: u64) -> INodeNo {
        match inode {
            it if it == self.root_number => INodeNo::ROOT,
            it if it == INodeNo::ROOT.0 => INodeNo(u64::MAX),
            it => INodeNo(it),
        }
    }

    /// A node that the kernel knows.
    pub fn get(&self, number: INodeNo) -> Result<Node> {
        if number == INodeNo::ROOT {
            return Ok(self.root.clone());
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let node = known.get(&number.0).map(|it| it.node.clone());
        node.ok_or(Errno::STALE)
    }

    /// Records a lookup of a node by the kernel.
    pub fn told(&self, number: INodeNo, node: Node) {
        if number == INodeNo::ROOT {
            return;
        }
        let mut known = self.all();
        let known = known.entry(number.0).or_insert(Known { node, lookups: 0 });
        known.lookups += 1;
    }

    /// Records that the kernel has dropped `times` references to a node.
    pub fn forgotten(&self, number: INodeNo, times: u64) {
        let mut all = self.all();
        let Some(known) = all.get_mut(&number.0) else {
            return;
        };
        known.lookups = known.lookups.saturating_sub(times);
        if known.lookups == 0 {
            all.remove(&number.0);
        }
    }

    fn all(&self) -> RwLockWriteGuard<'_, HashMap<u64, Known>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}
