//! The state of a mounted file system, and the steps of a call.
//!
//! A call goes step by step: each step changes the state and says what the call
//! does next. The steps of reads, writes, `fsync`, names, the flusher and the
//! journal's commits stand in files of their own.

use headrace_net::{Span, Time};
use headrace_spec::{
    ClientMachine, Copying, Cpu, JournalMode, Machine, MainMemory, ReadAhead as Window, WriteBack,
};
use headrace_trace::Operation;

use super::block_allocator::{BlockAllocator, Piece};
use super::cached_pages::CachedPages;
use super::call::{Call, Caller, Stage};
use super::callers::{Callers, OpenFlags, StoredFile};
use super::copy_time::CopyTime;
use super::cpu_cost::CpuCost;
use super::extents::Range;
use super::flusher::Flusher;
use super::journal::Journal;
use super::last_level_cache::LastLevelCache;
use super::server_dirty_data::Remote;
use super::sizes::Sizes;
use super::volume_stores::Loan;
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
    /// A page that a call has requested.
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
    pub write_fault: Span,
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

/// A mounted file system: its parts, each the owner of its state.
pub(super) struct Volume {
    pub mount: Mount,
    pub pages: CachedPages,
    pub flusher: Flusher,
    pub journal: Journal,
    pub blocks: BlockAllocator,
    pub cpu: CpuCost,
}

/// How a file system is mounted and used.
pub(super) struct Mount {
    /// Its number on its machine.
    pub number: u8,
    opened: Vec<OpenFlags>,
    /// The byte after the last of each file.
    pub sizes: Sizes,
    /// The servers below a client.
    pub remote: Option<Remote>,
}

/// The effects of a step on the net.
#[derive(Default, Debug)]
pub(super) struct Effects {
    /// Transfers to be made.
    pub transfers: Vec<Transfer>,
    /// Calls of the kernel's own to begin.
    pub calls: Vec<Call>,
    /// Slots of waiting calls that go on.
    pub woken: Vec<u32>,
    /// Periodic work to be scheduled.
    pub ticks: Vec<Tick>,
}

/// A step of a call, or the change by an event: its parts of the file system, and its effects on
/// the net.
pub(super) struct Step<'a> {
    pub mount: &'a mut Mount,
    pub pages: &'a mut CachedPages,
    pub flusher: &'a mut Flusher,
    pub journal: &'a mut Journal,
    pub blocks: &'a mut BlockAllocator,
    pub cpu: &'a mut CpuCost,
    pub effects: Effects,
    /// State that the mount has for the time of the step.
    pub loan: Option<Loan<'a>>,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if let Some(loan) = &mut self.loan {
            loan.exchange(self.mount);
        }
    }
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
        let journal = Journal::new(file_system, capacity / 2);
        let mut pages = volume.pages;
        if journal.mode == JournalMode::Data {
            // Files whose data goes into the journal have no large folios
            // (ext4_should_enable_large_folio in fs/ext4/inode.c).
            pages.use_single_pages();
        }
        let mut cpu = volume.cpu;
        cpu.costs = Costs {
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
            ..cpu.costs
        };
        Volume {
            cpu,
            pages,
            blocks: BlockAllocator::new(file_system, capacity),
            journal,
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
        let volume = Volume::empty(Host::from(spec), transfer, callers);
        Volume {
            mount: Mount {
                remote: Some(remote),
                ..volume.mount
            },
            ..volume
        }
    }

    /// An empty cache, with nothing below it.
    fn empty(spec: Host<'_>, transfer: u64, callers: &Callers) -> Volume {
        let page = spec.memory.page.0;
        let cpu = spec.cpu;
        Volume {
            mount: Mount {
                number: 0,
                opened: callers.opened.clone(),
                sizes: Sizes::default(),
                remote: None,
            },
            pages: CachedPages::new(spec.memory, spec.read_ahead, transfer, callers.one_daemon),
            flusher: Flusher::new(spec.write_back, spec.memory),
            journal: Journal::none(),
            blocks: BlockAllocator::elsewhere(),
            cpu: CpuCost::new(
                Costs {
                    system_call: span(cpu.system_call),
                    discontiguous_call: span(cpu.discontiguous_call),
                    transfer: span(cpu.transfer),
                    page_fault: span(cpu.page_fault),
                    write_fault: span(cpu.write_fault),
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
                CopyTime::new(spec.copying, page),
                LastLevelCache::new(spec.copying),
            ),
        }
    }

    /// Begins a step.
    #[cfg(test)]
    pub fn step(&mut self) -> Step<'_> {
        Step {
            mount: &mut self.mount,
            pages: &mut self.pages,
            flusher: &mut self.flusher,
            journal: &mut self.journal,
            blocks: &mut self.blocks,
            cpu: &mut self.cpu,
            effects: Effects::default(),
            loan: None,
        }
    }

    /// A file that is there before the run.
    pub fn add_file(&mut self, stored: &StoredFile) {
        let (file, size) = (stored.file, stored.size);
        self.mount.sizes.set(file, size);
        let end = size.next_multiple_of(self.pages.page());
        if stored.placed {
            self.blocks.place(file, 0, end);
        }
        if stored.pointers_cached && size > 0 {
            self.blocks.find_all_pointers(file, size);
        }
        if stored.cached {
            self.pages.add_file(file, size, stored.made_by);
        }
    }
}

impl Effects {
    /// Returns true if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty()
            && self.calls.is_empty()
            && self.woken.is_empty()
            && self.ticks.is_empty()
    }

    /// Transfers that the call of this step waits for.
    pub fn own(&mut self) -> impl Iterator<Item = &mut Transfer> {
        let all = self.transfers.iter_mut();
        all.filter(|transfer| transfer.owner == Some(SELF))
    }
}

impl Step<'_> {
    /// Returns the open flags of a call's files.
    pub fn opened(&self, call: &Call) -> OpenFlags {
        let opened = self.mount.opened.get(usize::from(call.workload));
        let opened = opened.copied().unwrap_or_default();
        OpenFlags {
            direct: opened.direct || call.uncached,
            synchronous: opened.synchronous || call.synchronous,
            ..opened
        }
    }

    /// Returns true if a sync, or a synchronous write, leaves out metadata that reading the data
    /// does not need.
    pub fn is_data_only(&self, call: &Call) -> bool {
        let opened = self.mount.opened.get(usize::from(call.workload));
        let is_write = call.operation == Operation::Write;
        call.data_only && !(is_write && opened.is_some_and(|it| it.synchronous))
    }

    /// Returns the entry cost of a buffered read or write.
    pub fn entering(&mut self, call: &Call) -> Span {
        let costs = self.cpu.costs;
        if costs.discontiguous_call == Span::ZERO || self.pages.stream(call).continued(call) {
            return costs.system_call;
        }
        let there = match &self.cpu.last_level {
            Some(level) if self.pages.lru.held_until(call.file, call.at, call.at + 1) > call.at => {
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
                Next::Work(self.cpu.costs.transfer)
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

    /// Returns true if what a call would wait for has not come yet.
    pub fn has_to_wait(&self, wait: Wait) -> bool {
        match wait {
            Wait::Page(file, at) => self.pages.arriving_until(file, at).is_some(),
            Wait::Written(file) => self.flusher.is_writing(file),
            Wait::Transfers
            | Wait::Commit(_)
            | Wait::DirtyRoom
            | Wait::JournalRoom
            | Wait::Logged(_) => true,
        }
    }

    /// A call lies in its bag and waits.
    pub fn register(&mut self, wait: Wait, slot: u32) {
        let waits = match wait {
            Wait::Transfers => true,
            Wait::Page(file, at) => self.pages.wait_for(file, at, slot),
            Wait::Written(file) => self.flusher.wait_for(file, slot),
            Wait::DirtyRoom => {
                self.flusher.wait_for_room(slot);
                true
            }
            Wait::Commit(_) | Wait::JournalRoom | Wait::Logged(_) => {
                self.journal.wait_for(wait, slot);
                true
            }
        };
        if !waits {
            self.effects.woken.push(slot);
        }
    }

    /// A transfer is done.
    pub fn arrived(&mut self, transfer: &Transfer, now: Time) {
        if transfer.file == NO_FILE {
            self.effects
                .woken
                .extend(self.journal.transferred(transfer));
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
    pub fn transfer(&self, operation: Operation, file: u32, piece: Piece) -> Transfer {
        Transfer {
            file,
            offset: piece.offset,
            synchronous: operation == Operation::Read,
            ..Transfer::new(operation, piece.address, piece.size)
        }
    }

    /// A transfer of the file system's own blocks, for a call that waits.
    pub fn own_transfer(&self, operation: Operation, address: u64, size: u64) -> Transfer {
        let piece = Piece {
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
            volume: self.mount.number,
            operation: Operation::Sync,
            stage: Stage::Entered,
            caller,
            uncached: false,
            synchronous: false,
            data_only: false,
            forces_log: false,
            piece: 0,
        }
    }

    /// Sees to it that periodic work is done.
    pub fn tick_on(&mut self, tick: Tick) {
        let begins = match tick {
            Tick::WriteBack => self.flusher.set_timer(),
            Tick::Commit => self.journal.set_timer(),
        };
        if begins {
            self.effects.ticks.push(tick);
        }
    }

    /// Periodic work is due.
    pub fn tick(&mut self, tick: Tick, now: Time) {
        match tick {
            Tick::WriteBack => {
                self.flusher.timer_ended();
                self.flush(now);
                if self.pages.lru.dirty_bytes() > 0 {
                    self.tick_on(tick);
                }
            }
            Tick::Commit => {
                self.journal.timer_ended();
                if self.journal.is_old(now) {
                    self.begin_commit();
                }
                if !self.journal.is_idle() {
                    self.tick_on(tick);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
