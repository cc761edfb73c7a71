//! `[capacity]`: usable capacity and its growth.

use crate::declare::section;
use crate::values::{Bytes, Growth, MoreThanZero, Years};

section! {
    /// Usable capacity and its growth (Hindman 2011, section 2.3).
    pub struct CapacityNeed {
        /// How much usable capacity is needed at the start, after redundancy and file system?
        usable: Bytes as MoreThanZero<Bytes> = required("20 TB") aka ["initial", "size"],
        /// By how much does the need grow in a year?
        growth: Option<f64> as Option<Growth> = optional("the capacity is not planned to grow", "30 %"),
        /// For how many years is it planned?
        years: f64 as Years = default(3, "Hindman 2011, appendix A: two to three years") aka ["horizon"],
        /// Which part of the initial need is bought in addition?
        reserve: f64 as Growth = default("20 %", "Hindman 2011, section 2.3: 20 % extra for growth") aka ["extra"],
    }
}
