//! The common net, the event queue and the set of enabled transitions.
//!
//! `cargo bench -p headrace-net`

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use headrace_net::{Builder, Exponential, Fcfs, Infinite, Limits, Net, Span};

/// Clients think for 5 ms, choose a server and are served there for 1 ms.
fn common_net(clients: u32, servers: u32) -> Net {
    let mut builder = Builder::new("common", 1);
    let mut page = builder.root();
    let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
    let (disk, done) = page.fold("server", servers, |page| {
        let done = page.output::<u32>("done");
        let disk = page.station("disk", Fcfs::new(1, Span::from_millis(1)));
        page.connect(disk, done);
        (disk, done)
    });
    page.connect(done, thinking);
    page.transition("choose")
        .take(thinking)
        .put(disk.by(|&server| server), move |firing, _, ()| {
            firing.random().below(u64::from(servers)) as u32
        });
    page.tokens(thinking, move |_| (0..clients).map(|_| 0));
    builder.compile().expect("the common net is sound")
}

/// Firings a second with every statistic on.
fn firings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("common net");
    for (clients, servers) in [(64, 4), (4096, 256)] {
        let mut net = common_net(clients, servers);
        let mut until = 1.0;
        net.run(&Limits::until_seconds(until))
            .expect("it runs for ever");
        let before = net.firings();
        let step = 100.0 / f64::from(clients);
        until += step;
        net.run(&Limits::until_seconds(until))
            .expect("it runs for ever");
        // Firings of one step, about the same in each.
        group.throughput(Throughput::Elements(net.firings() - before));
        let (bytes, tokens) = net.memory();
        println!(
            "{clients} clients: {:.0} bytes a token",
            bytes as f64 / tokens as f64
        );
        group.bench_function(BenchmarkId::new("clients", clients), |bencher| {
            bencher.iter(|| {
                until += step;
                net.run(&Limits::until_seconds(until))
            });
        });
    }
    group.finish();
}

/// The event queue alone: N tokens that only wait, all pending at once.
fn pending(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event queue");
    for tokens in [16_u32, 1_000, 100_000] {
        let mut builder = Builder::new("waiting", 1);
        let mut page = builder.root();
        let waiting = page.station("waiting", Infinite(Exponential(Span::from_seconds(1.0))));
        page.connect(waiting, waiting);
        page.tokens(waiting, move |_| 0..tokens);
        let mut net = builder.compile().expect("a ring is sound");
        let step = 10_000.0 / f64::from(tokens);
        let mut until = 0.0;
        group.throughput(Throughput::Elements(10_000));
        group.bench_function(BenchmarkId::new("pending", tokens), |bencher| {
            bencher.iter(|| {
                until += step;
                net.run(&Limits::until_seconds(until))
            });
        });
    }
    group.finish();
}

/// The set of enabled transitions alone: a token that visits N copies of a page in turn,
/// no time passing between.
fn enabled(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("enabled transitions");
    for copies in [4_u32, 4_096, 262_144] {
        let mut builder = Builder::new("walk", 1);
        let mut page = builder.root();
        let next = page.place::<(u32, u32)>("next");
        let rest = page.station("rest", Infinite(Span::from_millis(1)));
        let here = page.fold("copy", copies, |page| {
            let here = page.place::<(u32, u32)>("here");
            page.transition("leave").take(here).route(
                [next.into(), rest.into()],
                move |_, (copy, steps), ()| {
                    *copy = (*copy + 77) % copies;
                    *steps += 1;
                    match *steps % 500 {
                        0 => rest.into(),
                        _ => next.into(),
                    }
                },
            );
            here
        });
        page.connect(next, here.by(|&(copy, _)| copy));
        page.connect(rest, next);
        page.tokens(rest, |_| [(0, 0)]);
        let mut net = builder.compile().expect("a walk is sound");
        let mut until = 0.0;
        group.throughput(Throughput::Elements(10 * 1001));
        group.bench_function(BenchmarkId::new("copies", copies), |bencher| {
            bencher.iter(|| {
                until += 0.01;
                net.run(&Limits::until_seconds(until))
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().without_plots().sample_size(20);
    targets = firings, pending, enabled
}
criterion_main!(benches);
