//! `[recovery]`: what happens if data or access to it is lost.

use crate::declare::section;
use crate::values::{Chance, Span, Years};

section! {
    /// Disaster recovery (Hindman 2011, section 2.7).
    pub struct Recovery {
        /// Is the data critical to business?
        critical: Option<bool> = optional("it counts as critical", true),
        /// Can the data be made again if it is deleted, damaged or lost?
        regenerable: Option<bool> = optional("it counts as data that cannot be made again", false),
        /// How is critical data backed up?
        backup: String = default("", "unknown") aka ["backups"],
        /// Is access to the system critical to business?
        access_critical: Option<bool> = optional("nothing is doubled for the sake of access", false),
        /// How much unscheduled downtime a month is accepted?
        downtime: Option<Span> = optional("no design is discarded for its availability", "4 h"),
        /// Which probability is accepted that data is lost within `loss_years`?
        loss_probability: Option<f64> as Option<Chance> = optional("no design is discarded for its reliability", "0.1 %"),
        /// For how many years does `loss_probability` hold?
        loss_years: f64 as Years = default(5, "Hindman 2011, section 3.1.1: the usual life of a disk"),
        /// Must data outlive the loss of a server?
        survives_node: Option<bool> = optional("it must if data is critical and cannot be made again", true),
    }
}
