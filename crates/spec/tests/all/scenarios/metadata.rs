//! Arbitrary metadata servers.

use headrace_spec::*;
use proptest::prelude::*;

use super::{card, choice, count, devices, hosts, io_scheduler, seconds};

pub fn metadata() -> BoxedStrategy<Metadata> {
    let servers = (
        hosts(),
        choice(&[Distribution::File, Distribution::Directory]),
        count(),
        (seconds(), choice(DirectoryLocks::ALL)),
        prop::array::uniform8(prop::option::of(seconds())),
    );
    (servers, kind(), any::<bool>(), card())
        .prop_map(|(servers, kind, client_cache, card)| {
            let (servers, distribution, threads, (time_per_operation, locks), times) = servers;
            let timed = time_per_operation.0 > 0.0
                || times.iter().flatten().any(|time: &Seconds| time.0 > 0.0);
            let [open, create, stat, unlink, rename, mkdir, rmdir, readdir] = times;
            Metadata {
                servers,
                on: MetadataHosts::Own,
                distribution,
                lookups: Lookups::One,
                threads,
                time_per_operation,
                times: OperationTimes {
                    open,
                    create,
                    stat,
                    unlink,
                    rename,
                    mkdir,
                    rmdir,
                    readdir,
                },
                directory_locks: match timed {
                    true => locks,
                    false => DirectoryLocks::None,
                },
                kind,
                client_cache,
                takeover: None,
                subtree: None,
                write_once: false,
                card,
                network: MetadataNetwork {
                    kind: WhichNetwork::SharedNetwork(SharedNetwork {}),
                },
            }
        })
        .boxed()
}

/// Puts metadata servers on the data servers, or on a network of their own, if that is
/// wanted and the rest lets it.
pub fn put(scenario: &mut Scenario, wanted: bool) {
    let SystemKind::Parallel(parallel) = &mut scenario.kind else {
        return;
    };
    let pairs = matches!(parallel.network.topology, Topology::Pairs(_));
    let star = matches!(parallel.network.topology, Topology::Star(_));
    let elsewhere = matches!(
        parallel.scheduler[0].position,
        Position::Gateway | Position::Proxy | Position::Metadata
    );
    let failures = parallel.failure.iter().flatten();
    let fails = failures.filter(|it| it.metadata.is_some()).count() > 0;
    let metadata = &mut parallel.metadata;
    if wanted && star && parallel.network.grain == Grain::Message {
        metadata.network.kind = WhichNetwork::OwnNetwork(OwnNetwork {
            link: None,
            bandwidth: parallel.network.bandwidth,
            latency: parallel.network.latency,
            mtu: parallel.network.mtu,
            header: parallel.network.header,
            framing: parallel.network.framing,
        });
    } else if wanted
        && !pairs
        && !elsewhere
        && !fails
        && !parallel.servers.streaming
        && parallel.servers.partner(0).is_none()
    {
        (metadata.on, metadata.servers) = match metadata.distribution {
            Distribution::File => {
                let servers = metadata.servers.min(parallel.servers.count);
                (MetadataHosts::DataServers, servers)
            }
            Distribution::Directory | Distribution::Subtree => (MetadataHosts::EveryDataServer, 1),
        };
        if parallel.servers.count > 1 && metadata.on == MetadataHosts::EveryDataServer {
            metadata.lookups = Lookups::Everywhere;
        }
        (metadata.card.bandwidth, metadata.card.burst) = (None, None);
        if parallel.servers.machine().is_none() {
            (metadata.threads, metadata.directory_locks) = (1, DirectoryLocks::None);
        }
    }
}

fn kind() -> BoxedStrategy<MetadataKind> {
    let group = prop_oneof![
        Just(Limit::Unlimited),
        (1..=u32::MAX).prop_map(Limit::Count)
    ];
    let cache = prop::option::of(0..1_000_000_u64);
    let database = (
        1..100_u64,
        cache,
        any::<bool>(),
        group,
        io_scheduler(),
        devices::device(),
    );
    let database = database.prop_map(
        |(blocks, cache, synchronous, group, io_scheduler, device)| {
            let entry = device.capacity().map_or(blocks * 512, |capacity| {
                (blocks * 512).min(capacity.0 / 4 / 512 * 512).max(512)
            });
            MetadataKind::Database(Database {
                entry: Bytes(entry),
                cache: cache.map(|entries| Bytes(entries * entry)),
                synchronous,
                group,
                io_scheduler,
                device,
            })
        },
    );
    prop_oneof![Just(MetadataKind::InMemory(InMemory {})), database].boxed()
}
