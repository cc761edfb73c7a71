//! A machine fails: the contents of its memory are lost.
//!
//! Committed transactions of the journal are restored (journal replay). Structures of the file
//! system that take time to rebuild are not lost.
//!
//! Not modelled: the end of calls in progress: they go on, and fill the cache; the time to replay
//! the journal, or to check a file system without one (`failure.until` includes it).

use super::volume::Step;

impl Step<'_> {
    /// Everything that is cached is gone; gives the bytes that the device does not have and
    /// is not being given.
    pub fn crash(&mut self) -> u64 {
        let lost = self.pages.crash();
        let waiters = self.flusher.crash();
        self.effects.woken.extend(waiters);
        self.blocks.forget_pointers();
        lost
    }
}
