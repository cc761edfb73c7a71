//! Files distributed to targets in the order in which they are first used.

use std::sync::Arc;

use super::file_placement::{FilePlacement, Placed};

/// Assigned first targets of files, by pool: the metadata server's knowledge
/// (lustre/lod/lod_qos.c).
///
/// Not modelled: a new start at random after some hundred files (`LOV_CREATE_RESEED_MULT`).
#[derive(Clone, Default, Debug)]
pub struct FirstTargets {
    pools: Vec<Pool>,
    /// Files whose servers are chosen one by one, by pool.
    placed: Vec<Placed>,
}

/// Assigned first targets within one pool.
#[derive(Clone, Default, Debug)]
struct Pool {
    /// The first target of the next file.
    next: u64,
    /// The first target of each file, one more than its number; 0 for unused files.
    first: Vec<u32>,
}

impl FirstTargets {
    /// The number of a file's first target within its pool, if it has been assigned.
    pub(super) fn get(&self, pool: usize, file: u32) -> Option<u64> {
        let first = *self.pools.get(pool)?.first.get(file as usize)?;
        first.checked_sub(1).map(u64::from)
    }

    /// The same; a new file gets the next `width` of the pool's `targets`.
    pub(super) fn assign(&mut self, pool: usize, file: u32, width: u64, targets: u64) -> u64 {
        if self.pools.len() <= pool {
            self.pools.resize_with(pool + 1, Pool::default);
        }
        let Pool { next, first } = &mut self.pools[pool];
        let at = file as usize;
        if first.len() <= at {
            first.resize(at + 1, 0);
        }
        if first[at] == 0 {
            first[at] = (*next % targets) as u32 + 1;
            *next = (*next + width) % targets;
        }
        u64::from(first[at] - 1)
    }

    /// The files of a pool whose servers are chosen one by one.
    pub(super) fn placed(&mut self, pool: usize) -> &mut Placed {
        if self.placed.len() <= pool {
            self.placed.resize_with(pool + 1, Placed::default);
        }
        &mut self.placed[pool]
    }

    /// The same of a file that has been placed.
    pub(super) fn get_placed(&self, pool: usize, file: u32) -> Option<&Arc<FilePlacement>> {
        self.placed.get(pool)?.get(file)
    }

    /// Why a file could not be placed, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.placed.iter_mut().find_map(|it| it.failure.take())
    }
}
