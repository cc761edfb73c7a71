//! Phases that come in turn with those of other workloads, as IO500's do.
//!
//! ```text
//!   turn 1: ior-easy writes │ turn 2: mdtest-easy creates │ turn 3: ior-hard writes │ …
//! ```
//!
//! All processes of these workloads meet before each turn, those without a phase in it too.

use headrace_spec::{Scenario, Workload};

use crate::Next;

/// The turns of a workload's phases, and how far its processes have come.
pub struct Turns {
    /// By phase.
    turns: Vec<u32>,
    /// The last turn of any workload.
    last: u32,
    ranks: Vec<Rank>,
}

#[derive(Clone, Copy, Default)]
struct Rank {
    /// Phases that are over.
    phase: usize,
    /// The turn that it has come to.
    turn: u32,
    finished: bool,
}

impl Turns {
    /// None if the workload has no turns.
    #[must_use]
    pub fn new(workload: &Workload, scenario: &Scenario, processes: u32) -> Option<Turns> {
        let turns = workload.turns.as_ref()?;
        let all = scenario.workload.iter().flat_map(|it| &it.turns).flatten();
        Some(Turns {
            turns: turns.clone(),
            last: all.copied().max().unwrap_or(0),
            ranks: vec![Rank::default(); processes as usize],
        })
    }

    /// Returns the next action of a process, whose own is the next of `own`.
    ///
    /// # Errors
    /// As of `own`.
    pub fn next(
        &mut self,
        rank: u32,
        own: &mut dyn FnMut() -> Result<Next, String>,
    ) -> Result<Next, String> {
        let rank = &mut self.ranks[rank as usize];
        loop {
            let due = match rank.finished {
                true => self.last,
                false => self.turns.get(rank.phase).copied().unwrap_or(self.last),
            };
            if rank.turn < due {
                rank.turn += 1;
                return Ok(Next::Turn);
            }
            if rank.finished {
                return Ok(Next::Finished);
            }
            match own()? {
                Next::PhaseOver => {
                    rank.phase += 1;
                    // Its processes meet between phases of one turn.
                    if self.turns.get(rank.phase) == Some(&rank.turn) {
                        return Ok(Next::PhaseOver);
                    }
                }
                Next::Finished => rank.finished = true,
                other => return Ok(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two phases, of turns 2 and 2, then one of turn 4, of five turns in all.
    #[test]
    fn each_turn_is_met_once_and_phases_of_one_turn_meet_as_well() {
        let mut turns = Turns {
            turns: vec![2, 2, 4],
            last: 5,
            ranks: vec![Rank::default()],
        };
        let mut own = [Next::Wait, Next::PhaseOver, Next::PhaseOver, Next::Wait]
            .into_iter()
            .chain([Next::Finished]);
        let mut seen = Vec::new();
        while seen.last() != Some(&Next::Finished) {
            let next = turns.next(0, &mut || Ok(own.next().unwrap_or(Next::Barrier)));
            seen.extend(next);
        }
        let (turn, work) = (Next::Turn, Next::Wait);
        let expected = [turn, turn, work, Next::PhaseOver, turn, turn, work, turn];
        assert_eq!(seen, [&expected[..], &[Next::Finished]].concat());
    }
}
