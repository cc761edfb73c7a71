//! Whole systems, the page cache and the layout.
//!
//! `cargo bench -p headrace-storage`

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use headrace_spec::{Bytes, Memory, Replacement, Scenario, ServerKind, SimpleServer, SystemKind};
use headrace_storage::layout::{FirstTargets, Layout};
use headrace_storage::localfs::PageCache;
use headrace_storage::{Options, Outcome, simulate};

/// A shipped scenario, with other values.
fn shipped(name: &str, sets: &[&str]) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let loaded = headrace_spec::load_file(&folder.join(name), &sets);
    loaded.expect("it is shipped").scenario
}

fn run(scenario: &Scenario) -> Outcome {
    let outcome = simulate(scenario, Options::default(), &mut |_, _, _| {
        ControlFlow::Continue(())
    });
    outcome.expect("it runs")
}

/// Requests a second of wall time, building the net included.
fn systems(criterion: &mut Criterion) {
    let cases = [
        ("striped read, 64 clients", "striped-read.toml", &[][..]),
        (
            "striped read, 1024 clients",
            "striped-read.toml",
            &["clients.count=1024", "workload.0.files=25"],
        ),
        (
            "cached write then read, 16 clients",
            "pfssim-write-then-read.toml",
            &["clients.count=16"],
        ),
        (
            "SFQ(4), 32 clients",
            "pfssim-sfq.toml",
            &["scheduler.weights.G2=4", "run.stop.time=100 s"],
        ),
    ];
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(20);
    for (name, file, sets) in cases {
        let scenario = shipped(file, sets);
        let operations = run(&scenario).report.operations;
        group.throughput(Throughput::Elements(
            operations.values().map(|it| it.count).sum(),
        ));
        group.bench_with_input(BenchmarkId::from_parameter(name), &scenario, |bench, it| {
            bench.iter(|| black_box(run(it)));
        });
    }
    group.finish();
}

/// The same 64 clients over 4 servers that are machines, and simple ones.
fn servers(criterion: &mut Criterion) {
    let machine = shipped(
        "nguyen-pvfs.toml",
        &["clients.count=64", "workload.0.block=64 MiB"],
    );
    let mut simple = machine.clone();
    if let SystemKind::Parallel(parallel) = &mut simple.kind
        && let ServerKind::MachineServer(server) = &parallel.servers.kind
    {
        let memory = &server.machine.memory;
        parallel.servers.kind = ServerKind::SimpleServer(SimpleServer {
            memory: Memory {
                cache: Bytes(memory.page_cache()),
                page: memory.page,
                dirty_limit: Bytes(server.machine.write_back.limit(memory)),
                replacement: Replacement::Lru,
                python: None,
                folder: None,
                rate: None,
            },
            io_scheduler: server.machine.io_scheduler.clone(),
            device: server.machine.device.clone(),
        });
    }
    let mut group = criterion.benchmark_group("servers");
    group.sample_size(10);
    for (name, scenario) in [("machines", &machine), ("simple", &simple)] {
        let operations = run(scenario).report.operations;
        group.throughput(Throughput::Elements(
            operations.values().map(|it| it.count).sum(),
        ));
        group.bench_function(BenchmarkId::new("4, with 64 clients", name), |bench| {
            bench.iter(|| black_box(run(scenario)));
        });
    }
    group.finish();
}

/// File and offset of the n-th job.
type Place = fn(u64) -> (u32, u64);

const OPERATIONS: u64 = 100_000;

/// Operations a second on a cache of 900 MB that is full of dirty data.
fn page_cache(criterion: &mut Criterion) {
    let memory = Memory {
        cache: Bytes(900_000_000),
        page: Bytes(4096),
        dirty_limit: Bytes(400_000_000),
        replacement: Replacement::Lru,
        python: None,
        folder: None,
        rate: None,
    };
    let mut group = criterion.benchmark_group("page cache");
    group.throughput(Throughput::Elements(OPERATIONS));
    group.sample_size(20);
    let jobs: [(&str, Place); 2] = [
        // A file of 256 KiB after the other, as from one of many clients.
        ("a file a job", |number| (number as u32, 0)),
        // 64 KiB each, anywhere in 4 GB: no two are neighbours for long.
        ("scattered", |number| {
            let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
            (0, mixed * (64 << 10))
        }),
    ];
    for (name, place) in jobs {
        group.bench_function(BenchmarkId::new("write, then read", name), |bench| {
            bench.iter(|| {
                let mut cache = PageCache::new(&memory);
                let mut moved = 0;
                for number in 0..OPERATIONS / 2 {
                    let (file, offset) = place(number);
                    moved += cache.write(file, offset, 64 << 10).len();
                }
                for number in 0..OPERATIONS / 2 {
                    let (file, offset) = place(number);
                    for gap in cache.read(file, offset, 64 << 10) {
                        moved += cache.fill(gap).len();
                    }
                }
                black_box(moved)
            });
        });
    }
    group.finish();
}

/// Requests split into jobs a second.
fn layout(criterion: &mut Criterion) {
    let scenario = shipped("striped-read.toml", &[]);
    let parallel = scenario.parallel().expect("it is one");
    let layout = Layout::new(&scenario, parallel, &parallel.layout, 1, None);
    let mut first_targets = FirstTargets::default();
    let mut group = criterion.benchmark_group("layout");
    group.throughput(Throughput::Elements(1000));
    for (name, size) in [("64 KiB", 64 << 10), ("1 MiB", 1 << 20), ("1 GiB", 1 << 30)] {
        group.bench_function(BenchmarkId::new("split", name), |bench| {
            bench.iter(|| {
                let mut bytes = 0;
                for number in 0..1000_u64 {
                    let offset = black_box(number) * size;
                    let file = layout.file(number as u32, &mut first_targets);
                    file.pieces(offset, size, |piece| bytes += piece.size);
                }
                black_box(bytes)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, systems, servers, page_cache, layout);
criterion_main!(benches);
