//! Block devices, which serve [`Transfer`](crate::tokens::Transfer)s. To add one, write a file
//! with a function that makes its station and name it in [`build`].
//!
//! | `kind` | file | order and time of service |
//! | --- | --- | --- |
//! | `simple` | `simple.rs` | one after the other, a fixed time and bytes at a rate |
//! | `shared` | `shared.rs` | all at once, an equal part of the rate each |
//! | `concurrent` | `concurrent.rs` | all at once, a rate that depends on their number |
//! | `empirical` | `empirical.rs` | times drawn from a list |
//! | `disk` | `disk/` | seeks, rotation, zones, buffer |
//! | `solid-state` | `solid_state/` | dies, channels, translation layer, write cache |
//! | `throttled` | `throttled.rs` | Linux's blk-throttle before a device with a rate |
//! | `raid` | `raid/` | an array of any other kind |
//! | `network` | `network.rs` | any other kind on a target host, behind a network |

mod bus;
mod concurrent;
mod disk;
mod empirical;
mod hypervisor;
pub mod network;
mod raid;
mod shared;
mod simple;
pub mod solid_state;
mod throttled;

use headrace_net::Page;
use headrace_spec::{Device, IoScheduler};

use crate::iosched::{self, BlockDevice};

/// The scenario's device with its I/O scheduler: before it, or before each member
/// of an array that the operating system makes.
pub fn queued(page: &mut Page<'_>, device: &Device, io_scheduler: &IoScheduler) -> BlockDevice {
    match device {
        Device::Raid(raid) if !raid.is_hardware() => raid::array(page, raid, Some(io_scheduler)),
        device => {
            let device = build(page, device);
            iosched::build(page, io_scheduler, device)
        }
    }
}

/// The scenario's device alone, as a station called "device".
pub fn build(page: &mut Page<'_>, device: &Device) -> BlockDevice {
    let station = match device {
        Device::Raid(raid) => return raid::array(page, raid, None),
        Device::NetworkDevice(it) => return network::alone(page, it),
        Device::SimpleDevice(simple) => simple::station(page, simple),
        Device::SharedDevice(shared) => shared::station(page, shared),
        Device::ConcurrentDevice(concurrent) => concurrent::station(page, concurrent),
        Device::EmpiricalDevice(empirical) => empirical::station(page, empirical),
        Device::Disk(disk) => disk::station(page, disk),
        Device::SolidState(drive) => solid_state::station(page, drive),
        Device::Throttled(limited) => throttled::station(page, limited),
    };
    BlockDevice {
        submit: station,
        done: station,
    }
}

/// Bytes of a device whose size is not given, and of each such member of an array.
const ANY: u64 = 1 << 40;

/// Bytes that the device holds.
pub fn capacity(device: &Device) -> u64 {
    match (device.capacity(), device) {
        (Some(capacity), _) => capacity.0,
        (None, Device::Raid(raid)) => ANY.saturating_mul(u64::from(raid.data_disks())),
        (None, Device::NetworkDevice(it)) => capacity(&it.target.device()),
        (None, _) => ANY,
    }
}
