//! File operations, one file each: what has to be there before one, the call itself, and
//! what must be true after it. Only the call is timed.
//!
//! To add one, write a file with a type that implements [`FileOperation`] and name it in
//! [`ALL`].

mod close;
mod create;
mod group;
mod hands;
mod open;
mod read;
mod stat;
mod sync;
mod unlink;
mod write;

pub use group::Group;
pub use hands::{Buffer, Hands, OwnNames, Target};

use headrace_workload::Ask;

use crate::calls::Result;

/// Every operation; its number is its place.
pub static ALL: &[&dyn FileOperation] = &[
    &read::Read,
    &write::Write,
    &sync::Sync,
    &open::Open,
    &close::Close,
    &create::Create,
    &stat::Stat,
    &unlink::Unlink,
];

/// An operation on files.
pub trait FileOperation: Sync {
    /// Its name in scenarios, tables and results.
    fn name(&self) -> &'static str;

    /// What kind of load it is.
    fn group(&self) -> Group;

    /// How often it is carried out in a mix of which nothing else is said, in relation to
    /// the others.
    fn weight(&self) -> f64 {
        1.0
    }

    /// Whether it moves the bytes that it is asked for.
    fn moves_bytes(&self) -> bool {
        false
    }

    /// Sees to it that the operation can succeed. Not timed.
    ///
    /// # Errors
    /// What a call that was needed for it gives.
    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target>;

    /// The operation. Gives the bytes that it moved. Timed.
    ///
    /// # Errors
    /// What the call gives.
    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64>;

    /// Takes note of what the operation has changed, and says what is wrong with what it
    /// gave. Not timed.
    ///
    /// # Errors
    /// What was found, and what was expected.
    fn verify(
        &self,
        _hands: &mut Hands,
        ask: &Ask,
        _target: Target,
        moved: u64,
    ) -> std::result::Result<(), String> {
        match self.moves_bytes() && moved != ask.size {
            true => Err(format!(
                "{moved} of {} bytes at {} were moved",
                ask.size, ask.offset
            )),
            false => Ok(()),
        }
    }
}

/// The number of the operation with a name.
#[must_use]
pub fn number(name: &str) -> Option<usize> {
    ALL.iter().position(|it| it.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back_to_the_operation() {
        for (place, operation) in ALL.iter().enumerate() {
            assert_eq!(number(operation.name()), Some(place));
            assert!(operation.weight() > 0.0);
        }
    }
}
