//! An array of equal devices: levels 0, 1, 5, 6 (left-symmetric, as Linux's md) and 10.
//!
//! ```text
//!   hardware:  (scheduler) ─▶ (cache) ─▶ members
//!   software:  members, with a scheduler before each
//! ```
//!
//! A write with parity reads the data that the new parity needs, by read-modify-write or by
//! reconstruction, whichever reads less, and then writes. Full stripes are written at once. A small
//! write is 4 transfers with one parity (Patterson, Gibson, Katz 1988), 6 with two, or fewer by
//! reconstruction. Mirrors are read where fewer parts are out, and among equals where the last
//! address was nearest (as Linux's drivers/md/raid1.c does).
//!
//! A failed disk is rebuilt chunk by chunk: the survivors are read, the spare is
//! written. Where that is done the spare is read as any other, and where it has
//! begun it is written too (drivers/md/md.c, recovery_offset).
//!
//! Not modelled: locks of stripes that are written twice at once; the processor's time for parity;
//! bitmaps; a rebuild that slows down while other requests wait; threads of the array's own: its
//! reads and writes are those of the requesting process; a controller's read-ahead, and reads that
//! its cache answers in part.

mod cache;
mod controller;
mod layout;
mod members;
mod rebuild;

use headrace_net::Page;
use headrace_spec::{IoScheduler, Raid};

use crate::iosched::BlockDevice;
use crate::tokens::Transfer;

/// Bytes of data that the array holds; for absurd sizes, the bytes that can be
/// counted in stripes.
fn capacity_of(spec: &Raid) -> u64 {
    let member = super::capacity(&spec.member.device());
    let all = member.saturating_mul(u64::from(spec.data_disks()));
    all.min(1 << 60)
}

/// Returns the address of a transfer, modulo the capacity.
fn within(transfer: &Transfer, capacity: u64) -> (u64, u64) {
    let size = transfer.size.min(capacity);
    let address = transfer.address % capacity.max(1);
    (address.min(capacity - size.max(1).min(capacity)), size)
}

/// The array; `each` is the I/O scheduler before each member, if there is one.
pub(super) fn array(page: &mut Page<'_>, spec: &Raid, each: Option<&IoScheduler>) -> BlockDevice {
    let done = page.place::<Transfer>("array done");
    page.page("array", |page| {
        if spec.cache.size.0 == 0 {
            return members::members(page, spec, each, done);
        }
        let behind = page.place::<Transfer>("members done");
        let members = members::members(page, spec, each, behind);
        controller::cached(page, spec, members, done)
    })
}
