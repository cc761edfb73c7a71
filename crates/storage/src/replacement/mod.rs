//! Replacement policies of page caches: which page leaves when another one needs its place.
//!
//! A policy keeps the order of the pages, and a cache keeps the pages: what is dirty, and where it
//! goes. To add a policy, write a file with a type that implements [`ReplacementPolicy`] and name
//! it in [`policy`]. A policy in Python is one that the caller of a run supplies.
//!
//! A read or write of a cached page counts as a use. A dirty page leaves as a clean one does, and
//! is written then. Policies decide page by page, so a simulation takes longer with small pages.
//! Only least recently used is stored by extent.
//!
//! Tests compare hit ratios of LRU and FIFO with Che's approximation for Zipf popularity (Che, Tung
//! and Wang 2002; Fricker, Robert and Roberts 2012). For small caches, tests compare them with
//! exact values (King 1971). No policy has more hits than Belady's optimum.
//!
//! Not modelled: latency or processor time of a policy; pinned pages; larger units than pages.

mod arc;
mod clock;
mod external;
mod fifo;
mod lists;
mod lru;
#[cfg(test)]
mod tests;
mod two_queue;

use std::fmt::Debug;

use headrace_spec::Replacement;

pub use self::arc::Arc;
pub use self::clock::Clock;
use self::external::ExternalPolicy;
pub use self::fifo::Fifo;
pub use self::lru::Lru;
pub use self::two_queue::TwoQueue;

/// A page of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CachedPage {
    /// The file.
    pub file: u32,
    /// The number of the page in it.
    pub number: u64,
}

/// Decides which page leaves a full cache.
pub trait ReplacementPolicy: Debug + Send {
    /// A cached page is used.
    fn access(&mut self, page: CachedPage);

    /// A page comes in that is not cached. Returns the page that leaves for it, if the cache is
    /// full; it never is the one that comes.
    fn insert(&mut self, page: CachedPage) -> Option<CachedPage>;

    /// A page leaves for another reason, such as the removal of its file.
    fn remove(&mut self, page: CachedPage);

    /// Forgets all pages, as after a crash.
    fn clear(&mut self);

    /// Returns the error that ended it, if it is code of the user's that failed.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// Makes a policy of the caller's own for a cache of this number and of this many pages.
pub type MakePolicy<'a> = dyn Fn(u32, u64) -> Box<dyn ReplacementPolicy> + 'a;

/// A policy for a cache of this many pages, at least one.
pub(crate) fn policy(kind: Replacement, pages: u64) -> Box<dyn ReplacementPolicy> {
    let pages = usize::try_from(pages.max(1)).unwrap_or(usize::MAX);
    match kind {
        Replacement::Lru => Box::new(Lru::new(pages)),
        Replacement::Fifo => Box::new(Fifo::new(pages)),
        Replacement::Clock => Box::new(Clock::new(pages)),
        Replacement::TwoQueue => Box::new(TwoQueue::new(pages)),
        Replacement::Arc => Box::new(Arc::new(pages)),
        // The caller of the run puts its own in the place of this.
        Replacement::Python => Box::new(ExternalPolicy::new(pages)),
    }
}
