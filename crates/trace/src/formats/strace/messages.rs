//! Messages between processes: bytes through pipes and sockets, starts and ends of processes,
//! wake-ups of futexes. A replay that keeps the time between calls needs them: a process that waits
//! for another does not compute.
//!
//! A channel is a name among the files. `UNIX-STREAM:[12->13]` leads from one end to the other, as
//! strace -yy prints it for the sender. Others are `pipe:[12]`, `start of 5`, `end of 5` and `futex
//! 5 0x7f00`. A poll that found something belongs to the read that takes it; without one it is a
//! pause.
//!
//! Left out: waits for a connection, message queues, semaphores, and futexes that the kernel wakes
//! for another reason than the end of a thread.

use super::calls::{self, Call, Message};
use super::kinds;
use super::operations::Done;
use super::state::State;
use super::syntax;
use crate::{Flags, Kind, Operation, Record, text};

impl State {
    /// Classifies a call by its name; messages are of interest only if they are recorded.
    pub(super) fn known(&self, name: &[u8]) -> Option<Call> {
        calls::call(name).filter(|call| self.keeps_messages || !matches!(call, Call::Message(_)))
    }

    fn put_message(&mut self, operation: Operation, channel: &str, size: u64) {
        let file = self.files.intern(channel);
        self.now.flags = Flags::NO_DURATION.when(self.now.flags.has(Flags::NO_DURATION));
        self.now.other = None;
        if operation == Operation::Send {
            // Its duration is the sender's own work, like the time between calls.
            self.now.duration_ns = 0;
        }
        self.record(operation, file, 0, size);
    }

    fn pause(&mut self) {
        self.put_message(Operation::Pause, "time", 0);
    }

    /// The process at hand has shown its first line.
    pub(super) fn receive_start(&mut self) {
        let number = self.now.process;
        let process = self.processes.get_mut(&number);
        let is_first = process.is_some_and(|process| std::mem::take(&mut process.forked));
        if is_first && self.keeps_messages {
            self.put_message(Operation::Receive, &format!("start of {number}"), 1);
        }
    }

    /// The process at hand has made another.
    pub(super) fn send_start(&mut self, child: u32) {
        if self.keeps_messages {
            self.put_message(Operation::Send, &format!("start of {child}"), 1);
        }
    }

    /// The process at hand has ended.
    pub(super) fn send_end(&mut self) {
        if self.keeps_messages {
            let number = self.now.process;
            self.ended.insert(number);
            self.put_message(Operation::Send, &format!("end of {number}"), 1);
        }
    }

    /// Bytes went through a descriptor that is no file; of `kind` if they are not recorded.
    pub(super) fn pass_bytes(
        &mut self,
        done: &Done<'_>,
        operation: Operation,
        kind: &'static Kind,
    ) -> Option<()> {
        if !self.keeps_messages {
            return self.left_out(kind, done);
        }
        let size = u64::try_from(done.value).ok()?;
        let annotation = syntax::descriptor(done.arguments.get(0))?.annotation;
        let name = annotation.and_then(|annotation| channel(annotation, operation));
        match (operation, name) {
            (Operation::Write, Some(name)) => self.put_message(Operation::Send, &name, size),
            (Operation::Read, Some(name)) => self.put_message(Operation::Receive, &name, size),
            (Operation::Read, None) if annotation.is_some_and(may_wait) => self.pause(),
            _ => return self.left_out(kind, done),
        }
        Some(())
    }

    pub(super) fn message(&mut self, done: &Done<'_>, message: Message) -> Option<()> {
        match message {
            Message::Socket(operation) if !done.failed() => {
                return self.pass_bytes(done, operation, &kinds::OTHER_CALL);
            }
            Message::Child if done.value >= 0 => {
                let child = match done.name {
                    b"waitid" => syntax::field(done.arguments.get(2), b"si_pid=")
                        .and_then(syntax::unsigned)
                        .unwrap_or_default(),
                    _ => done.value as u64,
                };
                if child > 0 {
                    self.put_message(Operation::Receive, &format!("end of {child}"), 1);
                    return Some(());
                }
            }
            Message::Futex => return self.futex(done),
            Message::Poll if done.value > 0 => self.hold_wait(self.now.duration_ns),
            Message::Poll | Message::Sleep => self.pause(),
            Message::Socket(_) | Message::Child => {}
        }
        self.left_out(&kinds::OTHER_CALL, done)
    }

    /// `futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL) = 0`
    fn futex(&mut self, done: &Done<'_>) -> Option<()> {
        let (address, action) = (done.arguments.get(0), done.arguments.get(1));
        let starts = |word: &[u8]| action.starts_with(word);
        let leader = match memchr::memmem::find(action, b"PRIVATE") {
            Some(_) => self.processes.get(&self.now.process)?.leader,
            None => 0,
        };
        let name = || format!("futex {leader} {}", text(address));
        let timed_out = memchr::memmem::find(done.outcome.text, b"ETIMEDOUT").is_some();
        if starts(b"FUTEX_WAKE") && done.value > 0 {
            self.put_message(Operation::Send, &name(), done.value as u64);
        } else if starts(b"FUTEX_WAIT") && done.value == 0 {
            // pthread_join waits for the thread of this number; the kernel wakes it.
            let value = syntax::unsigned(done.arguments.get(2)).unwrap_or_default();
            let thread = u32::try_from(value).ok();
            let thread = thread.filter(|thread| self.ended.contains(thread));
            let channel = thread.map_or_else(name, |thread| format!("end of {thread}"));
            self.put_message(Operation::Receive, &channel, 1);
        } else if timed_out {
            self.pause();
        }
        self.left_out(&kinds::OTHER_CALL, done)
    }

    /// A signal has interrupted a call: it was a pause, or goes on in a later call.
    pub(super) fn interrupted(&mut self, call: Call) {
        match call {
            Call::Message(Message::Sleep) => self.pause(),
            _ => self.hold_wait(self.now.duration_ns),
        }
    }

    /// The current process has waited for data that a later call takes: in a poll, or in a call
    /// that a signal has interrupted.
    pub(super) fn hold_wait(&mut self, duration_ns: i64) {
        let start = self.now.time_ns;
        let end = start.saturating_add(duration_ns);
        let process = self.processes.get_mut(&self.now.process);
        if let Some(process) = process.filter(|_| self.keeps_messages) {
            let before = process.polled.map_or(start, |(before, _)| before);
            process.polled = Some((before, end));
        }
    }

    /// A call of a process follows a poll: a read of a message has waited since the poll began.
    /// Before a message is sent the poll waited for its receiver to make room, which is not followed.
    /// Anything else lets the poll be a pause.
    pub(super) fn end_poll(&mut self, process: u32, operation: Operation) {
        let Some(entry) = self.processes.get_mut(&self.now.process) else {
            return;
        };
        let Some((start, end)) = entry.polled.take() else {
            return;
        };
        if operation == Operation::Receive {
            let until = self.now.time_ns.saturating_add(self.now.duration_ns);
            self.now.time_ns = start;
            self.now.duration_ns = until.saturating_sub(start).max(0);
            return;
        }
        if operation == Operation::Send {
            return;
        }
        let file = self.files.intern("time");
        self.order.put(Record {
            time_ns: start,
            duration_ns: end.saturating_sub(start).max(0),
            offset: 0,
            size: 0,
            process,
            file,
            operation: Operation::Pause,
            flags: Flags::NONE,
            other: Record::NO_FILE,
        });
    }
}

/// Returns true if a read of an object other than a file may wait for something outside the trace:
/// a terminal, a network. The kernel's own files and devices such as /dev/zero answer at once.
fn may_wait(annotation: &[u8]) -> bool {
    let terminals = [&b"/dev/tty"[..], b"/dev/pts/", b"/dev/console"];
    !annotation.starts_with(b"/") || terminals.iter().any(|name| annotation.starts_with(name))
}

/// The channel of bytes that go to, or come from, what strace -yy says of a descriptor: a pipe, or
/// a socket with two ends.
fn channel(annotation: &[u8], operation: Operation) -> Option<String> {
    if annotation.starts_with(b"pipe:[") {
        return Some(text(annotation).into_owned());
    }
    let open = memchr::memchr(b'[', annotation)?;
    let kind = &annotation[..open];
    // `UNIX-STREAM:[12->13,"/run/socket"]`, `TCPv6:[[::1]:80->[::1]:81]`
    let close = memchr::memchr(b',', annotation);
    let close = close.or_else(|| memchr::memrchr(b']', annotation))?;
    let inside = annotation.get(open + 1..close)?;
    let arrow = memchr::memmem::find(inside, b"->")?;
    let (own, peer) = (&inside[..arrow], &inside[arrow + 2..]);
    let (from, to) = match operation {
        Operation::Read => (peer, own),
        _ => (own, peer),
    };
    Some(format!("{}[{}->{}]", text(kind), text(from), text(to)))
}
