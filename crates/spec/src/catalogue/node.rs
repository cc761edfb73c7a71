//! `[[node]]` and `[[shelf]]`: servers, and shelves of disks that they drive.

use super::{FormFactor, table};
use crate::declare::section;
use crate::tree::Table;
use crate::values::{
    AnyNumber, AtLeastOne, Bytes, Count, Kilograms, Money, MoreThanZero, Name, PlausibleRate,
    RackUnits, Rate, Span, Watts,
};

/// No restriction.
const ANY: [&str; 0] = [];

section! {
    /// A storage server without its data disks.
    pub struct NodeModel {
        /// Name, unique in the catalogue.
        name: String as Name = required("2U12"),
        /// Disk slots.
        slots: u32 as AtLeastOne = required(12) aka ["bays"],
        /// Form factors of the disks that the slots take.
        form_factors: Vec<FormFactor> as AnyNumber<FormFactor> = default(ANY, "every disk") aka ["form_factor", "forms"],
        /// Rack units.
        rack_units: f64 as RackUnits = required(2) aka ["units"],
        /// Price without data disks and without network adapters.
        price: Option<f64> as Option<Money> = optional("the cost of designs with it is unknown", 3500) aka ["cost"],
        /// Main memory.
        memory: Bytes as MoreThanZero<Bytes> = required("64 GiB") aka ["ram"],
        /// Cores of all its processors.
        cores: u32 as AtLeastOne = required(16) aka ["cpus"],
        /// Power on the label, without disks.
        max_power: Watts as MoreThanZero<Watts> = required("800 W"),
        /// Power measured at peak load, without disks.
        power: Watts as MoreThanZero<Watts> = required("300 W") aka ["watts"],
        /// Weight without disks.
        weight: Option<Kilograms> = optional("the weight of designs with it is unknown", "20 kg"),
        /// Mean time to a failure of the node that leaves its disks intact.
        mttf: Option<Span> as Option<MoreThanZero<Span>> = optional("nodes do not fail in estimates of availability", "100000 h") aka ["mtbf"],
        /// Throughput of its controller or host adapter.
        bus_rate: Option<Rate> as Option<PlausibleRate> = optional("nothing but disks and network limits it", "6 GB/s") aka ["bus"],
        /// Shelves that can be attached.
        shelves: u32 as Count = default(0, "none: its own slots only"),
        /// Maintenance a year.
        yearly_maintenance: Option<f64> as Option<Money> = optional("maintenance_share of its price", 350) aka ["maintenance"],
        /// Source of the technical data and of the price.
        source: String = default("", "unknown"),
    }
}

section! {
    /// A shelf of disks that a node drives (JBOD).
    pub struct ShelfModel {
        /// Name, unique in the catalogue.
        name: String as Name = required("4U60"),
        /// Disk slots.
        slots: u32 as AtLeastOne = required(60) aka ["bays"],
        /// Form factors of the disks that the slots take.
        form_factors: Vec<FormFactor> as AnyNumber<FormFactor> = default(ANY, "every disk") aka ["form_factor", "forms"],
        /// Rack units.
        rack_units: f64 as RackUnits = required(4) aka ["units"],
        /// Price without disks.
        price: Option<f64> as Option<Money> = optional("the cost of designs with it is unknown", 6000) aka ["cost"],
        /// Power at peak load, without disks.
        power: Watts as MoreThanZero<Watts> = required("150 W") aka ["watts"],
        /// Weight without disks.
        weight: Option<Kilograms> = optional("the weight of designs with it is unknown", "40 kg"),
        /// Source of the technical data and of the price.
        source: String = default("", "unknown"),
    }
}

/// A node for examples.
pub(super) fn example() -> Table {
    table([
        ("name", "2U12".into()),
        ("slots", 12.into()),
        ("rack_units", 2.into()),
        ("memory", "64 GiB".into()),
        ("cores", 16.into()),
        ("max_power", "800 W".into()),
        ("power", "300 W".into()),
    ])
}
