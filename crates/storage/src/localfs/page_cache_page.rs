//! The page of the page cache: pages that come from the device, and the calls that wait for them.
//!
//! ```text
//!   read ─▶ [fill] ─▶ device, kernel calls; waiting for pages ─▶ ready
//! ```
//!
//! Cached pages and those in flight are in the store of the [cached
//! pages](super::cached_pages::CachedPages).

use headrace_net::{Page, Port};

use super::call::Call;
use super::calls::{Mounted, Places};
use super::volume_stores::VolumeStores;
use super::waiting::Bag;
use crate::tokens::Transfer;

/// The ways into the page.
#[derive(Clone, Copy)]
pub(super) struct PageCachePorts {
    /// Completed reads of files.
    pub read: Port<Transfer>,
    pub wait: Port<Call>,
}

/// Writes the page.
pub(super) fn write<S: VolumeStores>(
    page: &mut Page<'_>,
    places: Places,
    mounted: Mounted<S>,
) -> PageCachePorts {
    let ports = PageCachePorts {
        read: page.input("read"),
        wait: page.input("wait for pages"),
    };
    let waiting = page.bag("waiting for pages");
    let arriving = page.place("arriving");
    page.connect(ports.read, arriving);
    page.connect(ports.wait, waiting);
    let scope = places.scope(&[(Bag::Pages, waiting)]);
    scope.end_transfers(page, "fill", arriving, mounted);
    ports
}
