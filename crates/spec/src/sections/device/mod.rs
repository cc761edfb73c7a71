//! `[servers.device]`: what the data is stored on.

mod disk;
mod hypervisor;
mod raid;
mod simple;
mod solid_state;
mod throttled;

pub use disk::Disk;
pub use hypervisor::Hypervisor;
pub use raid::{Bus, ControllerCache, Member, Raid, Rebuild};
pub use simple::SimpleDevice;
pub use solid_state::{LEAST_SPARE_BLOCKS, SolidState};
pub use throttled::Throttled;

use crate::declare::kinds;
use crate::values::{Bytes, Rate};

kinds! {
    /// Kind of storage device.
    pub enum Device default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
        Disk = "disk",
        SolidState = "solid-state",
        Throttled = "throttled",
        Raid = "raid",
    }
}

impl Device {
    /// Bytes that it holds; none where no size is given.
    #[must_use]
    pub fn capacity(&self) -> Option<Bytes> {
        match self {
            Device::SimpleDevice(_) | Device::Throttled(_) => None,
            Device::Disk(disk) => Some(disk.capacity),
            Device::SolidState(drive) => Some(drive.capacity),
            Device::Raid(raid) => {
                let member = raid.member.device().capacity()?;
                let all = member.0.saturating_mul(u64::from(raid.data_disks()));
                Some(Bytes(all))
            }
        }
    }

    /// The lowest rate that reading or writing can fall to, and its field.
    pub(crate) fn slowest(&self, writing: bool) -> (&'static str, Rate) {
        match self {
            Device::SimpleDevice(simple) if writing => ("write_rate", simple.write_rate),
            Device::SimpleDevice(simple) => ("read_rate", simple.read_rate),
            Device::Disk(disk) => ("inner_rate", disk.inner_rate),
            Device::SolidState(drive) => ("interface_rate", drive.interface_rate),
            Device::Raid(raid) => raid.member.device().slowest(writing),
            Device::Throttled(limited) => limited.slowest(writing),
        }
    }
}
