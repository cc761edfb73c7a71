//! The journal: the contents of a transaction, and the time of its commit.
//!
//! The model follows jbd2 (Linux 6.18, fs/jbd2; Documentation/filesystems/journalling.rst). A
//! running transaction gathers the blocks that calls change. It is committed when it is as old as
//! the commit interval, or when it reaches its largest size, a third of the journal. It is also
//! committed when a caller waits for it (`fsync`).
//!
//! A commit writes the following in this order, and waits for each:
//!
//! - In ordered mode, the data of files that grew.
//! - The descriptor and the changed blocks, in order into the journal.
//! - The commit record, between two flushes of the device's write cache.
//!
//! In data mode the data goes through the journal too, and to its place later. When less than
//! `checkpoint_at` of the journal is free, the blocks that it holds are written to their places.
//! The room is then free again. In Nguyen 2011, §5.3, the threshold is between a half and a
//! quarter.
//!
//! In data mode the journal fills up repeatedly. The model then follows the kernel's rules.
//! Transactions stay separate until they are at their places (`CheckpointList`). A commit moves the
//! journal's tail if that frees enough. A caller without room makes some (module
//! `journal_checkpoint`). Elsewhere a commit that finds too little room empties the whole journal.
//! With metadata alone that is rare and short.
//!
//! XFS writes records of what changed instead of blocks, straight with the flush (Linux 6.18,
//! fs/xfs/xfs_log.c, xfs_log_cil.c, xfs_file.c):
//!
//! - A process that forces an active log buffer waits for the write of the buffer before it
//!   (`xlog_force_lsn`). Processes that sync meanwhile join the buffer. One buffer of syncing
//!   processes is in flight at a time; the first of its processes writes it.
//! - Every other process of that buffer flushes the device's write cache once more after the write
//!   (`xfs_file_fsync`, `log_flushed`). `/proc/diskstats` counts these flushes as writes of 0 B.
//! - The next buffer goes out before those flushes: its process wakes up at the end of the write
//!   (`ic_write_wait`), the others after the callbacks (`ic_force_wait`). The block layer then
//!   defers the flushes to the end of that buffer's write (block/blk-flush.c).
//! - The new size of a file is logged when its data is on the device.
//! - A record larger than a log buffer is written in full buffers, at most eight at a time. Its
//!   last buffer waits for them.
//!
//! Not modelled: the processor time of a commit; revoke records; the superblock before the first
//! commit; fast commits; an external journal (the journal is half way through the device);
//! checkpoints of single transactions where data does not go through the journal; changes that XFS
//! has not pushed into a log buffer when that is written; background pushes of XFS's log beside the
//! writes of syncing processes.

mod file_changes;
mod waiters;

use std::collections::BTreeSet;

use headrace_net::{Span, Time};
use headrace_spec::{FileSystem, JournalMode};

pub use self::file_changes::Changed;
use self::file_changes::FileChanges;
use self::waiters::Waiters;
use super::checkpoint_list::CheckpointList;
use super::extents::Range;
use super::pages_under_commit::PagesUnderCommit;
use super::range_map::RangeSet;
use super::volume::Wait;
use crate::time_conversion::span;
use crate::tokens::Transfer;

/// The unit of journals.
pub const BLOCK: u64 = 4096;

/// Blocks that one descriptor block can name: 4 KiB of 8-byte tags less the header
/// (fs/jbd2/journal.c, journal_tag_bytes with 32-bit block numbers).
pub const TAGS: u64 = 500;

/// The largest transaction, as a part of the journal (fs/jbd2/journal.c,
/// jbd2_journal_get_max_txn_bufs; 5,440 of 16,384 blocks were counted).
const LARGEST_TRANSACTION: u64 = 3;

/// Blocks that jbd2 reserves beyond that, "for rounding errors" (Linux 6.18, include/linux/jbd2.h:
/// jbd2_log_space_left). For the kernel's smallest journal, 1,024 blocks, the share is as large as
/// it can be of smaller ones here.
const RESERVE: u64 = 32 * BLOCK;
const RESERVE_PART: u64 = 32;

/// Blocks that a call may need for each page that it writes in data mode, and which a transaction
/// must have left to take it. Source: Linux 6.18, fs/ext4/inode.c: ext4_writepage_trans_blocks, and
/// one for the list of orphans; with blocks of pointers. Counted: of 5,461 blocks a transaction
/// took 5,429, of 10,922 it took 10,879, the rest being this and what its descriptors may need.
const NEEDED_BY_A_PAGE: u64 = 21;

/// A record of XFS's log for a small change: three basic blocks, counted.
const LOG_RECORD: u64 = 1536;

/// A basic block of XFS's log, and the bytes of one changed item.
const LOG_SECTOR: u64 = 512;
const LOG_ITEM: u64 = 128;

/// Size and number of XFS's log buffers (mount options logbsize and logbufs).
const LOG_BUFFER: u64 = 32 << 10;
const LOG_BUFFERS: usize = 8;

/// A block of metadata.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Metadata {
    /// The block of inodes that holds this file's.
    Inode(u32),
    /// A group's bitmap of blocks.
    Bitmap(u64),
    /// The descriptor of a group (64 to a block).
    Descriptor(u64),
    /// The indirect block that points to this part of a file.
    Indirect(u32, u64),
    /// A block of a directory.
    Directory(u32),
    /// A group's bitmap of inodes.
    Inodes(u64),
}

/// A transaction.
#[derive(Clone, Default, Debug)]
pub struct Transaction {
    /// Its number.
    pub id: u64,
    /// Time when its first change came.
    pub began: Time,
    blocks: BTreeSet<Metadata>,
    /// Data of files, in data mode.
    data: RangeSet,
    /// Files whose data must be on the device before the commit.
    pub files: BTreeSet<u32>,
}

impl Transaction {
    /// Returns true if nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.data.is_empty()
    }

    /// Blocks that are changed in it.
    fn len(&self) -> u64 {
        self.blocks.len() as u64 + self.data.bytes().div_ceil(BLOCK)
    }

    /// Bytes that the commit writes into the journal before its record.
    fn bytes(&self) -> u64 {
        (self.len() + self.len().div_ceil(TAGS)) * BLOCK
    }

    /// Returns true if it changes a block.
    fn changes(&self, block: Metadata) -> bool {
        self.blocks.contains(&block)
    }

    /// Returns true if it has any of these bytes.
    fn has_of(&self, range: Range) -> bool {
        self.data.overlaps(range)
    }

    /// The data that went through the journal.
    pub fn data(&self) -> impl Iterator<Item = Range> {
        self.data.iter()
    }

    /// The blocks of metadata in it.
    pub fn metadata(&self) -> impl Iterator<Item = Metadata> + '_ {
        self.blocks.iter().copied()
    }
}

/// The journal of a file system.
#[derive(Debug)]
pub struct Journal {
    /// Journal mode.
    pub mode: JournalMode,
    /// True if the device's cache is flushed before and after the commit record.
    pub barriers: bool,
    size: u64,
    checkpoint_at: f64,
    /// Its first byte on the device.
    base: u64,
    /// The transaction that gathers changes.
    running: Transaction,
    /// The one that is being committed.
    committing: Option<Transaction>,
    /// True if a call waits for the running transaction, which is committed after that one.
    commit_wanted: bool,
    /// Data on its way into the journal.
    under_commit: PagesUnderCommit,
    /// True if room is being made.
    checkpointing: bool,
    /// Age at which a transaction is committed, and whether a look at that is due.
    interval: Span,
    timer_is_set: bool,
    changes: FileChanges,
    /// XFS: files whose new size and blocks are logged once their data is on the device.
    unlogged: BTreeSet<u32>,
    /// XFS: bytes of the commit's record that are not written yet.
    record_left: u64,
    waiters: Waiters,
    /// Bytes that were ever written into it, and of these those before its tail, of which
    /// the room is free.
    written: u64,
    tail: u64,
    /// Bytes written when the running commit began.
    began: u64,
    /// Bytes that the running commit will take.
    promised: u64,
    /// Address of the next block.
    head: u64,
    /// Metadata that the journal holds and its place does not.
    pending: BTreeSet<Metadata>,
    /// The same by transaction, with its data, where that goes through the journal.
    pub list: CheckpointList,
}

impl Journal {
    /// As the scenario says, at an address of the device.
    pub fn new(spec: &FileSystem, base: u64) -> Journal {
        let journal = &spec.journal;
        Journal {
            mode: journal.mode,
            barriers: journal.barriers,
            base,
            interval: span(journal.commit_interval),
            size: journal.size.0,
            checkpoint_at: journal.checkpoint_at,
            running: Transaction {
                id: 1,
                ..Transaction::default()
            },
            ..Journal::none()
        }
    }

    /// None at all.
    pub fn none() -> Journal {
        Journal {
            mode: JournalMode::None,
            barriers: true,
            base: 0,
            size: 0,
            checkpoint_at: 0.0,
            running: Transaction::default(),
            committing: None,
            commit_wanted: false,
            under_commit: PagesUnderCommit::default(),
            checkpointing: false,
            interval: Span::ZERO,
            timer_is_set: false,
            changes: FileChanges::default(),
            unlogged: BTreeSet::new(),
            record_left: 0,
            waiters: Waiters::default(),
            written: 0,
            tail: 0,
            began: 0,
            promised: 0,
            head: 0,
            pending: BTreeSet::new(),
            list: CheckpointList::default(),
        }
    }

    /// Returns true if there is one.
    pub fn exists(&self) -> bool {
        self.mode != JournalMode::None
    }

    /// A block is changed.
    pub fn change(&mut self, block: Metadata, now: Time) {
        if !self.exists() {
            return;
        }
        self.begin(now);
        // Inodes of 256 bytes and group descriptors of 64 share their blocks.
        self.running.blocks.insert(match block {
            Metadata::Inode(file) => Metadata::Inode(file / 16),
            Metadata::Descriptor(group) => Metadata::Descriptor(group / 64),
            block => block,
        });
    }

    /// Data of a file is changed, in data mode.
    pub fn data(&mut self, file: u32, start: u64, end: u64, now: Time) {
        self.begin(now);
        self.running.data.insert(Range { file, start, end });
    }

    /// A block of metadata is changed on behalf of a file. Without a journal an fsync of the file
    /// has to write it, if `is_synced`; an fdatasync only if reading the data needs it.
    pub fn change_for(
        &mut self,
        file: u32,
        block: Metadata,
        changed: Changed,
        is_synced: bool,
        now: Time,
    ) {
        let for_data = self.fdatasync_waits(changed);
        if self.exists() {
            self.change(block, now);
            self.changes.add(file, self.running.id, for_data, now);
            return;
        }
        let own = matches!(block, Metadata::Inode(_) | Metadata::Indirect(..));
        if own && is_synced {
            self.changes.add_unsynced(file, block, for_data);
        }
        self.changes.add(file, 0, for_data, now);
    }

    /// Returns true if an fdatasync of a file waits for such a change of it.
    ///
    /// ext4's waits for a new size and new blocks alone. Sources: Linux 6.18, fs/ext4/inode.c:
    /// ext4_do_update_inode; fs/ext4/fsync.c: ext4_fsync_journal, by i_datasync_tid. XFS's waits
    /// for all but times (fs/xfs/xfs_file.c: xfs_fsync_seq, by XFS_ILOG_TIMESTAMP).
    fn fdatasync_waits(&self, changed: Changed) -> bool {
        match changed {
            Changed::Data => true,
            Changed::Attributes => self.mode == JournalMode::Log,
            Changed::Times => false,
        }
    }

    /// Data of a file goes through the journal.
    pub fn write_data(&mut self, range: Range, now: Time) {
        self.data(range.file, range.start, range.end, now);
        self.changes.add_data(range.file, self.running.id);
    }

    /// XFS logs the new size and blocks of a file once its data is on the device (Linux 6.18,
    /// fs/xfs/xfs_aops.c: xfs_end_ioend).
    pub fn log_when_written(&mut self, file: u32) {
        self.unlogged.insert(file);
    }

    /// Data of a file is on the device. Returns true if a change of the file is to be logged now.
    pub fn take_unlogged(&mut self, file: u32) -> bool {
        self.unlogged.remove(&file)
    }

    /// Returns true if a file's times are those of this tick of the clock.
    pub fn has_time(&self, file: u32, now: Time) -> bool {
        self.changes.has_time(file, now)
    }

    /// Takes the blocks that an fsync of a file, or an fdatasync, has to write without a journal.
    pub fn take_unsynced(&mut self, file: u32, data_only: bool) -> BTreeSet<Metadata> {
        self.changes.take_unsynced(file, data_only)
    }

    /// The transaction, not committed yet, that holds changes of a file for which an fsync waits,
    /// or an fdatasync.
    pub fn transaction_of(&self, file: u32, data_only: bool) -> Option<u64> {
        let id = self.changes.transaction_of(file, data_only)?;
        let running = id == self.running.id && !self.running.is_empty();
        let is_open = running || self.committing_id() == Some(id);
        (self.exists() && is_open).then_some(id)
    }

    /// The number of the transaction that is being committed.
    pub fn committing_id(&self) -> Option<u64> {
        self.committing.as_ref().map(|it| it.id)
    }

    /// Returns true if the running transaction has no changes.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns true if the running transaction has reached the commit interval.
    pub fn is_old(&self, now: Time) -> bool {
        self.running.began + self.interval <= now
    }

    /// Starts the timer for the age of the running transaction; returns true if none ran before.
    pub fn set_timer(&mut self) -> bool {
        !std::mem::replace(&mut self.timer_is_set, true)
    }

    /// The timer has ended.
    pub fn timer_ended(&mut self) {
        self.timer_is_set = false;
    }

    /// A waiter waits for something of the journal.
    pub fn wait_for(&mut self, wait: Wait, waiter: u32) {
        match wait {
            Wait::Commit(id) => self.waiters.wait_for_commit(id, waiter),
            Wait::JournalRoom => self.waiters.wait_for_room(waiter),
            Wait::Logged(address) => self.waiters.wait_for_transfer(address, waiter),
            Wait::Transfers | Wait::Page(..) | Wait::Written(_) | Wait::DirtyRoom => {
                debug_assert!(false, "not of the journal: {wait:?}");
            }
        }
    }

    /// Calls that waited for a transaction, or one before it, go on.
    pub fn take_commit_waiters(&mut self, id: u64) -> Vec<u32> {
        self.waiters.committed(id)
    }

    /// Calls that waited for room check again.
    pub fn take_room_waiters(&mut self) -> Vec<u32> {
        self.waiters.room()
    }

    /// Returns true if a process that waits for a transaction from now on is the first one.
    ///
    /// In XFS that process forces the log buffer (Linux 6.18, fs/xfs/xfs_log.c: xlog_force_lsn).
    pub fn is_first_waiter(&self, id: u64) -> bool {
        id == self.running.id && !self.commit_wanted
    }

    /// A call waits for a transaction; returns true if that is the running one.
    pub fn want(&mut self, id: u64) -> bool {
        let is_running = id == self.running.id;
        self.commit_wanted |= is_running;
        is_running
    }

    /// Returns true if the next transaction is to be committed at once.
    pub fn is_wanted(&self) -> bool {
        self.commit_wanted
    }

    /// Room is made from now on; returns false if it is already.
    pub fn begin_checkpoint(&mut self) -> bool {
        !std::mem::replace(&mut self.checkpointing, true)
    }

    /// No room is made any more.
    pub fn end_checkpoint(&mut self) {
        self.checkpointing = false;
    }

    /// Returns true if room is being made.
    #[cfg(test)]
    pub fn is_checkpointing(&self) -> bool {
        self.checkpointing
    }

    /// Address of the superblock, which says where the tail is.
    pub fn superblock(&self) -> u64 {
        self.base
    }

    /// Files whose data must be on the device before the commit in progress.
    pub fn files_to_write(&self) -> BTreeSet<u32> {
        let committing = self.committing.as_ref();
        committing.map(|it| it.files.clone()).unwrap_or_default()
    }

    /// Writes the commit's blocks before its record: gives the addresses and sizes of the
    /// transfers: each descriptor with its blocks. XFS writes the full buffers of its record
    /// here, at most `LOG_BUFFERS` a time, until none is left.
    pub fn write_blocks(&mut self) -> Vec<(u64, u64)> {
        if self.mode == JournalMode::Log {
            return self.write_full_buffers();
        }
        let (at, bytes) = self.descriptor_and_blocks();
        let address = self.base + at;
        match &self.committing {
            Some(transaction) if bytes > 0 => self.under_commit.begin(transaction, address),
            _ => Vec::new(),
        }
    }

    fn write_full_buffers(&mut self) -> Vec<(u64, u64)> {
        let mut buffers = Vec::new();
        while self.record_left > LOG_BUFFER && buffers.len() < LOG_BUFFERS {
            // Each buffer begins with a header.
            self.record_left -= LOG_BUFFER - LOG_SECTOR;
            buffers.push((self.base + self.take(LOG_BUFFER), LOG_BUFFER));
        }
        buffers
    }

    /// Writes the commit record; gives its address and size.
    pub fn write_record(&mut self) -> (u64, u64) {
        let (at, bytes) = self.record();
        (self.base + at, bytes)
    }

    /// A transfer of the file system's own blocks is done; returns the calls that waited for data
    /// in it.
    pub fn transferred(&mut self, transfer: &Transfer) -> Vec<u32> {
        // A descriptor never goes alone, as the superblock does, whose place a commit can have.
        if self.under_commit.is_empty() || transfer.size == BLOCK {
            return Vec::new();
        }
        self.under_commit.end(transfer.address);
        self.waiters.transferred(transfer.address)
    }

    /// The transfer into the journal that has any of these bytes. Bytes that the running
    /// transaction has too are excluded: the commit has a copy of them.
    pub fn carrier_of(&self, range: Range) -> Option<u64> {
        if self.under_commit.is_empty() {
            return None;
        }
        let anew = self.left_alone(range);
        anew.into_iter()
            .find_map(|it| self.under_commit.carries(it))
    }

    /// The data of a file must be on the device before the commit.
    pub fn order(&mut self, file: u32) {
        if self.mode == JournalMode::Ordered {
            self.running.files.insert(file);
        }
    }

    fn begin(&mut self, now: Time) {
        if self.running.is_empty() {
            self.running.began = now;
        }
    }

    /// Returns true if the running transaction is as large as it may get.
    pub fn is_full(&self) -> bool {
        if self.mode == JournalMode::Data {
            return self.left() == 0;
        }
        self.exists() && self.running.bytes() >= self.largest()
    }

    /// Bytes of data that the running transaction can take yet; any, but in data mode.
    ///
    /// Returns the remaining credits. Blocks for descriptors and the commit record are reserved as
    /// for the largest size (Linux 6.18, fs/jbd2/journal.c: jbd2_descriptor_blocks_per_trans).
    pub fn left(&self) -> u64 {
        if self.mode != JournalMode::Data {
            return u64::MAX;
        }
        let all = self.largest() / BLOCK;
        let kept = 1 + all.div_ceil(TAGS) + NEEDED_BY_A_PAGE - 1;
        all.saturating_sub(kept).saturating_sub(self.running.len()) * BLOCK
    }

    /// Returns true if there is room for a call's changes: beside the transaction that is being
    /// committed, for one more of the largest size. Sources: Linux 6.18, fs/jbd2/transaction.c:
    /// add_transaction_credits; include/linux/jbd2.h: jbd2_log_space_left. Without it the call
    /// waits for a checkpoint. XFS reserves its log's room otherwise.
    pub fn has_room(&self) -> bool {
        if !self.exists() || self.mode == JournalMode::Log {
            return true;
        }
        let free = self.size.saturating_sub(self.used() + self.promised);
        let part = (self.checkpoint_at * self.size as f64) as u64;
        if self.mode == JournalMode::Data {
            // Its first block is the superblock.
            let kept = BLOCK + RESERVE.min(self.size / RESERVE_PART);
            let most = self.size - kept;
            return free.saturating_sub(kept) >= part.max(self.largest()).min(most);
        }
        // A checkpoint that comes later than that gives the room.
        free >= part.min(self.largest())
    }

    /// Bytes of the largest transaction.
    fn largest(&self) -> u64 {
        self.size / LARGEST_TRANSACTION
    }

    /// Bytes of the journal in use.
    pub fn used(&self) -> u64 {
        self.written - self.tail
    }

    /// Bytes of data that it holds, or will, and their places do not.
    pub fn held(&self) -> u64 {
        let committing = self.committing.as_ref().map_or(0, |it| it.data.bytes());
        self.running.data.bytes() + committing
    }

    /// Returns true if a transaction can begin to be committed now.
    pub fn can_commit(&self) -> bool {
        self.committing.is_none() && !self.running.is_empty()
    }

    /// Begins a commit: the running transaction is committing.
    pub fn commit(&mut self) {
        let next = Transaction {
            id: self.running.id + 1,
            ..Transaction::default()
        };
        self.commit_wanted = false;
        self.promised = self.running.bytes();
        if self.mode == JournalMode::Data {
            self.promised += BLOCK;
        }
        self.began = self.written;
        if self.mode == JournalMode::Log {
            let items = self.running.blocks.len() as u64 * LOG_ITEM;
            let more = items.next_multiple_of(LOG_SECTOR);
            self.record_left = LOG_RECORD + more.saturating_sub(LOG_SECTOR);
        }
        self.committing = Some(std::mem::replace(&mut self.running, next));
    }

    /// Returns the address and size of the commit's blocks before its record.
    pub fn descriptor_and_blocks(&mut self) -> (u64, u64) {
        let bytes = match (&self.committing, self.mode) {
            (Some(_), JournalMode::Log) => 0,
            (Some(transaction), _) => transaction.bytes(),
            (None, _) => 0,
        };
        self.promised = self.promised.saturating_sub(bytes);
        if self.mode != JournalMode::Data {
            self.promised = 0;
        }
        (self.take(bytes), bytes)
    }

    /// Returns the address and size of the commit record.
    pub fn record(&mut self) -> (u64, u64) {
        let bytes = match (&self.committing, self.mode) {
            (Some(_), JournalMode::Log) => std::mem::take(&mut self.record_left),
            _ => BLOCK,
        };
        self.promised = 0;
        (self.take(bytes), bytes)
    }

    fn take(&mut self, bytes: u64) -> u64 {
        if self.head + bytes > self.size {
            self.head = 0;
        }
        let at = self.head;
        self.head += bytes;
        self.written += bytes;
        at
    }

    /// The commit is done; returns the committed transaction.
    pub fn committed(&mut self) -> Option<Transaction> {
        let done = self.committing.take()?;
        if self.mode == JournalMode::Data {
            self.list.add(&done, self.began);
        } else {
            self.pending.extend(done.metadata());
        }
        Some(done)
    }

    /// Returns true if what the journal holds must go to its place now.
    pub fn needs_checkpoint(&self) -> bool {
        let free = self.size.saturating_sub(self.used()) as f64;
        let by_commits = self.exists() && self.mode != JournalMode::Data;
        by_commits && free < self.checkpoint_at * self.size as f64
    }

    /// The blocks to write to their places; the room counts as free.
    pub fn checkpoint(&mut self) -> BTreeSet<Metadata> {
        self.tail = self.written;
        std::mem::take(&mut self.pending)
    }

    /// Returns the possible journal tail: the oldest transaction that is not checkpointed or not
    /// committed (Linux 6.18, fs/jbd2/journal.c: jbd2_journal_get_log_tail).
    fn oldest(&self) -> u64 {
        match (self.list.oldest(), &self.committing) {
            (Some((_, begin)), _) => begin,
            (None, Some(_)) => self.began,
            (None, None) => self.written,
        }
    }

    /// Returns the new tail, if it can advance once the device has all checkpointed data.
    pub fn can_free(&self) -> Option<u64> {
        let oldest = self.oldest();
        (oldest > self.tail).then_some(oldest)
    }

    /// Returns the journal tail that a commit sets, if that frees as much as a transaction can have
    /// (Linux 6.18, fs/jbd2/commit.c: jbd2_journal_commit_transaction, update_tail).
    pub fn commit_can_free(&self) -> Option<u64> {
        let enough = |tail: &u64| tail - self.tail >= self.largest();
        let keeps_apart = self.mode == JournalMode::Data;
        self.can_free().filter(|tail| keeps_apart && enough(tail))
    }

    /// The tail advances, unless it is further already.
    pub fn frees(&mut self, tail: u64) {
        self.tail = self.tail.max(tail);
    }

    /// The transaction, running or being committed, that changes a block.
    pub fn changing(&self, block: Metadata) -> Option<u64> {
        let mut both = self.committing.iter().chain([&self.running]);
        both.find(|it| it.changes(block)).map(|it| it.id)
    }

    /// The transaction, running or being committed, that has any of these bytes.
    pub fn rewriting(&self, range: Range) -> Option<u64> {
        let mut both = self.committing.iter().chain([&self.running]);
        both.find(|it| it.has_of(range)).map(|it| it.id)
    }

    /// Returns the bytes that the running transaction has not changed again.
    pub fn left_alone(&self, range: Range) -> Vec<Range> {
        self.running.data.gaps(range)
    }

    /// The running transaction under another number, for tests.
    #[cfg(test)]
    pub fn into_running(self, id: u64) -> Transaction {
        Transaction { id, ..self.running }
    }

    /// The transaction that is being committed, for tests.
    #[cfg(test)]
    pub fn committing(&self) -> Option<&Transaction> {
        self.committing.as_ref()
    }

    /// Creates a journal in data mode, for tests.
    #[cfg(test)]
    pub fn data_mode(size: u64) -> Journal {
        Journal {
            mode: JournalMode::Data,
            size,
            ..Journal::none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::load;

    fn journal(mode: &str, more: &str) -> Journal {
        let text = format!(
            "system = \"ext3\"\n[machine]\ndevice = {{ read_rate = \"60 MB/s\", write_rate = \
             \"60 MB/s\" }}\n[machine.file_system.journal]\nmode = \"{mode}\"\nsize = \"64 \
             MiB\"\n{more}\n[[workload]]\nblock = \"1 MiB\"\n"
        );
        let loaded = load(&text, "test.toml".as_ref(), &[]).expect("it loads");
        let headrace_spec::SystemKind::Local(local) = loaded.scenario.kind else {
            panic!("it is local");
        };
        Journal::new(&local.machine.file_system, 0)
    }

    #[test]
    fn an_append_commits_a_descriptor_and_three_blocks() {
        // Counted under Linux 6.18: descriptor, inode, bitmap, group descriptor,
        // then the record.
        let mut journal = journal("ordered", "");
        for block in [
            Metadata::Inode(1),
            Metadata::Bitmap(0),
            Metadata::Descriptor(0),
            Metadata::Inode(2),
        ] {
            journal.change(block, Time::ZERO);
        }
        assert!(journal.can_commit());
        journal.commit();
        assert_eq!(journal.descriptor_and_blocks(), (0, 4 * BLOCK));
        assert_eq!(journal.record(), (4 * BLOCK, BLOCK));
        assert!(journal.committed().is_some());
        assert!(!journal.can_commit());
    }

    #[test]
    fn a_large_record_of_xfs_is_written_in_full_buffers() {
        // 400 items of 128 bytes beside two sectors: 52,224 bytes. A buffer of 32,768 has a header
        // of 512, so 19,968 are left.
        let mut journal = journal("log", "");
        for block in 0..400 {
            journal.change(Metadata::Inode(block * 16), Time::ZERO);
        }
        journal.commit();
        assert_eq!(journal.write_blocks(), [(0, 32_768)]);
        assert_eq!(journal.write_blocks(), []);
        assert_eq!(journal.write_record(), (32_768, 19_968));
    }

    #[test]
    fn data_counts_once_however_often_it_is_written() {
        let mut journal = journal("journal", "");
        for _ in 0..3 {
            journal.data(0, 0, 8192, Time::ZERO);
            journal.data(0, 8192, 16384, Time::ZERO);
        }
        journal.data(1, 0, 4096, Time::ZERO);
        journal.commit();
        // Five blocks and their descriptor.
        assert_eq!(journal.descriptor_and_blocks().1, 6 * BLOCK);
    }

    #[test]
    fn a_transaction_is_a_third_of_the_journal_at_most() {
        let mut journal = journal("journal", "");
        journal.data(0, 0, 21 << 20, Time::ZERO);
        assert!(!journal.is_full());
        journal.data(0, 21 << 20, 22 << 20, Time::ZERO);
        assert!(journal.is_full());
    }

    /// Commits `size` MiB of a file's data; returns whether the journal has room meanwhile.
    fn commits(journal: &mut Journal, file: u32, size: u64) -> bool {
        journal.data(file, 0, size << 20, Time::ZERO);
        journal.commit();
        let room = journal.has_room();
        journal.descriptor_and_blocks();
        assert_eq!(journal.has_room(), room, "it is counted once");
        if let Some(tail) = journal.commit_can_free() {
            journal.frees(tail);
        }
        journal.record();
        journal.committed();
        room
    }

    #[test]
    fn there_is_room_for_one_transaction_of_the_largest_size_beside_the_one_under_way() {
        // In blocks, of 16,384: the largest transaction has 5,461, the superblock and the reserve
        // 33. A transaction of 20 MiB has 5,120, 11 of descriptors, and its record.
        let mut journal = journal("journal", "checkpoint_at = 0.25");
        assert!(commits(&mut journal, 0, 20));
        // 16,384 - 33 - 5,132 - 5,131 = 6,088.
        assert!(commits(&mut journal, 1, 20));
        // 956 are left beside the third.
        assert!(!commits(&mut journal, 2, 20));
        // 955 with its record; without the first transaction's, 6,087.
        assert!(!journal.has_room());
        assert_eq!(journal.can_free(), None);
        assert_eq!(journal.list.oldest(), Some((1, 0)));
        journal.list.drop_oldest();
        assert_eq!(journal.can_free(), Some(5_132 * BLOCK));
        journal.frees(5_132 * BLOCK);
        assert!(journal.has_room());
        assert_eq!(journal.can_free(), None);
    }

    #[test]
    fn a_commit_moves_the_tail_if_that_frees_a_largest_transaction() {
        let mut journal = journal("journal", "");
        commits(&mut journal, 0, 20);
        // The same again: the first transaction has nothing left, and 5,132 blocks, too few.
        commits(&mut journal, 0, 20);
        assert_eq!(journal.list.oldest(), Some((2, 5_132 * BLOCK)));
        assert_eq!((journal.tail, journal.commit_can_free()), (0, None));
        // As the third begins to be committed, the second has all that it had.
        commits(&mut journal, 0, 20);
        assert_eq!(journal.tail, 0);
        // Now 10,264 are free, of which the fourth's record tells.
        commits(&mut journal, 0, 20);
        assert_eq!(journal.tail, 2 * 5_132 * BLOCK);
    }

    #[test]
    fn room_can_be_wanted_earlier() {
        let mut journal = journal("journal", "checkpoint_at = 0.5");
        assert!(commits(&mut journal, 0, 20));
        // 6,088 blocks are less than a half.
        assert!(!commits(&mut journal, 1, 20));
    }

    #[test]
    fn what_is_changed_anew_is_left_to_the_running_transaction() {
        let mut journal = journal("journal", "");
        for (start, end) in [(10, 20), (30, 40)] {
            journal.data(1, start, end, Time::ZERO);
        }
        for (start, end, expected) in [
            (0, 50, vec![(0, 10), (20, 30), (40, 50)]),
            (15, 35, vec![(20, 30)]),
            (12, 18, vec![]),
            (20, 30, vec![(20, 30)]),
            (0, 10, vec![(0, 10)]),
        ] {
            let range = |file| Range { file, start, end };
            let pieces = journal.left_alone(range(1)).into_iter();
            assert_eq!(
                pieces.map(|it| (it.start, it.end)).collect::<Vec<_>>(),
                expected,
                "{start} to {end}"
            );
            assert_eq!(journal.left_alone(range(0)), [range(0)]);
        }
    }

    #[test]
    fn a_checkpoint_comes_when_the_free_part_is_small() {
        let mut journal = journal("ordered", "checkpoint_at = 0.5");
        for turn in 0..4_u64 {
            assert_eq!(journal.needs_checkpoint(), turn >= 2, "{turn}");
            journal.data(0, turn << 30, (turn << 30) + (16 << 20), Time::ZERO);
            journal.commit();
            journal.descriptor_and_blocks();
            journal.record();
            journal.committed();
        }
        journal.checkpoint();
        assert!(!journal.needs_checkpoint());
    }
}
