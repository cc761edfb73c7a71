//! A client's page cache above the servers of a parallel file system.
//!
//! ```text
//!   request ─▶ machine ─▶ transfer ─▶ …servers… ─▶ transferred ─▶ machine ─▶ complete
//! ```
//!
//! The model is the page of a local file system ([`super::machine`]) with the servers in place of
//! an I/O queue and a device. It has no journal, no placement, and no blocks of its own.
//!
//! All clients know the size of every file. Pages are read, sent and dropped whole; sizes of
//! requests, stripes, blocks and limits need not be multiples of a page. A write returns when the
//! cache has its data, so its rate is that of copies in the clients' memories.
//!
//! Not modelled: Lustre's own read-ahead, whose window grows by 1 MiB where Linux's doubles; grants
//! and checksums; the processor time of network and requests; GlusterFS' io-cache and quick-read,
//! and its timeout of 1 s for attributes; bulk writes of servers that bypass the page cache of
//! their machine.

use headrace_net::{Page, Port};
use headrace_spec::ClientMachine;

use super::callers::Callers;
use super::calls::{InnerPorts, Mounted, volume};
use super::machine::processor;
use super::parts::{Flushers, Parts};
use super::server_dirty_data::Remote;
use super::volume::Volume;
use super::volume_stores::{CacheLocks, SharedStores, VolumeStores};
use crate::iosched::BlockDevice;
use crate::time_conversion::span;
use crate::tokens::{ReleasedLock, Request, Transfer};

/// A cache's ways in and out.
#[derive(Clone, Copy)]
pub struct CachePorts {
    /// Input of the processes' requests.
    pub request: Port<Request>,
    /// Output of completed requests.
    pub complete: Port<Request>,
    /// Requests to the servers: file, offset, size and operation count.
    pub transfer: Port<Transfer>,
    /// Completed transfers.
    pub transferred: Port<Transfer>,
    /// Locks to be given up, and those under which nothing is cached any more, if there
    /// are locks.
    pub locks: Option<(Port<ReleasedLock>, Port<ReleasedLock>)>,
}

/// Builds a client's page cache, which reads in transfers of a fixed size.
pub fn cache(
    page: &mut Page<'_>,
    spec: &ClientMachine,
    transfer: u64,
    callers: &Callers,
    remote: &Remote,
) -> Parts {
    let copies =
        (0..page.copies()).map(|_| Volume::client_cache(spec, transfer, callers, remote.clone()));
    let copies: Vec<Volume> = copies.collect();
    let flushers = page.store("dirty pages", |copy| {
        Flushers::new(vec![copies[copy as usize].flusher.clone()], 0)
    });
    let parts = Parts::of_volume(page, flushers, copies);
    Flushers::report(page, flushers);
    parts
}

/// Writes the page of a client's machine with that cache.
pub fn client_page_cache(
    page: &mut Page<'_>,
    spec: &ClientMachine,
    callers: &Callers,
    parts: Parts,
    shared: SharedStores,
) -> CachePorts {
    let (mount, pages, flushers, journal, blocks, cpu) = parts.stores();
    let SharedStores {
        sizes,
        first_targets,
        locks,
    } = shared;
    match locks {
        None => {
            let stores = (
                mount,
                pages,
                flushers,
                journal,
                blocks,
                cpu,
                sizes,
                first_targets,
            );
            machine(page, spec, callers, stores, false)
        }
        Some(CacheLocks::Extents(locks)) => {
            let stores = (
                mount,
                pages,
                flushers,
                journal,
                blocks,
                cpu,
                sizes,
                first_targets,
                locks,
            );
            machine(page, spec, callers, stores, true)
        }
        Some(CacheLocks::Oplocks(locks)) => {
            let stores = (
                mount,
                pages,
                flushers,
                journal,
                blocks,
                cpu,
                sizes,
                first_targets,
                locks,
            );
            machine(page, spec, callers, stores, false)
        }
    }
}

/// Writes the page with the stores that it borrows.
fn machine(
    page: &mut Page<'_>,
    spec: &ClientMachine,
    callers: &Callers,
    stores: impl VolumeStores,
    locks: bool,
) -> CachePorts {
    let ports = CachePorts {
        request: page.input("request"),
        complete: page.output("complete"),
        transfer: page.output("transfer"),
        transferred: page.input("transferred"),
        locks: locks.then(|| (page.input("locks"), page.output("given up"))),
    };
    let locks = ports.locks.map(|(to_give_up, given_up)| {
        let place = page.place("locks to give up");
        page.connect(to_give_up, place);
        (place, given_up.into())
    });
    let device = BlockDevice {
        submit: page.place("asked of servers"),
        done: page.place("servers have answered"),
    };
    page.connect(device.submit, ports.transfer);
    page.connect(ports.transferred, device.done);
    let new = page.place::<Request>("new");
    page.connect(ports.request, new);
    let processor = processor(page, &spec.cpu);
    let mounted = Mounted {
        number: 0,
        stores,
        flush_interval: span(spec.write_back.interval),
        commit_interval: None,
    };
    let ways = InnerPorts {
        new,
        complete: ports.complete.into(),
        processor: processor.into(),
        processed: processor,
        callers: callers.clone(),
        locks,
    };
    volume(page, mounted, device, ways);
    ports
}
