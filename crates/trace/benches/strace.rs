//! How fast the strace reader is, in lines and bytes per second, on the
//! recorded trace of a build.

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput, criterion_main};
use headrace_trace::{Input, open_input};

fn reader(criterion: &mut Criterion) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/traces/build.strace"
    );
    let trace = match std::fs::read(path) {
        Ok(trace) => trace,
        Err(error) => {
            eprintln!("{path}: {error}");
            return;
        }
    };
    let lines = trace.iter().filter(|it| **it == b'\n').count() as u64;
    let mut group = criterion.benchmark_group("strace");
    for (name, throughput) in [
        ("lines", Throughput::Elements(lines)),
        ("bytes", Throughput::Bytes(trace.len() as u64)),
    ] {
        group.throughput(throughput);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || Cursor::new(trace.clone()),
                |bytes| {
                    let input = Input {
                        name: "build".into(),
                        bytes: Box::new(bytes),
                    };
                    let mut batch = Vec::new();
                    if let Ok(mut reader) = open_input(input, Some("strace")) {
                        while reader.next_batch(4096, &mut batch).is_ok_and(|it| it > 0) {
                            black_box(&batch);
                            batch.clear();
                        }
                    }
                },
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

#[allow(missing_docs, reason = "made by the macro")]
mod group {
    use super::reader;
    criterion::criterion_group!(benches, reader);
}

criterion_main!(group::benches);
