//! Runs of a net, and their figures.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use headrace_net::{
    InvariantReport, Limits, Net, NodeReport, Progress, RunError, Stop, Store, Structure, Time,
};
use serde::Serialize;

use crate::build::{Words, build};
use crate::error::Faults;
use crate::program::Program;

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

/// A copy of a store at the end of a run.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Page path and name.
    pub path: String,
    /// The copy.
    pub copy: u32,
    /// Fields and their values, in the notation of expressions.
    pub fields: BTreeMap<String, String>,
}

/// Result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Result {
    /// The seed.
    pub seed: u64,
    /// Why it ended: "time", "quiet" or "deadlock".
    pub stop: &'static str,
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
    /// Stores.
    pub stores: Vec<StoreReport>,
    /// Sums of tokens that no firing changes.
    pub invariants: Vec<InvariantReport>,
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
    let mut built = build(program, settings.seed).map_err(Failure::Document)?;
    let net = &mut built.net;
    if program.random_choice {
        let transitions = program.transitions.iter().enumerate();
        let weights = transitions.map(|(index, it)| (program.transition_path(index), it.weight));
        let weights: BTreeMap<String, f64> = weights.collect();
        net.choose_at_random(settings.seed, |path| {
            weights.get(path).copied().unwrap_or(1.0)
        });
    }
    let mut watch = |progress: Progress<'_>| watch(progress.now.as_seconds());
    let mut standing = Vec::new();
    let end = settings.until.map_or(Time::NEVER, Time::from_seconds);
    let warm = Time::from_seconds(settings.warmup);
    let mut stop = "time";
    for until in [(settings.warmup > 0.0).then_some(warm.min(end)), Some(end)] {
        let Some(until) = until else { continue };
        let limits = Limits {
            until,
            ..Limits::default()
        };
        if stop == "time" {
            stop = match net.run_watched(&limits, &mut watch) {
                Ok(Stop::Time | Stop::Count | Stop::Precision | Stop::Asked) => "time",
                Ok(Stop::Quiet) => "quiet",
                Err(RunError::Deadlock { standing: at, .. }) => {
                    standing = at;
                    "deadlock"
                }
                Err(RunError::Interrupted { .. }) => return Err(Failure::Interrupted),
                Err(error) => return Err(Failure::Run(error.to_string())),
            };
        }
        if until == warm && until < end {
            net.reset_statistics();
        }
    }
    net.check_invariants()
        .map_err(|error| Failure::Run(error.to_string()))?;
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
    let probes = built.probes.iter().map(|probe| {
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
    Ok(Result {
        seed: settings.seed,
        stop,
        standing,
        time: net.now().as_seconds(),
        measured,
        firings: net.firings(),
        events: net.events(),
        nodes: net.reports(),
        transitions: transitions.collect(),
        probes: probes.collect(),
        stores: stores_of(program, &built.stores, net),
        invariants: net.invariants(),
    })
}

fn stores_of(program: &Program, stores: &[Store<Words>], net: &Net) -> Vec<StoreReport> {
    let mut reports = Vec::new();
    for (index, (of, store)) in program.stores.iter().zip(stores).enumerate() {
        for copy in 0..program.pages[of.page].total {
            let words = net.store(*store, copy);
            reports.push(StoreReport {
                path: program.store_path(index),
                copy,
                fields: of.show(&program.colours, words).into_iter().collect(),
            });
        }
    }
    reports
}
