//! Files distributed to targets in the order in which they are first used.

use crate::common::Common;

/// First server of the next file of each pool. Clones share the state: one server knows (Lustre's
/// metadata server, lustre/lod/lod_qos.c).
///
/// Not modelled: targets that are chosen by their free space (lustre/lod/lod_qos.c,
/// `lod_ost_alloc_qos`, once two targets differ by `qos_threshold_rr`); a new start at
/// random after some hundred files (`LOV_CREATE_RESEED_MULT`).
#[derive(Clone, Default, Debug)]
pub(super) struct Balance(Common<Turns>);

#[derive(Default, Debug)]
struct Turns {
    next: u64,
    /// The first target of each file, one more than its number; 0 of files that nobody
    /// has used.
    first: Vec<u32>,
}

impl Balance {
    /// The number of a file's first target out of `targets`; a new file takes `width` of
    /// them.
    pub fn first_of(&self, file: u32, width: u64, targets: u64) -> u64 {
        let mut turns = self.0.get();
        let at = file as usize;
        if turns.first.len() <= at {
            turns.first.resize(at + 1, 0);
        }
        if turns.first[at] == 0 {
            turns.first[at] = (turns.next % targets) as u32 + 1;
            turns.next = (turns.next + width) % targets;
        }
        u64::from(turns.first[at] - 1)
    }
}
