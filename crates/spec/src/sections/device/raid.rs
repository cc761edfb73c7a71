//! `kind = "raid"`: an array of equal devices.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{Device, Disk, Scenario, SimpleDevice, SolidState, Throttled};
use crate::values::{AtLeastOne, Bytes, Count, NonEmpty};

section! {
    /// An array of equal devices, striped in chunks, mirrored or with parity.
    /// Not modelled: a controller's cache, rebuilding, stripe locks, the
    /// processor's time for parity.
    pub struct Raid {
        /// 0, 1, 5 (left-symmetric), 6 (left-symmetric) or 10.
        level: u32 as Count = required(5),
        /// How many devices there are.
        disks: u32 as AtLeastOne = required(4) aka ["members", "devices"],
        /// Consecutive bytes on one device.
        chunk: Bytes = default("512 KiB", "mdadm(8), the default of --chunk") aka ["stripe_unit"],
        /// Devices that have failed, counted from 0.
        failed: Option<Vec<u32>> as Option<NonEmpty<Count>> = optional("none has"),
        /// What each of them is.
        member: Member = section() aka ["disk"],
    }
    check array_is_possible;
}

kinds! {
    /// What kind of device each member is.
    pub enum Member default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
        Disk = "disk",
        SolidState = "solid-state",
        Throttled = "throttled",
    }
}

impl Member {
    /// The same as a device of its own.
    #[must_use]
    pub fn device(&self) -> Device {
        match self {
            Member::SimpleDevice(it) => Device::SimpleDevice(it.clone()),
            Member::Disk(it) => Device::Disk(it.clone()),
            Member::SolidState(it) => Device::SolidState(it.clone()),
            Member::Throttled(it) => Device::Throttled(it.clone()),
        }
    }
}

impl Raid {
    /// Members' worth of data that the array holds.
    #[must_use]
    pub fn data_disks(&self) -> u32 {
        match self.level {
            1 => 1,
            5 => self.disks - 1,
            6 => self.disks - 2,
            10 => self.disks / 2,
            _ => self.disks,
        }
    }
}

fn array_is_possible(raid: &Raid, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let least = match raid.level {
        0 => 1,
        1 => 2,
        5 => 3,
        6 | 10 => 4,
        _ => return Err(at.error("level", "expected 0, 1, 5, 6 or 10")),
    };
    let level = raid.level;
    if raid.disks < least || raid.disks > 1024 {
        let message = format!("expected {least} to 1024: level = {level}");
        return Err(at.error("disks", message));
    }
    if level == 10 && !raid.disks.is_multiple_of(2) {
        return Err(at.error("disks", "expected an even number: level = 10"));
    }
    if raid.chunk.0 == 0 {
        return Err(at.error(
            "chunk",
            r#"expected a size of more than 0 such as "64 KiB""#,
        ));
    }
    let mut failed = raid.failed.clone().unwrap_or_default();
    failed.sort_unstable();
    if failed.windows(2).any(|two| two[0] == two[1]) {
        return Err(at.error("failed", "expected each disk once"));
    }
    if failed.last().is_some_and(|last| *last >= raid.disks) {
        let message = format!("expected numbers from 0 to {}", raid.disks - 1);
        return Err(at.error("failed", message));
    }
    let lost = match level {
        1 => failed.len() as u64 >= u64::from(raid.disks),
        5 => failed.len() > 1,
        6 => failed.len() > 2,
        10 => failed
            .windows(2)
            .any(|two| two[0] % 2 == 0 && two[1] == two[0] + 1),
        _ => !failed.is_empty(),
    };
    if lost {
        let message = format!("level = {level} loses data with these: expected fewer");
        return Err(at.error("failed", message));
    }
    Ok(())
}
