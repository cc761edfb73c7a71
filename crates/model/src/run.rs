//! Runs of a net, and their figures.

use std::ops::ControlFlow;

use headrace_net::{
    InvariantReport, Limits, Net, NodeReport, Playback, Progress, RunError, Stop, Structure,
    TallyId, Time,
};
use serde::Serialize;

use crate::build::{Built, build};
use crate::error::Faults;
use crate::monitor::MonitorReport;
use crate::program::Program;
use crate::session::{OwnMonitor, Session};

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

/// Firings of a transition.
#[derive(Clone, Debug, Serialize)]
pub struct Firings {
    /// Page path and name.
    pub path: String,
    /// Their number.
    pub firings: u64,
    /// Their number a second.
    pub throughput: f64,
}

/// Figures of a probe.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    /// Page path and name.
    pub path: String,
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Least value; none without values.
    pub least: Option<f64>,
    /// Greatest value; none without values.
    pub most: Option<f64>,
    /// Half the width of the 95 % confidence interval by batch means; none if there are too few
    /// values.
    pub half_width: Option<f64>,
}

/// Result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Result {
    /// The seed.
    pub seed: u64,
    /// Why it ended: "time", "quiet", "deadlock" or "breakpoint".
    pub stop: &'static str,
    /// The monitor that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Places that hold tokens in a deadlock.
    pub standing: Vec<(String, u64)>,
    /// Simulated time at the end, in seconds.
    pub time: f64,
    /// Simulated time that was measured, in seconds.
    pub measured: f64,
    /// Firings since the start.
    pub firings: u64,
    /// Future events since the start.
    pub events: u64,
    /// Places and stations.
    pub nodes: Vec<NodeReport>,
    /// Transitions.
    pub transitions: Vec<Firings>,
    /// Probes.
    pub probes: Vec<ProbeReport>,
    /// Sums of tokens that no firing changes.
    pub invariants: Vec<InvariantReport>,
    /// Monitors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorReport>,
    /// Seconds between two of the monitors' means, the first of which begins at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
}

/// What a run is asked for beside its figures.
#[derive(Default)]
pub struct Extras<'a> {
    /// Monitors of the caller's own.
    pub own: Vec<OwnMonitor<'a>>,
    /// Frames of a playback.
    pub playback: Option<u32>,
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The document is wrong.
    Document(Faults),
    /// The run failed.
    Run(String),
    /// The caller ended it.
    Interrupted,
}

/// Returns the structure of a net, for drawings, with its invariants at the start and the paths of
/// nodes that none covers.
///
/// # Errors
/// What the kernel finds wrong with it.
pub fn structure(
    program: &Program,
) -> std::result::Result<(Structure, Vec<InvariantReport>, Vec<String>), Faults> {
    let built = build(program, 0)?;
    let uncovered = built.net.uncovered().into_iter().map(str::to_owned);
    Ok((
        built.net.structure().clone(),
        built.net.invariants(),
        uncovered.collect(),
    ))
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
    let end = settings.until.map_or(Time::NEVER, Time::from_seconds);
    if !program.monitors.is_empty() || !extras.own.is_empty() {
        let mut session = Session::new(program, settings.seed, end, false, extras.own)?;
        session.in_phases(settings, extras.playback, watch)
    } else {
        let mut plain = Plain {
            built: build(program, settings.seed).map_err(Failure::Document)?,
            standing: Vec::new(),
        };
        plain.in_phases(settings, extras.playback, watch)
    }
}

/// A run without monitors.
struct Plain {
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

impl Runner for Plain {
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
            ..figures(&self.built.net, &self.built.probes)
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

/// Tells why a run ended; an error if it failed. The tokens of a deadlock go to `standing`.
pub(crate) fn stopped<T>(
    result: std::result::Result<T, RunError>,
    standing: &mut Vec<(String, u64)>,
) -> std::result::Result<std::result::Result<T, &'static str>, Failure> {
    match result {
        Ok(stop) => Ok(Ok(stop)),
        Err(RunError::Deadlock { standing: at, .. }) => {
            *standing = at;
            Ok(Err("deadlock"))
        }
        Err(RunError::Interrupted { .. }) => Err(Failure::Interrupted),
        Err(error) => Err(Failure::Run(error.to_string())),
    }
}

/// The figures of a net so far, without those of monitors.
pub(crate) fn figures(net: &Net, probes: &[TallyId]) -> Result {
    let measured = net.measured().as_seconds();
    let transitions = net.transition_firings();
    let transitions = transitions.map(|(path, firings)| Firings {
        path: path.to_owned(),
        firings,
        throughput: if measured > 0.0 {
            firings as f64 / measured
        } else {
            0.0
        },
    });
    let probes = probes.iter().map(|probe| {
        let tally = net.tally(*probe);
        let some = |value: f64| (tally.count() > 0).then_some(value);
        ProbeReport {
            path: tally.path().to_owned(),
            count: tally.count(),
            mean: tally.mean(),
            deviation: tally.deviation(),
            least: some(tally.least()),
            most: some(tally.most()),
            half_width: tally.half_width(0.95),
        }
    });
    Result {
        seed: 0,
        stop: "time",
        stopped_by: None,
        standing: Vec::new(),
        time: net.now().as_seconds(),
        measured,
        firings: net.firings(),
        events: net.events(),
        nodes: net.reports(),
        transitions: transitions.collect(),
        probes: probes.collect(),
        invariants: net.invariants(),
        monitors: Vec::new(),
        interval: None,
    }
}
