//! Runs of a net, and their figures.

use std::ops::ControlFlow;

use headrace_net::{InvariantReport, Limits, Net, Playback, Progress, Stop, Structure, Time};

use crate::build::{Built, build};
use crate::error::Faults;
use crate::outcome::{Failure, Result, figures, stopped};
use crate::program::Program;
use crate::session::{OwnMonitor, Session, refuse_endless};

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The end, in seconds; none for a net that ends by itself.
    pub until: Option<f64>,
    /// Seconds whose statistics are dropped.
    pub warmup: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Requests of a run beside its figures.
#[derive(Default)]
pub struct Extras<'a> {
    /// Monitors of the caller's own.
    pub own: Vec<OwnMonitor<'a>>,
    /// Frames of a playback.
    pub playback: Option<u32>,
}

/// The structure of a net, for drawings, and what holds in all its markings.
pub struct Shape {
    /// Pages, nodes and transitions.
    pub structure: Structure,
    /// Sums of tokens that no firing changes, at the start.
    pub invariants: Vec<InvariantReport>,
    /// Paths of nodes in none of these sums.
    pub uncovered: Vec<String>,
    /// Why there are no sums.
    pub not_computed: Option<&'static str>,
}

/// Returns the structure of a net with its invariants.
///
/// # Errors
/// The kernel's faults in it.
pub fn structure(program: &Program) -> std::result::Result<Shape, Faults> {
    let built = build(program, 0)?;
    let uncovered = built.net.uncovered().into_iter().map(str::to_owned);
    let gave_up = built.net.gave_up_invariants();
    Ok(Shape {
        structure: built.net.structure().clone(),
        invariants: built.net.invariants(),
        uncovered: uncovered.collect(),
        not_computed: gave_up.then_some("there are too many candidates"),
    })
}

/// Runs a net.
///
/// # Errors
/// See [`Failure`].
pub fn run(
    program: &Program,
    settings: &Settings,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> std::result::Result<Result, Failure> {
    run_with(program, settings, Extras::default(), watch).map(|(result, _)| result)
}

/// Runs a net, and gives the frames of its playback if any were asked for.
///
/// # Errors
/// See [`Failure`].
pub fn run_with(
    program: &Program,
    settings: &Settings,
    extras: Extras<'_>,
    watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> std::result::Result<(Result, Option<Playback>), Failure> {
    refuse_endless(program)?;
    let end = settings.until.map_or(Time::NEVER, Time::from_seconds);
    if !program.monitors.is_empty() || !extras.own.is_empty() {
        let mut session = Session::new(program, settings.seed, end, false, extras.own)?;
        session.in_phases(settings, extras.playback, watch)
    } else {
        let mut plain = Plain {
            program,
            built: build(program, settings.seed).map_err(Failure::Document)?,
            standing: Vec::new(),
        };
        plain.in_phases(settings, extras.playback, watch)
    }
}

/// A run without monitors.
struct Plain<'p> {
    program: &'p Program,
    built: Built,
    standing: Vec<(String, u64)>,
}

type Watch<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// A way to run a net.
trait Runner {
    fn net(&mut self) -> &mut Net;
    fn run_to(
        &mut self,
        until: Time,
        watch: Watch<'_>,
    ) -> std::result::Result<&'static str, Failure>;
    fn reset_statistics(&mut self);
    fn result(&mut self, settings: &Settings, stop: &'static str) -> Result;

    /// Runs the warm-up and what follows it.
    fn in_phases(
        &mut self,
        settings: &Settings,
        playback: Option<u32>,
        watch: Watch<'_>,
    ) -> std::result::Result<(Result, Option<Playback>), Failure> {
        if let Some(frames) = playback {
            self.net().record_playback(frames);
        }
        let end = settings.until.map_or(Time::NEVER, Time::from_seconds);
        let warm = Time::from_seconds(settings.warmup);
        let mut stop = "time";
        for until in [(settings.warmup > 0.0).then_some(warm.min(end)), Some(end)] {
            let Some(until) = until else { continue };
            if stop == "time" {
                stop = self.run_to(until, watch)?;
            }
            if until == warm && until < end {
                self.reset_statistics();
            }
        }
        let checked = self.net().check_invariants();
        checked.map_err(|error| Failure::Run(error.to_string()))?;
        let frames = self.net().playback();
        Ok((self.result(settings, stop), frames))
    }
}

impl Runner for Plain<'_> {
    fn net(&mut self) -> &mut Net {
        &mut self.built.net
    }

    fn run_to(
        &mut self,
        until: Time,
        watch: Watch<'_>,
    ) -> std::result::Result<&'static str, Failure> {
        let limits = Limits {
            until,
            ..Limits::default()
        };
        let mut watch = |progress: Progress<'_>| watch(progress.now.as_seconds());
        let stop = self.built.net.run_watched(&limits, &mut watch);
        Ok(match stopped(stop, &mut self.standing)? {
            Ok(Stop::Quiet) => "quiet",
            Ok(_) => "time",
            Err(stop) => stop,
        })
    }

    fn reset_statistics(&mut self) {
        self.built.net.reset_statistics();
    }

    fn result(&mut self, settings: &Settings, stop: &'static str) -> Result {
        let standing = std::mem::take(&mut self.standing);
        Result {
            seed: settings.seed,
            stop,
            standing,
            ..figures(self.program, &self.built)
        }
    }
}

impl<P: std::ops::Deref<Target = Program>> Runner for Session<'_, P> {
    fn net(&mut self) -> &mut Net {
        &mut self.built.net
    }

    fn run_to(
        &mut self,
        until: Time,
        watch: Watch<'_>,
    ) -> std::result::Result<&'static str, Failure> {
        self.run(until, watch)
    }

    fn reset_statistics(&mut self) {
        Session::reset_statistics(self);
    }

    fn result(&mut self, settings: &Settings, stop: &'static str) -> Result {
        Result {
            seed: settings.seed,
            stop,
            ..self.figures()
        }
    }
}
