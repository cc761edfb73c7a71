//! `[servers.device]`: what the data is stored on.

mod concurrent;
pub(crate) mod data_sheet;
mod disk;
mod empirical;
mod hypervisor;
mod network;
mod raid;
mod shared;
mod simple;
mod solid_state;
mod throttled;

pub use concurrent::ConcurrentDevice;
pub use data_sheet::DataSheet;
pub use disk::Disk;
pub use empirical::EmpiricalDevice;
pub use hypervisor::Hypervisor;
pub use network::{BlockCpu, BlockMessages, BlockProtocol, NetworkDevice, Target};
pub use raid::{Bus, ControllerCache, Member, Raid, Rebuild};
pub use shared::SharedDevice;
pub use simple::SimpleDevice;
pub use solid_state::{LEAST_SPARE_BLOCKS, SolidState};
pub use throttled::Throttled;

use crate::declare::kinds;
use crate::values::{Bytes, Rate};

kinds! {
    /// Kind of storage device.
    pub enum Device default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
        SharedDevice = "shared",
        ConcurrentDevice = "concurrent",
        EmpiricalDevice = "empirical",
        Disk = "disk",
        SolidState = "solid-state",
        Throttled = "throttled",
        Raid = "raid",
        NetworkDevice = "network",
    }
}

impl Device {
    /// Bytes that it holds; none where no size is given.
    #[must_use]
    pub fn capacity(&self) -> Option<Bytes> {
        match self {
            Device::SimpleDevice(_)
            | Device::SharedDevice(_)
            | Device::ConcurrentDevice(_)
            | Device::EmpiricalDevice(_)
            | Device::Throttled(_) => None,
            Device::Disk(disk) => Some(disk.capacity),
            Device::SolidState(drive) => Some(drive.capacity),
            Device::Raid(raid) => {
                let member = raid.member.device().capacity()?;
                let all = member.0.saturating_mul(u64::from(raid.data_disks()));
                Some(Bytes(all))
            }
            Device::NetworkDevice(it) => it.target.device().capacity(),
        }
    }

    /// The lowest rate that reading or writing can fall to, and its field.
    pub(crate) fn slowest(&self, writing: bool) -> (&'static str, Rate) {
        match self {
            Device::SimpleDevice(simple) if writing => ("write_rate", simple.write_rate),
            Device::SimpleDevice(simple) => ("read_rate", simple.read_rate),
            Device::SharedDevice(shared) if writing => ("write_rate", shared.write_rate),
            Device::SharedDevice(shared) => ("read_rate", shared.read_rate),
            Device::ConcurrentDevice(it) if writing => ("write_rates", it.write_rates.slowest()),
            Device::ConcurrentDevice(it) => ("read_rates", it.read_rates.slowest()),
            Device::EmpiricalDevice(it) if writing => ("write_rate", any_rate(it.write_rate)),
            Device::EmpiricalDevice(it) => ("read_rate", any_rate(it.read_rate)),
            Device::Disk(disk) => ("inner_rate", disk.inner_rate),
            Device::SolidState(drive) => ("interface_rate", drive.interface_rate),
            Device::Raid(raid) => raid.member.device().slowest(writing),
            Device::Throttled(limited) => limited.slowest(writing),
            Device::NetworkDevice(it) => it.slowest(writing),
        }
    }
}

/// A rate that no transfer takes long at, where none is given.
fn any_rate(rate: Option<Rate>) -> Rate {
    rate.unwrap_or(Rate(f64::INFINITY))
}
