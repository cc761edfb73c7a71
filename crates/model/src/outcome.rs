//! Figures of a run, and why there may be none.

use std::collections::BTreeMap;

use headrace_net::{InvariantReport, Net, NodeReport, RunError, Store};
use serde::Serialize;

use crate::build::{Built, Words};
use crate::error::Faults;
use crate::figures::MonitorReport;
use crate::program::Program;

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
    /// Stores.
    pub stores: Vec<StoreReport>,
    /// Sums of tokens that no firing changes.
    pub invariants: Vec<InvariantReport>,
    /// Monitors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<MonitorReport>,
    /// Seconds between two of the monitors' means, the first of which begins at 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
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
pub(crate) fn figures(program: &Program, built: &Built) -> Result {
    let net = &built.net;
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
        stores: stores_of(program, &built.stores, net),
        invariants: net.invariants(),
        monitors: Vec::new(),
        interval: None,
    }
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
