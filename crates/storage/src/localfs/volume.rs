//! The state of a mounted file system, and what becomes of a call.
//!
//! A call goes step by step: each step changes the state and says what the call
//! does next. The steps of reads, writes, `fsync`, names, the flusher and the
//! journal's commits stand in files of their own.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::{Span, Time};
use headrace_spec::{
    ClientMachine, Copying, Cpu, JournalMode, Machine, MainMemory, ReadAhead as Window, WriteBack,
};
use headrace_trace::Operation;

use super::active_inactive_lru::ActiveInactiveLru;
use super::balance::Balance;
use super::block_allocator::BlockAllocator;
use super::call::{Call, Caller, Stage};
use super::callers::{Callers, OpenFlags, StoredFile};
use super::copy_time::CopyTime;
use super::extents::Range;
use super::fresh_memory::FreshMemory;
use super::journal::{Journal, Metadata};
use super::last_level_cache::LastLevelCache;
use super::new_blocks::NewBlocks;
use super::pages_under_commit::PagesUnderCommit;
use super::read_ahead::{ReadAhead, Stream};
use super::server_dirty_data::Remote;
use super::sizes::Sizes;
use crate::time_conversion::{part_of, span};
use crate::tokens::{Content, Transfer};

/// Next stage of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// It needs the processor.
    Work(Span),
    /// The call is throttled.
    Pause(Span),
    /// It waits.
    Wait(Wait),
    /// It returns to its process.
    Return,
    /// It was the kernel's own, and is done.
    End,
}

/// Event that a call waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wait {
    /// Transfers of its own.
    Transfers,
    /// A page that somebody has asked for.
    Page(u32, u64),
    /// Write-back of a file that is in progress.
    Written(u32),
    /// The end of a transaction's commit.
    Commit(u64),
    /// Room among the dirty pages.
    DirtyRoom,
    /// Room in the running transaction.
    JournalRoom,
    /// A transfer of data into the journal, by its address.
    Logged(u64),
}

/// Processor times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub system_call: Span,
    pub discontiguous_call: Span,
    pub transfer: Span,
    pub page_fault: Span,
    pub write_call: Span,
    pub write_page: Span,
    pub write_page_in_transaction: Span,
    pub buffer_head: Span,
    pub new_page: Span,
    pub uncached_page: Span,
    pub new_folio: Span,
    pub read_page: Span,
    pub flush_page: Span,
    pub create: Span,
    pub unlink: Span,
    pub lookup: Span,
}

/// Pages that are being read from the device.
#[derive(Default, Debug)]
pub(super) struct Arriving {
    pub end: u64,
    pub waiting: Vec<u32>,
}

/// Write-back of one file.
#[derive(Default, Debug)]
pub(super) struct Writing {
    pub bytes: u64,
    pub waiting: Vec<u32>,
}

/// Periodic work of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tick {
    /// Pages that have been dirty for too long are written.
    WriteBack,
    /// A transaction that is old enough is committed.
    Commit,
}

/// The owner of a transfer whose call is not in its bag yet.
pub(super) const SELF: u32 = u32::MAX;

/// The "file" of transfers that concern the file system's own blocks.
pub(super) const NO_FILE: u32 = u32::MAX;

/// A mounted file system.
pub(super) struct Volume {
    /// Its number on its machine.
    pub number: u8,
    pub costs: Costs,
    pub copy: CopyTime,
    /// Calls of processes that are at the processor, or wait for it, to read or write what is
    /// cached.
    pub copying: u32,
    pub cache: ActiveInactiveLru,
    pub page: u64,
    pub read_ahead: ReadAhead,
    /// Read-ahead state of open files: one per process, one per daemon shared by its threads; and
    /// the marked pages.
    pub streams: BTreeMap<(u32, u32), Stream>,
    /// Bytes asked for that nobody's processor time was charged with yet.
    pub asked: u64,
    pub marks: BTreeSet<(u32, u64)>,
    pub placement: BlockAllocator,
    pub delayed: bool,
    /// True if an fsync without a journal writes the inode, with pointers or without.
    pub sync_writes_inode: bool,
    pub journal: Journal,
    pub journal_at: u64,
    /// Data on its way there.
    pub under_commit: PagesUnderCommit,
    /// The servers below a client.
    pub remote: Option<Remote>,
    pub balance: Balance,
    /// True if the flusher is at work because too much was dirty.
    pub flushing: bool,
    /// Dirty bytes of other file systems, which count against the limits.
    pub others: u64,
    /// Dirty bytes of the file that the device is, now and at most.
    pub below: u64,
    pub most_below: u64,
    pub expiry: Span,
    pub periods: [Span; 2],
    pub ticking: [bool; 2],
    pub opened: Vec<OpenFlags>,
    /// All calls come from one daemon.
    pub one_daemon: bool,
    /// The byte after the last of each file.
    pub sizes: Sizes,
    /// The largest folio, and the size of each file's.
    pub largest_folio: u64,
    pub folios: BTreeMap<u32, u64>,
    /// The folio whose list of buffer heads a write followed last, with its file.
    pub last_list: Option<(u32, u64)>,
    /// Bytes of the cache that the processor's last level has, where that makes a difference.
    pub last_level: Option<LastLevelCache>,
    /// Dirty bytes as the limits count them: whole folios.
    pub dirty: u64,
    /// Bytes under write-back, whole folios too, and what a transfer counts for
    /// beyond its own bytes: less than none where a folio is dirty still.
    pub writing: u64,
    pub writing_besides: BTreeMap<(u32, u64), i64>,
    pub writing_of: BTreeMap<u32, Writing>,
    /// Transfers that are out, by file and folio, where folios are large.
    pub folios_out: BTreeMap<(u32, u64), u32>,
    /// Since when files have been dirty.
    pub dirty_since: BTreeMap<u32, Time>,
    pub dirty_order: BTreeSet<(Time, u32)>,
    /// Position of the flusher in each file.
    pub cursor: BTreeMap<u32, u64>,
    pub arriving: BTreeMap<(u32, u64), Arriving>,
    pub fresh_memory: FreshMemory,
    pub indirect_known: BTreeSet<(u32, u64)>,
    /// Blocks allocated and not yet written.
    pub new_blocks: NewBlocks,
    /// The transaction that last changed a file, and when its times changed.
    pub changed_in: BTreeMap<u32, (u64, u64)>,
    /// Without a journal: blocks that an fsync of a file has to write.
    pub unsynced: BTreeMap<u32, BTreeSet<Metadata>>,
    pub commit_wanted: bool,
    /// True if room is being made in the journal.
    pub checkpointing: bool,
    pub commit_waiters: Vec<(u64, u32)>,
    pub room_waiters: Vec<u32>,
    pub logging_waiters: Vec<(u64, u32)>,
    pub dirty_waiters: Vec<u32>,
    /// Transfers to be made.
    pub out: Vec<Transfer>,
    /// Calls of the kernel's own to begin.
    pub spawned: Vec<Call>,
    /// Slots of waiting calls that go on.
    pub woken: Vec<u32>,
    /// Periodic work to be scheduled.
    pub ticks: Vec<Tick>,
    /// The call of this step, which has to wait.
    pub waits: Option<(Call, Wait)>,
    /// Calls that wait for one transfer less.
    pub done_for: Vec<u32>,
}

/// Parts of a machine that its page cache and calls depend on.
struct Host<'a> {
    cpu: &'a Cpu,
    copying: &'a Copying,
    memory: &'a MainMemory,
    write_back: &'a WriteBack,
    read_ahead: &'a Window,
}

impl<'a> From<&'a Machine> for Host<'a> {
    fn from(spec: &'a Machine) -> Host<'a> {
        Host {
            cpu: &spec.cpu,
            copying: &spec.copying,
            memory: &spec.memory,
            write_back: &spec.write_back,
            read_ahead: &spec.read_ahead,
        }
    }
}

impl<'a> From<&'a ClientMachine> for Host<'a> {
    fn from(spec: &'a ClientMachine) -> Host<'a> {
        Host {
            cpu: &spec.cpu,
            copying: &spec.copying,
            memory: &spec.memory,
            write_back: &spec.write_back,
            read_ahead: &spec.read_ahead,
        }
    }
}

impl Volume {
    /// An unused file system, on a device of `capacity` bytes with requests of at most
    /// `transfer` bytes.
    pub fn new(spec: &Machine, capacity: u64, transfer: u64, callers: &Callers) -> Volume {
        let file_system = &spec.file_system;
        let volume = Volume::empty(Host::from(spec), transfer, callers);
        let journal = Journal::new(file_system);
        // Files whose data goes into the journal have no large folios
        // (ext4_should_enable_large_folio in fs/ext4/inode.c).
        let largest_folio = match journal.mode {
            JournalMode::Data => volume.page,
            _ => volume.largest_folio,
        };
        Volume {
            largest_folio,
            costs: Costs {
                write_call: span(file_system.write_call),
                write_page: span(file_system.write_page),
                write_page_in_transaction: span(file_system.write_page_in_transaction),
                buffer_head: span(file_system.buffer_head),
                new_page: span(file_system.new_page),
                uncached_page: span(file_system.uncached_page),
                new_folio: span(file_system.new_folio),
                read_page: span(file_system.read_page),
                flush_page: span(file_system.flush_page),
                create: span(file_system.create),
                unlink: span(file_system.unlink),
                lookup: span(file_system.lookup),
                ..volume.costs
            },
            placement: BlockAllocator::new(&file_system.allocation, capacity),
            delayed: file_system.allocation.delayed,
            sync_writes_inode: file_system.sync_writes_inode,
            journal,
            journal_at: capacity / 2,
            periods: [volume.periods[0], span(file_system.journal.commit_interval)],
            ..volume
        }
    }

    /// The cache of a client, with the servers in place of a file system; a read requests
    /// at most `transfer` bytes.
    pub fn client_cache(
        spec: &ClientMachine,
        transfer: u64,
        callers: &Callers,
        remote: Remote,
    ) -> Volume {
        Volume {
            remote: Some(remote),
            ..Volume::empty(Host::from(spec), transfer, callers)
        }
    }

    /// An empty cache, with nothing below it.
    fn empty(spec: Host<'_>, transfer: u64, callers: &Callers) -> Volume {
        let room = spec.memory.page_cache();
        let page = spec.memory.page.0;
        let cpu = spec.cpu;
        // A window must fit into the cache with room for others.
        let window = spec.read_ahead.window.0.min(room / 4);
        let write_back = spec.write_back;
        let (background, limit) = (
            write_back.background(spec.memory),
            write_back.limit(spec.memory),
        );
        let mut balance = Balance::new(background, limit);
        if write_back.below.0 > 0 {
            // What is written is written once more below.
            balance.share = 0.5;
        }
        Volume {
            number: 0,
            costs: Costs {
                system_call: span(cpu.system_call),
                discontiguous_call: span(cpu.discontiguous_call),
                transfer: span(cpu.transfer),
                page_fault: span(cpu.page_fault),
                write_call: Span::ZERO,
                write_page: Span::ZERO,
                write_page_in_transaction: Span::ZERO,
                buffer_head: Span::ZERO,
                new_page: Span::ZERO,
                uncached_page: Span::ZERO,
                new_folio: Span::ZERO,
                read_page: Span::ZERO,
                flush_page: Span::ZERO,
                create: Span::ZERO,
                unlink: Span::ZERO,
                lookup: Span::ZERO,
            },
            copy: CopyTime::new(spec.copying, page, cpu.cores),
            copying: 0,
            cache: ActiveInactiveLru::new(room, page, spec.memory.active_share),
            page,
            read_ahead: ReadAhead {
                largest: window - window % page,
                page,
                transfer: transfer.min((room / 4).max(page)),
            },
            streams: BTreeMap::new(),
            asked: 0,
            marks: BTreeSet::new(),
            placement: BlockAllocator::elsewhere(),
            delayed: false,
            sync_writes_inode: false,
            journal: Journal::none(),
            journal_at: 0,
            under_commit: PagesUnderCommit::default(),
            remote: None,
            balance,
            flushing: false,
            others: spec.write_back.others.0,
            below: 0,
            most_below: spec.write_back.below.0,
            expiry: span(spec.write_back.expiry),
            periods: [span(spec.write_back.interval), Span::ZERO],
            ticking: [false; 2],
            opened: callers.opened.clone(),
            one_daemon: callers.one_daemon,
            sizes: Sizes::default(),
            largest_folio: spec.memory.largest_folio.0.max(page),
            folios: BTreeMap::new(),
            last_list: None,
            last_level: LastLevelCache::new(spec.copying),
            dirty: 0,
            writing: 0,
            writing_besides: BTreeMap::new(),
            writing_of: BTreeMap::new(),
            folios_out: BTreeMap::new(),
            dirty_since: BTreeMap::new(),
            dirty_order: BTreeSet::new(),
            cursor: BTreeMap::new(),
            arriving: BTreeMap::new(),
            fresh_memory: FreshMemory::default(),
            indirect_known: BTreeSet::new(),
            new_blocks: NewBlocks::default(),
            changed_in: BTreeMap::new(),
            unsynced: BTreeMap::new(),
            commit_wanted: false,
            checkpointing: false,
            commit_waiters: Vec::new(),
            room_waiters: Vec::new(),
            logging_waiters: Vec::new(),
            dirty_waiters: Vec::new(),
            out: Vec::new(),
            spawned: Vec::new(),
            woken: Vec::new(),
            ticks: Vec::new(),
            waits: None,
            done_for: Vec::new(),
        }
    }

    /// A file that is there before the run.
    pub fn add_file(&mut self, stored: &StoredFile) {
        let (file, size) = (stored.file, stored.size);
        self.sizes.set(file, size);
        self.placement
            .place(file, 0, size.next_multiple_of(self.page));
        if stored.pointers_cached && size > 0 {
            let last = self.placement.indirect_block_of(size - 1);
            let all = last.into_iter().flat_map(|last| 0..=last);
            self.indirect_known.extend(all.map(|index| (file, index)));
        }
        if stored.cached {
            self.set_folio(file, stored.made_by);
            let range = self.cache.pages(file, 0, size);
            self.cache.fill(range);
            self.cache.reclaim();
        }
    }

    /// Returns the open flags of a call's files.
    pub fn opened(&self, call: &Call) -> OpenFlags {
        let opened = self.opened.get(usize::from(call.workload));
        let opened = opened.copied().unwrap_or_default();
        OpenFlags {
            direct: opened.direct || call.uncached,
            ..opened
        }
    }

    /// Returns the read-ahead state of a call's open file.
    pub fn stream(&mut self, call: &Call) -> &mut Stream {
        let process = if self.one_daemon { 0 } else { call.process };
        self.streams.entry((process, call.file)).or_default()
    }

    /// Returns true if a call at the processor copies to or from the page cache.
    pub fn copies(&self, call: &Call) -> bool {
        // A synchronous write that sends what it has copied is at other work.
        call.caller == Caller::Process
            && matches!(call.operation, Operation::Read | Operation::Write)
            && matches!(call.stage, Stage::Entered | Stage::Working | Stage::Filling)
            && (!self.opened(call).direct || self.buffers_direct())
    }

    /// Returns the cost of copying bytes relative to a copy without processor caches.
    pub fn copied(&mut self, file: u32, start: u64, end: u64, time: Span) -> Span {
        match &mut self.last_level {
            Some(level) => level.copy(Range { file, start, end }, time),
            None => time,
        }
    }

    /// Pages have come into the cache, or are gone: the processor has none of them.
    pub fn in_other_memory(&mut self, range: Range) {
        if let Some(level) = &mut self.last_level {
            level.forget(range);
        }
    }

    /// Returns the entry cost of a buffered read or write.
    pub fn entering(&mut self, call: &Call) -> Span {
        let costs = self.costs;
        if costs.discontiguous_call == Span::ZERO || self.stream(call).continued(call) {
            return costs.system_call;
        }
        let there = match &self.last_level {
            Some(level) if self.cache.held_until(call.file, call.at, call.at + 1) > call.at => {
                level.has(call.file, call.at)
            }
            _ => 0.0,
        };
        costs.system_call + part_of(costs.discontiguous_call, 1.0 - there)
    }

    /// Goes one step with a call.
    pub fn proceed(&mut self, call: &mut Call, now: Time) -> Next {
        match (call.caller, call.operation) {
            (Caller::Flusher | Caller::Computation, _) if call.stage == Stage::Entered => {
                call.stage = Stage::Returning;
                Next::Work(std::mem::take(&mut call.time))
            }
            (Caller::Flusher, _) => Next::End,
            (Caller::Computation, _) => Next::Return,
            (Caller::Process, _) if std::mem::take(&mut call.made) => {
                Next::Work(self.costs.transfer)
            }
            (Caller::Journal, _) => self.commit_step(call, now),
            (Caller::Checkpoint, _) => self.checkpoint_step(call, now),
            (Caller::Lock, _) => self.give_up_step(call, now),
            (Caller::Process, Operation::Read) => self.read_step(call, now),
            (Caller::Process, Operation::Write) => self.write_step(call, now),
            (Caller::Process, Operation::Sync) => self.sync_step(call, now),
            (Caller::Process, Operation::Close) if self.closing_syncs(call) => {
                self.sync_step(call, now)
            }
            (Caller::Process, _) => self.name_step(call, now),
        }
    }

    /// Returns true if anything is to be done beyond the call of this step.
    pub fn wants_something(&self) -> bool {
        self.waits.is_some()
            || !(self.out.is_empty()
                && self.spawned.is_empty()
                && self.woken.is_empty()
                && self.ticks.is_empty()
                && self.done_for.is_empty())
    }

    /// A call lies in its bag and waits.
    pub fn register(&mut self, wait: Wait, slot: u32) {
        match wait {
            Wait::Transfers => {}
            Wait::Page(file, at) => {
                let arriving = self.arriving.range_mut(..=(file, at)).next_back();
                match arriving {
                    Some((key, arriving)) if key.0 == file && at < arriving.end => {
                        arriving.waiting.push(slot);
                    }
                    _ => self.woken.push(slot),
                }
            }
            Wait::Written(file) => match self.writing_of.get_mut(&file) {
                Some(writing) => writing.waiting.push(slot),
                None => self.woken.push(slot),
            },
            Wait::Commit(id) => self.commit_waiters.push((id, slot)),
            Wait::DirtyRoom => self.dirty_waiters.push(slot),
            Wait::JournalRoom => self.room_waiters.push(slot),
            Wait::Logged(address) => self.logging_waiters.push((address, slot)),
        }
    }

    /// A transfer is done.
    pub fn arrived(&mut self, transfer: &Transfer, now: Time) {
        if transfer.file == NO_FILE {
            self.logged(transfer);
            return;
        }
        let range = Range {
            file: transfer.file,
            start: transfer.offset,
            end: transfer.offset + transfer.size,
        };
        match transfer.operation {
            Operation::Read => self.read_arrived(range, transfer, now),
            Operation::Write => {
                self.set_unstable(range.file, true);
                self.written(range, now);
            }
            _ => {}
        }
    }

    /// A transfer of a file's bytes that nothing but the page cache waits for.
    pub fn transfer(
        &self,
        operation: Operation,
        file: u32,
        piece: super::block_allocator::Piece,
    ) -> Transfer {
        Transfer {
            file,
            offset: piece.offset,
            synchronous: operation == Operation::Read,
            ..Transfer::new(operation, piece.address, piece.size)
        }
    }

    /// A transfer of the file system's own blocks, for a call that waits.
    pub fn own_transfer(&self, operation: Operation, address: u64, size: u64) -> Transfer {
        let piece = super::block_allocator::Piece {
            offset: 0,
            address,
            size,
        };
        Transfer {
            owner: Some(SELF),
            synchronous: true,
            content: Content::Metadata,
            ..self.transfer(operation, NO_FILE, piece)
        }
    }

    /// A call of the kernel's own.
    pub fn kernel_call(&self, caller: Caller, time: Span) -> Call {
        Call {
            request: u32::MAX,
            process: 0,
            file: NO_FILE,
            transfers: 0,
            at: 0,
            end: 0,
            size: 0,
            time,
            made: false,
            workload: 0,
            volume: self.number,
            operation: Operation::Sync,
            stage: Stage::Entered,
            caller,
            uncached: false,
            piece: 0,
        }
    }

    /// Sees to it that periodic work is done.
    pub fn tick_on(&mut self, tick: Tick) {
        if !std::mem::replace(&mut self.ticking[tick as usize], true) {
            self.ticks.push(tick);
        }
    }

    /// Periodic work is due.
    pub fn tick(&mut self, tick: Tick, now: Time) {
        self.ticking[tick as usize] = false;
        match tick {
            Tick::WriteBack => {
                self.flush(now);
                if self.cache.dirty_bytes() > 0 {
                    self.tick_on(tick);
                }
            }
            Tick::Commit => {
                let due = self.journal.running.began + self.periods[Tick::Commit as usize];
                if due <= now {
                    self.begin_commit();
                }
                if !self.journal.running.is_empty() {
                    self.tick_on(tick);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
