//! `[device.hypervisor]`: a hypervisor's virtual disk in front of a device.

use crate::declare::section;
use crate::values::Seconds;

section! {
    /// A hypervisor's virtual disk in front of the device: what the host does for its guest's
    /// transfers. Without it the device serves them itself.
    pub struct Hypervisor {
        /// Additional device time of each 4 KiB block that the file system has just allocated. The
        /// storage behind the device, such as a hypervisor's page cache or a growing volume, must
        /// allocate it too.
        new_block: Seconds = default("0 s", "nothing is assumed: measure it, with new files that are synced"),
        /// Additional device time of each 4 KiB page that is read into memory used for the first
        /// time. A hypervisor that reclaims free memory must provide it (virtio 1.2, section
        /// 5.5.6.7: free page reporting).
        fresh_page: Seconds = default("0 s", "nothing is assumed: measure it, with cold reads some seconds after memory was given back"),
        /// Transfers are served in bulk. The device starts `latency` after the first arrival and
        /// serves all waiting and newly arriving transfers, flushes included. It completes them
        /// together, with one interrupt.
        bulk_service: bool = default(false, "the device reports each transfer when it completes; a hypervisor with one thread for a disk reports all together (Firecracker, src/vmm/src/devices/virtio/block/virtio/device.rs: process_queue)"),
    }
}
