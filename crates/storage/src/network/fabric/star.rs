//! Star: all cards meet in one switch that never blocks.

use super::{Path, Routes};

/// One switch: no link but the cards.
pub(super) struct Star;

impl Routes for Star {
    fn between(&self, _: u32, _: u32, _: u64, _: &mut Path) {}

    fn switches(&self) -> u32 {
        1
    }

    fn switch_of(&self, _: u32) -> u32 {
        0
    }

    fn longest(&self) -> usize {
        0
    }
}
