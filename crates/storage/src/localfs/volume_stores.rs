//! The stores that a machine's transitions borrow.
//!
//! A machine with file systems of its own borrows one store, its [`Volumes`]. A client's page cache
//! also uses state that others change: file sizes, first targets and locks. Stores around the
//! cache hold it. Each step moves it into the volume and back.

use std::mem::swap;

use headrace_net::{Store, Stores};

use super::machine::Volumes;
use super::sizes::Sizes;
use super::volume::Volume;
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

/// A machine's volumes, and what lends them state.
pub(super) trait VolumeStores: Stores + Copy {
    /// Does a step with the volume of this number.
    fn step<R>(stores: Self::Refs<'_>, number: usize, step: impl FnOnce(&mut Volume) -> R) -> R;
}

impl VolumeStores for Store<Volumes> {
    fn step<R>(volumes: Self::Refs<'_>, number: usize, step: impl FnOnce(&mut Volume) -> R) -> R {
        step(volumes.at(number))
    }
}

impl VolumeStores for (Store<Volumes>, Store<Sizes>, Store<FirstTargets>) {
    fn step<R>(
        (volumes, sizes, first_targets): Self::Refs<'_>,
        number: usize,
        step: impl FnOnce(&mut Volume) -> R,
    ) -> R {
        let mut loan = Loan {
            sizes,
            first_targets,
            extents: None,
            oplocks: None,
        };
        loan.step(volumes.at(number), step)
    }
}

impl VolumeStores
    for (
        Store<Volumes>,
        Store<Sizes>,
        Store<FirstTargets>,
        Store<LockSet>,
    )
{
    fn step<R>(
        (volumes, sizes, first_targets, extents): Self::Refs<'_>,
        number: usize,
        step: impl FnOnce(&mut Volume) -> R,
    ) -> R {
        let mut loan = Loan {
            sizes,
            first_targets,
            extents: Some(extents),
            oplocks: None,
        };
        loan.step(volumes.at(number), step)
    }
}

impl VolumeStores
    for (
        Store<Volumes>,
        Store<Sizes>,
        Store<FirstTargets>,
        Store<Oplocks>,
    )
{
    fn step<R>(
        (volumes, sizes, first_targets, oplocks): Self::Refs<'_>,
        number: usize,
        step: impl FnOnce(&mut Volume) -> R,
    ) -> R {
        let mut loan = Loan {
            sizes,
            first_targets,
            extents: None,
            oplocks: Some(oplocks),
        };
        loan.step(volumes.at(number), step)
    }
}

/// State that stores lend a client's cache.
struct Loan<'a> {
    sizes: &'a mut Sizes,
    first_targets: &'a mut FirstTargets,
    extents: Option<&'a mut LockSet>,
    oplocks: Option<&'a mut Oplocks>,
}

impl Loan<'_> {
    fn step<R>(&mut self, volume: &mut Volume, step: impl FnOnce(&mut Volume) -> R) -> R {
        self.exchange(volume);
        let result = step(volume);
        self.exchange(volume);
        result
    }

    /// Moves the state from the stores to the volume, or back.
    fn exchange(&mut self, volume: &mut Volume) {
        swap(&mut volume.sizes, self.sizes);
        let Some(remote) = &mut volume.remote else {
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
