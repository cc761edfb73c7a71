//! Merges the results of several engines.

use headrace_spec::Scenario;
use headrace_workload::LeftOut;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::clock::Nanoseconds;
use crate::coordination::Coordination;
use crate::operation;
use crate::outcome::{Load, Outcome};
use crate::record::Record;

/// Serialised result of one engine.
#[derive(Serialize, Deserialize)]
struct Part {
    record: Record,
    started: Nanoseconds,
    lasted: Nanoseconds,
    prepared: Nanoseconds,
    reason: String,
    error: Option<String>,
    processes: u32,
    rounds: Option<(u64, u64)>,
    coordination: Option<Coordination>,
    left_out: Vec<LeftOut>,
}

/// Reasons why runs end, in descending priority.
const REASONS: [&str; 5] = ["failed", "interrupted", "requests", "time", "workload"];

impl Outcome {
    /// Serialises the result for another engine of the same version.
    ///
    /// # Errors
    /// A fault of the engine's.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let part = Part {
            record: self.record.clone(),
            started: self.started,
            lasted: self.lasted,
            prepared: self.prepared,
            reason: self.reason.to_owned(),
            error: self.error.as_ref().map(ToString::to_string),
            processes: self.processes,
            rounds: self.rounds.map(|it| (it.whole, it.broken_off)),
            coordination: self.coordination,
            left_out: self.left_out.clone(),
        };
        serde_json::to_vec(&part).map_err(|error| Error::Own(error.to_string()))
    }
}

/// Puts together what engines have done, each given by the name of its host and the bytes that
/// it has sent.
///
/// # Errors
/// If the bytes are not those of an engine of this version.
pub fn merge_outcomes(scenario: &Scenario, parts: &[(String, Vec<u8>)]) -> Result<Outcome, Error> {
    let mut sum = Outcome {
        record: Record::new(
            operation::ALL.len(),
            0,
            scenario
                .run
                .window
                .map(|it| crate::clock::in_nanoseconds(it.0)),
        ),
        started: Nanoseconds::MAX,
        lasted: 0,
        prepared: 0,
        reason: "workload",
        error: None,
        processes: 0,
        rounds: None,
        // A training runs on one host.
        trainings: Vec::new(),
        coordination: None,
        left_out: Vec::new(),
        load: None,
    };
    for (host, bytes) in parts {
        let part: Part = serde_json::from_slice(bytes).map_err(|error| {
            Error::Unsuitable(format!(
                "{host}: cannot decode its result ({error}): expected the same version of \
                 headrace on all hosts"
            ))
        })?;
        sum.record.merge(&part.record);
        sum.started = sum.started.min(part.started);
        sum.lasted = sum.lasted.max(part.lasted);
        sum.prepared = sum.prepared.max(part.prepared);
        sum.processes += part.processes;
        if let Some((whole, broken_off)) = part.rounds {
            let rounds = sum.rounds.get_or_insert_default();
            rounds.whole += whole;
            rounds.broken_off += broken_off;
        }
        if let Some(one) = &part.coordination {
            sum.coordination.get_or_insert_default().merge(one);
        }
        let first = host == &parts[0].0;
        for one in part.left_out {
            // Each engine reads the whole trace.
            if first || one.by == "engine" {
                one.add(&mut sum.left_out);
            }
        }
        sum.reason = worse(sum.reason, &part.reason);
        let error = part.error.map(|message| Error::Elsewhere {
            host: host.clone(),
            message,
        });
        sum.error = sum.error.or(error);
    }
    sum.load = Load::of(scenario, &sum)?;
    Ok(sum)
}

/// Returns the reason with the higher priority.
fn worse(one: &'static str, other: &str) -> &'static str {
    let told = REASONS.iter().find(|it| **it == one || **it == other);
    told.copied().unwrap_or(one)
}
