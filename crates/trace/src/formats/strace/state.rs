//! State of the traced system: processes, their descriptors and directories, and file sizes.

use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::Call;
use super::kinds;
use super::lengths::{Length, Lengths};
use super::order::Order;
use super::processes::{Pending, Process, Shared, Sharing, Table};
use super::threads::Group as AttachedGroup;
use crate::{Flags, Group, Kind, Names, Operation, Record, Skipped};

/// Placeholder of the process whose number strace omits, until the trace reveals it.
pub(super) const UNNUMBERED: u32 = 0;

/// The call at hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Now {
    pub(super) process: u32,
    pub(super) time_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) line: u64,
    /// Further flags of its record.
    pub(super) flags: Flags,
    pub(super) other: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: Names,
    pub(super) process_names: Names,
    pub(super) skipped: Skipped,
    pub(super) order: Order,
    pub(super) lengths: Lengths,
    pub(super) processes: FxHashMap<u32, Process>,
    /// Processes that strace announced and that have not been seen yet.
    pub(super) attached: FxHashSet<u32>,
    /// The processes that strace said it attached to before it showed a line.
    pub(super) groups: Vec<AttachedGroup>,
    /// Leaders of threads whose number is sure by now.
    pub(super) settled: FxHashSet<u32>,
    /// True if the trace shows how descriptors begin, and how they end.
    pub(super) shows_opens: bool,
    pub(super) shows_closes: bool,
    /// The largest process number seen.
    pub(super) largest: u32,
    pub(super) now: Now,
    pub(super) scratch: String,
    /// True if what passes between processes gives records.
    pub(super) keeps_messages: bool,
    /// Threads and processes that have ended, if messages are recorded.
    pub(super) ended: FxHashSet<u32>,
}

impl State {
    /// The process that a line belongs to; makes it if it is new.
    pub(super) fn find(&mut self, number: Option<u32>, resumes: bool) -> u32 {
        let number = match number {
            Some(number) => self.find_numbered(number, resumes),
            None => self.find_unnumbered(),
        };
        if let Some(process) = self.processes.get_mut(&number) {
            process.attached = true;
            process.expected_by = None;
        }
        number
    }

    fn find_numbered(&mut self, number: u32, resumes: bool) -> u32 {
        if self.processes.contains_key(&number) {
            return number;
        }
        let announced = self.attached.remove(&number);
        let parent = self.likely_parent(number);
        self.largest = self.largest.max(number);
        if (resumes || (!announced && parent.is_none()))
            && let Some(first) = self.processes.remove(&UNNUMBERED)
        {
            // The first process gets its number when there is a second.
            if let Some(pending) = &first.pending {
                self.order.rename((pending.time_ns, UNNUMBERED), number);
            }
            self.processes.insert(number, first);
            return number;
        }
        match parent {
            Some((parent, sharing)) => {
                self.fork(parent, number, sharing);
                if let Some(pending) = self.pending_mut(parent) {
                    pending.child = Some(number);
                }
            }
            None if self.is_expected(number) => {}
            None => self.join(number),
        }
        number
    }

    /// strace leaves the number out while it is attached to one process.
    fn find_unnumbered(&mut self) -> u32 {
        let mut attached = self
            .processes
            .iter()
            .filter(|it| it.1.attached)
            .map(|it| *it.0);
        match (attached.next(), attached.next()) {
            (Some(only), None) => only,
            // Something was missed: it is the one that spoke last.
            (Some(_), Some(_)) if self.processes.contains_key(&self.now.process) => {
                self.now.process
            }
            _ => {
                if !self.processes.contains_key(&UNNUMBERED) {
                    self.start(UNNUMBERED);
                }
                UNNUMBERED
            }
        }
    }

    /// A process of which nothing is known.
    pub(super) fn start(&mut self, number: u32) {
        self.processes.insert(number, Process::new(number));
        if number == UNNUMBERED {
            self.name(number);
        }
    }

    /// The number of a process's name, which it gets when it first needs one:
    /// `5967`, or `5967/5968` for a thread.
    pub(super) fn name(&mut self, number: u32) -> Option<u32> {
        let process = self.processes.get(&number)?;
        if process.name.is_some() {
            return process.name;
        }
        let leader = self.settle(process.leader);
        let name = match number {
            UNNUMBERED => "first".into(),
            _ if number == leader => number.to_string(),
            _ => format!("{leader}/{number}"),
        };
        let name = self.process_names.intern(&name);
        self.processes.get_mut(&number)?.name = Some(name);
        Some(name)
    }

    /// The unfinished fork whose child this new process may be.
    ///
    /// A child can show before its parent's call has returned its number. As
    /// numbers are given out in ascending order, of several forks the first to
    /// begin is taken to have the smallest number. [`State::forked`] checks.
    fn likely_parent(&self, child: u32) -> Option<(u32, Sharing)> {
        let forks = self.processes.iter().filter_map(|(&number, process)| {
            let pending = process.pending.as_ref()?;
            let free = pending.call == Some(Call::Fork) && pending.child.is_none();
            free.then(|| (pending.time_ns, number, Sharing::of(&pending.text)))
        });
        let mut forks: Vec<_> = forks.collect();
        forks.sort_unstable_by_key(|it| (it.0, it.1));
        let place = child.saturating_sub(self.largest).saturating_sub(1) as usize;
        let last = forks.len().checked_sub(1)?;
        let (_, parent, sharing) = forks.get(place.min(last))?;
        Some((*parent, *sharing))
    }

    pub(super) fn pending_mut(&mut self, number: u32) -> Option<&mut Pending> {
        self.processes.get_mut(&number)?.pending.as_mut()
    }

    /// Makes `child` a child of `parent`, whether it has been seen or not.
    pub(super) fn fork(&mut self, parent: u32, child: u32, sharing: Sharing) {
        self.name(parent);
        let Some(process) = self.processes.get(&parent) else {
            return;
        };
        let share_table = |shared: &Shared<Table>| {
            if sharing.files {
                shared.share()
            } else {
                shared.copy()
            }
        };
        let leader = if sharing.thread {
            process.leader
        } else {
            child
        };
        let table = share_table(&process.table);
        let directory = if sharing.directory {
            process.directory.share()
        } else {
            process.directory.copy()
        };
        self.attached.remove(&child);
        match self.processes.get_mut(&child) {
            Some(existing) => {
                existing.table = table;
                existing.directory = directory;
                existing.leader = leader;
                existing.assumed = false;
                existing.forked = true;
            }
            None => {
                let new = Process {
                    leader,
                    expected_by: Some(parent),
                    forked: true,
                    table,
                    directory,
                    ..Process::new(child)
                };
                self.processes.insert(child, new);
                // A smaller number may be of another namespace, and not last.
                if child > parent {
                    self.name(child);
                }
            }
        }
    }

    /// A fork has returned the child's number.
    pub(super) fn forked(&mut self, child: u32, sharing: Sharing, assumed: Option<u32>) {
        if assumed == Some(child) {
            return;
        }
        let seen = self.processes.contains_key(&child);
        if seen || assumed.is_some() {
            self.count(&kinds::PARENT, b"");
        }
        if !seen && child < self.now.process && assumed.is_some() {
            // A number of another PID namespace, of the child that has shown.
            return;
        }
        self.largest = self.largest.max(child);
        self.fork(self.now.process, child, sharing);
    }

    /// A process is gone.
    pub(super) fn exit(&mut self, number: u32) {
        if let Some(process) = self.processes.remove(&number)
            && let Some(pending) = process.pending
        {
            self.count(pending.without_end(&kinds::NOT_RETURNED), &pending.name);
            self.order.end(pending.time_ns, number);
        }
    }

    /// The thread `by` executes a program and takes the number of its leader.
    pub(super) fn supersede(&mut self, leader: u32, by: u32) {
        if leader == by {
            return;
        }
        self.exit(leader);
        if let Some(mut process) = self.processes.remove(&by) {
            if let Some(pending) = &process.pending {
                self.order.end(pending.time_ns, by);
            }
            process.leader = leader;
            process.name = None;
            process.assumed = false;
            self.processes.insert(leader, process);
            self.name(leader);
        }
    }

    pub(super) fn count(&mut self, kind: &'static Kind, text: &[u8]) {
        self.skipped.count(kind, self.now.line, text);
    }

    /// Counts a call, of which `rest` is what follows its opening parenthesis.
    pub(super) fn count_call(&mut self, kind: &'static Kind, name: &[u8], rest: &[u8]) {
        let line = self.now.line;
        self.skipped.count_parts(kind, line, &[name, b"(", rest]);
    }

    /// Makes a record of the call at hand.
    pub(super) fn record(&mut self, operation: Operation, file: u32, offset: u64, size: u64) {
        let Some(process) = self.name(self.now.process) else {
            return;
        };
        self.end_poll(process, operation);
        let late = self.order.put(Record {
            time_ns: self.now.time_ns,
            duration_ns: self.now.duration_ns,
            offset,
            size,
            process,
            file,
            operation,
            flags: self.now.flags,
            other: self.now.other.unwrap_or(Record::NO_FILE),
        });
        // A message is recorded at the end of its wait. Other records are not held for it.
        if late && operation.group() != Group::Process {
            self.count(&kinds::UNORDERED, b"");
        }
    }

    /// The file is at least this long.
    pub(super) fn reaches(&mut self, file: u32, end: u64) {
        let length = self.lengths.get(file);
        if end > length.end {
            self.lengths.set(file, Length { end, ..length });
        }
    }

    /// The file is this long.
    pub(super) fn is_long(&mut self, file: u32, end: u64) {
        self.lengths.set(file, Length { end, exact: true });
    }

    /// Returns the offset of appended bytes.
    pub(super) fn append_position(&mut self, file: u32) -> u64 {
        let length = self.lengths.get(file);
        if !length.exact {
            self.count(&kinds::APPENDED, b"");
            self.is_long(file, length.end);
        }
        length.end
    }

    /// The file behind a description.
    pub(super) fn file_of(description: &super::processes::Description) -> u32 {
        description.file.load(Relaxed)
    }
}
