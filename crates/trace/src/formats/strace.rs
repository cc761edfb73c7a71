//! The output of `strace -f -ttt -T -y`, with or without `-o FILE`.
//!
//! Times may also be those of `-t`, `-tt`, `-r` and `--absolute-timestamps`;
//! without any, all are 0 and the records are untimed. The additions of `-n`, `-i`, `-Y` and `-k`
//! are skipped.
//!
//! Files: regular files and directories. Pipes, sockets, terminals, devices
//! and what the kernel makes up (`/proc`, `/sys`) are left out and counted.
//! Offsets follow the open file descriptions through open, lseek, dup, fork,
//! threads and append. A descriptor opened before the trace began starts at
//! offset 0 unless the trace tells more, and is counted. `threads` says what
//! becomes of processes that no clone shows, `messages` what passes between processes.
//!
//! A failed call on a path is a record, as the file system had to answer it; a
//! failed call on a descriptor is not. A call that reads one file and writes
//! another (`sendfile`, `copy_file_range`) gives two records. Descriptors
//! closed by exit or execve give none. If two reads overlap on one shared
//! position, the one that ends first is taken to be the first. Each line gives
//! a record, is counted, or is the beginning of a call that one of its process
//! ends.
//!
//! Records come in the order of their starts; see `order` for the bound.

mod asynchronous;
mod calls;
mod clock;
mod files;
mod kinds;
mod lengths;
mod locks;
mod messages;
mod operations;
mod order;
mod paths;
mod positions;
mod prefix;
mod processes;
mod state;
mod syntax;
mod threads;

use clock::Clock;
use prefix::{Prefix, StampKind, prefix};
use processes::Pending;
use state::{Now, State};
use syntax::Body;

use super::collected::WHOLE_SECONDS;
use crate::lines::{LINE_LIMIT, Lines};
use crate::{Error, Flags, Format, Input, Level, Names, Reader, Reason, Record, Skipped};

pub(super) static FORMAT: Format = Format {
    name: "strace",
    description: "the output of strace -f -ttt -T -y",
    extensions: &["strace"],
    level: Level::File,
    sniff,
    open,
    create: None,
};

/// Lines to look at before a file without any line of strace is refused.
const PATIENCE: u64 = 1000;

const EXPECTED: &str = "lines of strace -f -ttt -T -y such as \
     `5967 1795297771.219264 read(3</etc/hosts>, \"…\", 4096) = 158 <0.000007>`";

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .take(20)
        .any(|line| {
            let is_own = line.starts_with(SUMMARY_HEAD) || message(line).is_some();
            is_own || is_surely_strace(&prefix(line))
        })
}

/// The head of the table that -c and -C print.
const SUMMARY_HEAD: &[u8] = b"% time ";

/// Returns true if a line is a call with its result, one of the two parts of a call, or has a time.
fn is_surely_strace(line: &Prefix<'_>) -> bool {
    let timed = line.stamp.kind != StampKind::Absent;
    syntax::body(line.rest).is_some_and(|body| timed || body.is_surely_strace())
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    Ok(Box::new(StraceReader {
        lines: Lines::new(input.name, input.bytes),
        broken: Broken::default(),
        state: State::default(),
        clock: Clock::default(),
        in_summary: false,
        records: 0,
        at_end: false,
    }))
}

struct StraceReader {
    lines: Lines,
    broken: Broken,
    state: State,
    clock: Clock,
    /// True in the table at the end.
    in_summary: bool,
    /// Number of records that were given.
    records: u64,
    at_end: bool,
}

/// The beginning of a line, without its end. Where strace shares its output
/// with the traced program, lines of that program, and of strace itself, can
/// fall within those of calls.
#[derive(Default)]
struct Broken {
    text: Vec<u8>,
    /// Its time, if it has one.
    time_ns: Option<i64>,
    /// The number of each of its lines, and where the line begins in the text.
    lines: Vec<(u64, usize)>,
    /// How often the text was read in vain.
    tries: u32,
}

/// Reading the text again for each of many lines takes the square of their number.
const TRIES: u32 = 64;

impl Reader for StraceReader {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        let mut done = 0;
        while done < max {
            if let Some(mut record) = self.state.order.next() {
                record.flags |= Flags::UNTIMED.when(self.clock.is_untimed());
                into.push(record);
                self.records += 1;
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

    fn keep_messages(&mut self) {
        self.state.keeps_messages = true;
    }
}

/// Message of strace about a traced process.
#[derive(Debug, PartialEq, Eq)]
struct Message<'a> {
    /// Text before it on the line.
    before: &'a [u8],
    process: u32,
    /// Number of attached threads; none if it has detached.
    threads: Option<u32>,
}

/// `strace: Process 5 attached`, maybe `with 3 threads`, or `detached`; before version 4.20 without
/// `strace: `.
fn message(line: &[u8]) -> Option<Message<'_>> {
    const BEGINNING: &[u8] = b"strace: Process ";
    const OLD: &[u8] = b"Process ";
    if ![&b"attached"[..], b" threads", b"detached"]
        .iter()
        .any(|it| line.ends_with(it))
    {
        return None;
    }
    let (at, rest) = match memchr::memmem::rfind(line, BEGINNING) {
        Some(at) => (at, &line[at + BEGINNING.len()..]),
        None => (0, line.strip_prefix(OLD)?),
    };
    let rest = std::str::from_utf8(rest).ok()?;
    let mut words = rest.split(' ');
    let process = words.next()?.split('<').next()?.parse().ok()?;
    let threads = match (words.next()?, words.next()) {
        ("attached", None) => Some(1),
        ("attached", Some("with")) => Some(words.next()?.parse().ok()?),
        ("detached", None) => None,
        _ => return None,
    };
    Some(Message {
        before: &line[..at],
        process,
        threads,
    })
}

impl Broken {
    /// Keeps the beginning of a line until its end comes.
    fn hold(&mut self, beginning: &[u8], time_ns: Option<i64>, state: &mut State) {
        self.give_up(state);
        self.time_ns = time_ns;
        self.lines.push((state.now.line, 0));
        if beginning.len() <= LINE_LIMIT {
            self.text.extend_from_slice(beginning);
        } else {
            state.count(&kinds::MALFORMED, beginning);
        }
    }

    /// Adds a line; returns true if the text is whole then.
    fn ends_with(&mut self, number: u64, bytes: &[u8]) -> bool {
        let before = self.text.trim_ascii_end();
        // The first line may also be the rest of a prefix, a signal or an exit.
        let may_end = self.lines.len() == 1
            || bytes.ends_with(b">")
            || before.ends_with(b")")
            || before.ends_with(b"=")
            || memchr::memchr_iter(b')', bytes)
                .any(|at| bytes[at + 1..].trim_ascii_start().starts_with(b"="));
        self.lines.push((number, self.text.len()));
        self.text.extend_from_slice(bytes);
        if !may_end {
            return false;
        }
        self.tries += 1;
        syntax::body(prefix(&self.text).rest).is_some_and(|it| !it.is_cut())
    }

    /// Counts each line of a beginning whose end has not come.
    fn give_up(&mut self, state: &mut State) {
        let ends = self.lines.iter().skip(1).map(|&(_, at)| at);
        let ends = ends.chain([self.text.len()]);
        for (&(line, at), end) in self.lines.iter().zip(ends) {
            let kind = match at {
                0 => &kinds::MALFORMED,
                _ => &kinds::NOT_A_LINE,
            };
            if end > at {
                state.skipped.count(kind, line, &self.text[at..end]);
            }
        }
        self.text.clear();
        self.lines.clear();
        self.tries = 0;
    }
}

/// Returns true if a line that lacks its line break is whole all the same. A result is not, nor is
/// the name of its descriptor, behind which the duration stands.
fn ends_well(line: &[u8]) -> bool {
    let ends = [&b"...>"[..], b"+++", b"---", b"= ?"];
    let duration = line.strip_suffix(b">").and_then(|line| {
        let start = memchr::memrchr(b'<', line)?;
        Some(&line[start + 1..])
    });
    let is_duration = |it: &[u8]| {
        it.contains(&b'.') && it.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    ends.iter().any(|it| line.ends_with(it)) || duration.is_some_and(is_duration)
}

impl StraceReader {
    fn advance(&mut self) -> Result<(), Error> {
        let Some(line) = self.lines.next()? else {
            return self.finish();
        };
        let state = &mut self.state;
        state.now.line = line.number;
        let has_started = self.clock.has_started();
        let mut bytes = line.bytes;
        if !line.complete && !ends_well(bytes) {
            state.count(&kinds::TRUNCATED, bytes);
            return Ok(());
        }
        let message = message(bytes);
        if let Some(message) = &message {
            if let Some(threads) = message.threads {
                state.attach(message.process, threads, !has_started);
            }
            state.count(&kinds::MESSAGE, bytes);
            bytes = message.before;
            if bytes.is_empty() {
                return Ok(());
            }
        }
        let Prefix {
            process,
            stamp,
            rest,
        } = prefix(bytes);
        let mut body = syntax::body(rest).filter(|_| self.clock.accepts(stamp));
        if !has_started
            && stamp.kind == StampKind::Absent
            && body
                .as_ref()
                .is_some_and(|body| !body.is_surely_strace() || times_follow(line.ahead))
        {
            body = None;
        }
        // Each line of a clock that counts from the one before.
        let mut time_ns = match body {
            Some(_) => self.clock.read(stamp),
            None => None,
        };
        let mut process = process;
        let joined;
        if message.is_some() {
            self.broken.hold(bytes, time_ns, state);
            return Ok(());
        }
        self.in_summary = body.is_none() && (self.in_summary || bytes.starts_with(SUMMARY_HEAD));
        if self.in_summary {
            self.broken.give_up(state);
            if !bytes.is_empty() {
                state.count(&kinds::SUMMARY, bytes);
            }
            return Ok(());
        }
        if body.is_some() {
            self.broken.give_up(state);
        } else if !self.broken.text.is_empty() {
            let broken = &mut self.broken;
            if !broken.ends_with(line.number, bytes) {
                if broken.text.len() > LINE_LIMIT || broken.tries > TRIES {
                    broken.give_up(state);
                }
                return Ok(());
            }
            joined = std::mem::take(&mut broken.text);
            broken.lines.clear();
            broken.tries = 0;
            bytes = &joined;
            time_ns = broken.time_ns.take();
            let whole = prefix(bytes);
            process = whole.process;
            body = syntax::body(whole.rest).filter(|_| time_ns.is_some());
        }
        if let Some(body) = body {
            if body.is_cut() {
                self.broken.hold(bytes, time_ns, state);
                return Ok(());
            }
            if stamp.whole {
                state.count(&WHOLE_SECONDS, bytes);
            }
            if self.clock.is_untimed() {
                state.count(&kinds::NO_TIME, bytes);
            }
            let understood = time_ns.and_then(|it| state.event(process, it, &body));
            if understood.is_none() {
                state.count(&kinds::MALFORMED, bytes);
            }
        } else if bytes.starts_with(b" > ") {
            state.count(&kinds::STACK, bytes);
        } else if !bytes.is_empty() {
            state.count(&kinds::NOT_A_LINE, bytes);
        }
        if !self.clock.has_started() && self.lines.number() >= PATIENCE {
            return Err(Error::Line {
                file: self.lines.name().to_string(),
                line: self.lines.number(),
                found: "no line of strace so far".into(),
                expected: EXPECTED.into(),
            });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.at_end = true;
        self.broken.hold(b"", None, &mut self.state);
        let number = self.lines.number();
        let found = match number {
            0 => Some("is empty".into()),
            _ if !self.clock.has_started() && self.in_summary => {
                Some("is a summary without calls (strace -c)".into())
            }
            _ if !self.clock.has_started() => Some(format!("none of {number} lines is strace's")),
            _ => None,
        };
        if let Some(found) = found {
            return Err(Error::File {
                file: self.lines.name().to_string(),
                found,
                expected: EXPECTED.into(),
            });
        }
        self.state.finish();
        let nothing = self.records == 0 && self.state.order.is_empty();
        if nothing && self.state.skipped.total(Reason::LeftOut) == 0 {
            return Err(Error::File {
                file: self.lines.name().to_string(),
                found: format!("none of {number} lines gives a record or is understood"),
                expected: EXPECTED.into(),
            });
        }
        Ok(())
    }
}

/// Returns true if some of the next lines have times.
fn times_follow(ahead: &[u8]) -> bool {
    let lines = ahead.split(|byte| *byte == b'\n').take(100);
    lines.into_iter().any(|line| {
        let line = prefix(line);
        line.stamp.kind != StampKind::Absent && syntax::body(line.rest).is_some()
    })
}

impl State {
    /// Takes in a line; none if it cannot be understood.
    fn event(&mut self, process: Option<u32>, time_ns: i64, body: &Body<'_>) -> Option<()> {
        let resumes = matches!(body, Body::Resumed { .. });
        let process = self.find(process, resumes);
        self.now = Now {
            process,
            time_ns,
            line: self.now.line,
            ..Now::default()
        };
        self.receive_start();
        match *body {
            Body::Call { name, rest } => self.call(self.known(name), name, rest, None, None),
            Body::Unfinished { name, rest } => {
                self.begin(name, rest);
                Some(())
            }
            Body::Resumed { name, rest } => self.resume(name, rest),
            Body::Detached { name, .. } => {
                self.count(&kinds::NOT_RETURNED, name);
                Some(())
            }
            Body::Signal => {
                self.count(&kinds::EVENT, b"");
                Some(())
            }
            Body::Exit => {
                self.count(&kinds::EVENT, b"");
                self.send_end();
                self.exit(process);
                Some(())
            }
            Body::Superseded { by } => {
                self.count(&kinds::EVENT, b"");
                self.supersede(process, by);
                Some(())
            }
        }
    }

    fn begin(&mut self, name: &[u8], rest: &[u8]) {
        let call = self.known(name);
        let Now {
            process,
            time_ns,
            line,
            ..
        } = self.now;
        if call.is_some_and(|it| self.may_give_records(it, rest)) {
            self.order.begin(time_ns, process);
        }
        let closing = match call {
            Some(calls::Call::Close) => self.closing(rest),
            _ => None,
        };
        let pending = Pending {
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
            closing,
        };
        let Some(entry) = self.processes.get_mut(&process) else {
            return;
        };
        if let Some(lost) = entry.pending.replace(pending) {
            if lost.time_ns != time_ns {
                self.order.end(lost.time_ns, process);
            }
            self.count(lost.without_end(&kinds::UNFINISHED), &lost.name);
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
        let Pending {
            call,
            ref name,
            ref text,
            child,
            closing,
            ..
        } = pending;
        let understood = self.call(call, name, text, child, closing);
        self.order.end(pending.time_ns, process);
        understood
    }

    fn finish(&mut self) {
        let lost: Vec<_> = self
            .processes
            .values_mut()
            .filter_map(|it| it.pending.take())
            .collect();
        for pending in lost {
            let kind = pending.without_end(&kinds::UNFINISHED);
            self.skipped.count(kind, pending.line, &pending.name);
        }
        self.order.finish();
    }
}
