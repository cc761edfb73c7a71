//! A machine fails: what it has in memory alone is lost.
//!
//! The journal's transactions that were committed are there again (journal replay); of the
//! file system's own structures nothing is lost that takes time to make anew.
//!
//! Not modelled: calls that are in progress go on, with what they bring into the cache; the time to
//! replay the journal, or to check a file system without one (`failure.until` includes it).

use super::volume::Volume;

impl Volume {
    /// Everything that is cached is gone; gives the bytes that the device does not have and
    /// is not being given.
    pub fn crash(&mut self) -> u64 {
        let lost = self.cache.dirty_bytes();
        self.cache.forget_all();
        self.dirty = 0;
        self.dirty_since.clear();
        self.dirty_order.clear();
        self.marks.clear();
        self.indirect_known.clear();
        // There is room for those who dirty more.
        self.woken.append(&mut self.dirty_waiters);
        lost
    }
}
