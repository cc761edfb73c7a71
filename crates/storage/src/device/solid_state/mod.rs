//! A solid-state drive: dies on channels, a translation layer, a write cache.
//!
//! ```text
//!  read:   (die reads a page) ─▶ channel ─▶ interface ─▶ done with the last page
//!  write:  interface ─▶ write cache ─▶ done
//!                          └─▶ channel ─▶ (die programs a page)
//! ```
//!
//! Consecutive pages lie on consecutive channels, then dies (as in SSDsim's and
//! MQSim's static allocation), and rows of all dies begin at different ones. A die does one thing at a time, reads before
//! programs, and does not interrupt either. Writes go to the die of their
//! address; the write cache packs writes smaller than a page. Cleaning
//! ([`translation`]) happens within a die and is paid for by the programs that
//! it makes room for, in equal parts.
//!
//! `command_time` is the controller's time for a command. Commands take it one after the other, so
//! it limits the rate of small requests. A die needs 13 spare blocks; a drive with fewer is
//! refused. `fill` of the capacity, by default all of it, is written sequentially at the start. The
//! steady state of random writes needs some capacities of writes. Under uniformly random writes the
//! amplification is within −7 % to +2 % of α/(α + W(−α·e^−α)), with α physical over logical space.
//! The formula is from Desnoyers 2012, "Analytic modeling of SSD write performance", SYSTOR.
//!
//! # Data sheets
//!
//! 4 KiB requests of the catalogue's drives, per second. Read rates are `command_time`, which is
//! taken from the sheets. Writes follow from the dies and Desnoyers' amplification.
//!
//! | model | random access | data sheet | model |
//! | --- | --- | ---: | ---: |
//! | `P3700-1.6TB` | reads | 450,000 | 450,000 |
//! | `P3700-1.6TB` | writes, steady state | up to 175,000 | 185,000 |
//! | `850-PRO-512GB` | reads, one at a time | 10,000 | 10,000 |
//! | `850-PRO-512GB` | reads, 32 at once | 100,000 | 100,000 |
//! | `850-PRO-512GB` | writes, 32 at once, free blocks | 90,000 | 100,000 |
//!
//! Sources: Tom's Hardware, 13 August 2014, page 5, and series specification 330566-005US, page 1
//! (P3700); specification as printed by Ubergizmo, 2014 (850 PRO).
//!
//! # Omissions
//!
//! Not modelled: planes; suspended programs; wear and its levelling; read retries; reads of
//! randomly written data from other dies; reads answered by the write cache; the channel's part in
//! cleaning, and cleaning while idle; an order of commands other than by die.

mod paged;
mod translation;

use std::collections::VecDeque;
use std::sync::Arc;

use headrace_net::{Discipline, Line, Node, Page, Slot, Span, Station, Time};
use headrace_spec::SolidState;
use headrace_trace::Operation;

use crate::splitmix::finalise;
use crate::tokens::Transfer;
use translation::Translation;

pub(super) fn station(page: &mut Page<'_>, spec: &SolidState) -> Node<Transfer> {
    page.station("device", Drive::new(spec))
}

/// Tags from here on are dies; lower ones are slots of finished commands.
const DIES: u32 = u32::MAX - (1 << 16);

/// Pages in order on one die after which writing counts as sequential.
const IN_ORDER: u64 = 4;

/// Gauge: free erase blocks.
pub const FREE_BLOCKS: &str = "free blocks";
/// Gauge: erase blocks that were free at the start.
pub const FREE_AT_START: &str = "free blocks at the start";
/// Gauge: dies.
pub const DIES_OF_DRIVE: &str = "dies";

/// Work of a die.
#[derive(Clone, Copy, Debug)]
enum Work {
    Read {
        slot: Slot,
        bytes: u64,
    },
    Program {
        slot: Option<Slot>,
        epoch: u64,
        units: u64,
    },
}

#[derive(Clone, Debug)]
struct Die {
    reads: VecDeque<Work>,
    programs: VecDeque<Work>,
    now: Option<Work>,
    /// Units in the write cache that do not fill a page yet.
    packing: u64,
    /// Shared by all dies that nothing was written on yet.
    translation: Arc<Translation>,
    /// Time of cleaning that has not been charged yet, and the charge of each unit.
    debt: Span,
    share: Span,
}

/// A command whose pages are out.
#[derive(Clone, Copy, Default, Debug)]
struct Command {
    pages: u32,
    /// Time when the finished part of it ends.
    until: Time,
}

#[derive(Clone, Debug)]
struct Drive {
    unit: u64,
    units_per_page: u64,
    units: u64,
    read: Span,
    program: Span,
    erase: Span,
    channel_rate: f64,
    interface_rate: f64,
    overhead: Span,
    /// Time of the controller for a command, and when it is free for the next.
    command_time: Span,
    controller: Time,
    queue_depth: u32,
    write_cache: u64,
    protected: bool,
    dies: Vec<Die>,
    channels: Vec<Time>,
    interface: Time,
    commands: Vec<Command>,
    taken: u32,
    line: Line,
    /// Bytes in the write cache, and writes that wait for room there.
    dirty: u64,
    held: VecDeque<Slot>,
    /// Programs that are out, by how many times was synchronised before them.
    epochs: VecDeque<u64>,
    epoch: u64,
    synchronising: VecDeque<(u64, Slot)>,
    /// Erase blocks that were free at the start.
    free_at_start: u64,
}

fn at_rate(bytes: u64, rate: f64) -> Span {
    Span((bytes as f64 * rate + 0.5) as u64)
}

impl Drive {
    fn new(spec: &SolidState) -> Drive {
        let number = u64::from(spec.channels) * u64::from(spec.dies);
        let units_per_page = spec.page.0 / spec.mapping_unit.0;
        let units = (spec.capacity.0 / spec.mapping_unit.0).max(1);
        let pages = units.div_ceil(units_per_page);
        let on_each = pages.div_ceil(number) * units_per_page;
        let of_block = (u64::from(spec.pages_per_block) * units_per_page) as u16;
        let long = (IN_ORDER * units_per_page).min(u64::from(of_block) / 16) as u16;
        let filled = (on_each as f64 * spec.fill) as u64;
        let die = Die {
            reads: VecDeque::new(),
            programs: VecDeque::new(),
            now: None,
            packing: 0,
            translation: Arc::new(Translation::new(
                of_block,
                long,
                on_each,
                filled,
                spec.over_provisioning,
            )),
            debt: Span::ZERO,
            share: Span::ZERO,
        };
        let free_at_start = die.translation.free_blocks() * number;
        Drive {
            unit: spec.mapping_unit.0,
            units_per_page,
            units,
            read: Span::from_seconds(spec.read_time.0),
            program: Span::from_seconds(spec.program_time.0),
            erase: Span::from_seconds(spec.erase_time.0),
            channel_rate: 1e12 / spec.channel_rate.0,
            interface_rate: 1e12 / spec.interface_rate.0,
            overhead: Span::from_seconds(spec.overhead.0),
            command_time: Span::from_seconds(spec.command_time.0),
            controller: Time::ZERO,
            queue_depth: spec.queue_depth,
            write_cache: spec.write_cache.0,
            protected: spec.power_loss_protection,
            dies: vec![die; number as usize],
            channels: vec![Time::ZERO; spec.channels as usize],
            interface: Time::ZERO,
            commands: Vec::new(),
            taken: 0,
            line: Line::default(),
            dirty: 0,
            held: VecDeque::new(),
            epochs: VecDeque::from([0]),
            epoch: 0,
            synchronising: VecDeque::new(),
            free_at_start,
        }
    }

    fn admit(&mut self, station: &mut Station<'_, Transfer>) {
        while self.taken < self.queue_depth
            && let Some(slot) = station.pop(&mut self.line)
        {
            self.taken += 1;
            let transfer = *station.token(slot);
            match transfer.operation {
                Operation::Sync => self.synchronise(slot, station),
                // A cache that survives a loss of power counts as the medium: such a drive
                // reports no volatile write cache (NVM Express base specification, VWC).
                Operation::Write
                    if self.write_cache > 0 && (self.protected || !transfer.forced) =>
                {
                    self.hold(slot, station);
                }
                operation => self.start(slot, operation == Operation::Write, station),
            }
        }
    }

    /// Ends a command whose bytes are at their places at `until`: commands leave the controller one
    /// after the other.
    fn complete(&mut self, slot: Slot, until: Time, station: &mut Station<'_, Transfer>) {
        let mut until = until + self.overhead;
        if self.command_time > Span::ZERO {
            until = until.max(self.controller + self.command_time);
            self.controller = until;
        }
        station.wake_at(until, slot.0);
    }

    /// The units of a transfer: first and the one after the last. Addresses past
    /// the end count round.
    fn units_of(&self, transfer: &Transfer) -> (u64, u64) {
        let number = (transfer.address % self.unit + transfer.size.max(1)).div_ceil(self.unit);
        let number = number.min(self.units);
        let first = (transfer.address / self.unit % self.units).min(self.units - number);
        (first, first + number)
    }

    /// Pages of a range of units, each with its die: page, units.
    fn pages(&self, (first, end): (u64, u64)) -> impl Iterator<Item = (u64, u64)> + use<> {
        let each = self.units_per_page;
        (first / each..end.div_ceil(each))
            .map(move |page| (page, end.min((page + 1) * each) - first.max(page * each)))
    }

    /// Rows of all dies begin at dies that a hash gives. Streams at aligned places would otherwise
    /// meet at the same dies, which a controller avoids as it writes to any that is idle.
    fn die_of(&self, page: u64) -> usize {
        let dies = self.dies.len() as u64;
        ((page % dies + finalise(page / dies) % dies) % dies) as usize
    }

    /// A command that is done when all its pages are.
    fn start(&mut self, slot: Slot, writing: bool, station: &mut Station<'_, Transfer>) {
        let transfer = *station.token(slot);
        let range = self.units_of(&transfer);
        let index = slot.0 as usize;
        if self.commands.len() <= index {
            self.commands.resize(index + 1, Command::default());
        }
        let pages = range.1.div_ceil(self.units_per_page) - range.0 / self.units_per_page;
        let until = if writing {
            self.over_interface(transfer.size, station.now())
        } else {
            station.now()
        };
        self.commands[index] = Command {
            pages: pages as u32,
            until,
        };
        if writing {
            self.map(range, station);
        }
        let mut left = transfer.size;
        for (page, units) in self.pages(range) {
            let die = self.die_of(page);
            if writing {
                self.push_program(die, Some(slot), units);
            } else {
                let bytes = left.min(units * self.unit);
                left -= bytes;
                self.dies[die].reads.push_back(Work::Read { slot, bytes });
            }
            self.go(die, station);
        }
    }

    /// The translation layer records writes.
    fn map(&mut self, range: (u64, u64), station: &mut Station<'_, Transfer>) {
        let each = self.units_per_page;
        let copy = self.read + self.program;
        for unit in range.0..range.1 {
            let (page, dies) = (unit / each, self.dies.len() as u64);
            let number = self.die_of(page);
            let die = &mut self.dies[number];
            let within = page / dies * each + unit % each;
            let translation = Arc::make_mut(&mut die.translation);
            let cleaned = translation.write(within, &mut station.random());
            if cleaned.erased > 0 {
                let time = Span(copy.0 * cleaned.moved / each) + self.erase * cleaned.erased;
                die.debt += time;
                die.share = Span(die.debt.0 / cleaned.freed.max(1));
            }
        }
    }

    fn push_program(&mut self, die: usize, slot: Option<Slot>, units: u64) {
        let epoch = self.epoch;
        let work = Work::Program { slot, epoch, units };
        self.dies[die].programs.push_back(work);
        if let Some(count) = self.epochs.back_mut() {
            *count += 1;
        }
    }

    /// A write that is done when the cache has it.
    fn hold(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        let transfer = *station.token(slot);
        let range = self.units_of(&transfer);
        let bytes = (range.1 - range.0) * self.unit;
        if !self.held.is_empty() || (self.dirty > 0 && self.dirty + bytes > self.write_cache) {
            self.held.push_back(slot);
            // Room comes only from programmed pages.
            if self.epochs.iter().all(|&count| count == 0) {
                self.flush(station);
            }
            return;
        }
        self.dirty += bytes;
        self.map(range, station);
        for (page, units) in self.pages(range) {
            let die = self.die_of(page);
            self.dies[die].packing += units;
            while self.dies[die].packing >= self.units_per_page {
                self.dies[die].packing -= self.units_per_page;
                self.push_program(die, None, self.units_per_page);
                self.go(die, station);
            }
        }
        let until = self.over_interface(transfer.size, station.now());
        self.complete(slot, until, station);
    }

    /// Pages that are not full are programmed all the same.
    fn flush(&mut self, station: &mut Station<'_, Transfer>) {
        for die in 0..self.dies.len() {
            let units = std::mem::take(&mut self.dies[die].packing);
            if units > 0 {
                self.push_program(die, None, units);
                self.go(die, station);
            }
        }
    }

    fn synchronise(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        if self.protected {
            return station.wake_in(self.overhead, slot.0);
        }
        self.flush(station);
        self.synchronising.push_back((self.epoch, slot));
        self.epoch += 1;
        self.epochs.push_back(0);
        self.synchronised(station);
    }

    /// Releases the commands that waited for the finished programs.
    fn synchronised(&mut self, station: &mut Station<'_, Transfer>) {
        while let Some(&(_, slot)) = self.synchronising.front()
            && self.epochs.front() == Some(&0)
        {
            self.epochs.pop_front();
            self.synchronising.pop_front();
            station.wake_in(self.overhead, slot.0);
        }
    }

    /// Books the interface; gives when the bytes are over.
    fn over_interface(&mut self, bytes: u64, from: Time) -> Time {
        self.interface = self.interface.max(from) + at_rate(bytes, self.interface_rate);
        self.interface
    }

    /// Books a die's channel; gives when the bytes are over.
    fn over_channel(&mut self, die: usize, bytes: u64, from: Time) -> Time {
        let channel = die % self.channels.len();
        let free = &mut self.channels[channel];
        *free = (*free).max(from) + at_rate(bytes, self.channel_rate);
        *free
    }

    /// Gives an idle die its next work.
    fn go(&mut self, die: usize, station: &mut Station<'_, Transfer>) {
        let it = &mut self.dies[die];
        if it.now.is_some() {
            return;
        }
        let Some(work) = it.reads.pop_front().or_else(|| it.programs.pop_front()) else {
            return;
        };
        it.now = Some(work);
        let now = station.now();
        let until = match work {
            Work::Read { .. } => now + self.read,
            Work::Program { units, .. } => {
                let paid = Span((it.share * units).0.min(it.debt.0));
                it.debt = it.debt - paid;
                self.over_channel(die, units * self.unit, now) + self.program + paid
            }
        };
        station.start_serving();
        station.wake_at(until, DIES + die as u32);
    }

    /// A die has done its work.
    fn finish(&mut self, die: usize, station: &mut Station<'_, Transfer>) {
        station.stop_serving();
        let now = station.now();
        match self.dies[die].now.take() {
            Some(Work::Read { slot, bytes }) => {
                let over = self.over_channel(die, bytes, now);
                let until = self.over_interface(bytes, over);
                self.page_done(slot, until, station);
            }
            Some(Work::Program { slot, epoch, units }) => {
                let oldest = self.epoch + 1 - self.epochs.len() as u64;
                if let Some(count) = self.epochs.get_mut((epoch - oldest) as usize) {
                    *count -= 1;
                }
                self.synchronised(station);
                match slot {
                    Some(slot) => self.page_done(slot, now, station),
                    None => self.dirty -= units * self.unit,
                }
                self.release_held(station);
            }
            None => {}
        }
        self.go(die, station);
    }

    fn release_held(&mut self, station: &mut Station<'_, Transfer>) {
        let mut waiting = std::mem::take(&mut self.held);
        while let Some(slot) = waiting.pop_front() {
            self.hold(slot, station);
            if !self.held.is_empty() {
                self.held.append(&mut waiting);
            }
        }
    }

    fn page_done(&mut self, slot: Slot, until: Time, station: &mut Station<'_, Transfer>) {
        let command = &mut self.commands[slot.0 as usize];
        command.pages -= 1;
        command.until = command.until.max(until);
        if command.pages == 0 {
            let until = command.until;
            self.complete(slot, until, station);
        }
    }
}

impl Discipline<Transfer> for Drive {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Transfer>) {
        station.push(&mut self.line, slot);
        self.admit(station);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Transfer>) {
        match tag.checked_sub(DIES) {
            Some(die) => self.finish(die as usize, station),
            None => {
                self.taken -= 1;
                station.release(Slot(tag));
            }
        }
        self.admit(station);
    }

    fn level(&self) -> Option<f64> {
        let free = self.dies.iter().map(|die| die.translation.free());
        let free = free.sum::<f64>() / self.dies.len() as f64;
        let cached = self.dirty as f64 / self.write_cache.max(1) as f64;
        Some(0.5 * (free + cached))
    }

    fn gauges(&self) -> Vec<(&'static str, u64)> {
        let free = self.dies.iter().map(|die| die.translation.free_blocks());
        vec![
            (FREE_BLOCKS, free.sum()),
            (FREE_AT_START, self.free_at_start),
            (DIES_OF_DRIVE, self.dies.len() as u64),
        ]
    }

    fn name(&self) -> String {
        format!("solid state, {} dies", self.dies.len())
    }

    fn servers(&self) -> Option<u32> {
        Some(self.dies.len() as u32)
    }
}
