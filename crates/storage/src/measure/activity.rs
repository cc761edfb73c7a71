//! When something was active: from the first request of a phase to the end of
//! its last one, phases joined where they overlap.

use headrace_net::{Span, Time};

/// The time that an operation's phases took.
#[derive(Clone, Default, Debug)]
pub(super) struct Activity {
    /// By workload: the phase under way, its first request and last completion.
    current: Vec<Option<(u32, Time, Time)>>,
    /// Phases that are over, in no order.
    over: Vec<(Time, Time)>,
}

impl Activity {
    /// A request starts.
    pub fn issued(&mut self, workload: u32, phase: u32, now: Time) {
        let index = workload as usize;
        if self.current.len() <= index {
            self.current.resize(index + 1, None);
        }
        match self.current[index] {
            Some((current, ..)) if current == phase => {}
            before => {
                self.over.extend(before.map(|(_, start, end)| (start, end)));
                self.current[index] = Some((phase, now, now));
            }
        }
    }

    /// A request is done. One that began before statistics were reset opens
    /// its phase at `reset_at`.
    pub fn completed(&mut self, workload: u32, phase: u32, now: Time, reset_at: Time) {
        if self
            .current
            .get(workload as usize)
            .is_none_or(Option::is_none)
        {
            self.issued(workload, phase, reset_at);
        }
        if let Some((_, _, end)) = &mut self.current[workload as usize] {
            *end = now;
        }
    }

    /// Takes over what another saw.
    pub fn join(&mut self, other: &Activity) {
        let current = other
            .current
            .iter()
            .flatten()
            .map(|&(_, start, end)| (start, end));
        self.over.extend(other.over.iter().copied().chain(current));
    }

    /// How long anything was active.
    pub fn total(&self) -> Span {
        let current = self
            .current
            .iter()
            .flatten()
            .map(|&(_, start, end)| (start, end));
        let mut periods: Vec<(Time, Time)> = self.over.iter().copied().chain(current).collect();
        periods.sort_unstable();
        let mut total = Span::ZERO;
        let mut reached = Time::ZERO;
        for (start, end) in periods {
            total += end.since(start.max(reached));
            reached = reached.max(end);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_phases_count_once_and_gaps_not() {
        let mut activity = Activity::default();
        for (workload, phase, start, end) in [(0, 0, 0, 10), (1, 0, 5, 12), (0, 2, 20, 30)] {
            activity.issued(workload, phase, Time(start));
            activity.completed(workload, phase, Time(end), Time::ZERO);
        }
        assert_eq!(activity.total(), Span(12 + 10));
    }
}
