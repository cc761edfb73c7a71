use crate::discipline::{Discipline, Station};
use crate::slab::{Line, Slot};
use crate::token::Token;

/// Holds tokens until a number of them have gathered, then releases them all
/// in the order they came.
#[derive(Clone, Debug)]
pub struct Barrier {
    number: u32,
    waiting: Line,
}

impl Barrier {
    /// Opens whenever `number` tokens wait.
    pub fn new(number: u32) -> Barrier {
        Barrier {
            number,
            waiting: Line::default(),
        }
    }
}

impl<T: Token> Discipline<T> for Barrier {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        station.push(&mut self.waiting, slot);
        if self.waiting.len() >= self.number {
            while let Some(slot) = station.pop(&mut self.waiting) {
                station.release(slot);
            }
        }
    }

    fn wake(&mut self, _: u32, _: &mut Station<'_, T>) {}

    fn name(&self) -> String {
        format!("barrier of {}", self.number)
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}
