//! Arbitrary failures of servers.

use headrace_spec::*;
use proptest::prelude::*;

use super::{count, seconds};

/// Generates recoveries of clients, and a failure of any server.
pub fn failures() -> impl Strategy<Value = (Recovery, Failover, Option<Failure>)> {
    let limit = prop_oneof![
        Just(Limit::Unlimited),
        (1..=u32::MAX).prop_map(Limit::Count)
    ];
    let recovery = (a_millisecond_or_more(), a_millisecond_or_more(), limit);
    let recovery = recovery.prop_map(|(timeout, retry, retries)| Recovery {
        timeout,
        retry,
        retries,
    });
    let failure = (any::<bool>(), any::<u32>(), 0..1_000_u32, 1..1_000_u32);
    let failure = failure.prop_map(|(data, number, at, away)| Failure {
        server: data.then_some(number),
        metadata: (!data).then_some(number),
        at: Seconds(f64::from(at)),
        until: Some(Seconds(f64::from(at + away))),
    });
    let failover = prop_oneof![
        Just(Failover::NoFailover(NoFailover {})),
        seconds().prop_map(|takeover| Failover::ActivePassive(ActivePassive { takeover })),
        seconds().prop_map(|takeover| Failover::ActiveActive(ActiveActive { takeover })),
    ];
    (recovery, failover, prop::option::of(failure))
}

fn a_millisecond_or_more() -> impl Strategy<Value = Seconds> {
    prop_oneof![1e-3..1.0_f64, 1.0..1e7_f64].prop_map(Seconds)
}

pub fn repair() -> impl Strategy<Value = Repair> {
    let numbers = (seconds(), count(), count(), 1..1_u64 << 40, 1..1_u64 << 40);
    let copied = numbers.clone();
    let kind = prop_oneof![
        Just(RepairKind::NoRepair(NoRepair {})),
        numbers.prop_map(|(after, streams, window, message, _)| {
            RepairKind::SelfHeal(SelfHeal {
                after,
                streams,
                window,
                message: Bytes(message),
            })
        }),
        copied.prop_map(|(after, streams, window, message, block)| {
            RepairKind::ReReplication(ReReplication {
                after,
                streams,
                window,
                message: Bytes(message),
                block: Bytes(block),
            })
        }),
    ];
    kind.prop_map(|kind| Repair { kind })
}

/// Puts them into a scenario, as far as it bears them.
pub fn put(
    scenario: &mut Scenario,
    recovery: Recovery,
    failover: Failover,
    failure: Option<Failure>,
) {
    let caches = scenario.clients.machine().is_some();
    let SystemKind::Parallel(parallel) = &mut scenario.kind else {
        return;
    };
    let bears = matches!(parallel.messages, Messages::Whole(_))
        && (parallel.servers.machine())
            .is_none_or(|it| it.file_system.journal.mode != JournalMode::Data);
    let reach = !matches!(parallel.network.topology, Topology::Pairs(_))
        && parallel.network.duplex == Duplex::Full
        && !parallel.servers.streaming;
    if !reach {
        parallel.replication.repair.kind = RepairKind::NoRepair(NoRepair {});
    }
    parallel.recovery = recovery;
    let partners = parallel.servers.count.is_multiple_of(2)
        && parallel.servers.machine().is_none()
        && !parallel.servers.streaming
        && parallel.metadata.on == MetadataHosts::Own
        && parallel.replication.copies == 1;
    if partners || !matches!(failover, Failover::ActiveActive(_)) {
        parallel.servers.failover = failover;
    }
    let takeover = parallel.servers.failover.takeover();
    parallel.failure = failure.filter(|_| bears).map(|mut failure| {
        failure.server = failure.server.map(|it| it % parallel.servers.count);
        let taken = takeover.map(|it| failure.at.0 + it.0);
        let later = |until: &Seconds| taken.is_some_and(|taken| until.0 >= taken);
        if failure.server.is_some() && failure.until.as_ref().is_some_and(later) {
            failure.until = None;
        }
        failure.metadata = failure.metadata.map(|it| it % parallel.metadata.servers);
        vec![failure]
    });
    if parallel.failure.is_some() && caches {
        parallel.recovery.retries = Limit::Unlimited;
    }
}
