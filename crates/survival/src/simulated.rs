//! Answers by simulation.
//!
//! A first run of missions gives the loss probability. Its losses are mostly of one cause: with
//! read errors mostly lost stripes, whereas NOMDL is made of lost arrays. A cause that this run
//! saw too rarely gets missions of its own, biased towards it. Each figure has its own error.

use crate::answer::{Answer, Estimate, HorizonAnswer, MethodUsed, Seen};
use crate::assumptions;
use crate::error::Error;
use crate::estimate::{self, CauseSums, HorizonSums, Interval, Sums};
use crate::model::Model;
use crate::pilot::Cause;
use crate::pool::Pool;
use crate::question::{Question, YEAR};
use crate::rates;
use crate::shape::Shape;
use crate::simulate::{self, Goal, Progress};

/// Missions with a loss from which on a weighted mean has an interval by the normal law.
const ENOUGH_SEEN: u64 = 10;
/// A cause gets missions of its own if its error exceeds that of all losses by this factor.
const FAR_WORSE: f64 = 1.2;

/// Missions, and whether they are counted without weights.
struct Run {
    sums: Sums,
    is_crude: bool,
}

/// The missions that each figure comes from.
struct Runs {
    all: Run,
    /// Missions towards failures and towards read errors, if the first run saw too few.
    towards: [Option<Run>; 2],
    /// True for each cause that can lose data.
    is_possible: [bool; 2],
    /// Upper bound of the part of the data that one loss by each cause loses.
    part_of_loss: [f64; 2],
}

impl Runs {
    fn by(&self, cause: Cause) -> &Run {
        self.towards[cause as usize].as_ref().unwrap_or(&self.all)
    }
}

/// Simulates arrays and mirrors.
pub fn arrays(question: &Question, progress: Progress<'_>) -> Result<Answer, Error> {
    let mut model = Model::new(question);
    let causes = [Cause::Failures, Cause::ReadError];
    let is_possible = causes.map(|cause| model.can_lose_by(cause));
    let is_biasing = question.simulation.biasing && !question.simulation.count_losses;
    let pilot = is_biasing.then(|| simulate::pilot(&model));
    if let Some(pilot) = pilot.as_ref().filter(|it| !simulate::is_frequent(it, None)) {
        model.bias(pilot, None);
    }
    let is_crude = model.bias.is_none();
    // A cause that is frequent or not biased towards has no run of its own.
    let has_own_run = |cause| {
        pilot
            .as_ref()
            .is_some_and(|it| !simulate::is_frequent(it, Some(cause)))
    };
    let watch = Watch {
        question,
        is_possible: causes.map(|cause| is_possible[cause as usize] && !has_own_run(cause)),
        is_unavailability_watched: is_crude && !question.domains.is_empty(),
    };
    // Progress covers the first run and those of each cause.
    let goal = Goal {
        primary: &|sums| watch.loss_error(sums),
        secondary: &|sums| watch.error(sums),
    };
    let all = Run {
        sums: simulate::arrays(&model, &goal, &mut |part| progress(part / 3.0))?,
        is_crude,
    };
    let mut towards = [None, None];
    for cause in causes {
        let error = watch.cause_error(&all.sums, cause);
        let is_rare = error > FAR_WORSE * watch.loss_error(&all.sums).max(1.0);
        let Some(pilot) = pilot.as_ref().filter(|_| has_own_run(cause)) else {
            continue;
        };
        if !is_possible[cause as usize] || !is_rare {
            continue;
        }
        let mut model = Model::new(question);
        model.bias(pilot, Some(cause));
        let goal = Goal {
            primary: &|sums| watch.cause_error(sums, cause),
            secondary: &|sums| watch.worst(sums, |at| at.of(cause).first.relative(sums.missions)),
        };
        let stage = 1.0 + f64::from(cause as u8);
        towards[cause as usize] = Some(Run {
            sums: simulate::arrays(&model, &goal, &mut |part| progress((stage + part) / 3.0))?,
            is_crude: false,
        });
    }
    let mut unavailability = None;
    if !question.domains.is_empty() {
        unavailability = Some(if is_crude {
            all.sums.unavailable.estimate(all.sums.missions)
        } else {
            // Biased missions end at their first loss: outages need missions of their own.
            let sums = crude_outages(question, progress)?;
            sums.unavailable.estimate(sums.missions)
        });
    }
    let read = model.shape.read_error_bytes(question.read_errors.loses) / model.shape.usable_bytes;
    let runs = Runs {
        all,
        towards,
        is_possible,
        part_of_loss: [1.0, read],
    };
    let groups = model.shape.groups / model.simulated_groups;
    let mut answer = answer(question, &runs, groups, MethodUsed::MonteCarlo);
    answer.unavailability = unavailability;
    Ok(answer)
}

fn crude_outages(question: &Question, progress: Progress<'_>) -> Result<Sums, Error> {
    let mut crude = Model::new(question);
    let disk_years = crude.disks() as f64 * crude.end / YEAR;
    let missions = (2e7 / disk_years).clamp(200.0, 20_000.0) as u64;
    crude.question.simulation.missions = Some(missions);
    let goal = Goal {
        primary: &|_| 0.0,
        secondary: &|_| 0.0,
    };
    simulate::arrays(&crude, &goal, progress)
}

/// Simulates a declustered pool.
pub fn pool(question: &Question, progress: Progress<'_>) -> Result<Answer, Error> {
    let refused = [
        ("domains", !question.domains.is_empty()),
        ("batches", question.batches.is_some()),
        ("replacement", question.replacement.is_some()),
        ("simulation.count_losses", question.simulation.count_losses),
    ];
    if let Some((place, _)) = refused.iter().find(|(_, given)| *given) {
        return Err(Error::at(
            place,
            "not modelled for declustered pools; leave it out or ask about an array",
        ));
    }
    let mut pool = Pool::new(question);
    if question.simulation.biasing {
        simulate::bias_pool(&mut pool, &question.simulation);
    }
    let split = pool.is_split();
    let is_possible = [true, pool.can_lose_by_read_error()];
    let watch = Watch {
        question,
        is_possible,
        is_unavailability_watched: false,
    };
    let goal = Goal {
        primary: &|sums| watch.loss_error(sums),
        secondary: &|sums| watch.error(sums),
    };
    let sums = simulate::pool(&pool, &question.simulation, &goal, progress)?;
    let (method, trials) = if split {
        (
            MethodUsed::Splitting,
            sums.missions * pool.replicate_missions(),
        )
    } else {
        (MethodUsed::MonteCarlo, sums.missions)
    };
    let runs = Runs {
        all: Run {
            sums,
            is_crude: !split,
        },
        towards: [None, None],
        is_possible,
        part_of_loss: [1.0, 1.0],
    };
    let mut answer = answer(question, &runs, question.groups, method);
    answer.missions = trials;
    Ok(answer)
}

/// The errors that decide when a simulation ends, as multiples of the wanted one.
struct Watch<'a> {
    question: &'a Question,
    /// Causes that no run of their own follows.
    is_possible: [bool; 2],
    is_unavailability_watched: bool,
}

impl Watch<'_> {
    /// Error of the loss probability at the longest horizon, which includes all losses.
    fn loss_error(&self, sums: &Sums) -> f64 {
        self.longest(sums, |at| at.loss.relative(sums.missions))
    }

    fn cause_error(&self, sums: &Sums, cause: Cause) -> f64 {
        self.longest(sums, |at| at.of(cause).first.relative(sums.missions))
    }

    fn longest(&self, sums: &Sums, relative: impl Fn(&HorizonSums) -> f64) -> f64 {
        let horizons = self.question.horizons.iter().zip(&sums.horizons);
        let longest = horizons.max_by(|a, b| a.0.total_cmp(b.0));
        longest.map_or(0.0, |(_, at)| relative(at)) / self.question.simulation.relative_error
    }

    /// Largest error of a figure over the horizons.
    fn worst(&self, sums: &Sums, relative: impl Fn(&HorizonSums) -> f64) -> f64 {
        let errors = sums.horizons.iter().map(relative);
        errors.fold(0.0, f64::max) / self.question.simulation.relative_error
    }

    /// Largest error of the printed figures.
    fn error(&self, sums: &Sums) -> f64 {
        let missions = sums.missions;
        let mut worst = self.worst(sums, |at| at.loss.relative(missions));
        if self.is_possible[Cause::Failures as usize] {
            worst = worst.max(self.worst(sums, |at| at.part.relative(missions)));
        }
        if self.is_possible[Cause::ReadError as usize] {
            let first = |at: &HorizonSums| at.of(Cause::ReadError).first.relative(missions);
            worst = worst.max(self.worst(sums, first));
        }
        if self.question.simulation.count_losses {
            worst = worst.max(self.worst(sums, |at| at.losses.relative(missions)));
        }
        if self.is_unavailability_watched {
            let error = sums.unavailable.relative(missions);
            worst = worst.max(error / self.question.simulation.relative_error);
        }
        worst
    }
}

/// The figure of a cause at one horizon. None: too few losses were seen to give it.
fn figure(
    run: &Run,
    at: &CauseSums,
    estimate: Estimate,
    one_loss: f64,
) -> (Option<Estimate>, Interval) {
    let missions = run.sums.missions;
    let interval = if at.seen == 0 {
        Interval {
            low: 0.0,
            high: one_loss * estimate::unseen_bound(missions),
        }
    } else if run.is_crude {
        let share = at.seen as f64 / missions as f64;
        let of_share = estimate::counted_interval(share, missions);
        let by_count = of_share.scaled(estimate.value / share);
        let by_spread = estimate::normal_interval(estimate);
        Interval {
            low: by_count.low.min(by_spread.low).max(0.0),
            high: by_count.high.max(by_spread.high),
        }
    } else {
        estimate::normal_interval(estimate)
    };
    let is_given = at.seen > 0 && (run.is_crude || at.seen >= ENOUGH_SEEN);
    (is_given.then_some(estimate), interval)
}

/// The answer of `groups` systems like the one simulated.
fn answer(question: &Question, runs: &Runs, groups: u32, method: MethodUsed) -> Answer {
    let shape = Shape::of(question);
    let all = &runs.all;
    let horizons: Vec<HorizonAnswer> = (0..question.horizons.len())
        .map(|at| horizon_answer(question, runs, groups, at))
        .collect();
    let last = horizons
        .iter()
        .max_by(|a, b| a.horizon_seconds.total_cmp(&b.horizon_seconds));
    let mean_time = |probability: fn(&HorizonAnswer) -> f64| {
        last.filter(|last| last.loss_probability > 0.0)
            .filter(|last| probability(last) > 0.0 && probability(last) < 1.0)
            .map(|last| -last.horizon_seconds / libm::log1p(-probability(last)))
    };
    let extra = runs.towards.iter().flatten();
    Answer {
        mttdl_seconds: mean_time(|last| last.loss_probability),
        mttdl_low_seconds: mean_time(|last| last.high),
        mttdl_high_seconds: mean_time(|last| last.low),
        method,
        usable_bytes: shape.usable_bytes * f64::from(shape.groups),
        read_error_probability: crate::read_errors_given(question)
            .then(|| rates::group(question).read_error),
        missions: extra.clone().map(|run| run.sums.missions).sum::<u64>() + all.sums.missions,
        simulated_disk_years: extra.map(|run| run.sums.disk_years).sum::<f64>()
            + all.sums.disk_years,
        unavailability: None,
        counts: Some(all.sums.counts),
        assumptions: assumptions::of(question, method),
        horizons,
    }
}

fn horizon_answer(question: &Question, runs: &Runs, groups: u32, index: usize) -> HorizonAnswer {
    let all = &runs.all;
    let at = &all.sums.horizons[index];
    let one = at.loss.estimate(all.sums.missions);
    let value = one.value.min(1.0);
    let slope = estimate::any_of_slope(groups, value);
    let interval = if all.is_crude || value == 0.0 {
        estimate::counted_interval(value, all.sums.missions)
    } else {
        estimate::normal_interval(one)
    };
    let loss_probability = estimate::any_of(groups, value);

    let by = |cause: Cause, of_part: bool| {
        if !runs.is_possible[cause as usize] {
            return (Some(Estimate::default()), Interval::default());
        }
        let run = runs.by(cause);
        let sums = run.sums.horizons[index].of(cause);
        let (sum, one_loss) = if of_part {
            (&sums.part, runs.part_of_loss[cause as usize])
        } else {
            (&sums.first, 1.0)
        };
        figure(run, sums, sum.estimate(run.sums.missions), one_loss)
    };
    let seen = |cause: Cause| {
        runs.is_possible[cause as usize].then(|| {
            let run = runs.by(cause);
            Seen {
                losses: run.sums.horizons[index].of(cause).seen,
                missions: run.sums.missions,
            }
        })
    };

    // The part of read errors is taken from one group to all like the loss probability.
    let to_all = if value > 0.0 {
        loss_probability / value
    } else {
        f64::from(groups)
    };
    let (read_error, read_interval) = by(Cause::ReadError, false);
    let read_interval = read_interval.scaled(to_all);
    let read_error = read_error.map(|it| (it.value * to_all).min(loss_probability));

    let (failures, failure_interval) = by(Cause::Failures, true);
    let (stripes, stripe_interval) = by(Cause::ReadError, true);
    let nomdl = failures.unwrap_or_default().value + stripes.unwrap_or_default().value;
    // An unseen cause is no matter if its bound is below the error of the other.
    let relative = question.simulation.relative_error;
    let is_given = (failures.is_some() || failure_interval.high <= relative * nomdl)
        && (stripes.is_some() || stripe_interval.high <= relative * nomdl);
    let is_one_run = runs.towards.iter().all(Option::is_none);
    let standard_error = if is_one_run {
        at.part.estimate(all.sums.missions).standard_error
    } else {
        let parts = [failures, stripes].map(|it| it.unwrap_or_default().standard_error);
        parts[0].hypot(parts[1])
    };
    let nomdl_interval = estimate::interval_of_sum(
        [failures, stripes].map(|it| it.unwrap_or_default().value),
        [failure_interval, stripe_interval],
    );
    HorizonAnswer {
        horizon_seconds: question.horizons[index],
        loss_probability,
        standard_error: slope * one.standard_error,
        low: estimate::any_of(groups, interval.low.clamp(0.0, 1.0)),
        high: estimate::any_of(groups, interval.high.clamp(0.0, 1.0)),
        read_error_loss_probability: read_error,
        read_error_low: read_interval.low.clamp(0.0, 1.0),
        read_error_high: read_interval.high.clamp(0.0, 1.0),
        nomdl: is_given.then_some(nomdl),
        nomdl_standard_error: standard_error,
        nomdl_low: nomdl_interval.low.clamp(0.0, 1.0),
        nomdl_high: nomdl_interval.high.clamp(0.0, 1.0),
        failure_losses_seen: seen(Cause::Failures),
        read_error_losses_seen: seen(Cause::ReadError),
        expected_losses: question.simulation.count_losses.then(|| {
            let losses = at.losses.estimate(all.sums.missions);
            Estimate {
                value: losses.value * f64::from(groups),
                standard_error: losses.standard_error * f64::from(groups),
            }
        }),
    }
}
