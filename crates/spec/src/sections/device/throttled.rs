//! `kind = "throttled"`: a virtual disk with limits.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Hypervisor, Scenario};
use crate::values::{AtLeastOne, Bytes, Positive, Rate, Seconds};

section! {
    /// A virtual disk whose bytes and operations a second are limited as Linux's
    /// blk-throttle does (block/blk-throttle.c), in front of a device with a
    /// rate. Metadata does not wait but is charged. Not modelled: hierarchies of
    /// groups.
    pub struct Throttled {
        /// Rate of the device behind the limits.
        rate: Rate = required("1 GB/s") aka ["device_rate"],
        /// Time that each transfer takes besides; transfers do not wait for
        /// each other's.
        latency: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Rate of the device for writes.
        device_write_rate: Rate = same(rate),
        /// The time besides of a write.
        write_latency: Seconds = same(latency),
        /// Time that each transfer takes the device alone, besides its bytes: others wait
        /// for it.
        time_per_transfer: Seconds = default("0 s", "nothing is assumed: measure it, with transfers of several processes at once"),
        /// The same of a write.
        write_time_per_transfer: Seconds = same(time_per_transfer),
        /// Transfers that the device has in progress at once: another begins when one of them is
        /// done.
        queue_depth: Option<u32> as Option<AtLeastOne> = optional("any number"),
        /// Limits of the hypervisor, if the device is its virtual disk.
        hypervisor: Hypervisor = section(),
        /// Time of a flush of its write cache, and of a write that must be on the medium. A loop
        /// device syncs its file (fsync).
        flush: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Most bytes read in a second.
        read_rate: Option<Rate> = optional("no limit") aka ["read_bps", "read_bandwidth"],
        /// Most bytes written in a second.
        write_rate: Option<Rate> = optional("no limit") aka ["write_bps", "write_bandwidth"],
        /// Most reads in a second.
        read_operations: Option<f64> as Option<Positive> = optional("no limit") aka ["read_iops"],
        /// Most writes in a second.
        write_operations: Option<f64> as Option<Positive> = optional("no limit") aka ["write_iops"],
        /// Bytes that may be saved up while a direction is not used, and then
        /// moved beyond the limit.
        burst: Bytes = default("0 B", "blk-throttle saves nothing but what its slices allow") aka ["credit"],
        /// Operations that may be saved up in the same way.
        burst_operations: u32 as crate::values::Count = default(0, "as burst"),
        /// The unit of time in which limits are counted: what a whole slice
        /// allows may go at its start.
        slice: Seconds = default("100 ms", "Linux 6.18, block/blk-throttle.c: DFL_THROTL_SLICE = HZ / 10"),
        /// The kernel's clock: all times of the limits are whole ticks.
        tick: Seconds = default("4 ms", "Linux, kernel/Kconfig.hz: HZ_250"),
        /// Transfers are cut in parts of this size, and each counts as an
        /// operation.
        largest_request: Option<Bytes> = optional("a transfer is one operation")
            aka ["max_sectors_kb"],
    }
    check slice_has_ticks;
    removed {
        "new_block": Seconds = default("0 s"), "give it in the section \"hypervisor\"";
        "fresh_page": Seconds = default("0 s"), "give it in the section \"hypervisor\"";
        "bulk_service": bool = default(false), "give it in the section \"hypervisor\"";
    }
}

fn slice_has_ticks(disk: &Throttled, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if disk.tick < Seconds(1e-9) {
        return Err(at.error("tick", r#"expected at least a nanosecond, such as "4 ms""#));
    }
    if disk.slice < disk.tick {
        let message = format!("expected at least tick = \"{}\"", disk.tick);
        return Err(at.error("slice", message));
    }
    if disk.largest_request.is_some_and(|size| size.0 == 0) {
        let message = r#"expected a size of more than 0 such as "1280 KiB""#;
        return Err(at.error("largest_request", message));
    }
    Ok(())
}

impl Throttled {
    /// The lowest rate of a direction, and its field.
    pub(crate) fn slowest(&self, writing: bool) -> (&'static str, Rate) {
        let limit = if writing {
            self.write_rate.map(|rate| ("write_rate", rate))
        } else {
            self.read_rate.map(|rate| ("read_rate", rate))
        };
        let behind = match writing {
            true => ("device_write_rate", self.device_write_rate),
            false => ("rate", self.rate),
        };
        limit.filter(|(_, rate)| *rate < behind.1).unwrap_or(behind)
    }
}
