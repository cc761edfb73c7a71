//! `[machine.write_back]`: dirty pages on their way to the device.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{MainMemory, Scenario};
use crate::values::{Bytes, Fraction, Seconds};

section! {
    /// Writeback of dirty pages, and throttling of writers (Linux,
    /// Documentation/admin-guide/sysctl/vm.rst).
    pub struct WriteBack {
        /// Above this part of memory dirty pages are written in the background.
        background_ratio: f64 as Fraction = default(0.1, "vm.dirty_background_ratio of Linux"),
        /// The same in bytes, if given, instead of the ratio.
        background_bytes: Option<Bytes> = optional("the ratio holds"),
        /// Above the mean of this part of memory and the background's, writers
        /// are slowed down; above this part they wait.
        ratio: f64 as Fraction = default(0.2, "vm.dirty_ratio of Linux") aka ["dirty_ratio"],
        /// The same in bytes, if given, instead of the ratio.
        bytes: Option<Bytes> = optional("the ratio holds") aka ["dirty_bytes"],
        /// Largest limit that `ratio` gives, whatever the memory; `background_ratio` then counts as
        /// a part of it.
        most: Option<Bytes> = optional("the ratio holds for any memory") aka ["max", "dirty_data_max_max"],
        /// Dirty data of other file systems, which counts against the limits too.
        others: Bytes = default("0 B", "nothing else is written"),
        /// Maximum dirty data below a loop device, in the file system that holds its file. It
        /// counts against the limits too.
        below: Bytes = default("0 B", "the device is no file"),
        /// Maximum age of a dirty page.
        expiry: Seconds = default("30 s", "vm.dirty_expire_centisecs of Linux") aka ["expire"],
        /// Interval at which the kernel looks for such pages.
        interval: Seconds = default("5 s", "vm.dirty_writeback_centisecs of Linux"),
    }
    check limits_are_in_order;
}

impl WriteBack {
    /// Dirty bytes above which the background writes.
    #[must_use]
    pub fn background(&self, memory: &MainMemory) -> u64 {
        let bytes = limit(self.background_bytes, self.background_ratio, memory);
        match (self.most, self.background_bytes) {
            (Some(most), None) => {
                let part = (self.background_ratio / self.ratio).min(1.0);
                bytes.min(part_of(most.0, part))
            }
            _ => bytes,
        }
    }

    /// Dirty bytes that are never exceeded.
    #[must_use]
    pub fn limit(&self, memory: &MainMemory) -> u64 {
        let bytes = limit(self.bytes, self.ratio, memory);
        match (self.most, self.bytes) {
            (Some(most), None) => bytes.min(most.0),
            _ => bytes,
        }
    }
}

fn limit(bytes: Option<Bytes>, ratio: f64, memory: &MainMemory) -> u64 {
    match bytes {
        Some(bytes) => bytes.0,
        None => part_of(memory.page_cache(), ratio),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a size is a size"
)]
fn part_of(bytes: u64, part: f64) -> u64 {
    (bytes as f64 * part) as u64
}

fn limits_are_in_order(
    write_back: &WriteBack,
    _all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let WriteBack {
        background_bytes,
        bytes,
        most,
        ..
    } = write_back;
    if most.is_some_and(|most| most.0 == 0) {
        return Err(at.error("most", r#"expected a size of more than 0 such as "4 GiB""#));
    }
    // Linux has it in hundredths of a second (vm.dirty_writeback_centisecs).
    if write_back.interval.0 < 0.01 {
        return Err(at.error("interval", r#"expected at least "10 ms", such as "5 s""#));
    }
    if let (Some(background), Some(limit)) = (background_bytes, bytes)
        && background > limit
    {
        let path = at.field("bytes").path;
        let message = format!("expected no more than the limit: {path} = \"{limit}\"");
        return Err(at.error("background_bytes", message));
    }
    Ok(())
}
