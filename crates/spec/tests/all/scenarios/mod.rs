//! Arbitrary scenarios that are valid.

mod devices;
mod failures;
mod io_schedulers;
mod metadata;
mod mixes;
mod networks;
mod schedulers;

use std::collections::BTreeSet;
use std::path::PathBuf;

use headrace_spec::*;
use proptest::prelude::*;
use proptest::sample::select;

/// Rates at which the largest job ends in the time that there is.
pub fn rate() -> BoxedStrategy<Rate> {
    let bits = prop::num::f64::POSITIVE | prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL;
    let nice = (
        1..2000_u32,
        select(vec![1.0, 1e3, 1e6, 1e9, 125e6, 1_048_576.0]),
    );
    prop_oneof![
        bits,
        nice.prop_map(|(number, unit)| f64::from(number) * unit)
    ]
    .prop_map(|rate| match rate {
        rate if rate < 1e3 => Rate((1e6 / rate).min(f64::MAX)),
        rate => Rate(rate),
    })
    .boxed()
}

fn choice_of_rates() -> BoxedStrategy<Option<Rate>> {
    prop::option::of(rate()).boxed()
}

pub fn seconds() -> BoxedStrategy<Seconds> {
    let bits = prop::num::f64::POSITIVE | prop::num::f64::NORMAL | prop::num::f64::ZERO;
    let nice = (
        0..2000_u32,
        select(vec![1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0]),
    );
    prop_oneof![
        bits,
        nice.prop_map(|(number, unit)| f64::from(number) * unit)
    ]
    .prop_map(|seconds| match seconds {
        seconds if seconds > Seconds::LONGEST.0 => Seconds(Seconds::LONGEST.0 / seconds),
        seconds => Seconds(seconds),
    })
    .boxed()
}

fn more_than_no_time() -> BoxedStrategy<Seconds> {
    prop_oneof![1e-12..1e-9_f64, 1e-9..1.0_f64, 1.0..1e7_f64]
        .prop_map(Seconds)
        .boxed()
}

/// Few enough hosts for a link between every two.
fn hosts() -> BoxedStrategy<u32> {
    (1..=10_u32).boxed()
}

fn count() -> BoxedStrategy<u32> {
    prop_oneof![1..100_u32, 1..=u32::MAX].boxed()
}

fn size() -> BoxedStrategy<Bytes> {
    let nice = (
        1..2000_u64,
        select(vec![1, 1_000, 1_024, 1_000_000, 1_048_576]),
    );
    prop_oneof![1..=u64::MAX, nice.prop_map(|(number, unit)| number * unit)]
        .prop_map(Bytes)
        .boxed()
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        "[a-zA-Z0-9 .-]{0,12}",
        ".{0,12}",
        any::<String>()
    ]
    .boxed()
}

fn card() -> BoxedStrategy<Card> {
    prop::option::of(rate())
        .prop_map(|bandwidth| Card {
            bandwidth,
            burst: None,
            ports: 1,
            spread: Spread::Hash,
        })
        .boxed()
}

fn choice<T: std::fmt::Debug + Clone + 'static>(all: &'static [T]) -> BoxedStrategy<T> {
    select(all).boxed()
}

fn names() -> BoxedStrategy<Vec<String>> {
    let name = prop_oneof!["[a-zA-Z0-9_-]{1,6}", ".{1,6}", any::<String>()]
        .prop_filter("a name", |name| !name.is_empty());
    prop::collection::btree_set(name, 1..4)
        .prop_map(|names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
        .boxed()
}

prop_compose! {
    fn groups()(names in names(), shares in prop::collection::vec(prop_oneof![Just(1.0), 0.5..5.0], 3))
        -> Groups
    {
        let group = |(name, share)| Group { name, share };
        Groups(names.into_iter().zip(shares).map(group).collect())
    }
}

prop_compose! {
    fn clients()(
        count in 50..100_000_u32,
        processes in 1..=20_u32,
        groups in groups(),
        card in card(),
        rpc in rpc(),
        kind in client_kind(),
    ) -> Clients {
        Clients { count, processes, groups, group: None, card, rpc, kind }
    }
}

prop_compose! {
    // No smaller than a page, nor so small that requests make too many.
    fn rpc()(
        size in prop_oneof![Just(0), 4096..=u64::MAX],
        in_flight in prop_oneof![Just(Limit::Unlimited), count().prop_map(Limit::Count)],
        per in prop_oneof![Just(LimitsPer::Server), Just(LimitsPer::Target)],
    ) -> Rpc {
        Rpc { size: Bytes(size), in_flight, per, connections: 1 }
    }
}

/// Shortest times are no longer than longest ones.
fn attribute_cache() -> BoxedStrategy<AttributeCache> {
    let bounds = || (seconds(), seconds()).prop_map(|(a, b)| if a <= b { (a, b) } else { (b, a) });
    let timed = (bounds(), bounds(), any::<bool>()).prop_map(|(file, directory, close_to_open)| {
        AttributeCache::TimedAttributes(TimedAttributes {
            file_min: file.0,
            file_max: file.1,
            directory_min: directory.0,
            directory_max: directory.1,
            close_to_open,
        })
    });
    let asked = Just(AttributeCache::AskedAttributes(AskedAttributes {}));
    let oplocks = any::<bool>()
        .prop_map(|level_two| AttributeCache::OpportunisticLocks(OpportunisticLocks { level_two }));
    prop_oneof![asked, timed, oplocks].boxed()
}

fn client_kind() -> BoxedStrategy<ClientKind> {
    let limit = prop_oneof![Just(0), 4096..=u64::MAX];
    let machine = (limit, attribute_cache()).prop_map(|(limit, kind)| {
        // A server's machine has the same parts.
        let server = machine_of(None);
        ClientKind::MachineClient(MachineClient {
            machine: ClientMachine {
                cpu: server.cpu,
                copying: server.copying,
                memory: server.memory,
                write_back: server.write_back,
                read_ahead: server.read_ahead,
                dirty_per_server: Bytes(limit),
                attributes: Attributes { kind },
            },
        })
    });
    let simple = Just(ClientKind::SimpleClient(SimpleClient {}));
    prop_oneof![2 => simple, 1 => machine].boxed()
}

prop_compose! {
    fn memory()(
        page in 1..100_000_u64,
        cache in prop_oneof![Just(0), 100_000..=u64::MAX],
        part in 0.0..1.0_f64,
        rate in prop::option::of(rate()),
        replacement in choice(Replacement::ALL),
    ) -> Memory {
        // Copying needs a cache.
        let rate = rate.filter(|_| cache > 0);
        // So does eviction.
        let replacement = if cache > 0 { replacement } else { Replacement::Lru };
        let class = PythonClass { module: "policies.py".to_owned(), class: "Mine".to_owned() };
        let python = (replacement == Replacement::Python).then_some(class);
        let folder = python.is_some().then(|| "/policies".into());
        let dirty_limit = Bytes(((cache as f64 * part) as u64).min(cache));
        Memory {
            cache: Bytes(cache), page: Bytes(page), dirty_limit, replacement, python, folder, rate,
        }
    }
}

fn io_scheduler() -> BoxedStrategy<IoScheduler> {
    (io_schedulers::kind(), 1..=u32::MAX, 1..=u32::MAX, size())
        .prop_map(|(kind, depth, requests, largest_request)| IoScheduler {
            kind,
            depth: Some(depth),
            requests,
            largest_request,
        })
        .boxed()
}

prop_compose! {
    fn servers()(
        count in hosts(),
        targets in 1..4_u32,
        card in card(),
        threads in count(),
        time_per_job in seconds(),
        synchronous in any::<bool>(),
        chunk in size(),
        receiving in (seconds(), seconds()),
        kind in server_kind(),
    ) -> Servers {
        let machine = matches!(kind, ServerKind::MachineServer(_));
        let (threads, time_per_job) = match machine {
            true => (threads.min(1000), Seconds(time_per_job.0.min(4.0))),
            false => (threads, time_per_job),
        };
        let chunk = if machine { chunk } else { Bytes(0) };
        let daemon = Daemon { threads, time_per_job, synchronous: synchronous && machine, chunk };
        let receive_buffer = ReceiveBuffer { time_per_job: receiving.0, time_per_entry: receiving.1 };
        let targets = if machine { 1 } else { targets };
        let failover = Failover::NoFailover(NoFailover {});
        Servers { count, targets, streaming: false, card, receive_buffer, daemon, failover, group: None, kind }
    }
}

fn server_kind() -> BoxedStrategy<ServerKind> {
    let simple = (memory(), devices::device(), io_scheduler());
    let simple = simple.prop_map(|(memory, device, io_scheduler)| {
        ServerKind::SimpleServer(SimpleServer {
            memory,
            io_scheduler,
            device,
        })
    });
    let presets = select(vec![
        None,
        Some("ext2"),
        Some("ext3"),
        Some("ext4"),
        Some("xfs"),
    ]);
    let machine = (presets, devices::device(), io_scheduler());
    let machine = machine.prop_map(|(system, device, io_scheduler)| {
        let mut machine = machine_of(system);
        machine.io_scheduler = io_scheduler;
        machine.device = device;
        ServerKind::MachineServer(MachineServer { machine })
    });
    prop_oneof![2 => simple, 1 => machine].boxed()
}

/// A machine of a preset, or of none.
fn machine_of(system: Option<&str>) -> Machine {
    let preset = system.map_or_else(String::new, |name| format!("system = {name:?}"));
    let text = format!(
        r#"
        clients.count = 1
        servers.count = 1
        network = {{ bandwidth = "1 MB/s", latency = "1 s" }}
        layout.unit = "1 MiB"
        [[workload]]
        block = "1 MiB"
        [servers.machine]
        {preset}
        device = {{ read_rate = "1 MB/s", write_rate = "1 MB/s" }}
        "#
    );
    let loaded = headrace_spec::load(&text, "machine.toml".as_ref(), &[]);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
    let parallel = scenario.parallel().expect("a parallel file system");
    parallel.servers.machine().expect("a machine").clone()
}

/// Few copies, so that requests do not make too many jobs.
fn replication(servers: u32, targets: u32) -> BoxedStrategy<Replication> {
    (
        1..=servers.min(3),
        choice(ReplicatedBy::ALL),
        choice(ReadFrom::ALL),
        choice(ReplicaSets::ALL),
        failures::repair(),
    )
        .prop_map(move |(copies, by, read_from, sets, repair)| Replication {
            copies,
            by,
            read_from,
            sets: match (servers * targets).is_multiple_of(copies) {
                true => sets,
                false => ReplicaSets::Random,
            },
            servers_per_rack: None,
            code: Code::NoCode(NoCode {}),
            repair: match copies {
                1 => Repair {
                    kind: RepairKind::NoRepair(NoRepair {}),
                },
                _ => repair,
            },
        })
        .boxed()
}

/// Blocks are drawn where they can be, in racks of two servers.
fn fit_blocks(scenario: &mut Scenario) {
    let own_layouts = scenario.workload.iter().any(|it| it.layout.is_some());
    let SystemKind::Parallel(parallel) = &mut scenario.kind else {
        return;
    };
    if parallel.replication.sets != ReplicaSets::Blocks {
        return;
    }
    let fits = !own_layouts
        && parallel.servers.machine().is_none()
        && parallel.layout.pool.is_none()
        && parallel.layout.first_servers.is_none()
        && matches!(&parallel.layout.kind, LayoutKind::Striped(it) if it.servers == ServersPerFile::All);
    match fits {
        true => parallel.replication.servers_per_rack = Some(2),
        false => parallel.replication.sets = ReplicaSets::Random,
    }
}

/// A precision ends no run before a failure or a later phase.
fn fit_precision(scenario: &mut Scenario) {
    let fails = match &scenario.kind {
        SystemKind::Parallel(it) => it.failure.is_some(),
        SystemKind::Local(_) => false,
    };
    let goes_on = scenario.workload.iter().any(|it| match &it.kind {
        WorkloadKind::Ior(ior) => ior.phases.len() > 1 && ior.repeat != Repeat::Forever,
        _ => false,
    });
    let stop = &mut scenario.run.stop;
    if (fails || goes_on) && stop.precision.take().is_some() {
        stop.requests.get_or_insert(1);
    }
}

/// The nearest copy is read where some are nearer than others.
fn fit_nearest(scenario: &mut Scenario) {
    let SystemKind::Parallel(parallel) = &mut scenario.kind else {
        return;
    };
    let fits = match &parallel.network.topology {
        Topology::Star(_) | Topology::Pairs(_) => false,
        Topology::LeafSpine(it) => it.clients == ClientLeaves::WithServers,
        _ => true,
    };
    if parallel.replication.read_from == ReadFrom::Nearest && !fits {
        parallel.replication.read_from = ReadFrom::Random;
    }
}

fn layout(servers: u32) -> BoxedStrategy<Layout> {
    let first = || choice(FirstServer::ALL);
    let per_file = prop_oneof![
        Just(ServersPerFile::All),
        (1..=servers).prop_map(ServersPerFile::Count)
    ];
    let striped = (size(), per_file, first()).prop_map(|(unit, servers, first)| {
        LayoutKind::Striped(Striped {
            unit,
            servers,
            overstripe_count: None,
            first,
        })
    });
    let basic = first().prop_map(|first| LayoutKind::Basic(Basic { first }));
    let strip_size = || (1..=1_u64 << 40).prop_map(Bytes);
    let factor = 1..=(1_000_000 / servers).clamp(1, 4);
    let two =
        (strip_size(), 1..10_u32, factor, first()).prop_map(|(unit, groups, factor, first)| {
            LayoutKind::TwoDimensional(TwoDimensional {
                unit,
                groups,
                factor,
                first,
            })
        });
    let strip = (0..servers, strip_size()).prop_map(|(server, size)| Strip { server, size });
    let variable = (prop::collection::vec(strip, 1..4), first())
        .prop_map(|(strip, first)| LayoutKind::VariableStrip(VariableStrip { strip, first }));
    let kind = prop_oneof![4 => striped, 1 => basic, 1 => two, 1 => variable];
    // The packet size limits the jobs of a request, which copies multiply.
    let packet = size().prop_map(|size| Bytes(size.0.max(64)));
    let known = prop::option::of(prop::collection::vec(0..servers, 1..4));
    (kind, prop::option::of(packet), known)
        .prop_map(|(kind, packet, first_servers)| Layout {
            kind,
            packet,
            pool: None,
            first_servers,
        })
        .boxed()
}

prop_compose! {
    fn ior(stops: bool)(
        files in 1..2000_u32,
        transfer in 1..900_000_u64,
        transfers in 1..1000_u64,
        segments in 1..1000_u32,
        access in choice(Access::ALL),
        order in choice(Order::ALL),
        phases in prop::collection::vec(choice(Phase::ALL), 1..4),
        think in seconds(),
        think_distribution in choice(ThinkDistribution::ALL),
        repeat in count(),
        requests in prop::option::of(1..1_000_000_u64),
        sync_per_write in any::<bool>(),
        opens in any::<Option<bool>>(),
        read_share in 0.0..=1.0,
        streams in 1..100_u32,
        forever in any::<bool>(),
        (rank_shift, stonewall) in (0..10_u32, seconds()),
    ) -> WorkloadKind {
        WorkloadKind::Ior(Ior {
            files,
            block: Bytes(transfer * transfers).into(),
            transfer: Bytes(transfer).into(),
            segments,
            requests,
            sync_per_write,
            opens,
            access,
            order,
            streams: if order == Order::Sequential { streams } else { 1 },
            stride: if order == Order::Strided { streams } else { 17 },
            rank_shift,
            stonewall: match order {
                Order::Random | Order::Uniform => Seconds(0.0),
                _ if phases.contains(&Phase::Write) => stonewall,
                _ => Seconds(0.0),
            },
            read_share: if phases.contains(&Phase::Mixed) { read_share } else { 0.5 },
            phases,
            think,
            think_distribution,
            interval: if repeat > 1 || (forever && stops) { think } else { Seconds(0.0) },
            repeat: if forever && stops { Repeat::Forever } else { Repeat::Times(repeat) },
        })
    }
}

prop_compose! {
    fn trace()(
        file in "/[a-z \"\\\\é/.]{1,20}",
        replay in choice(Replay::ALL),
        gaps in choice(Gaps::ALL),
        shift in seconds(),
        scale in prop_oneof![Just(1.0), 0.0..10.0],
        space in proptest::option::of(1..1_000_000_u64),
    ) -> WorkloadKind {
        // As the operating system would write it, so that it stays as it is.
        let file = std::path::absolute(PathBuf::from(file)).expect("not empty");
        WorkloadKind::TraceReplay(TraceReplay {
            file,
            replay,
            gaps,
            shift,
            scale,
            space: space.map(|it| Bytes(it * 4096)),
            flags: headrace_spec::RecordFlags::Kept,
            output_volume: None,
        })
    }
}

prop_compose! {
    fn pipeline()(
        input in 1..u64::MAX / 2,
        output in 1..u64::MAX / 2,
        request in 1..900_000_u64,
        compute_per_byte in 0.0..1e-6_f64,
        compute_per_request in 0.0..1.0_f64,
        threads in choice(Threads::ALL),
        buffers in count(),
        sync in any::<bool>(),
    ) -> WorkloadKind {
        WorkloadKind::Pipeline(Pipeline {
            input: Bytes(input),
            output: Bytes(output % 1000 * (input / 1000) + 1),
            request: Bytes(request),
            compute_per_byte: Seconds(compute_per_byte),
            compute_per_request: Seconds(compute_per_request),
            threads,
            buffers,
            sync,
            in_place: false,
            output_volume: None,
        })
    }
}

fn workload(groups: Vec<String>, stops: bool) -> BoxedStrategy<Workload> {
    (
        prop_oneof![
            ior(stops),
            trace(),
            pipeline(),
            mixes::operation_mix(stops),
            mixes::mdtest(),
            mixes::tree_copy()
        ],
        prop::option::of(select(groups)),
    )
        .prop_map(|(kind, group)| Workload {
            collective: Collective::NoCollective(NoCollective {}),
            layout: None,
            preset: None,
            kind,
            start: Seconds(0.0),
            stagger: Seconds(0.0),
            delay: Seconds(0.0),
            delay_distribution: ThinkDistribution::Constant,
            turns: None,
            io: InputOutput {
                interface: Interface::SystemCall,
                buffer: Bytes(4096),
                direct: false,
                synchronous: false,
                priority: IoPriority::default(),
                existing: false,
                cached: false,
                pointers_cached: false,
                made_by: Bytes(1 << 20),
                verify: false,
                compressible: 0.0,
                duplicates: 0.0,
                huge_pages: false,
                volume: None,
            },
            group,
        })
        .boxed()
}

prop_compose! {
    fn run()(
        seed in 0..u64::MAX / 2 - u64::from(u32::MAX),
        warm_up in seconds().prop_map(|time| Seconds(time.0 / 10.0)),
        replications in count(),
        window in prop::option::of(more_than_no_time()),
        longer in prop::option::of(1.5..9.0_f64),
        requests in prop::option::of(1..=u64::MAX / 2),
        precision in prop::option::of(0.001..0.999_f64),
        confidence in 0.001..0.999_f64,
    ) -> Run {
        let time = longer.map(|factor| Seconds(warm_up.0 * factor + 1.0));
        Run { seed, warm_up, replications, window, stop: Stop { time, requests, precision, confidence } }
    }
}

/// A valid scenario.
pub fn scenario() -> BoxedStrategy<Scenario> {
    let system = select(
        presets()
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
    );
    let free = (
        text(),
        text(),
        system,
        clients(),
        servers(),
        metadata::metadata(),
        networks::network(),
        (messages(), hosts_cpu(), failures::failures(), locks()),
        run(),
    );
    free.prop_flat_map(
        |(name, description, system, clients, servers, metadata, network, shared, run)| {
            let groups: Vec<String> = clients.groups.names().map(str::to_owned).collect();
            let stops = run.stop.is_given();
            let workload = prop::collection::vec(workload(groups.clone(), stops), 1..4);
            let replication = replication(servers.count, servers.targets);
            (
                replication.prop_flat_map({
                    let servers = servers.clone();
                    move |it| (layout((servers.count / it.copies).max(1)), Just(it))
                }),
                schedulers::scheduler(groups),
                workload,
                any::<bool>(),
            )
                .prop_map(
                    move |((layout, replication), scheduler, mut workload, own)| {
                        workload[0].layout = own.then(|| Layout {
                            kind: LayoutKind::Basic(Basic {
                                first: FirstServer::Balance,
                            }),
                            ..layout.clone()
                        });
                        let mut scenario = Scenario {
                            name: name.clone(),
                            description: description.clone(),
                            system: system.to_owned(),
                            calibration: own.then(|| {
                                vec![Calibration {
                                    field: "network.latency".to_owned(),
                                    values: vec!["1 ms".to_owned(), "0.25 us".to_owned()],
                                    curve: Some(vec![name.clone()]),
                                    method: description.clone(),
                                    date: String::new(),
                                }]
                            }),
                            check: own.then(|| {
                                vec![Check {
                                    name: name.clone(),
                                    bound: Bound::Device,
                                    measured: Seconds(0.25),
                                    predicted: Seconds(0.5),
                                }]
                            }),
                            clients: clients.clone(),
                            kind: SystemKind::Parallel(Parallel {
                                servers: servers.clone(),
                                metadata: metadata.clone(),
                                network: network.clone(),
                                messages: if matches!(
                                    scheduler.position,
                                    Position::Gateway | Position::Proxy
                                ) || servers.streaming
                                {
                                    Messages::Whole(Whole {})
                                } else {
                                    shared.0.clone()
                                },
                                hosts: Hosts {
                                    cpu: shared.1.clone(),
                                },
                                replication: Replication {
                                    by: match (&network.topology, network.duplex, &shared.0) {
                                        (Topology::Pairs(_), ..)
                                        | (_, Duplex::Half, _)
                                        | (.., Messages::Rendezvous(_) | Messages::Rdma(_)) => {
                                            ReplicatedBy::Client
                                        }
                                        _ => replication.by,
                                    },
                                    ..replication.clone()
                                },
                                layout,
                                pool: None,
                                locks: match replication.copies {
                                    1 => shared.3.clone(),
                                    _ => Locks::NoLocks(NoLocks {}),
                                },
                                scheduler: vec![scheduler],
                                failure: None,
                                recovery: shared.2.0.clone(),
                            }),
                            workload,
                            lab: Lab {
                                server: own.then(|| name.clone()),
                                volume: None,
                                redundancy: own.then_some(servers.count),
                                file_system: None,
                                mount_options: own.then(|| description.clone()),
                                image: own.then_some(Bytes(1 << 30)),
                                directory: None,
                            },
                            run: run.clone(),
                        };
                        let (recovery, failover, failure) = shared.2.clone();
                        failures::put(&mut scenario, recovery, failover, failure);
                        metadata::put(&mut scenario, own);
                        fit_blocks(&mut scenario);
                        fit_nearest(&mut scenario);
                        fit_precision(&mut scenario);
                        scenario
                    },
                )
        },
    )
    .prop_map(|mut scenario| {
        // Local file systems hold few files.
        let parallel = scenario.parallel().map(|it| &it.servers);
        let clients = scenario.clients.machine().is_some();
        if clients || parallel.is_some_and(|servers| servers.machine().is_some()) {
            for workload in &mut scenario.workload {
                match &mut workload.kind {
                    WorkloadKind::Ior(ior) => ior.files = ior.files.min(5),
                    WorkloadKind::Mdtest(mdtest) => mdtest.files = mdtest.files.min(5),
                    WorkloadKind::TreeCopy(copy) => {
                        (copy.directories, copy.files) = (1, copy.files.min(2));
                    }
                    _ => {}
                }
            }
        }
        // Whole pages are locked, once.
        if let Some(machine) = scenario.clients.machine()
            && let SystemKind::Parallel(parallel) = &mut scenario.kind
        {
            if machine.attributes.oplocks().is_some() {
                parallel.locks = Locks::NoLocks(NoLocks {});
            } else if let Locks::ExtentLocks(locks) = &mut parallel.locks {
                locks.unit = machine.memory.page;
            }
        }
        // Files have to fit on devices whose size is known.
        if let SystemKind::Parallel(parallel) = &mut scenario.kind
            && let ServerKind::MachineServer(server) = &mut parallel.servers.kind
            && server.machine.device.capacity().is_some()
        {
            server.machine.device = machine_of(None).device;
        }
        // Only hosts of a star have cards.
        if let SystemKind::Parallel(parallel) = &mut scenario.kind
            && matches!(parallel.network.topology, Topology::Pairs(_))
        {
            for card in [
                &mut scenario.clients.card,
                &mut parallel.servers.card,
                &mut parallel.metadata.card,
            ] {
                card.bandwidth = None;
                card.burst = None;
            }
        }
        scenario
    })
    .boxed()
}

fn locks() -> impl Strategy<Value = Locks> {
    let extent = (seconds(), any::<bool>(), 0..100_u32, size());
    let extent = extent.prop_map(|(time_per_lock, grow, contended_locks, contended_growth)| {
        Locks::ExtentLocks(ExtentLocks {
            time_per_lock,
            unit: Bytes(4096),
            grow,
            contended_locks,
            contended_growth,
        })
    });
    prop_oneof![Just(Locks::NoLocks(NoLocks {})), extent]
}

fn messages() -> impl Strategy<Value = Messages> {
    let rendezvous = (0..1_u64 << 40, 1..1_u64 << 40, 1..100_u32);
    let rendezvous = rendezvous.prop_map(|(eager, buffer, buffers)| {
        Messages::Rendezvous(Rendezvous {
            eager_limit: Bytes(eager),
            buffer: Bytes(buffer),
            buffers,
        })
    });
    let rdma = (0..1_u64 << 40, 1..1_u64 << 40, 1..100_u32, 0..1_u64 << 20);
    let rdma = rdma.prop_map(|(inline, buffer, buffers, request)| {
        Messages::Rdma(Rdma {
            inline_limit: Bytes(inline),
            buffer: Bytes(buffer),
            buffers,
            read_request: Bytes(request),
        })
    });
    prop_oneof![Just(Messages::Whole(Whole {})), rendezvous, rdma]
}

prop_compose! {
    fn hosts_cpu()(
        cores in 1..100_u32,
        shared_by in choice(SharedBy::ALL),
        send in seconds(),
        receive in seconds(),
        send_rate in prop::option::of(rate()),
        receive_rate in prop::option::of(rate()),
        (serve_read, serve_write, access) in (seconds(), seconds(), seconds()),
    ) -> HostCpu {
        let cpu = HostCpu {
            cores, shared_by, send, receive, send_rate, receive_rate, serve_read, serve_write,
            access,
        };
        let shared_by = if cpu.costs() { shared_by } else { SharedBy::None };
        HostCpu { shared_by, ..cpu }
    }
}
