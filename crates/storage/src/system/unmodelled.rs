//! Operations that a system's model executes only in part, counted.

use std::collections::BTreeMap;

use headrace_spec::{Scenario, SystemKind};
use headrace_trace::Operation;
use headrace_workload::LeftOut;

use super::System;
use super::report::OperationReport;

/// Returns operations that no process requested, and operations that the model simplifies.
pub(super) fn left_out(
    system: &System,
    scenario: &Scenario,
    operations: &BTreeMap<&'static str, OperationReport>,
) -> Vec<LeftOut> {
    let mut all = system.left_out.clone();
    for operation in Operation::ALL {
        let count = operations.get(operation.name()).map_or(0, |it| it.count);
        if count > 0
            && let Some(reason) = reason(*operation, scenario)
        {
            all.push(LeftOut::new("model", operation.name(), reason, count));
        }
    }
    all
}

/// Returns the simplification of an operation in the model, if any.
fn reason(operation: Operation, scenario: &Scenario) -> Option<&'static str> {
    let parallel = match &scenario.kind {
        SystemKind::Local(_) => None,
        SystemKind::Parallel(it) => Some(it),
    };
    let simple_servers = parallel.is_some_and(|it| it.servers.machine().is_none());
    match operation {
        Operation::Lock | Operation::Unlock => {
            Some("it takes the time of its call; nobody waits for another's lock")
        }
        Operation::Close if parallel.is_some() && scenario.clients.machine().is_none() => {
            Some("a client without a cache sends no message when it closes a file")
        }
        Operation::Truncate | Operation::Allocate if simple_servers => {
            Some("simple servers take it for an access to no bytes")
        }
        _ => None,
    }
}
