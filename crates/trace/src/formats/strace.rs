//! The output of `strace -f -ttt -T -y`, with or without `-o FILE`.
//!
//! Files: regular files and directories. Pipes, sockets, terminals, devices
//! and what the kernel makes up (`/proc`, `/sys`) are left out and counted.
//! Offsets follow the open file descriptions through open, lseek, dup, fork,
//! threads and append. A descriptor opened before the trace began starts at
//! offset 0, and is counted.
//!
//! A failed call on a path is a record, as the file system had to answer it; a
//! failed call on a descriptor is not. A call that reads one file and writes
//! another (`sendfile`, `copy_file_range`) gives two records. Descriptors
//! closed by exit or execve give none. Of two reads that overlap on one shared
//! position, the one that ends first is taken to be the first.
//!
//! Records come in the order of their starts; see `order` for the bound.

mod calls;
mod files;
mod kinds;
mod operations;
mod order;
mod paths;
mod positions;
mod processes;
mod state;
mod syntax;

use state::{Now, State};
use syntax::{Body, Event};

use crate::lines::{LINE_LIMIT, Lines};
use crate::{Error, Format, Input, Names, Reader, Record, Skipped};

pub(super) static FORMAT: Format = Format {
    name: "strace",
    description: "the output of strace -f -ttt -T -y",
    extensions: &["strace"],
    sniff,
    open,
    create: None,
};

/// Lines to look at before a file without any line of strace is refused.
const PATIENCE: u64 = 1000;

const EXPECTED: &str = "lines of strace -f -ttt -T -y such as \
     `5967 1795297771.219264 read(3</etc/hosts>, \"…\", 4096) = 158 <0.000007>`";

/// Also true of strace without -ttt, which gives a better error.
fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .any(|line| syntax::event(line).is_some() || syntax::is_call_without_time(line))
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    Ok(Box::new(StraceReader {
        lines: Lines::new(input.name, input.bytes),
        broken: Vec::new(),
        state: State::default(),
        start_ns: None,
        at_end: false,
    }))
}

struct StraceReader {
    lines: Lines,
    /// The beginning of a line, without its end. Where strace shares its
    /// output with the traced program, lines of that program, and of strace
    /// itself, can fall within those of calls.
    broken: Vec<u8>,
    state: State,
    /// The first time stamp; none before the first line of strace.
    start_ns: Option<i64>,
    at_end: bool,
}

impl Reader for StraceReader {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        let mut done = 0;
        while done < max {
            if let Some(record) = self.state.order.next() {
                into.push(record);
                done += 1;
            } else if self.at_end {
                break;
            } else {
                self.advance()?;
            }
        }
        Ok(done)
    }

    fn files(&self) -> &Names {
        &self.state.files
    }

    fn processes(&self) -> &Names {
        &self.state.process_names
    }

    fn skipped(&self) -> &Skipped {
        &self.state.skipped
    }
}

/// What strace -f says on its error output when a process starts.
fn announced(line: &[u8]) -> Option<(&[u8], u32)> {
    let line = line.strip_suffix(b" attached")?;
    let at = memchr::memmem::rfind(line, b"strace: Process ")?;
    let number = std::str::from_utf8(&line[at + 16..]).ok()?.parse().ok()?;
    Some((&line[..at], number))
}

/// Keeps the beginning of a line until its end comes.
fn hold(broken: &mut Vec<u8>, beginning: &[u8], state: &mut State) {
    if !broken.is_empty() {
        state.count(&kinds::MALFORMED, broken);
        broken.clear();
    }
    if beginning.len() <= LINE_LIMIT {
        broken.extend_from_slice(beginning);
    } else {
        state.count(&kinds::MALFORMED, beginning);
    }
}

/// Whether a line that lacks its newline may be whole all the same.
fn ends_well(line: &[u8]) -> bool {
    [&b">"[..], b"+++", b"---", b"= ?"]
        .iter()
        .any(|it| line.ends_with(it))
}

impl StraceReader {
    fn advance(&mut self) -> Result<(), Error> {
        let Some(line) = self.lines.next()? else {
            return self.finish();
        };
        let state = &mut self.state;
        state.now.line = line.number;
        if let Some((before, process)) = announced(line.bytes) {
            state.attach(process);
            hold(&mut self.broken, before, state);
            return Ok(());
        }
        if !line.complete && self.start_ns.is_some() && !ends_well(line.bytes) {
            state.count(&kinds::TRUNCATED, line.bytes);
            return Ok(());
        }
        let mut event = syntax::event(line.bytes);
        let mut bytes = line.bytes;
        let joined;
        if event.is_none() && !self.broken.is_empty() {
            self.broken.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.broken);
            bytes = &joined;
            event = syntax::event(bytes);
        }
        if let Some(event) = event {
            if event.is_cut() {
                hold(&mut self.broken, bytes, state);
                return Ok(());
            }
            let start = *self.start_ns.get_or_insert(event.time_ns);
            if state.event(start, &event).is_none() {
                state.count(&kinds::MALFORMED, bytes);
            }
        } else if !bytes.is_empty() {
            state.count(&kinds::NOT_A_LINE, bytes);
            if self.start_ns.is_none() && syntax::is_call_without_time(bytes) {
                let found = "a call without a time in seconds since the epoch";
                return Err(self.refuse(found));
            }
        }
        if self.start_ns.is_none() && self.lines.number() >= PATIENCE {
            return Err(self.refuse("no line of strace so far"));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.at_end = true;
        hold(&mut self.broken, b"", &mut self.state);
        if self.start_ns.is_none() {
            let file = self.lines.name().to_string();
            let found = match self.lines.number() {
                0 => "is empty".into(),
                number => format!("none of {number} lines is strace's"),
            };
            return Err(Error::File {
                file,
                found,
                expected: EXPECTED.into(),
            });
        }
        self.state.finish();
        Ok(())
    }

    fn refuse(&self, found: &str) -> Error {
        Error::Line {
            file: self.lines.name().to_string(),
            line: self.lines.number(),
            found: found.into(),
            expected: EXPECTED.into(),
        }
    }
}

impl State {
    /// Takes in a line; none if it cannot be understood.
    fn event(&mut self, start_ns: i64, event: &Event<'_>) -> Option<()> {
        let resumes = matches!(event.body, Body::Resumed { .. });
        let process = self.find(event.process, resumes);
        let time_ns = event.time_ns.checked_sub(start_ns)?;
        self.now = Now {
            process,
            time_ns,
            duration_ns: 0,
            line: self.now.line,
        };
        match event.body {
            Body::Call { name, rest } => self.call(calls::call(name), rest, None),
            Body::Unfinished { name, rest } => {
                self.begin(name, rest);
                Some(())
            }
            Body::Resumed { name, rest } => self.resume(name, rest),
            Body::Signal => Some(()),
            Body::Exit => {
                self.exit(process);
                Some(())
            }
            Body::Superseded { by } => {
                self.supersede(process, by);
                Some(())
            }
        }
    }

    fn begin(&mut self, name: &[u8], rest: &[u8]) {
        let call = calls::call(name);
        let Now {
            process,
            time_ns,
            line,
            ..
        } = self.now;
        if call.is_some_and(|it| self.may_give_records(it, rest)) {
            self.order.begin(time_ns, process);
        }
        let pending = processes::Pending {
            call,
            name: name.into(),
            text: if call.is_some() {
                rest.to_vec()
            } else {
                Vec::new()
            },
            time_ns,
            line,
            child: None,
        };
        let Some(entry) = self.processes.get_mut(&process) else {
            return;
        };
        if let Some(lost) = entry.pending.replace(pending) {
            if lost.time_ns != time_ns {
                self.order.end(lost.time_ns, process);
            }
            self.count(&kinds::UNFINISHED, &lost.name);
        }
    }

    fn resume(&mut self, name: &[u8], rest: &[u8]) -> Option<()> {
        let process = self.now.process;
        let pending = self.processes.get_mut(&process)?.pending.take();
        let Some(mut pending) = pending.filter(|it| *it.name == *name) else {
            self.count(&kinds::RESUMED, name);
            return Some(());
        };
        self.now.time_ns = pending.time_ns;
        pending.text.extend_from_slice(rest);
        let understood = self.call(pending.call, &pending.text, pending.child);
        self.order.end(pending.time_ns, process);
        understood
    }

    fn finish(&mut self) {
        let lost: Vec<_> = self
            .processes
            .values_mut()
            .filter_map(|it| it.pending.take())
            .collect();
        for pending in lost.into_iter().filter(|it| it.call.is_some()) {
            self.skipped
                .count(&kinds::UNFINISHED, pending.line, &pending.name);
        }
        self.order.finish();
    }
}
