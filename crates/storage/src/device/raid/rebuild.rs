//! The rebuilding of a failed member on a spare, chunk by chunk.
//!
//! ```text
//!   (rebuild) ─▶ [rebuild next] ─▶ (disk ×n) ─▶ [collect] ─▶ (rebuild)
//! ```
//!
//! `chunks` buffers process the failed disk in units of `chunk`, among the transfers of others.
//! Chunks start no faster than `rate`. A buffer rests 1/`share` − 1 of the time of its last chunk.
//! An idle array takes capacity / `rate`. Arrivals at the station `rebuild` are chunks, plus each
//! buffer's last, which finds none left.

use headrace_net::{Infinite, Node, Page, Random, Span, Store, Time};
use headrace_spec::Rebuild;
use headrace_trace::Operation;

use super::layout::{Part, Rebuilt};
use super::members::{Array, Run, Waiting};
use crate::tokens::Transfer;

/// A buffer that goes from chunk to chunk. It is a colour of its own, as no
/// request waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// Time that it rests before it takes the next chunk.
    pub rest: Span,
}

/// Rebuilt chunks, chunks that are being rebuilt, and the earliest start of the next.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub member: u32,
    chunk: u64,
    size: u64,
    next: u64,
    under_way: Vec<u64>,
    picoseconds_per_byte: f64,
    /// Rest for each time of work.
    rest: f64,
    free: Time,
}

impl Progress {
    /// The progress of rebuilding a member of `capacity` bytes; None without a rebuild.
    pub(super) fn new(spec: &Rebuild, capacity: u64) -> Option<Progress> {
        Some(Progress {
            member: spec.disk?,
            chunk: spec.chunk.0,
            size: spec.size.map_or(capacity, |size| size.0.min(capacity)),
            next: 0,
            under_way: Vec::new(),
            picoseconds_per_byte: spec.rate.map_or(0.0, |rate| 1e12 / rate.0),
            rest: 1.0 / spec.share - 1.0,
            free: Time::ZERO,
        })
    }

    /// Duration for which a buffer that may go on at `ready` rests from now: chunks begin no faster
    /// than the rate.
    fn reserve(&mut self, ready: Time, now: Time) -> Span {
        if self.next >= self.size {
            return ready.since(now);
        }
        let begins = ready.max(self.free);
        let size = self.chunk.min(self.size - self.next);
        self.free = begins + Span((size as f64 * self.picoseconds_per_byte + 0.5) as u64);
        begins.since(now)
    }

    /// The next chunk begins: its address and size; none if all have begun.
    pub(super) fn begin(&mut self) -> Option<(u64, u64)> {
        let (address, size) = (self.next, self.chunk.min(self.size - self.next));
        if size == 0 {
            return None;
        }
        self.next += size;
        self.under_way.push(address);
        Some((address, size))
    }

    /// A chunk is on the spare; gives how long its buffer rests.
    pub(super) fn finish(&mut self, address: u64, took: Span, now: Time) -> Span {
        self.under_way.retain(|it| *it != address);
        let rest = Span((took.0 as f64 * self.rest + 0.5) as u64);
        self.reserve(now + rest, now)
    }

    /// Rests of the buffers before their first chunks.
    pub(super) fn first(&mut self, buffers: u32) -> Vec<Buffer> {
        let one = |_| Buffer {
            rest: self.reserve(Time::ZERO, Time::ZERO),
        };
        (0..buffers).map(one).collect()
    }

    pub(super) fn how_far(&self) -> Rebuilt {
        let done = self.under_way.iter().min().copied().unwrap_or(self.next);
        let all = self.next == self.size && self.under_way.is_empty();
        Rebuilt {
            member: self.member,
            // Beyond its size no rebuilding is needed.
            done: if all { u64::MAX } else { done },
            begun: if all { u64::MAX } else { self.next },
        }
    }
}

/// Buffers take chunk after chunk, survivors first. A station, so that reports
/// show how many chunks have come to it.
pub(super) fn page(
    page: &mut Page<'_>,
    array: Store<Array>,
    run: Run,
    first: Vec<Buffer>,
) -> Node<Buffer> {
    let rest = |buffer: &Buffer, _: &mut Random<'_>| buffer.rest;
    let buffers = page.station("rebuild", Infinite(rest));
    page.tokens(buffers, move |_| first.clone());
    page.transition("rebuild next")
        .take(buffers)
        .with(array)
        .may_put(run.waiting)
        .puts_many(run.members)
        .fires(move |firing, _: Buffer, array| {
            let Some(rebuild) = &mut array.rebuild else {
                return;
            };
            let (Some((address, size)), member) = (rebuild.begin(), rebuild.member) else {
                return;
            };
            let how_far = rebuild.how_far();
            array.layout.rebuilt(how_far);
            let choose = |of, address, end| array.choose(of, address, end);
            let parts = array.layout.survivors(member, address, size, choose);
            // A chunk of the spare; its offset says when it began.
            let transfer = Transfer {
                offset: firing.now().0,
                member: member as u16,
                ..Transfer::new(Operation::Write, address, size)
            };
            let it = Waiting {
                transfer,
                pending: 0,
                reading: true,
                rebuilds: true,
            };
            run.begin(firing, array, it, parts);
        });
    buffers
}

/// Returns the writes to the spare after a chunk's survivors have been read.
pub(super) fn on_the_spare(chunk: &Transfer) -> Vec<Part> {
    vec![Part {
        writing: true,
        member: u32::from(chunk.member),
        address: chunk.address,
        size: chunk.size,
    }]
}
