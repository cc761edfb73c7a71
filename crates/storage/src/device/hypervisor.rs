//! A hypervisor's virtual disk: the host's work for transfers of its guest.
//!
//! Blocks that the file system has just allocated may take longer, because the hypervisor has none
//! of them in its page cache. An fsync of 64 MiB in a guest's new file took 23.6 ms. An fsync of
//! the same data, written again, took 16.1 and 17.0 ms. Reads into unused memory may take longer
//! too: a hypervisor that takes free memory back has to find some.
//!
//! With `bulk_service` it serves in bulk (Bailey 1954, On queueing processes with bulk service). A
//! hypervisor's thread does so: it works on a virtual disk's queue and interrupts its guest once
//! that is empty (Firecracker, src/vmm/src/devices/virtio/block/virtio/device.rs: process_queue).
//! In a guest with direct reads of 2, 4 and 8 processes, each interrupt completed 2, 4 and 8 reads.
//! The device begins after the latency of the first transfer, which covers the wake-up. It serves
//! all transfers that arrive before the queue is empty, flushes included, and then completes all
//! together.
//!
//! Not modelled: the time to wake up the guest apart from the latency, which contains it.

use headrace_net::{Line, Span};
use headrace_spec::Hypervisor;

/// The hypervisor's work besides the device's own.
#[derive(Clone, Debug)]
pub(super) struct VirtualDisk {
    /// Cost of the first use of a page that is read into, and of a block that is written.
    first_used: [Span; 2],
    /// Transfers that are completed together, if it batches completions.
    pub bulk: Option<Line>,
}

impl VirtualDisk {
    pub fn new(spec: &Hypervisor) -> VirtualDisk {
        VirtualDisk {
            first_used: [spec.fresh_page, spec.new_block].map(|it| Span::from_seconds(it.0)),
            bulk: spec.bulk_service.then(Line::default),
        }
    }

    /// Time to provide pages for a read (`way` 0), or blocks for a write (1).
    pub fn allocation(&self, way: usize, first_used: u32) -> Span {
        self.first_used[way] * u64::from(first_used)
    }

    /// Takes out the transfers that are completed together; the next bulk begins.
    pub fn end_bulk(&mut self) -> Line {
        self.bulk.replace(Line::default()).unwrap_or_default()
    }
}
