//! Processes that share descriptors without a visible clone: strace was attached to a program with
//! threads (`-p`), or clone was filtered out.
//!
//! Such a process is taken for a thread: of the program that strace says it
//! attached to, else of the process whose line came last. It shares that one's
//! descriptors and their positions until the trace contradicts it. A
//! contradiction is a number that names another file, or is reassigned, while
//! the other has it open. Each such assumption is counted.

use super::calls::Call;
use super::kinds;
use super::processes::Process;
use super::state::State;

/// A program that strace was attached to.
#[derive(Debug)]
pub(super) struct Group {
    leader: u32,
    /// Its threads that have not been seen, the leader aside.
    unseen: u32,
}

impl State {
    /// Records strace's message that it has attached to a process with `threads` threads.
    pub(super) fn attach(&mut self, number: u32, threads: u32, before_any_line: bool) {
        if before_any_line {
            let unseen = threads.saturating_sub(1);
            self.groups.push(Group {
                leader: number,
                unseen,
            });
            self.settled.insert(number);
        }
        match self.processes.get_mut(&number) {
            Some(process) => process.attached = true,
            None => {
                self.attached.insert(number);
            }
        }
    }

    /// A process shows that no clone has made.
    pub(super) fn join(&mut self, number: u32) {
        let leads = self.groups.iter().any(|it| it.leader == number);
        let led = self
            .groups
            .iter_mut()
            .filter(|it| !leads && it.unseen > 0)
            // If there are several programs, the one that began last before it.
            .max_by_key(|it| (it.leader < number, it.leader));
        let leader = match led {
            Some(group) => {
                group.unseen -= 1;
                Some(group.leader)
            }
            None => leads.then_some(number),
        };
        let sibling = match leader {
            Some(leader) => self.member(leader),
            None => self
                .processes
                .get_key_value(&self.now.process)
                .or_else(|| self.processes.iter().min_by_key(|it| it.0))
                .map(|it| *it.0),
        };
        let mut process = Process::new(number);
        if let Some(sibling) = sibling.and_then(|it| self.processes.get(&it)) {
            process.leader = sibling.leader;
            process.table = sibling.table.share();
            // Threads seldom change their directory, and processes often.
            process.directory = sibling.directory.copy();
        }
        process.leader = leader.unwrap_or(process.leader);
        process.assumed = process.leader != number;
        if process.assumed {
            self.count(&kinds::THREAD, number.to_string().as_bytes());
        }
        self.processes.insert(number, process);
    }

    /// A process with this leader.
    fn member(&self, leader: u32) -> Option<u32> {
        let mut members = self.processes.iter().filter(|it| it.1.leader == leader);
        members.next().map(|it| *it.0)
    }

    /// The number to name a leader by, given that of the first thread seen:
    /// the smallest, as the leader was there first.
    pub(super) fn settle(&mut self, leader: u32) -> u32 {
        if self.settled.contains(&leader) {
            return leader;
        }
        let members = self.processes.iter_mut().filter(|it| it.1.leader == leader);
        let mut members: Vec<_> = members.collect();
        let first = members.iter().map(|it| *it.0).min().unwrap_or(leader);
        for (_, process) in &mut members {
            process.leader = first;
        }
        self.settled.insert(first);
        first
    }

    /// Returns true if a child that a fork gave another number, of its own PID namespace, shows
    /// under this one: such numbers are small.
    pub(super) fn is_expected(&mut self, number: u32) -> bool {
        let expected = self.processes.iter().filter(|(child, process)| {
            let parent = process.expected_by;
            parent.is_some_and(|parent| **child < parent && parent < number)
        });
        // The first that was made is the first to run.
        let Some(child) = expected.map(|it| *it.0).min() else {
            return false;
        };
        let Some(mut process) = self.processes.remove(&child) else {
            return false;
        };
        if process.leader == child {
            process.leader = number;
        }
        self.processes.insert(number, process);
        self.name(number);
        self.count(&kinds::PARENT, number.to_string().as_bytes());
        true
    }

    /// The process at hand has another file behind a descriptor than the
    /// process `by` has made it for: tells whether that separated them.
    pub(super) fn contradict(&mut self, by: u32) -> bool {
        (self.shows_opens || self.shows_closes) && self.separate(by)
    }

    /// The current process was given a descriptor's number again. The number
    /// must be free by then, unless another process has it in a table of its
    /// own.
    pub(super) fn check_is_free(&mut self, number: i32) {
        if !self.shows_closes {
            return;
        }
        let Some(Some(by)) = self.with_table(|table| table.get(&number).map(|it| it.by)) else {
            return;
        };
        let closes = |process: &Process| {
            let call = process.pending.as_ref().and_then(|it| it.call);
            matches!(call, Some(Call::Close | Call::CloseRange | Call::Execute))
        };
        if by != self.now.process && !self.processes.values().any(closes) {
            self.separate(by);
        }
    }

    /// Gives the process at hand, or `other`, descriptors of its own if they
    /// share them by assumption alone.
    fn separate(&mut self, other: u32) -> bool {
        let this = self.now.process;
        let (Some(here), Some(there)) = (self.processes.get(&this), self.processes.get(&other))
        else {
            return false;
        };
        if this == other || !here.table.is(&there.table) {
            return false;
        }
        let number = match (here.assumed, there.assumed) {
            (true, _) => this,
            (false, true) => other,
            (false, false) => return false,
        };
        if let Some(process) = self.processes.get_mut(&number) {
            process.table = process.table.copy();
            process.leader = number;
            process.assumed = false;
        }
        self.count(&kinds::SEPARATED, number.to_string().as_bytes());
        true
    }
}
