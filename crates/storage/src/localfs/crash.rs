//! A machine fails: the contents of its memory are lost.
//!
//! The journal's transactions that were committed are there again (journal replay); of the
//! file system's own structures nothing is lost that takes time to make anew.
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
