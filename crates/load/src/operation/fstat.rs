//! fstat(2).

use headrace_workload::Ask;

use super::{FileOperation, Group, Hands, Target};
use crate::calls::Result;

/// Attributes of an open file are looked up.
pub struct Fstat;

impl FileOperation for Fstat {
    fn name(&self) -> &'static str {
        "fstat"
    }

    fn group(&self) -> Group {
        Group::FileStat
    }

    fn prepare(&self, hands: &mut Hands, ask: &Ask) -> Result<Target> {
        Target::file(hands, ask, false)
    }

    fn execute(&self, hands: &mut Hands, target: &mut Target) -> Result<u64> {
        hands.calls.stat_open(target.open()?)?;
        Ok(0)
    }
}
