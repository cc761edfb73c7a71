//! `kyber`: tokens by latency.

use super::*;

/// Reads and writes in turn: 16 and 8, in the order they came.
#[test]
fn domains_have_their_batches() {
    let reads = (0..40).map(|n| (Span(n), read(1, n * MIB)));
    let writes = (0..40).map(|n| (Span(n), write(2, (1000 - n) * MIB)));
    let log = script(&queue(kyber(), 1), &reads.chain(writes).collect::<Vec<_>>());
    let processes = log.processes();
    let runs: Vec<(u32, usize)> = processes
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect();
    let expected = [(1, 16), (2, 8), (1, 16), (2, 8), (1, 8), (2, 24)];
    assert_eq!(runs, expected);
}

/// Eight writers keep a device of 2,000 operations a second busy; a reader finds
/// their writes before it, 4 ms. Kyber takes tokens from the writes until the
/// reads are within 2 ms.
#[test]
fn reads_stay_fast_under_a_flood_of_writes() {
    let latency = |kind| {
        let service = |_: &Transfer, _: &mut Random<'_>| Span::from_micros(500);
        let next: Next = |transfer| {
            let (process, address) = (transfer.process, transfer.address + MIB);
            Some(match transfer.operation {
                Read => (MILLISECOND, read(process, address)),
                _ => (Span::ZERO, write(process, address)),
            })
        };
        let mut first: Vec<_> = (0..8)
            .map(|n| (Span(n), write(1 + n as u32, n << 40)))
            .collect();
        first.push((Span(8), read(0, 9 << 40)));
        let until = Limits::until_seconds(30.0);
        let log = drive(&queue(kind, 32), 1, service, &first, next, until);
        let done: Vec<f64> = log
            .done
            .iter()
            .filter(|seen| seen.transfer.operation == Read && seen.at.as_seconds() > 20.0)
            .map(|seen| seen.at.as_seconds())
            .collect();
        // From one answer to the next: thinking and latency.
        let cycles = done.windows(2).map(|pair| pair[1] - pair[0] - 1e-3);
        cycles.sum::<f64>() / (done.len() - 1) as f64
    };
    let unordered = latency(none());
    assert!((unordered - 4e-3).abs() < 0.1e-3, "{unordered}");
    let with_tokens = latency(kyber());
    assert!(with_tokens < 2e-3, "{with_tokens}");
}
