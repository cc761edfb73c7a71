//! Cost of a transfer on each kind of device, with its net.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headrace_net::{Builder, Limits};
use headrace_spec::{Device, IoPriority, Parallel, ServerKind, Servers};
use headrace_storage::{Content, Transfer, device};
use headrace_trace::Operation;

const NUMBER: u64 = 20_000;

fn device_of(text: &str) -> Device {
    let scenario = format!(
        "clients.count = 1\nnetwork = {{ bandwidth = \"1 Gbit/s\", latency = \"1 ms\" }}\n\
         layout.unit = \"1 MiB\"\n[[workload]]\nblock = \"1 MiB\"\n[servers]\ncount = 1\n\
         [servers.device]\n{text}"
    );
    match headrace_spec::load(&scenario, "bench.toml".as_ref(), &[]) {
        Ok(loaded) => match loaded.scenario.parallel() {
            Some(Parallel {
                servers:
                    Servers {
                        kind: ServerKind::SimpleServer(simple),
                        ..
                    },
                ..
            }) => simple.device.clone(),
            _ => panic!("a parallel one with simple servers"),
        },
        Err(error) => panic!("{error}"),
    }
}

/// `depth` transfers of 8 KiB at a time at random addresses of 100 GB.
fn run(device: &Device, operation: Operation, depth: u32) {
    let mut builder = Builder::new("bench", 1);
    let mut page = builder.root();
    let device = device::build(&mut page, device);
    let next = page.place::<u32>("next");
    page.tokens(next, move |_| 0..depth);
    let left = page.store("left", |_| NUMBER);
    page.transition("ask")
        .take(next)
        .with(left)
        .puts_many(device.submit)
        .fires(move |firing, owner: u32, left| {
            if *left == 0 {
                return firing.stop();
            }
            *left -= 1;
            let address = firing.random().below(12_000_000) * 8192;
            firing.put(
                device.submit,
                Transfer {
                    owner: Some(owner),
                    process: 0,
                    file: 0,
                    offset: address,
                    address,
                    size: 8192,
                    first_used: 0,
                    operation,
                    synchronous: true,
                    priority: IoPriority::default(),
                    forced: false,
                    content: Content::Data,
                    absorbed: false,
                    member: 0,
                    part_of: 0,
                },
            );
        });
    page.transition("again")
        .take(device.done)
        .put(next, |_, transfer: Transfer, ()| {
            transfer.owner.unwrap_or(0)
        });
    let mut net = match builder.compile() {
        Ok(net) => net,
        Err(errors) => panic!("{errors}"),
    };
    if let Err(error) = net.run(&Limits::default()) {
        panic!("{error}");
    }
}

const DISK: &str = r#"
    kind = "disk"
    capacity = "100 GB"
    rpm = 10000
    track_to_track_seek = "0.3 ms"
    average_seek = "4.7 ms"
    full_stroke_seek = "10 ms"
    outer_rate = "80 MB/s"
    inner_rate = "40 MB/s"
    interface_rate = "320 MB/s"
    buffer = "8 MiB"
"#;

fn devices(criterion: &mut Criterion) {
    let simple = r#"read_rate = "60 MB/s"
                    write_rate = "60 MB/s""#;
    let throttled = r#"kind = "throttled"
                       rate = "1 GB/s"
                       read_rate = "60 MB/s""#;
    let queued = format!("{DISK}\nqueue_depth = 32");
    let cached = format!("{DISK}\nwrite_cache = true");
    let mut group = criterion.benchmark_group("8 KiB at random");
    group
        .throughput(Throughput::Elements(NUMBER))
        .sample_size(20);
    for (name, text, operation, depth) in [
        ("simple", simple, Operation::Read, 1),
        ("throttled", throttled, Operation::Read, 1),
        ("disk", DISK, Operation::Read, 1),
        ("disk, 32 commands", &queued, Operation::Read, 32),
        ("disk, write cache", &cached, Operation::Write, 1),
    ] {
        let device = device_of(text);
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(&device, operation, depth))
        });
    }
    group.finish();
}

criterion_group!(benches, devices);
criterion_main!(benches);
