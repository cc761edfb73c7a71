//! Warnings about rates that no network or device has: of copies in memory, of nothing, or of few
//! requests.

use std::collections::BTreeMap;

use headrace_spec::{Card, Parallel, Scenario, SystemKind, Topology};

use super::report::OperationReport;
use super::run_warnings::RunWarning;

/// Rates that exceed the limit by less print the same.
const TOLERANCE: f64 = 0.005;

/// Returns a warning for each operation that moves bytes faster than the network cards, or in no
/// time.
pub(super) fn warnings(
    scenario: &Scenario,
    throughput: &BTreeMap<&'static str, f64>,
    operations: &BTreeMap<&'static str, OperationReport>,
    has_synced_writes: bool,
) -> Vec<RunWarning> {
    let cards = scenario
        .parallel()
        .and_then(|parallel| cards(scenario, parallel));
    let warning = |(&name, &rate): (&&'static str, &f64)| {
        if rate.is_infinite() {
            let bytes = operations.get(name).map_or(0, |it| it.bytes);
            return Some(RunWarning {
                condition: "no-time",
                message: format!(
                    "{name}: {} moved in no time, so that there is no rate: give {}",
                    amount(bytes as f64),
                    costs(scenario)
                ),
            });
        }
        let (side, limit) = cards.filter(|(_, limit)| rate > *limit * (1.0 + TOLERANCE))?;
        let own = operations.get(name)?;
        let (cause, advice) = match name {
            "write" if own.into.is_some() => (
                "writes return when the clients' caches have the data".to_owned(),
                match has_synced_writes {
                    true => "take the rate of writes and syncs together",
                    false => "add the phase \"sync\", and take the rate of both together",
                },
            ),
            "read" if scenario.clients.machine().is_some() => (
                "the clients' caches have what they ask for".to_owned(),
                "larger files, or another client's, are read from the servers",
            ),
            _ if scenario.run.warm_up.0 > 0.0 => (
                format!(
                    "requests that began in run.warm_up count whole, and only {} were done after it",
                    own.count
                ),
                "give a later run.stop.time, or smaller requests",
            ),
            _ => return None,
        };
        Some(RunWarning {
            condition: "beyond-cards",
            message: format!(
                "{name}: {}/s are more than the {}/s of the {side}' network cards, as {cause}: \
                 {advice}",
                amount(rate),
                amount(limit)
            ),
        })
    };
    throughput.iter().filter_map(warning).collect()
}

/// Returns the rate of all cards of the side that has less, and its name; none where hosts have no
/// cards.
fn cards(scenario: &Scenario, parallel: &Parallel) -> Option<(&'static str, f64)> {
    let clients = &scenario.clients;
    let network = &parallel.network;
    if matches!(network.topology, Topology::Pairs(_)) {
        return None;
    }
    let own = scenario.workload.iter().filter_map(|it| it.layout.as_ref());
    let mut layouts = std::iter::once(&parallel.layout).chain(own);
    let on_metadata = layouts.any(|it| it.on_metadata().0 > 0);
    let rate = |card: &Card, hosts: usize| {
        let port = card.bandwidth.unwrap_or(network.bandwidth).0;
        port * f64::from(card.ports) * hosts as f64
    };
    let alike = clients.alike().into_iter();
    let of_clients: f64 = alike
        .map(|it| rate(&it.clients.card, it.numbers.len()))
        .sum();
    let alike = parallel.servers.alike().into_iter();
    let of_servers: f64 = alike
        .map(|it| rate(&it.servers.card, it.numbers.len()))
        .sum();
    // Metadata servers that hold data have cards of their own.
    Some(match of_clients < of_servers || on_metadata {
        true => ("clients", of_clients),
        false => ("servers", of_servers),
    })
}

/// Returns the fields whose times are all 0.
fn costs(scenario: &Scenario) -> &'static str {
    match &scenario.kind {
        SystemKind::Local(_) => "machine.cpu.system_call and machine.copying",
        SystemKind::Parallel(_) if scenario.clients.machine().is_some() => {
            "clients.machine.cpu.system_call and clients.machine.copying"
        }
        SystemKind::Parallel(_) => "the servers' and the network's times",
    }
}

/// Bytes, with three digits at the least.
fn amount(bytes: f64) -> String {
    match bytes {
        few if few < 1e6 => format!("{few:.0} B"),
        some if some < 1e8 => format!("{:.1} MB", some / 1e6),
        many => format!("{:.0} MB", many / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_unit_that_fits() {
        assert_eq!(amount(64_000.0), "64000 B");
        assert_eq!(amount(1_250_000.0), "1.2 MB");
        assert_eq!(amount(125e6), "125 MB");
        assert_eq!(amount(12.5e9), "12500 MB");
    }
}
