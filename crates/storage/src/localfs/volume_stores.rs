//! The stores that a volume's transitions borrow.
//!
//! A machine with file systems of its own borrows their parts ([`PartStores`]). A client's page
//! cache also uses state that others change: file sizes, first targets and locks. Stores around
//! the cache hold it. Each step moves it into the mount and back.

use std::mem::swap;

use headrace_net::{Store, Stores};

use super::block_allocator::BlockAllocator;
use super::cached_pages::CachedPages;
use super::cpu_cost::CpuCost;
use super::journal::Journal;
use super::parts::{Flushers, PartRefs, PartStores};
use super::sizes::Sizes;
use super::volume::{Mount, Step};
use crate::layout::FirstTargets;
use crate::locks::{LockSet, Oplocks};

/// Stores that a client's cache borrows besides its own.
#[derive(Clone, Copy)]
pub struct SharedStores {
    /// File sizes.
    pub sizes: Store<Sizes>,
    /// First targets of the files.
    pub first_targets: Store<FirstTargets>,
    /// The client's locks on parts of files, or the permissions to cache files, if there are any.
    pub locks: Option<CacheLocks>,
}

/// Locks that bound what a client caches: one kind or the other.
#[derive(Clone, Copy)]
pub enum CacheLocks {
    /// On parts of files.
    Extents(Store<LockSet>),
    /// On whole files.
    Oplocks(Store<Oplocks>),
}

/// A volume's parts, and what lends them state.
pub(super) trait VolumeStores: Stores + Copy {
    /// Begins a step of the volume of this number.
    fn step(stores: Self::Refs<'_>, volume: usize) -> Step<'_>;
}

impl VolumeStores for PartStores {
    fn step(stores: Self::Refs<'_>, volume: usize) -> Step<'_> {
        super::parts::step(stores, volume)
    }
}

/// The stores of a client's cache.
pub(super) type CacheStores = (
    Store<Mount>,
    Store<CachedPages>,
    Store<Flushers>,
    Store<Journal>,
    Store<BlockAllocator>,
    Store<CpuCost>,
    Store<Sizes>,
    Store<FirstTargets>,
);

impl VolumeStores for CacheStores {
    fn step(
        (mount, pages, flushers, journal, blocks, cpu, sizes, first_targets): Self::Refs<'_>,
        volume: usize,
    ) -> Step<'_> {
        let loan = Loan {
            sizes,
            first_targets,
            extents: None,
            oplocks: None,
        };
        loan.step((mount, pages, flushers, journal, blocks, cpu), volume)
    }
}

/// The stores of a client's cache under locks on parts of files.
pub(super) type ExtentLockedStores = (
    Store<Mount>,
    Store<CachedPages>,
    Store<Flushers>,
    Store<Journal>,
    Store<BlockAllocator>,
    Store<CpuCost>,
    Store<Sizes>,
    Store<FirstTargets>,
    Store<LockSet>,
);

impl VolumeStores for ExtentLockedStores {
    fn step(
        (mount, pages, flushers, journal, blocks, cpu, sizes, first_targets, extents): Self::Refs<
            '_,
        >,
        volume: usize,
    ) -> Step<'_> {
        let loan = Loan {
            sizes,
            first_targets,
            extents: Some(extents),
            oplocks: None,
        };
        loan.step((mount, pages, flushers, journal, blocks, cpu), volume)
    }
}

/// The stores of a client's cache under locks on whole files.
pub(super) type OplockedStores = (
    Store<Mount>,
    Store<CachedPages>,
    Store<Flushers>,
    Store<Journal>,
    Store<BlockAllocator>,
    Store<CpuCost>,
    Store<Sizes>,
    Store<FirstTargets>,
    Store<Oplocks>,
);

impl VolumeStores for OplockedStores {
    fn step(
        (mount, pages, flushers, journal, blocks, cpu, sizes, first_targets, oplocks): Self::Refs<
            '_,
        >,
        volume: usize,
    ) -> Step<'_> {
        let loan = Loan {
            sizes,
            first_targets,
            extents: None,
            oplocks: Some(oplocks),
        };
        loan.step((mount, pages, flushers, journal, blocks, cpu), volume)
    }
}

/// State that stores lend a client's cache.
pub(super) struct Loan<'a> {
    sizes: &'a mut Sizes,
    first_targets: &'a mut FirstTargets,
    extents: Option<&'a mut LockSet>,
    oplocks: Option<&'a mut Oplocks>,
}

impl<'a> Loan<'a> {
    /// Begins a step that has the state until it ends.
    fn step(mut self, parts: PartRefs<'a>, volume: usize) -> Step<'a> {
        let mut step = super::parts::step(parts, volume);
        self.exchange(step.mount);
        step.loan = Some(self);
        step
    }

    /// Moves the state from the stores to the mount, or back.
    pub fn exchange(&mut self, mount: &mut Mount) {
        swap(&mut mount.sizes, self.sizes);
        let Some(remote) = &mut mount.remote else {
            return;
        };
        let lent = &mut remote.lent;
        swap(&mut lent.first_targets, self.first_targets);
        if let Some(extents) = &mut self.extents {
            swap(&mut lent.held, extents);
        }
        if let Some(oplocks) = &mut self.oplocks {
            swap(&mut lent.oplocks, oplocks);
        }
    }
}
