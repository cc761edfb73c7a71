//! Files distributed to targets in the order in which they are first used.

/// Assigned first targets of files, by pool: the metadata server's knowledge
/// (lustre/lod/lod_qos.c).
///
/// Not modelled: targets that are chosen by their free space (lustre/lod/lod_qos.c,
/// `lod_ost_alloc_qos`, once two targets differ by `qos_threshold_rr`); a new start at
/// random after some hundred files (`LOV_CREATE_RESEED_MULT`).
#[derive(Clone, Default, Debug)]
pub struct FirstTargets(Vec<Pool>);

/// Assigned first targets within one pool.
#[derive(Clone, Default, Debug)]
struct Pool {
    /// The first target of the next file.
    next: u64,
    /// The first target of each file, one more than its number; 0 of files that nobody
    /// has used.
    first: Vec<u32>,
}

impl FirstTargets {
    /// The number of a file's first target within its pool, if it has been assigned.
    pub(super) fn get(&self, pool: usize, file: u32) -> Option<u64> {
        let first = *self.0.get(pool)?.first.get(file as usize)?;
        first.checked_sub(1).map(u64::from)
    }

    /// The same; a new file gets the next `width` of the pool's `targets`.
    pub(super) fn assign(&mut self, pool: usize, file: u32, width: u64, targets: u64) -> u64 {
        if self.0.len() <= pool {
            self.0.resize_with(pool + 1, Pool::default);
        }
        let Pool { next, first } = &mut self.0[pool];
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
}
