//! A virtual disk: limits on bytes and operations a second, in front of a device with a rate.
//!
//! As Linux does it (6.18, block/blk-throttle.c), where times are whole ticks. The allowance of a
//! limit is counted from the begin of a window, over the time since then rounded up to whole
//! slices. Each direction is first come, first served. The first in line pays for its bytes, then
//! for its operations. If the limit does not allow it, it is checked again after the time that the
//! missing amount needs. Whole slices that have passed are trimmed from the window, with their
//! allowance, but for the last. Once a direction has been empty past the window's end, the next
//! transfer begins a new one: credit and debt are forgotten. Operations are whole, so what a slice
//! allows of one is lost: a limit of 19 a second lets 10 go, as the kernel does. A flush is a write
//! of no bytes and one operation.
//!
//! Metadata (REQ_META) never waits, not even behind queued requests. It is charged beyond the
//! limit, and the next other request pays for it, unless the window ends first. It comes in blocks
//! of 4 KiB, an operation each, as a journal writes them (fs/jbd2/commit.c). A flush that belongs
//! to a block of metadata is part of that block's request, and free.
//!
//! Beyond Linux, `burst` saves up unused allowance, as providers of virtual
//! disks do.
//!
//! The device behind the limits serves transfers in order of arrival, at most `queue_depth`
//! concurrently. Their service times add up, and their latencies overlap. A hypervisor's virtual
//! disk takes more, and may serve in bulk (`hypervisor`).
//!
//! It counts as busy while the device works, while a transfer waits for a limit, and while a limit
//! is exhausted.
//!
//! Not modelled: hierarchies of groups; bytes of the second transfer in line, which are charged
//! while the first waits for its operations.

use std::collections::VecDeque;

use headrace_net::{Discipline, Line, Node, Page, Slot, Span, Station, Time};
use headrace_spec::Throttled;
use headrace_trace::Operation;

use super::hypervisor::VirtualDisk;
use crate::tokens::{Content, Transfer};

pub(super) fn station(page: &mut Page<'_>, spec: &Throttled) -> Node<Transfer> {
    page.station("device", Limited::new(spec))
}

/// Bytes of one block: journals submit each of metadata by itself.
const BLOCK: u64 = 4096;

/// Token bucket of one limit: bytes or operations.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// A tick.
    rate: f64,
    /// Dispatched since the window began.
    dispatched: u64,
    /// Saved up, and how much may be.
    credit: u64,
    burst: u64,
}

impl Bucket {
    fn new(rate: f64, tick: f64, burst: u64) -> Bucket {
        Bucket {
            rate: rate * tick,
            dispatched: 0,
            credit: burst,
            burst,
        }
    }

    fn allowed(&self, ticks: u64) -> u64 {
        // Ticks and rates are not exact as floating-point numbers.
        (self.rate * ticks as f64 * (1.0 + 1e-12)) as u64
    }

    /// A new window, so long after the begin of the last. The old window's debt
    /// is forgiven, but not its saved credit.
    fn begin(&mut self, elapsed: u64) {
        let saved = self.credit.saturating_add(self.allowed(elapsed));
        self.credit = saved.saturating_sub(self.dispatched).min(self.burst);
        self.dispatched = 0;
    }

    /// Returns the amount removed when ticks leave the window: the amount they allowed, or all if
    /// less than one (throtl_trim_iops).
    fn goes(&self, ticks: u64) -> u64 {
        match self.allowed(ticks) {
            0 => self.dispatched,
            allowed => allowed.min(self.dispatched),
        }
    }

    /// Takes ticks from the begin of the window.
    fn trim(&mut self, ticks: u64) {
        let unused = self.allowed(ticks).saturating_sub(self.dispatched);
        self.credit = self.credit.saturating_add(unused).min(self.burst);
        self.dispatched -= self.goes(ticks);
    }

    /// The part of what can be saved up that is.
    fn level(self) -> f64 {
        (self.credit as f64 - self.dispatched as f64) / self.burst as f64
    }

    /// Returns the missing amount at the end of these ticks.
    fn lacks(&self, amount: u64, ticks: u64) -> u64 {
        let allowed = self.allowed(ticks).saturating_add(self.credit);
        self.dispatched
            .saturating_add(amount)
            .saturating_sub(allowed)
    }
}

/// Reads or writes. Times are in ticks.
#[derive(Clone, Debug)]
struct Way {
    bytes: Option<Bucket>,
    operations: Option<Bucket>,
    slice: u64,
    waiting: Line,
    /// Time when each of them came.
    came: VecDeque<Time>,
    begins: u64,
    ends: u64,
    /// Payment state of the first in line: bytes paid, and operations paid.
    paid: (bool, u64),
    /// Time until which allowed transfers use the limits up.
    used_until: Time,
}

impl Way {
    fn new(bytes: Option<f64>, operations: Option<f64>, spec: &Throttled) -> Way {
        let (burst, few) = (spec.burst.0, u64::from(spec.burst_operations));
        Way {
            bytes: bytes.map(|rate| Bucket::new(rate, spec.tick.0, burst)),
            operations: operations.map(|rate| Bucket::new(rate, spec.tick.0, few)),
            slice: ((spec.slice.0 / spec.tick.0 + 0.5) as u64).max(1),
            waiting: Line::default(),
            came: VecDeque::new(),
            begins: 0,
            ends: 0,
            paid: (false, 0),
            used_until: Time::ZERO,
        }
    }

    /// A transfer goes: gives until when the limits are used up.
    fn uses(&mut self, size: u64, parts: u64, tick: Span, now: Time) -> Time {
        let ticks = |limit: &Option<Bucket>, amount: u64| {
            limit.map_or(0.0, |limit| amount as f64 / limit.rate)
        };
        let longest = ticks(&self.bytes, size).max(ticks(&self.operations, parts));
        self.used_until = self.used_until.max(now) + Span((longest * tick.0 as f64 + 0.5) as u64);
        self.used_until
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        self.bytes.iter_mut().chain(self.operations.iter_mut())
    }

    /// The first in line pays as far as possible. Returns the ticks until its next check, 0 if it
    /// goes.
    fn pay(&mut self, size: u64, parts: u64, now: u64) -> u64 {
        while self.paid.1 < parts {
            let (mut wait, elapsed) = (0, now - self.begins);
            if !self.paid.0 {
                wait = self
                    .bytes
                    .map_or(0, |it| bytes_wait(&it, size, elapsed, self.slice));
                if wait == 0 {
                    self.bytes.iter_mut().for_each(|it| it.dispatched += size);
                    self.paid.0 = true;
                }
            }
            if self.paid.0 {
                wait = self
                    .operations
                    .map_or(0, |it| operation_wait(&it, elapsed, self.slice));
            }
            if wait > 0 {
                self.ends = self.ends.max((now + wait).next_multiple_of(self.slice));
                return wait;
            }
            self.operations.iter_mut().for_each(|it| it.dispatched += 1);
            self.paid.1 += 1;
            self.trim(now);
        }
        self.paid = (false, 0);
        0
    }

    /// Metadata goes, and is charged block by block, within the limits or over them
    /// (__blk_throtl_bio, bio_issue_as_root_blkg). As in any dispatch, only transfers within them
    /// trim the window, and an abandoned wait still prolongs it.
    fn charge(&mut self, mut size: u64, now: u64) {
        let nobody = self.waiting.is_empty();
        loop {
            let (block, elapsed) = (size.min(BLOCK), now - self.begins);
            let mut wait = self
                .bytes
                .map_or(0, |it| bytes_wait(&it, block, elapsed, self.slice));
            if wait == 0 {
                wait = self
                    .operations
                    .map_or(0, |it| operation_wait(&it, elapsed, self.slice));
            }
            self.bytes.iter_mut().for_each(|it| it.dispatched += block);
            self.operations.iter_mut().for_each(|it| it.dispatched += 1);
            if wait > 0 {
                self.ends = self.ends.max((now + wait).next_multiple_of(self.slice));
            } else if nobody {
                self.trim(now);
            }
            size -= block;
            if size == 0 {
                return;
            }
        }
    }

    /// A transfer arrives at an empty queue (throtl_slice_used, throtl_extend_slice).
    fn touch(&mut self, empty: bool, now: u64) {
        if empty && now > self.ends {
            let elapsed = now - self.begins;
            self.buckets().for_each(|bucket| bucket.begin(elapsed));
            (self.begins, self.ends) = (now, now + self.slice);
        } else {
            self.ends = self
                .ends
                .max((now + self.slice).next_multiple_of(self.slice));
        }
    }

    /// throtl_trim_slice
    fn trim(&mut self, now: u64) {
        if now > self.ends {
            return;
        }
        self.ends = (now + self.slice).next_multiple_of(self.slice);
        let whole = (now - self.begins) / self.slice * self.slice;
        if whole >= 2 * self.slice {
            let trimmed = whole - self.slice;
            if self.buckets().any(|bucket| bucket.goes(trimmed) > 0) {
                self.begins += trimmed;
                self.buckets().for_each(|bucket| bucket.trim(trimmed));
            }
        }
    }
}

/// tg_within_bps_limit
fn bytes_wait(bucket: &Bucket, size: u64, elapsed: u64, slice: u64) -> u64 {
    let rounded = elapsed.next_multiple_of(slice).max(slice);
    match bucket.lacks(size, rounded) {
        0 => 0,
        lacks => ((lacks as f64 / bucket.rate) as u64).max(1) + rounded - elapsed,
    }
}

/// tg_within_iops_limit
fn operation_wait(bucket: &Bucket, elapsed: u64, slice: u64) -> u64 {
    let rounded = (elapsed + 1).next_multiple_of(slice);
    match bucket.lacks(1, rounded) {
        0 => 0,
        _ => (rounded - elapsed).max((1.0 / bucket.rate) as u64 + 1),
    }
}

/// Tags of wake-ups for the two directions, and for the end of a bulk; any other is a slot that
/// is done.
const WAYS: [u32; 2] = [u32::MAX, u32::MAX - 1];
const BULK: u32 = u32::MAX - 2;

#[derive(Clone, Debug)]
struct Limited {
    ways: [Way; 2],
    tick: Span,
    largest: u64,
    /// Number of further transfers that the device may accept.
    room: u32,
    /// Waiting jobs with the start of their wait.
    held: Line,
    held_since: VecDeque<Time>,
    virtual_disk: VirtualDisk,
    device_free: Time,
    /// Values for reads and for writes.
    picoseconds_per_byte: [f64; 2],
    per_transfer: [Span; 2],
    latency: [Span; 2],
    flush: Span,
}

impl Limited {
    fn new(spec: &Throttled) -> Limited {
        let rate = |rate: Option<headrace_spec::Rate>| rate.map(|rate| rate.0);
        Limited {
            ways: [
                Way::new(rate(spec.read_rate), spec.read_operations, spec),
                Way::new(rate(spec.write_rate), spec.write_operations, spec),
            ],
            tick: Span::from_seconds(spec.tick.0),
            room: spec.queue_depth.unwrap_or(u32::MAX),
            held: Line::default(),
            held_since: VecDeque::new(),
            virtual_disk: VirtualDisk::new(&spec.hypervisor),
            device_free: Time::ZERO,
            largest: spec.largest_request.map_or(u64::MAX, |size| size.0),
            picoseconds_per_byte: [spec.rate, spec.device_write_rate].map(|rate| 1e12 / rate.0),
            per_transfer: [spec.time_per_transfer, spec.write_time_per_transfer]
                .map(|time| Span::from_seconds(time.0)),
            latency: [spec.latency, spec.write_latency].map(|time| Span::from_seconds(time.0)),
            flush: Span::from_seconds(spec.flush.0),
        }
    }

    /// Lets go what may go, and asks to be woken for the next.
    fn dispatch(&mut self, way: usize, station: &mut Station<'_, Transfer>) {
        let now = station.now().0 / self.tick.0;
        while let Some(slot) = self.ways[way].waiting.first() {
            let size = bytes_of(station.token(slot));
            let it = &mut self.ways[way];
            let parts = size.div_ceil(self.largest).max(1);
            let wait = it.pay(size, parts, now);
            if wait > 0 {
                let time = Time((now + wait).saturating_mul(self.tick.0));
                station.wake_at(time, WAYS[way]);
                station.busy_until(time);
                return;
            }
            station.pop(&mut it.waiting);
            let came = it.came.pop_front().unwrap_or(station.now());
            station.wait_besides(station.now().since(came));
            station.busy_until(it.uses(size, parts, self.tick, station.now()));
            self.take(slot, station);
        }
    }

    /// The limits have let a transfer go: it begins if the device has room.
    fn take(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        if self.room == 0 {
            station.push(&mut self.held, slot);
            self.held_since.push_back(station.now());
            return;
        }
        self.room -= 1;
        self.serve(slot, station);
    }

    /// A transfer is done: the next of those that wait begins.
    fn leave(&mut self, station: &mut Station<'_, Transfer>) {
        self.room += 1;
        if let Some(slot) = station.pop(&mut self.held) {
            let since = self.held_since.pop_front().unwrap_or(station.now());
            station.wait_besides(station.now().since(since));
            self.room -= 1;
            self.serve(slot, station);
        }
    }

    /// The queue is empty, and all that were served are done, unless more have come.
    fn end_bulk(&mut self, station: &mut Station<'_, Transfer>) {
        if station.now() < self.device_free {
            station.wake_at(self.device_free, BULK);
            return;
        }
        let mut done = self.virtual_disk.end_bulk();
        while let Some(slot) = station.pop(&mut done) {
            let free = is_free_flush(station.token(slot));
            station.release(slot);
            if !free {
                self.leave(station);
            }
        }
    }

    /// The device behind: the work of one transfer after the other.
    fn serve(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let transfer = station.token(slot);
        let (way, size) = (way_of(transfer), bytes_of(transfer));
        let bytes = Span((size as f64 * self.picoseconds_per_byte[way] + 0.5) as u64);
        let allocation = self.virtual_disk.allocation(way, transfer.first_used);
        let work = bytes + self.per_transfer[way] + allocation;
        let flushes = transfer.forced || transfer.operation == Operation::Sync;
        let flush = if flushes { self.flush } else { Span::ZERO };
        if let Some(bulk) = &mut self.virtual_disk.bulk {
            if bulk.is_empty() {
                self.device_free = station.now() + self.latency[way];
                station.wake_at(self.device_free + work + flush, BULK);
            } else {
                station.wait_besides(self.device_free.since(station.now()));
            }
            self.device_free = self.device_free + work + flush;
            station.busy_until(self.device_free);
            station.push(bulk, slot);
            return;
        }
        let after = self.latency[way] + flush;
        let begins = self.device_free.max(station.now());
        self.device_free = begins + work;
        station.wait_besides(begins.since(station.now()));
        station.busy_until(self.device_free);
        station.wake_at(self.device_free + after, slot.0);
    }
}

/// 0 for reads, 1 for whatever is written.
fn way_of(transfer: &Transfer) -> usize {
    usize::from(transfer.operation != Operation::Read)
}

/// A flush moves nothing.
fn bytes_of(transfer: &Transfer) -> u64 {
    match transfer.operation {
        Operation::Sync => 0,
        _ => transfer.size,
    }
}

/// A flush that belongs to a block of metadata: part of that block's request.
fn is_free_flush(transfer: &Transfer) -> bool {
    transfer.content == Content::Metadata && transfer.operation == Operation::Sync
}

impl Discipline<Transfer> for Limited {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let transfer = station.token(slot);
        let (content, size) = (transfer.content, bytes_of(transfer));
        if is_free_flush(transfer) {
            match self.virtual_disk.bulk {
                Some(_) => self.serve(slot, station),
                None => station.wake_in(self.flush, slot.0),
            }
            return;
        }
        let way = way_of(transfer);
        let (now, it) = (station.now().0 / self.tick.0, &mut self.ways[way]);
        let empty = it.waiting.is_empty();
        it.touch(empty, now);
        if content == Content::Metadata {
            it.charge(size, now);
            let blocks = size.div_ceil(BLOCK).max(1);
            station.busy_until(it.uses(size, blocks, self.tick, station.now()));
            self.take(slot, station);
            return;
        }
        station.push(&mut it.waiting, slot);
        it.came.push_back(station.now());
        if empty {
            self.dispatch(way, station);
        }
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Transfer>) {
        if tag == BULK {
            return self.end_bulk(station);
        }
        match WAYS.iter().position(|way| *way == tag) {
            Some(way) => self.dispatch(way, station),
            None => {
                let free = is_free_flush(station.token(Slot(tag)));
                station.release(Slot(tag));
                if !free {
                    self.leave(station);
                }
            }
        }
    }

    fn name(&self) -> String {
        "throttled".to_owned()
    }

    fn level(&self) -> Option<f64> {
        let buckets = self.ways.iter().flat_map(|it| [it.bytes, it.operations]);
        let bursts = buckets.flatten().filter(|it| it.burst > 0);
        bursts.map(Bucket::level).reduce(|sum, level| sum + level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays that a kernel 6.18 logged (block tracer, HZ = 250): dispatched, the
    /// size asked for, ticks since the window began, and the ticks to wait.
    #[test]
    fn delays_are_those_of_the_kernel() {
        for (rate, dispatched, size, elapsed, expected) in [
            (150e6, 14_704_640, 1 << 20, 10, 16),
            (60e6, 4_210_688, 2 << 20, 6, 20),
            (150e6, 22_290_432, 0, 17, 20),
        ] {
            let mut bucket = Bucket::new(rate, 0.004, 0);
            bucket.dispatched = dispatched;
            assert_eq!(bytes_wait(&bucket, size, elapsed, 25), expected);
        }
    }
}
