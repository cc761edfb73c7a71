//! Checks that fields by group share: groups exist, and a scheduler sees several
//! where they differ.

use crate::Error;
use crate::declare::Place;
use crate::names;
use crate::sections::{Parallel, Position, Scenario, Scheduler, Weights};

/// Checks that every group named in a field is one of the clients'.
pub(super) fn exist<'a>(
    mut named: impl Iterator<Item = &'a String>,
    field: &str,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let groups: Vec<&str> = all.clients.groups.names().collect();
    match named.find(|name| !groups.contains(&name.as_str())) {
        Some(name) => {
            let known = names::or(&groups);
            let hint = names::hint(name, &groups);
            let message = format!("expected a group of clients.groups, {known}{hint}");
            Err(at.field(field).error(name, message))
        }
        None => Ok(()),
    }
}

/// Checks weights: their groups exist, and a scheduler sees more than one.
pub(super) fn weighed(weights: &Weights, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    exist(weights.0.keys(), "weights", all, at)?;
    let mut each = all.clients.groups.names().map(|group| weights.of(group));
    let first = each.next();
    if at_clients(all, at) && each.any(|weight| Some(weight) != first) {
        let message = "each client is of one group, so its scheduler has nothing to weigh: \
                       scheduler.position = \"client\"; expected equal weights, or a scheduler \
                       at the \"server\" or \"gateway\"";
        return Err(at.error("weights", message));
    }
    Ok(())
}

fn at_clients(all: &Scenario, at: &Place<'_>) -> bool {
    all.parallel()
        .is_some_and(|parallel| own(parallel, at).position == Position::Client)
}

/// The scheduler whose fields are checked at a place: the only one, or one of a list.
pub(super) fn own<'a>(parallel: &'a Parallel, at: &Place<'_>) -> &'a Scheduler {
    &parallel.scheduler[number(at)]
}

/// Its number in the list.
pub(super) fn number(at: &Place<'_>) -> usize {
    let number = at.path.rsplit('.').next();
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}
