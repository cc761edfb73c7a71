//! A disk drive: arm, rotation, zones, buffer, command queue.
//!
//! A command is taken when fewer than `queue_depth` are. Data that the buffer holds, or has room
//! for, only crosses the interface. Other commands need the arm and the platters, one at a time.
//! The disk selects the command with the shortest positioning time, unless one has exceeded the age
//! limit. Sources: Jacobson and Wilkes, "Disk scheduling algorithms based on rotational position",
//! HPL-CSL-91-7, 1991; Worthington, Ganger, Patt, SIGMETRICS 1994. After a read the disk reads on
//! into that stream's segment. A command for data about to be read ahead waits for it without a
//! seek. Its positioning time lasts until its first sector. Any other ends the stream. The disk
//! writes its dirty data when no command waits, or when the buffer is full (Ruemmler and Wilkes
//! 1994).
//!
//! It counts as busy while the arm seeks, the platters turn to the first sector, or sectors pass
//! for a command. The time in which requested sectors were read ahead counts, too.
//!
//! A sync is a barrier, like FLUSH CACHE in ATA. It waits for earlier commands and all dirty data,
//! and later commands wait for it.
//!
//! Zones have equally many cylinders, and a rate that falls evenly from `outer_rate` to
//! `inner_rate`. The angle at time 0 is drawn at random. A random read of a drive with one zone
//! takes overhead, average seek, half a revolution and transfer.
//!
//! Not modelled: reading a track from its middle (zero-latency access); dirty data and read-ahead
//! that share the buffer; transfer of a command's last sector over the interface where that is
//! faster than the medium; the pause before an idle disk writes dirty data; spare sectors and
//! faults.

mod buffer;
mod geometry;
mod seek;

use std::collections::VecDeque;

use headrace_net::{Discipline, Line, Node, Page, Slot, Span, Station, Time};
use headrace_spec::Disk;
use headrace_trace::Operation;

use crate::cache_counts::CacheCounts;
use crate::tokens::Transfer;
use buffer::{Dirty, Segments};
use geometry::{Geometry, Place};
use seek::SeekCurve;

pub(super) fn station(page: &mut Page<'_>, spec: &Disk) -> Node<Transfer> {
    page.station("device", Drive::new(spec))
}

/// The wake-up for the arm; any other tag is the slot of a finished command.
const ARM: u32 = u32::MAX;

/// Number of dirty extents on each side of the arm that are candidates for the next write. It is
/// enough to find a short way, and costs little.
const NEAR: usize = 8;

/// A command that needs the medium.
#[derive(Clone, Copy, Debug)]
struct Command {
    /// None for dirty data that the disk writes of itself.
    slot: Option<Slot>,
    writing: bool,
    first: u64,
    end: u64,
    place: Place,
    /// Position after its last sector.
    passed: Place,
    /// Arrival time, and end of the controller's processing.
    came: Time,
    ready: Time,
    /// Time when the interface has moved its data at the earliest.
    moved: Span,
}

/// Work of the arm.
#[derive(Clone, Copy, Debug)]
enum Work {
    Idle,
    /// Until the time it asked to be woken at; none releases.
    Busy {
        command: Command,
        releases: bool,
    },
}

/// The disk reads on.
#[derive(Clone, Copy, Debug)]
struct Stream {
    segment: usize,
    /// The position of the head at the time `since`.
    position: u64,
    since: Time,
    /// The sector at which the buffer is full, and its position.
    limit: u64,
    limit_position: u64,
    /// The sector after the last that a command wanted.
    wanted: u64,
}

#[derive(Clone, Debug)]
struct Drive {
    geometry: Geometry,
    seeks: SeekCurve,
    queue_depth: u32,
    age_limit: Span,
    overhead: Span,
    interface: f64,
    read_ahead: bool,
    /// Sectors that may be dirty; 0 without a write cache.
    dirty_room: u64,
    /// Turns the platters at the start of the run.
    angle: Option<u64>,
    cylinder: u64,
    head: u64,
    /// The sector after the last that the arm met.
    at: u64,
    work: Work,
    stream: Option<Stream>,
    segments: Segments,
    dirty: Dirty,
    /// Dirty sectors that are being written.
    destaging: u64,
    pending: Vec<Command>,
    /// Writes that wait for room among the dirty data.
    held: VecDeque<Slot>,
    /// Commands that the queue has no room for, and those behind one that
    /// synchronises.
    line: Line,
    /// Commands taken and not yet finished.
    taken: u32,
    interface_free: Time,
    counts: CacheCounts,
}

impl Drive {
    fn new(spec: &Disk) -> Drive {
        let geometry = Geometry::new(spec);
        let room = spec.buffer.0 / geometry.sector;
        Drive {
            seeks: SeekCurve::new(spec, geometry.cylinders),
            queue_depth: spec.queue_depth,
            age_limit: Span::from_seconds(spec.age_limit.0),
            overhead: Span::from_seconds(spec.overhead.0),
            interface: 1e12 / spec.interface_rate.0,
            read_ahead: spec.read_ahead && room > 0,
            dirty_room: if spec.write_cache { room } else { 0 },
            angle: None,
            cylinder: 0,
            head: 0,
            at: 0,
            work: Work::Idle,
            stream: None,
            segments: Segments::new(spec.segments, room / u64::from(spec.segments)),
            dirty: Dirty::default(),
            destaging: 0,
            pending: Vec::new(),
            held: VecDeque::new(),
            line: Line::default(),
            taken: 0,
            interface_free: Time::ZERO,
            counts: CacheCounts::default(),
            geometry,
        }
    }

    fn over_interface(&self, bytes: u64) -> Span {
        Span((bytes as f64 * self.interface + 0.5) as u64)
    }

    /// Takes commands as long as there is room.
    fn admit(&mut self, station: &mut Station<'_, Transfer>) {
        while let Some(slot) = self.line.first() {
            let synchronises = station.token(slot).operation == Operation::Sync;
            let quiet = self.taken == 0 && self.dirty.is_empty() && self.destaging == 0;
            if (synchronises && !quiet) || self.taken >= self.queue_depth {
                break;
            }
            station.pop(&mut self.line);
            self.taken += 1;
            if synchronises {
                station.wake_in(self.overhead, slot.0);
            } else {
                self.take(slot, station);
            }
        }
    }

    /// A command enters the queue.
    fn take(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let (now, transfer) = (station.now(), *station.token(slot));
        let (first, end) = self.geometry.sectors_of(transfer.address, transfer.size);
        let moved = self.over_interface(transfer.size);
        let writing = transfer.operation == Operation::Write;
        if writing {
            self.forget(first, end, station);
            if self.dirty_room > 0 && !transfer.forced {
                self.hold(slot, station);
                return;
            }
            // It replaces dirty data.
            self.dirty.remove(first, end);
            self.release_held(station);
        } else if self.dirty.holds(first, end) {
            self.hit(slot, moved, false, station);
            return;
        }
        let mut from = first;
        if !writing && let Some(stream) = self.stream_for(first, now) {
            let ahead = self.segments.ask(stream.segment, end);
            if end <= self.head_at(stream, now) {
                self.read_ahead_for(first, end, station);
                self.consumed(end, now);
                self.hit(slot, moved, ahead, station);
                return;
            }
        } else if !writing && let Some(index) = self.segments.find(first) {
            from = self.segments.get(index).end;
            if end <= from {
                let ahead = self.segments.ask(index, end);
                self.hit(slot, moved, ahead, station);
                return;
            }
        }
        if !writing {
            self.counts.misses += 1;
            self.counts.miss_bytes += transfer.size;
        }
        self.pending.push(Command {
            slot: Some(slot),
            writing,
            first: from,
            end,
            place: self.geometry.place(from),
            passed: self.geometry.end(end),
            came: now,
            ready: now + self.overhead,
            moved,
        });
    }

    /// A read is answered from the buffer, into which some of it was read `ahead`.
    fn hit(&mut self, slot: Slot, moved: Span, ahead: bool, station: &mut Station<'_, Transfer>) {
        let size = station.token(slot).size;
        match ahead {
            true => self.counts.ahead(size, size.max(1)),
            false => self.counts.hit(size, size.max(1)),
        }
        self.answer(slot, moved, station);
    }

    /// The buffer answers; only the interface is needed.
    fn answer(&mut self, slot: Slot, moved: Span, station: &mut Station<'_, Transfer>) {
        let begins = (station.now() + self.overhead).max(self.interface_free);
        self.interface_free = begins + moved;
        station.wake_at(self.interface_free, slot.0);
    }

    /// A write that is done when the buffer has it: now, or when there is room.
    fn hold(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let transfer = *station.token(slot);
        let (first, end) = self.geometry.sectors_of(transfer.address, transfer.size);
        let full = self.dirty.sectors() + self.destaging;
        if !self.held.is_empty() || (full > 0 && full + end - first > self.dirty_room) {
            self.held.push_back(slot);
            return;
        }
        self.dirty.add(first, end);
        let moved = self.over_interface(transfer.size);
        self.answer(slot, moved, station);
    }

    /// Room may have come for writes that wait.
    fn release_held(&mut self, station: &mut Station<'_, Transfer>) {
        let mut waiting = std::mem::take(&mut self.held);
        while let Some(slot) = waiting.pop_front() {
            self.hold(slot, station);
            if !self.held.is_empty() {
                self.held.append(&mut waiting);
            }
        }
    }

    /// The stream, if it has read a sector or will come to it. For sectors further ahead than the
    /// buffer has room, a seek is faster than waiting.
    fn stream_for(&self, sector: u64, now: Time) -> Option<Stream> {
        let stream = self.stream?;
        let near = self.segments.get(stream.segment).start <= sector
            && sector < stream.limit
            && sector <= self.head_at(stream, now) + self.segments.room;
        near.then_some(stream)
    }

    /// Returns the time when a stream reaches a position.
    fn comes(stream: Stream, position: u64) -> Time {
        stream.since + Span(position.saturating_sub(stream.position))
    }

    /// Returns the time when a stream has to stop for want of room: that long the host can make
    /// some.
    fn stops(stream: Stream) -> Time {
        Drive::comes(stream, stream.limit_position)
    }

    /// Returns the times when the stream reaches the first sector of a command and passes its last,
    /// if no seek is needed.
    fn delivered(&self, command: &Command, now: Time) -> Option<(Time, Time)> {
        let stream = self.stream_for(command.first, now)?;
        let waits =
            !command.writing && (command.end <= stream.limit || now <= Drive::stops(stream));
        waits.then(|| {
            let comes = |place: Place| Drive::comes(stream, place.position).max(now);
            (comes(command.place), comes(command.passed))
        })
    }

    /// The sector that a stream has come to.
    fn head_at(&self, stream: Stream, now: Time) -> u64 {
        let position = stream.position + now.since(stream.since).0;
        self.geometry.sector_at(position).min(stream.limit)
    }

    /// The host has read up to here: the stream may go on as far as there is room.
    /// If it had stopped, the platters first turn until it is where it was.
    fn consumed(&mut self, end: u64, now: Time) {
        let Some(mut stream) = self.stream else {
            return;
        };
        let stopped = Drive::stops(stream);
        // Sectors read past the limit leave the buffer as they arrive.
        if end <= stream.limit && stopped < now {
            let turn = self.geometry.turn;
            stream.position = stream.limit_position;
            stream.since = stopped + Span(now.since(stopped).0.div_ceil(turn) * turn);
        }
        let limit = (end + self.segments.room).min(self.geometry.sectors);
        if limit > stream.limit {
            stream.limit = limit;
            stream.limit_position = self.geometry.place(limit).position;
        }
        self.segments.extend(stream.segment, end);
        self.stream = Some(stream);
    }

    /// The stream has read these sectors before a command wanted them: they are work all the
    /// same, each once.
    fn read_ahead_for(&mut self, first: u64, end: u64, station: &mut Station<'_, Transfer>) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        let first = first.max(stream.wanted);
        if end > first {
            stream.wanted = end;
            let begins = self.geometry.place(first).position;
            let ends = self.geometry.end(end).position;
            station.work_ahead(Span(ends.saturating_sub(begins)));
        }
    }

    /// Overwritten sectors are not in the buffer any more.
    fn forget(&mut self, first: u64, end: u64, station: &mut Station<'_, Transfer>) {
        if let Some(stream) = self.stream
            && first < stream.limit
            && self.segments.get(stream.segment).start < end
        {
            self.pass(station);
            self.interrupt(station.now());
        }
        self.segments.forget(first, end);
    }

    /// Commands that the stream has passed need the arm no more; and that is where
    /// the arm is.
    fn pass(&mut self, station: &mut Station<'_, Transfer>) {
        let now = station.now();
        let Some(stream) = self.stream else {
            return;
        };
        let head = self.head_at(stream, now);
        self.arm_at(head);
        let mut index = 0;
        while let Some(&Command { slot, end, .. }) = self.pending.get(index) {
            let it = self.pending[index];
            if it.writing || end > head || self.stream_for(it.first, now).is_none() {
                index += 1;
                continue;
            }
            self.pending.swap_remove(index);
            self.consumed(end, now);
            if let Some(slot) = slot {
                self.answer(slot, it.moved, station);
            }
        }
    }

    /// Reading on ends; the segment keeps what there is, and commands for it need
    /// only the rest.
    fn interrupt(&mut self, now: Time) {
        let Some(stream) = self.stream else {
            return;
        };
        let head = self.head_at(stream, now);
        for index in 0..self.pending.len() {
            let it = self.pending[index];
            if !it.writing && it.first < head && self.stream_for(it.first, now).is_some() {
                let first = head.min(it.end - 1);
                self.pending[index].first = first;
                self.pending[index].place = self.geometry.place(first);
            }
        }
        self.stream = None;
        self.segments.extend(stream.segment, head);
        self.arm_at(head);
    }

    fn arm_at(&mut self, sector: u64) {
        if sector == self.at {
            return;
        }
        let place = self.geometry.end(sector);
        (self.cylinder, self.head, self.at) = (place.cylinder, place.head, sector);
    }

    /// Returns the time when the first sector is under the head if the arm goes there now.
    fn positioning(&self, command: &Command, now: Time) -> Time {
        let begins = now.max(command.ready);
        let to = (command.place.cylinder, command.place.head);
        let seek = self
            .seeks
            .time((self.cylinder, self.head), to, command.writing);
        let there = begins + Span(seek);
        let turn = self.geometry.turn;
        let angle = (there.0 + self.angle.unwrap_or(0)) % turn;
        let wait = (command.place.position % turn + turn - angle) % turn;
        there + Span(wait)
    }

    /// Returns the times when the first sector of a command reaches the head and its last has
    /// passed. The head is on the stream's path or seeks.
    fn times(&self, command: &Command, now: Time) -> (Time, Time) {
        self.delivered(command, now).unwrap_or_else(|| {
            let under = self.positioning(command, now);
            (under, under + Drive::passing(command))
        })
    }

    /// Time that the sectors of a command take to pass.
    fn passing(command: &Command) -> Span {
        Span(command.passed.position - command.place.position)
    }

    /// The next command for the arm, if there is any, and when it is done.
    fn choose(&mut self, now: Time) -> Option<(Command, Time)> {
        let oldest = self
            .pending
            .iter()
            .enumerate()
            .min_by_key(|(_, it)| it.came);
        let aged = oldest.filter(|(_, it)| now.since(it.came) > self.age_limit);
        if let Some((index, _)) = aged {
            let command = self.pending.swap_remove(index);
            return Some((command, self.times(&command, now).1));
        }
        let mut best: Option<((Time, Time), usize)> = None;
        for (index, command) in self.pending.iter().enumerate() {
            let times = self.times(command, now);
            if best.is_none_or(|(other, _)| times < other) {
                best = Some((times, index));
            }
        }
        // Dirty data goes when no command waits, or when one waits for its room.
        if !self.dirty.is_empty() && (best.is_none() || !self.held.is_empty()) {
            let nearest = self.nearest_dirty(now);
            if let Some((under, mut command)) = nearest
                && best.is_none_or(|((other, _), _)| under < other)
            {
                command.end = self.dirty.take(command.first, self.unit());
                command.passed = self.geometry.end(command.end);
                self.destaging = command.end - command.first;
                return Some((command, under + Drive::passing(&command)));
            }
        }
        best.map(|((_, through), index)| (self.pending.swap_remove(index), through))
    }

    /// The most sectors of dirty data that are written in one go, so that a
    /// command that comes does not wait for all of it.
    fn unit(&self) -> u64 {
        self.segments.room.max(1)
    }

    /// Returns the dirty extent near the arm that reaches the head first.
    fn nearest_dirty(&mut self, now: Time) -> Option<(Time, Command)> {
        let mut dirty = std::mem::take(&mut self.dirty);
        let command = |first, place| Command {
            slot: None,
            writing: true,
            first,
            end: first + 1,
            place,
            passed: place,
            came: now,
            ready: now,
            moved: Span::ZERO,
        };
        let place = |first| self.geometry.place(first);
        let time = |place: &Place| self.positioning(&command(0, *place), now);
        let nearest = dirty.nearest(self.at, NEAR, place, time);
        self.dirty = dirty;
        nearest.map(|(under, first, place)| (under, command(first, place)))
    }

    /// Gives an idle arm its next work.
    fn go(&mut self, station: &mut Station<'_, Transfer>) {
        if !matches!(self.work, Work::Idle) {
            return;
        }
        self.pass(station);
        let now = station.now();
        let waits = |command: &Command| self.delivered(command, now).is_some();
        let idle = self.pending.is_empty() && self.dirty.is_empty();
        if self.stream.is_some() && !idle && !self.pending.iter().any(waits) {
            self.interrupt(now);
        }
        if let Some((command, through)) = self.choose(now) {
            match (self.delivered(&command, now), self.stream) {
                (Some(_), Some(stream)) => {
                    let read = self.head_at(stream, now).min(command.end);
                    self.read_ahead_for(command.first, read, station);
                    if let Some(stream) = &mut self.stream {
                        stream.wanted = stream.wanted.max(command.end);
                    }
                }
                _ => self.interrupt(now),
            }
            self.run(command, through, station);
        }
    }

    /// The arm works on a command until its last sector has passed at `through`.
    fn run(&mut self, command: Command, through: Time, station: &mut Station<'_, Transfer>) {
        let mut releases = false;
        if let Some(slot) = command.slot {
            let interface = command.ready + command.moved;
            releases = interface <= through;
            if !releases {
                self.interface_free = self.interface_free.max(interface);
                station.wake_at(interface, slot.0);
            }
        }
        if matches!(self.work, Work::Idle) {
            station.start_serving();
        }
        self.work = Work::Busy { command, releases };
        station.wake_at(through, ARM);
    }

    /// The arm has done its work.
    fn finish(&mut self, station: &mut Station<'_, Transfer>) {
        let Work::Busy { command, releases } = self.work else {
            return;
        };
        self.work = Work::Idle;
        station.stop_serving();
        let now = station.now();
        if command.slot.is_none() {
            self.destaging = 0;
            self.release_held(station);
        }
        if self.stream.is_some() {
            self.consumed(command.end, now);
        } else {
            self.arm_at(command.end);
            if !command.writing && self.read_ahead {
                let segment = self.segments.keep(command.first, command.end);
                let limit = (command.end + self.segments.room).min(self.geometry.sectors);
                self.stream = segment.map(|segment| Stream {
                    segment,
                    position: command.passed.position,
                    since: now,
                    limit,
                    limit_position: self.geometry.place(limit).position,
                    wanted: command.end,
                });
            }
        }
        if let Some(slot) = command.slot.filter(|_| releases) {
            self.done(slot, station);
        }
    }

    fn done(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        self.taken -= 1;
        station.release(slot);
    }
}

impl Discipline<Transfer> for Drive {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        if self.angle.is_none() {
            self.angle = Some(station.random().below(self.geometry.turn));
        }
        station.push(&mut self.line, slot);
        self.admit(station);
        self.go(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Transfer>) {
        if tag == ARM {
            self.finish(station);
        } else {
            self.done(Slot(tag), station);
        }
        self.admit(station);
        self.go(station);
    }

    fn name(&self) -> String {
        match self.queue_depth {
            1 => "disk".to_owned(),
            depth => format!("disk, {depth} commands"),
        }
    }

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        let dirty = self.dirty.sectors() + self.destaging;
        self.counts.gauges(dirty * self.geometry.sector)
    }

    fn level(&self) -> Option<f64> {
        (self.dirty_room > 0).then(|| self.dirty.sectors() as f64 / self.dirty_room as f64)
    }
}
