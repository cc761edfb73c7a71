//! Start, pauses and turns of a workload's processes: what every kind of workload has.
//!
//! ```text
//!   next ─▶ the kind's next, at its own time ─▶ the first request waits for the start
//!                                             └▶ every other one for a pause
//! ```
//!
//! Times of an open workload are counted from its start. A process of an operation mix with a
//! rate takes what comes, so that only `start` shifts it.

use headrace_net::{Random, Span, Time};
use headrace_spec::{Scenario, ThinkDistribution, Workload};

use super::turns::Turns;
use super::{
    Application, Ask, ExistingFile, LeftOut, NameSets, Next, RecordedFlags, RoundCounts,
    RoundMessage, RoundNews, TrainingFigures,
};

/// When the processes of a workload start, and how long they pause.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTimes {
    start: Span,
    stagger: Span,
    delay: Span,
    distribution: ThinkDistribution,
}

impl ProcessTimes {
    /// The times of a workload.
    #[must_use]
    pub fn new(workload: &Workload) -> ProcessTimes {
        let [start, stagger, delay] =
            [workload.start, workload.stagger, workload.delay].map(|it| Span::from_seconds(it.0));
        ProcessTimes {
            start,
            stagger,
            delay,
            distribution: workload.delay_distribution,
        }
    }

    fn are_zero(&self) -> bool {
        [self.start, self.stagger, self.delay] == [Span::ZERO; 3]
    }

    /// The start of a process.
    #[must_use]
    pub fn start_of(&self, rank: u32) -> Span {
        self.start + self.stagger * u64::from(rank)
    }

    /// Draws the pause before a request.
    pub fn pause(&self, random: &mut Random<'_>) -> Span {
        match self.distribution {
            _ if self.delay == Span::ZERO => Span::ZERO,
            ThinkDistribution::Constant => self.delay,
            ThinkDistribution::Exponential => random.exponential_span(self.delay),
        }
    }
}

/// A workload that starts later, pauses between its requests, or waits for the turns of its phases.
pub struct StartAndDelay {
    inner: Box<dyn Application>,
    times: ProcessTimes,
    turns: Option<Turns>,
    /// By process: when its first turn has come.
    origins: Vec<Option<Span>>,
    /// Processes that have made their first request.
    begun: Vec<bool>,
}

impl StartAndDelay {
    /// The workload as its kind has it, with the start, the pauses and the turns of the scenario,
    /// if there are any.
    #[must_use]
    pub fn around(
        inner: Box<dyn Application>,
        workload: &Workload,
        scenario: &Scenario,
    ) -> Box<dyn Application> {
        let times = ProcessTimes::new(workload);
        let turns = Turns::new(workload, scenario, inner.processes());
        if times.are_zero() && turns.is_none() {
            return inner;
        }
        Box::new(StartAndDelay {
            times,
            turns,
            origins: vec![None; inner.processes() as usize],
            begun: vec![false; inner.processes() as usize],
            inner,
        })
    }

    /// The start of a process, after its first turn if there are turns.
    fn start_of(&self, rank: u32) -> Span {
        let origin = self.origins[rank as usize].unwrap_or(Span::ZERO);
        origin + self.times.start_of(self.inner.starts_with(rank))
    }
}

impl Application for StartAndDelay {
    fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String> {
        let inner = &mut self.inner;
        let start = self.times.start_of(inner.starts_with(rank));
        let origin = &mut self.origins[rank as usize];
        let has_turns = self.turns.is_some();
        let mut own = || {
            let origin = origin.get_or_insert(match has_turns {
                true => now.since(Time::ZERO),
                false => Span::ZERO,
            });
            let start = Time::ZERO + start + *origin;
            // The time in the kind's own count.
            inner.next(rank, Time::ZERO + now.max(start).since(start), random)
        };
        let next = match &mut self.turns {
            Some(turns) => turns.next(rank, &mut own)?,
            None => own()?,
        };
        let Next::Ask(mut ask) = next else {
            return Ok(next);
        };
        let start = self.start_of(rank);
        let is_first = !std::mem::replace(&mut self.begun[rank as usize], true);
        if let Some(own) = ask.intended {
            let intended = own + start;
            ask.intended = Some(intended);
            ask.after = intended.since(now);
        } else if is_first {
            ask.after += (Time::ZERO + start).since(now);
        } else {
            ask.after += self.times.pause(random);
        }
        Ok(Next::Ask(ask))
    }

    fn not_issued(
        &mut self,
        rank: u32,
        until: Time,
        each: &mut dyn FnMut(&Ask),
    ) -> Result<(), String> {
        let start = self.start_of(rank);
        let own_until = Time::ZERO + until.since(Time::ZERO + start);
        self.inner.not_issued(rank, own_until, &mut |ask| {
            each(&Ask {
                intended: ask.intended.map(|own| own + start),
                ..*ask
            });
        })
    }

    fn processes(&self) -> u32 {
        self.inner.processes()
    }

    fn files(&self) -> u32 {
        self.inner.files()
    }

    fn files_in_a_directory(&self) -> Option<u32> {
        self.inner.files_in_a_directory()
    }

    fn makes_directory_of(&self, file: u32) -> bool {
        self.inner.makes_directory_of(file)
    }

    fn closes_what_it_makes(&self) -> bool {
        self.inner.closes_what_it_makes()
    }

    fn starts_with(&self, rank: u32) -> u32 {
        self.inner.starts_with(rank)
    }

    fn threads(&self) -> bool {
        self.inner.threads()
    }

    fn missed_stonewall(&self) -> bool {
        self.inner.missed_stonewall()
    }

    fn farthest(&mut self, elsewhere: u64) -> u64 {
        self.inner.farthest(elsewhere)
    }

    fn has_turns(&self) -> bool {
        self.turns.is_some()
    }

    fn needs_all_processes(&self) -> bool {
        self.inner.needs_all_processes()
    }

    fn ends_with_its_processes(&self) -> bool {
        self.inner.ends_with_its_processes()
    }

    fn woken(&mut self) -> Option<u32> {
        self.inner.woken()
    }

    fn volume(&self, file: u32) -> Option<u8> {
        self.inner.volume(file)
    }

    fn existing(&self) -> Vec<ExistingFile> {
        self.inner.existing()
    }

    fn name_sets(&self) -> NameSets {
        self.inner.name_sets()
    }

    fn is_carried_out_by(&mut self, here: &[u32]) -> bool {
        self.inner.is_carried_out_by(here)
    }

    fn message(&mut self) -> Option<RoundMessage> {
        self.inner.message()
    }

    fn hear(&mut self, news: RoundNews) {
        self.inner.hear(news);
    }

    fn rounds(&self) -> Option<RoundCounts> {
        self.inner.rounds()
    }

    fn training(&self) -> Option<TrainingFigures> {
        self.inner.training()
    }

    fn recorded_flags(&self) -> Option<RecordedFlags> {
        self.inner.recorded_flags()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        self.inner.left_out()
    }

    fn total_requests(&self) -> Option<u64> {
        self.inner.total_requests()
    }

    fn largest_transfer(&self) -> Option<u64> {
        self.inner.largest_transfer()
    }
}
