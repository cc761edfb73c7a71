//! Arbitrary metadata servers.

use headrace_spec::*;
use proptest::prelude::*;

use super::{card, choice, count, devices, hosts, io_scheduler, seconds};

pub fn metadata() -> BoxedStrategy<Metadata> {
    let servers = (
        hosts(),
        choice(Distribution::ALL),
        count(),
        seconds(),
        prop::array::uniform8(prop::option::of(seconds())),
    );
    (servers, kind(), any::<bool>(), card())
        .prop_map(|(servers, kind, client_cache, card)| {
            let (servers, distribution, threads, time_per_operation, times) = servers;
            let [open, create, stat, unlink, rename, mkdir, rmdir, readdir] = times;
            Metadata {
                servers,
                on: MetadataHosts::Own,
                distribution,
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
                kind,
                client_cache,
                card,
                network: MetadataNetwork {
                    kind: WhichNetwork::SharedNetwork(SharedNetwork {}),
                },
            }
        })
        .boxed()
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
