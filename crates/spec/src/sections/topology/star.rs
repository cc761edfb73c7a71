//! `kind = "star"`: one switch.

use crate::declare::section;

section! {
    /// Every host has one card, and all cards meet in one switch that never blocks.
    pub struct Star {}
}
