//! `kind = "raid"`: an array of equal devices.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{
    ConcurrentDevice, Device, Disk, EmpiricalDevice, Scenario, SharedDevice, SimpleDevice,
    SolidState, Throttled,
};
use crate::values::{AtLeastOne, Bytes, NonEmpty, Ordinal, Portion, Rate, Seconds, Share};

section! {
    /// An array of equal devices, striped in chunks, mirrored or with parity.
    /// Not modelled: stripe locks, the processor's time for parity.
    pub struct Raid {
        /// 0, 1, 5 (left-symmetric), 6 (left-symmetric) or 10.
        level: u32 as Ordinal = required(5),
        /// Number of devices.
        disks: u32 as AtLeastOne = required(4) aka ["members", "devices"],
        /// Consecutive bytes on one device.
        chunk: Bytes = default("512 KiB", "mdadm(8), the default of --chunk") aka ["stripe_unit"],
        /// If true, a hardware controller forms the array, with the I/O scheduler before it. Else
        /// the operating system does (Linux's md, device mapper), and one stands before each
        /// device, as requests pass through to them.
        hardware: Option<bool> = optional("it is if it has a cache of its own"),
        /// The bus that the devices share.
        bus: Bus = section() aka ["channel", "host_adapter"],
        /// Devices that have failed, counted from 0.
        failed: Option<Vec<u32>> as Option<NonEmpty<Ordinal>> = optional("none has"),
        /// A failed device that is rebuilt on a spare meanwhile.
        rebuild: Rebuild = section(),
        /// The controller's cache.
        cache: ControllerCache = section() aka ["controller"],
        /// Kind of each member.
        member: Member = section() aka ["disk"],
    }
    check array_is_possible;
}

section! {
    /// The bus or host adapter that all devices of an array share. Data passes
    /// while its device works, and waits only for what passes before it.
    pub struct Bus {
        /// Most bytes that pass in a second: 320 MB/s of Ultra320 SCSI (INCITS
        /// 362-2002, SPI-4), 1066 MB/s of PCI-X at 133 MHz (PCI-SIG, PCI-X 1.0).
        rate: Option<Rate> = optional("as much as the devices move") aka ["bandwidth"],
        /// Time that it is taken for each transfer besides its data.
        time_per_transfer: Seconds = default("0 s", "nothing is assumed: measure it") aka ["overhead"],
    }
}

section! {
    /// The rebuilding of a failed device: the others are read, a spare is
    /// written.
    pub struct Rebuild {
        /// Disk of `failed` that is rebuilt from the start of the run.
        disk: Option<u32> as Option<Ordinal> = optional("none is"),
        /// Most bytes of the device rebuilt in a second.
        rate: Option<Rate> = optional("no limit but share and the devices") aka ["speed"],
        /// The part of the time in which each chunk's buffer is in use: after a
        /// chunk it rests for the other part.
        share: f64 as Share = default(1.0, "rebuilding goes on all the time") aka ["priority"],
        /// Bytes rebuilt at once.
        chunk: Bytes = default("64 KiB", "Linux, drivers/md/raid1-10.c: RESYNC_BLOCK_SIZE"),
        /// Number of chunks rebuilt concurrently.
        chunks: u32 as AtLeastOne = default(32, "Linux, drivers/md/raid1.c: RESYNC_DEPTH") aka ["depth"],
        /// Bytes to rebuild, from the begin of the device.
        size: Option<Bytes> = optional("the whole device"),
    }
}

section! {
    /// A controller's cache in front of the array. Written data is done when it
    /// is there, and goes to the devices later; without a battery it goes at
    /// once. Not modelled: read-ahead, reads that find a part.
    pub struct ControllerCache {
        /// Room for data; 0: there is no cache.
        size: Bytes = default("0 B", "no cache"),
        /// If true, a write completes when the cache has it.
        write_back: bool = default(true, "what such caches are bought for"),
        /// If true, it survives a loss of power: without, it writes through.
        battery: bool = default(true, "a cache that writes back without would lose data"),
        /// Rate at which data goes through it.
        rate: Rate = default("1 GB/s", "declared default: about four lanes of PCI Express 1.0"),
        /// Above this part of its room, dirty data goes to the devices.
        destage_above: f64 as Portion = default(0.5, "declared default: room for a burst, and for gathering stripes") aka ["low_mark"],
        /// After so long without a transfer, all of it goes.
        idle_time: Seconds = default("100 ms", "declared default: longer than pauses between calls"),
        /// Writes to the array that are in progress at once.
        destages: u32 as AtLeastOne = default(32, "declared default: some for each of several devices"),
    }
}

kinds! {
    /// Kind of each member device.
    pub enum Member default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
        SharedDevice = "shared",
        ConcurrentDevice = "concurrent",
        EmpiricalDevice = "empirical",
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
            Member::SharedDevice(it) => Device::SharedDevice(it.clone()),
            Member::ConcurrentDevice(it) => Device::ConcurrentDevice(it.clone()),
            Member::EmpiricalDevice(it) => Device::EmpiricalDevice(it.clone()),
            Member::Disk(it) => Device::Disk(it.clone()),
            Member::SolidState(it) => Device::SolidState(it.clone()),
            Member::Throttled(it) => Device::Throttled(it.clone()),
        }
    }
}

impl Raid {
    /// Returns true if a controller makes the array, and not the operating system.
    #[must_use]
    pub fn is_hardware(&self) -> bool {
        self.hardware.unwrap_or(self.cache.size.0 > 0)
    }

    /// Members' worth of data that the array holds.
    #[must_use]
    pub fn data_disks(&self) -> u32 {
        match self.level {
            1 => 1,
            5 => self.disks.saturating_sub(1),
            6 => self.disks.saturating_sub(2),
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
    if raid.chunk.0 > 1 << 40 {
        return Err(at.error("chunk", "expected at most 1 TiB"));
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
    if raid.hardware == Some(false) && raid.cache.size.0 > 0 {
        let message = "a cache of its own makes it hardware: leave it out, or leave cache out";
        return Err(at.error("hardware", message));
    }
    if raid.bus.rate.is_none() && raid.bus.time_per_transfer.0 > 0.0 {
        let message = "without rate there is no bus: give it, or leave this out";
        return Err(at.field("bus").error("time_per_transfer", message));
    }
    if raid.cache.destages > 65_536 {
        let message = "expected at most 65536";
        return Err(at.field("cache").error("destages", message));
    }
    let at = at.field("rebuild");
    if raid.rebuild.chunks > 65_536 {
        return Err(at.error("chunks", "expected at most 65536"));
    }
    if raid
        .rebuild
        .disk
        .is_some_and(|disk| !failed.contains(&disk))
    {
        let message = "it has not failed: expected one of those in failed";
        return Err(at.error("disk", message));
    }
    for (field, size) in [
        ("chunk", Some(raid.rebuild.chunk)),
        ("size", raid.rebuild.size),
    ] {
        if size.is_some_and(|size| size.0 == 0) {
            let message = r#"expected a size of more than 0 such as "64 KiB""#;
            return Err(at.error(field, message));
        }
    }
    Ok(())
}
