//! Active periods: from the first request of a phase to the end of its last one, phases joined
//! where they overlap.

use headrace_net::{Span, Time};

/// The time that an operation's phases took.
#[derive(Clone, Default, Debug)]
pub(crate) struct Activity {
    /// By workload: the phase in progress.
    current: Vec<Option<Phase>>,
    /// Phases that are over, in no order.
    over: Vec<Period>,
}

/// From the start to the end of a workload's phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub workload: usize,
    pub number: u32,
    pub start: Time,
    pub end: Time,
    /// Requests done, and bytes that they moved.
    pub count: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    number: u32,
    /// Its first request, or the reset if some were in progress then.
    start: Time,
    /// Its last completion, or the end of the run if requests were in progress then.
    end: Time,
    /// Requests that are not done yet.
    under_way: u64,
    count: u64,
    bytes: u64,
}

impl Phase {
    fn period(&self, workload: usize) -> Period {
        Period {
            workload,
            number: self.number,
            start: self.start,
            end: self.end,
            count: self.count,
            bytes: self.bytes,
        }
    }
}

impl Activity {
    /// A request starts.
    pub fn issued(&mut self, workload: u32, number: u32, now: Time) {
        let index = workload as usize;
        if self.current.len() <= index {
            self.current.resize(index + 1, None);
        }
        let current = &mut self.current[index];
        let mut under_way = 1;
        if let Some(phase) = current {
            under_way += phase.under_way;
            if phase.number == number {
                phase.under_way = under_way;
                return;
            }
            self.over.push(phase.period(index));
        }
        *current = Some(Phase {
            number,
            start: now,
            end: now,
            under_way,
            count: 0,
            bytes: 0,
        });
    }

    /// A request has ended, and moved a number of bytes; None if it has failed.
    pub fn completed(&mut self, workload: u32, moved: Option<u64>, now: Time) {
        if let Some(Some(phase)) = self.current.get_mut(workload as usize) {
            phase.count += u64::from(moved.is_some());
            phase.bytes += moved.unwrap_or(0);
            phase.end = now;
            phase.under_way = phase.under_way.saturating_sub(1);
        }
    }

    /// Resets the state; a phase with requests in progress is active from now on. Returns true if
    /// there is one.
    pub fn reset(&mut self, now: Time) -> bool {
        self.over.clear();
        for current in &mut self.current {
            *current = current
                .filter(|phase| phase.under_way > 0)
                .map(|phase| Phase {
                    start: now,
                    end: now,
                    count: 0,
                    bytes: 0,
                    ..phase
                });
        }
        self.current.iter().any(Option::is_some)
    }

    /// The run has ended: a phase with requests in progress is active until then.
    pub fn finish(&mut self, now: Time) {
        let phases = self.current.iter_mut().flatten();
        for phase in phases.filter(|phase| phase.under_way > 0) {
            phase.end = now;
        }
    }

    /// All phases, with those in progress.
    pub fn periods(&self) -> impl Iterator<Item = Period> {
        let current = self.current.iter().enumerate();
        let current = current.filter_map(|(index, phase)| Some(phase.as_ref()?.period(index)));
        self.over.iter().copied().chain(current)
    }

    /// Takes over what another saw.
    pub fn join(&mut self, other: &Activity) {
        self.over.extend(other.periods());
    }

    /// Takes over what another saw in phases that a third has too.
    pub fn join_in_phases_of(&mut self, other: &Activity, third: &Activity) {
        let also = |period: &Period| {
            let same = |it: Period| (it.workload, it.number) == (period.workload, period.number);
            third.periods().any(same)
        };
        self.over.extend(other.periods().filter(also));
    }

    /// Duration for which anything was active.
    pub fn total(&self) -> Span {
        let mut periods: Vec<(Time, Time)> = self.periods().map(|it| (it.start, it.end)).collect();
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
            activity.completed(workload, Some(0), Time(end));
        }
        assert_eq!(activity.total(), Span(12 + 10));
    }

    #[test]
    fn requests_in_progress_at_the_end_are_active_until_then() {
        let mut activity = Activity::default();
        activity.issued(0, 0, Time(0));
        activity.issued(0, 0, Time(0));
        activity.completed(0, Some(0), Time(30));
        activity.finish(Time(50));
        assert_eq!(activity.total(), Span(50));
        activity.completed(0, Some(0), Time(60));
        activity.finish(Time(80));
        assert_eq!(activity.total(), Span(60));
    }

    #[test]
    fn requests_under_way_at_a_reset_are_active_from_there_on() {
        let mut activity = Activity::default();
        activity.issued(0, 0, Time(0));
        activity.issued(1, 0, Time(0));
        activity.completed(1, Some(0), Time(5));
        assert!(activity.reset(Time(10)));
        assert_eq!(activity.total(), Span::ZERO);
        // Another request of the phase starts before the first one ends.
        activity.issued(0, 0, Time(40));
        activity.completed(0, Some(0), Time(50));
        activity.completed(0, Some(0), Time(60));
        assert_eq!(activity.total(), Span(50));
        assert!(!activity.reset(Time(70)));
        assert_eq!(activity.total(), Span::ZERO);
        activity.issued(0, 0, Time(75));
        activity.completed(0, Some(0), Time(80));
        assert_eq!(activity.total(), Span(5));
    }
}
