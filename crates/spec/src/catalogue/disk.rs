//! `[[disk]]`: disks and solid-state drives.

use super::table;
use crate::declare::section;
use crate::tree::Table;
use crate::values::{
    BitErrorRate, Bytes, Kilograms, Money, MoreThanZero, Name, PlausibleRate, Rate, Ratio, Span,
    Watts, choice,
};

choice! {
    /// Class of a disk (Hindman 2011, section 3.2.1, and solid-state drives).
    pub enum DiskClass {
        /// For some hours a day; long recovery of sectors.
        Desktop = "desktop",
        /// All day, at a low duty cycle; large.
        Nearline = "nearline",
        /// All day, at a full duty cycle; fast and small.
        Enterprise = "enterprise",
        /// Solid state on SATA or SAS.
        Ssd = "ssd",
        /// Solid state on PCI Express.
        Nvme = "nvme",
    }
}

choice! {
    /// Form of a disk, and of the slots that take it.
    pub enum FormFactor {
        /// 101.6 mm wide.
        Large = "3.5-inch",
        /// 69.85 mm wide, on SATA or SAS.
        Small = "2.5-inch",
        /// Any form on PCI Express: U.2, U.3, E1.S, E3.S.
        Nvme = "nvme",
    }
}

section! {
    /// A disk or solid-state drive.
    pub struct DiskModel {
        /// Name, unique in the catalogue.
        name: String as Name = required("nearline 16 TB"),
        /// Class.
        #[serde(rename = "disk_class")]
        class: DiskClass = required("nearline") aka ["disk_class", "kind"],
        /// Form factor; only slots for it take the disk.
        form_factor: Option<FormFactor> = optional("every slot takes it", "3.5-inch") aka ["form", "size_class"],
        /// Capacity, in decimal bytes as makers state it.
        capacity: Bytes as MoreThanZero<Bytes> = required("16 TB") aka ["size"],
        /// Price of one.
        price: Option<f64> as Option<Money> = optional("the cost of designs with it is unknown", 300) aka ["cost"],
        /// Mean time to failure, as the maker states it.
        mttf: Span as MoreThanZero<Span> = required("2500000 h") aka ["mtbf"],
        /// Unrecoverable read errors per bit read.
        bit_error_rate: f64 as BitErrorRate = required(1e-15) aka ["ber", "uber"],
        /// Throughput of sequential reads.
        read_rate: Rate as PlausibleRate = required("250 MB/s") aka ["rate", "bandwidth"],
        /// Throughput of sequential writes.
        write_rate: Rate as PlausibleRate = same(read_rate),
        /// Time before a random read: average seek and half a turn; the latency of a solid-state drive.
        access_time: Span as MoreThanZero<Span> = required("12.2 ms") aka ["seek", "latency"],
        /// Power at work.
        power: Watts as MoreThanZero<Watts> = required("9 W") aka ["watts"],
        /// Power while it spins and waits.
        idle_power: Option<Watts> = optional("as at work", "5 W"),
        /// Weight.
        weight: Option<Kilograms> = optional("the weight of designs with it is unknown", "0.68 kg"),
        /// Observed failure rate / the rate that `mttf` states.
        failure_factor: Option<f64> as Option<Ratio> = optional("published fleets of its class say how often it fails; 1 takes the maker's figure", 1),
        /// Source of the technical data and of the price.
        source: String = default("", "unknown"),
    }
}

/// A disk for examples.
pub(super) fn example() -> Table {
    table([
        ("name", "nearline 16 TB".into()),
        ("class", "nearline".into()),
        ("capacity", "16 TB".into()),
        ("mttf", "2500000 h".into()),
        ("bit_error_rate", 1e-15.into()),
        ("read_rate", "250 MB/s".into()),
        ("access_time", "12.2 ms".into()),
        ("power", "9 W".into()),
    ])
}
