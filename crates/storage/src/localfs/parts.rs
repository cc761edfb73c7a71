//! The parts of a file system as stores of the net.

use headrace_net::{Page, Store};

use super::block_allocator::BlockAllocator;
use super::cached_pages::CachedPages;
use super::cpu_cost::CpuCost;
use super::flusher::Flusher;
use super::journal::Journal;
use super::volume::{Effects, Mount, Step, Volume};
use crate::cache_counts::{self, CACHED, PAGE_CACHE, WRITING};

/// The stores of a mounted file system.
#[derive(Clone, Copy)]
pub struct Parts {
    mount: Store<Mount>,
    pages: Store<CachedPages>,
    flushers: Store<Flushers>,
    journal: Store<Journal>,
    blocks: Store<BlockAllocator>,
    cpu: Store<CpuCost>,
}

/// The same, as a transition borrows them.
pub(super) type PartStores = (
    Store<Mount>,
    Store<CachedPages>,
    Store<Flushers>,
    Store<Journal>,
    Store<BlockAllocator>,
    Store<CpuCost>,
);

/// The references to them that an action gets.
pub(super) type PartRefs<'a> = (
    &'a mut Mount,
    &'a mut CachedPages,
    &'a mut Flushers,
    &'a mut Journal,
    &'a mut BlockAllocator,
    &'a mut CpuCost,
);

/// Dirty data of a machine's volumes: the limits are common.
#[derive(Debug)]
pub(super) struct Flushers {
    list: Vec<Flusher>,
    /// Dirty bytes of file systems that are not modelled.
    others: u64,
}

impl Flushers {
    /// The flushers of volumes, on a machine where other file systems have this much dirty data.
    pub fn new(list: Vec<Flusher>, others: u64) -> Flushers {
        Flushers { list, others }
    }

    /// Bytes that are dirty or under write-back.
    pub fn load(&self) -> u64 {
        self.list.iter().map(Flusher::load).sum()
    }

    /// Reports the bytes under write-back beside the counts of the page cache.
    pub fn report(page: &mut Page<'_>, flushers: Store<Flushers>) {
        page.gauge(flushers, PAGE_CACHE, WRITING, |it: &Flushers| {
            it.list.iter().map(Flusher::writing).sum()
        });
    }

    /// A volume's flusher. It gets the dirty data of the others, and its part of all written data
    /// (of the last seconds, as the kernel forgets slowly).
    fn of(&mut self, volume: usize) -> &mut Flusher {
        if self.list.len() > 1 {
            let all = self.load();
            let written: u64 = self.list.iter().map(Flusher::bytes_written).sum();
            let own = &mut self.list[volume];
            own.set_others(self.others + all - own.load());
            if written > 0 {
                own.set_share(own.bytes_written() as f64 / written as f64);
            }
        }
        &mut self.list[volume]
    }
}

impl Parts {
    /// Writes the stores of a volume: one in each copy of the page, with the flushers of its
    /// machine.
    pub(super) fn of_volume(
        page: &mut Page<'_>,
        flushers: Store<Flushers>,
        copies: Vec<Volume>,
    ) -> Parts {
        let mut mounts = Vec::with_capacity(copies.len());
        let mut pages = Vec::with_capacity(copies.len());
        let mut journals = Vec::with_capacity(copies.len());
        let mut blocks = Vec::with_capacity(copies.len());
        let mut costs = Vec::with_capacity(copies.len());
        for volume in copies {
            mounts.push(volume.mount);
            pages.push(volume.pages);
            journals.push(volume.journal);
            blocks.push(volume.blocks);
            costs.push(volume.cpu);
        }
        let pages = store(page, "cached pages", pages);
        cache_counts::report(
            page,
            pages,
            PAGE_CACHE,
            CachedPages::counts,
            Some(CachedPages::dirty_bytes),
        );
        page.gauge(pages, PAGE_CACHE, CACHED, |pages: &CachedPages| {
            pages.lru.bytes()
        });
        Parts {
            mount: store(page, "mount", mounts),
            pages,
            flushers,
            journal: store(page, "transactions", journals),
            blocks: store(page, "block map", blocks),
            cpu: store(page, "processor caches", costs),
        }
    }

    /// The page cache.
    pub fn pages(self) -> Store<CachedPages> {
        self.pages
    }

    /// All of them, to be borrowed.
    pub(super) fn stores(self) -> PartStores {
        (
            self.mount,
            self.pages,
            self.flushers,
            self.journal,
            self.blocks,
            self.cpu,
        )
    }
}

/// A store with a value for each copy of its page.
fn store<S: Send + 'static>(page: &mut Page<'_>, name: &str, copies: Vec<S>) -> Store<S> {
    let mut copies = copies.into_iter();
    page.store(name, |_| copies.next().expect("there is one for each copy"))
}

/// Begins a step of a volume.
pub(super) fn step(
    (mount, pages, flushers, journal, blocks, cpu): PartRefs<'_>,
    volume: usize,
) -> Step<'_> {
    Step {
        mount,
        pages,
        flusher: flushers.of(volume),
        journal,
        blocks,
        cpu,
        effects: Effects::default(),
        loan: None,
    }
}
