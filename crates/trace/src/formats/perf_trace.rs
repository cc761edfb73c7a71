//! The text of `perf trace`, recorded by `perf trace -o app.perf-trace app`, or with `-p PID`.
//!
//! A line is a call when it ends: `3.784 ( 0.010 ms): dd/7810 read(fd: 4</f>, count: 4096) = 2996`,
//! with start and duration in milliseconds. A call that others overlap has two lines; the first
//! ends with `...`, the second has `... [continued]:`. Arguments that perf leaves out are 0. It
//! prints paths as addresses, without its BPF program or a `vfs_getname` probe; they are
//! `unknown file`. The process is `NAME/TID`, or `process` where perf prints no name.
//!
//! Descriptors are those of a thread, because perf does not report which threads share them. A file
//! is the path of the open, or else the path behind the number. perf looks that up late, so a
//! descriptor that is soon reused may have the name of the next file. Positions do not follow fork
//! and append.
//!
//! Counted: other calls, `mmap`, events, sockets, pipes, devices, `/proc` and `/sys`, failed calls
//! on descriptors, and summaries of `-S`. A file of `-s` has no calls and is refused.

use rustc_hash::FxHashMap;

use super::collected::{Collected, LineFormat, LineReader, decimal};
use super::posix::{Calls, Event, Opening, Outcome, Whence};
use crate::{Format, Kind, Level, text};

pub(super) static FORMAT: Format = Format {
    name: "perf-trace",
    description: "the text of perf trace",
    extensions: &[],
    level: Level::File,
    sniff,
    open: |input| Ok(LineReader::open(input, PerfTrace::default())),
    create: None,
};

static SUMMARY: Kind = Kind::left_out("line of perf's summary (-s, -S)");
static EVENT: Kind = Kind::left_out("event that is no call");
static LOST: Kind = Kind::not_understood("events that perf lost");
static NO_START: Kind = Kind::left_out("end of a call that began before the trace");
static BEGUN: Kind = Kind::left_out("beginning of a call that a later line ends");
static NO_END: Kind = Kind::not_understood("call whose end is missing");
static NOT_RETURNED: Kind = Kind::left_out("call that did not return");
static RELATIVE: Kind = Kind::assumed("relative path in an unknown directory");

/// The line that perf prints before its summary of calls.
const SUMMARY_HEAD: &[u8] = b"Summary of events:";

/// True if any line is a call or begins a summary: the traced program's own output may come first.
fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .any(|line| Line::of(line).is_some() || line.trim_ascii() == SUMMARY_HEAD)
}

/// The parts of a line.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    /// Start; none for `?`, a call that began before the trace.
    time_ns: Option<i64>,
    /// None for a call that has not ended yet.
    duration_ns: Option<i64>,
    thread: &'a [u8],
    call: Part<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Whole { name: &'a [u8], rest: &'a [u8] },
    Begun { name: &'a [u8], rest: &'a [u8] },
    Ended { name: &'a [u8], rest: &'a [u8] },
}

impl<'a> Line<'a> {
    /// `3.784 ( 0.010 ms): dd/7810 read(…) = 5`
    fn of(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let open = memchr::memchr(b'(', line)?;
        let stamp = line[..open].trim_ascii();
        let time_ns = match stamp {
            b"?" => None,
            // Without a point it is no time of perf.
            _ if stamp.contains(&b'.') => Some(decimal(stamp, 6)?),
            _ => return None,
        };
        let rest = &line[open + 1..];
        let close = memchr::memmem::find(rest, b"): ").filter(|it| *it < 32)?;
        let duration = rest[..close].trim_ascii();
        let duration_ns = match duration {
            b"" => None,
            _ => Some(decimal(duration.strip_suffix(b"ms")?.trim_ascii_end(), 6)?),
        };
        let rest = rest[close + 3..].trim_ascii();
        const CONTINUED: &[u8] = b"... [continued]: ";
        if let Some(at) = memchr::memmem::find(rest, CONTINUED) {
            let (name, arguments) = name_of(&rest[at + CONTINUED.len()..], 0)?;
            return Some(Self {
                time_ns,
                duration_ns,
                thread: rest[..at].trim_ascii_end(),
                call: Part::Ended {
                    name,
                    rest: arguments,
                },
            });
        }
        let mut from = 0;
        let (name, arguments) = loop {
            let at = from + memchr::memchr(b'(', &rest[from..])?;
            if let Some(found) = name_of(rest, at) {
                break found;
            }
            from = at + 1;
        };
        let head = rest.len() - arguments.len() - 1 - name.len();
        let call = match arguments.strip_suffix(b"...") {
            Some(begun) if duration_ns.is_none() => Part::Begun {
                name,
                rest: begun.trim_ascii_end(),
            },
            _ => Part::Whole {
                name,
                rest: arguments,
            },
        };
        Some(Self {
            time_ns,
            duration_ns,
            thread: rest[..head].trim_ascii_end(),
            call,
        })
    }
}

/// The name of a call before the parenthesis at or after `at`, and what follows.
fn name_of(text: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let open = at + memchr::memchr(b'(', &text[at..])?;
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let start = text[..open].iter().rposition(|it| !is_name(it));
    let start = start.map_or(0, |it| it + 1);
    let name = &text[start..open];
    let follows_space = start == 0 || text[start - 1] == b' ';
    (follows_space && !name.is_empty() && !name[0].is_ascii_digit())
        .then_some((name, &text[open + 1..]))
}

/// Splits the arguments from the result: `fd: 4</f>, count: 5) = 5`.
fn split(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::rfind(rest, b" = ")?;
    let arguments = rest[..at].trim_ascii_end().strip_suffix(b")")?;
    Some((arguments, rest[at + 3..].trim_ascii()))
}

/// The value of an argument: `4</f>` for `fd` in `fd: 4</f>, count: 5`.
fn argument<'a>(arguments: &'a [u8], names: &[&str]) -> Option<&'a [u8]> {
    names.iter().find_map(|name| {
        let mut from = 0;
        loop {
            let at = from + memchr::memmem::find(&arguments[from..], name.as_bytes())?;
            let after = at + name.len();
            let starts = at == 0 || arguments[..at].ends_with(b", ");
            if starts && arguments[after..].starts_with(b": ") {
                let value = &arguments[after + 2..];
                return Some(&value[..value_end(value)]);
            }
            from = at + 1;
        }
    })
}

/// The end of a value, which may hold commas in quotes or angle brackets.
fn value_end(value: &[u8]) -> usize {
    if value.first() == Some(&b'"') {
        let mut at = 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &value[at..]) {
            at += found + 1;
            if value[at - 1] == b'"' {
                return at;
            }
            at = (at + 1).min(value.len());
        }
    }
    let comma = |from: usize| {
        memchr::memmem::find(&value[from..], b", ").map_or(value.len(), |it| from + it)
    };
    let digits = value.iter().take_while(|it| it.is_ascii_digit()).count();
    if digits > 0
        && value.get(digits) == Some(&b'<')
        && let Some(close) = memchr::memmem::find(value, b">, ")
    {
        return close + 1;
    }
    comma(0)
}

/// A number argument: decimal, or hexadecimal with `0x`.
fn number(value: &[u8]) -> Option<i64> {
    let value = std::str::from_utf8(value).ok()?;
    match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => value.parse().ok(),
    }
}

/// A beginning that waits for its end.
struct Begun {
    name: Vec<u8>,
    rest: Vec<u8>,
    time_ns: i64,
    line: u64,
}

#[derive(Default)]
struct PerfTrace {
    calls: Calls,
    /// By thread.
    begun: FxHashMap<Vec<u8>, Begun>,
    in_summary: bool,
    has_calls: bool,
}

/// The most calls in progress at one time.
const LIMIT: usize = 1 << 16;

impl LineFormat for PerfTrace {
    const EXPECTED: &'static str = "lines of perf trace such as \
         `3.784 ( 0.010 ms): dd/7810 read(fd: 4</etc/hosts>, count: 4096) = 2996`";

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let Some(parts) = Line::of(line) else {
            self.in_summary |= line.trim_ascii() == SUMMARY_HEAD;
            if self.in_summary {
                into.count(&SUMMARY, line);
                return Some(());
            }
            return other_line(line, into);
        };
        self.in_summary = false;
        self.has_calls = true;
        let Line {
            time_ns,
            duration_ns,
            thread,
            call,
        } = parts;
        match call {
            Part::Whole { name, rest } => {
                let (Some(time_ns), Some(duration_ns)) = (time_ns, duration_ns) else {
                    return without_end(rest, line, into);
                };
                self.call((time_ns, duration_ns), thread, name, rest, line, into)
            }
            Part::Begun { name, rest } => {
                let begun = Begun {
                    name: name.to_vec(),
                    rest: rest.to_vec(),
                    time_ns: time_ns?,
                    line: into.line,
                };
                into.count(&BEGUN, line);
                let lost = self.begun.insert(thread.to_vec(), begun);
                if let Some(lost) = lost {
                    into.skipped.count(&NO_END, lost.line, &lost.name);
                }
                if self.begun.len() > LIMIT {
                    self.finish(into);
                }
                Some(())
            }
            Part::Ended { name, rest } => {
                let begun = self.begun.remove(thread);
                let Some(begun) = begun.filter(|it| it.name == name) else {
                    into.count(&NO_START, line);
                    return Some(());
                };
                let Some(duration_ns) = duration_ns else {
                    return without_end(rest, line, into);
                };
                // `fd: 4, count: 5)` and `)) = 5`
                let mut whole = begun.rest;
                if !whole.ends_with(b")") {
                    whole.push(b')');
                }
                let result = rest.iter().position(|it| *it != b')').unwrap_or(rest.len());
                whole.extend_from_slice(&rest[result..]);
                let times = (begun.time_ns, duration_ns);
                let last = std::mem::replace(&mut into.line, begun.line);
                let understood = self.call(times, thread, name, &whole, line, into);
                into.line = last;
                understood
            }
        }
    }

    fn finish(&mut self, into: &mut Collected) {
        let mut lost: Vec<_> = self.begun.drain().map(|it| it.1).collect();
        lost.sort_by_key(|it| it.line);
        for begun in lost {
            into.skipped.count(&NO_END, begun.line, &begun.name);
        }
    }

    fn refusal(&self) -> Option<(&'static str, &'static str)> {
        (self.in_summary && !self.has_calls).then_some((
            "is a summary without calls (perf trace -s)",
            "the calls, which perf trace prints with -S or without -s",
        ))
    }
}

/// `exit_group() = ?`
fn without_end(rest: &[u8], line: &[u8], into: &mut Collected) -> Option<()> {
    let (_, result) = split(rest)?;
    if result != b"?" {
        return None;
    }
    into.count(&NOT_RETURNED, line);
    Some(())
}

/// `LOST 5 events!`, or an event such as `0.000 dd/5 sched:sched_switch(…)`.
fn other_line(line: &[u8], into: &mut Collected) -> Option<()> {
    if line.starts_with(b"LOST ") {
        into.count(&LOST, line);
        return Some(());
    }
    let mut words = super::collected::words(line);
    let stamp = words.next()?;
    decimal(stamp, 6).filter(|_| stamp.contains(&b'.'))?;
    let is_event = |it: &[u8]| {
        let name = it.split(|it| *it == b'(').next().unwrap_or_default();
        let colon = memchr::memchr(b':', name);
        colon.is_some_and(|at| at > 0 && at + 1 < name.len()) && !name[0].is_ascii_digit()
    };
    words
        .take(3)
        .any(is_event)
        .then(|| into.count(&EVENT, line))
}

impl PerfTrace {
    fn call(
        &mut self,
        (time_ns, duration_ns): (i64, i64),
        thread: &[u8],
        name: &[u8],
        rest: &[u8],
        line: &[u8],
        into: &mut Collected,
    ) -> Option<()> {
        let (arguments, result) = split(rest)?;
        let get = |names: &[&str]| argument(arguments, names);
        // An empty path, with which a call concerns the descriptor itself
        let is_empty = get(&["flags", "flag"])
            .is_some_and(|it| it == b"4096" || memchr::memmem::find(it, b"EMPTY_PATH").is_some());
        let named_in = get(&["dfd"]).filter(|_| is_empty);
        let descriptor = get(&["fd", "fildes", "oldfd"]).or(named_in).unwrap_or(b"0");
        let digits = descriptor.iter().take_while(|it| it.is_ascii_digit());
        let (digits, annotation) = descriptor.split_at(digits.count());
        let annotation = annotation
            .strip_prefix(b"<")
            .and_then(|it| it.strip_suffix(b">"))
            .map(text);
        let path = get(&["filename", "pathname", "path", "oldname", "name"]);
        let other = get(&["newname"]);
        let path = path.filter(|_| !is_empty);
        let path_is_hidden = path.is_some_and(|it| it.starts_with(b"0x"))
            || other.is_some_and(|it| it.starts_with(b"0x"));
        let quoted = |it: &[u8]| {
            let inside = it.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\""));
            let shown = inside.unwrap_or(it);
            (!shown.starts_with(b"0x") && !shown.is_empty()).then(|| text(shown).into_owned())
        };
        let (path, other) = (path.and_then(quoted), other.and_then(quoted));
        let outcome = match result {
            _ if result.starts_with(b"-1 ") => {
                let error = result[3..].split(|it| *it == b' ').next();
                Outcome::failed(&text(error.unwrap_or_default()))
            }
            _ => {
                let first = result.split(|it| *it == b' ').next().unwrap_or_default();
                match number(first)? {
                    value if value < 0 => Outcome::failed(""),
                    value => Outcome::Value(value),
                }
            }
        };
        let whence = get(&["whence"]).and_then(|it| Whence::of(&text(it)));
        let name_text = text(name);
        let positioned = ["pread", "pwrite", "fallocate", "sync_file_range"]
            .iter()
            .any(|it| name.starts_with(it.as_bytes()));
        let offset = get(&["pos", "offset", "off", "pos_l"]).and_then(number);
        let offset = match &*name_text {
            "ftruncate" | "truncate" => get(&["length"]).and_then(number).or(Some(0)),
            "preadv2" | "pwritev2" if offset == Some(-1) => None,
            _ if positioned => offset.or(Some(0)),
            _ => offset,
        };
        let process = match thread {
            b"" => "process".into(),
            thread => text(thread),
        };
        let thread_number = thread.rsplit(|it| *it == b'/').next().unwrap_or_default();
        let owner = number(thread_number).map_or(0, i64::cast_unsigned);
        if path.as_ref().is_some_and(|it| !it.starts_with('/')) {
            into.count(&RELATIVE, line);
        }
        let flags = get(&["flags"]).map(text);
        let event = Event {
            time_ns,
            duration_ns,
            process: &process,
            owner,
            name: &name_text,
            path: path.as_deref(),
            behind: annotation.as_deref(),
            path_is_hidden,
            other: other.as_deref(),
            descriptor: number(digits),
            outcome,
            count: get(&["count", "len", "nbytes"])
                .and_then(number)
                .map_or(0, |it| u64::try_from(it).unwrap_or(0)),
            offset,
            whence: whence.unwrap_or_default(),
            opening: Opening::of_words(&flags.unwrap_or_default()),
        };
        self.calls.event(&event, line, into);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let line = b"     3.784 ( 0.010 ms): my (prog)/7810 read(fd: 4</a, b(1)>, count: 40) = 29";
        let parts = Line::of(line).unwrap();
        assert_eq!(parts.time_ns, Some(3_784_000));
        assert_eq!(parts.duration_ns, Some(10_000));
        assert_eq!(parts.thread, b"my (prog)/7810");
        let Part::Whole { name, rest } = parts.call else {
            panic!("{parts:?}")
        };
        assert_eq!(name, b"read");
        let (arguments, result) = split(rest).unwrap();
        assert_eq!(result, b"29");
        assert_eq!(argument(arguments, &["fd"]), Some(&b"4</a, b(1)>"[..]));
        assert_eq!(argument(arguments, &["count"]), Some(&b"40"[..]));
        assert_eq!(argument(arguments, &["unt"]), None);
        let quoted = b"filename: \"/a, \\\"b\", flags: RDONLY|CLOEXEC";
        assert_eq!(argument(quoted, &["filename"]), Some(&b"\"/a, \\\"b\""[..]));
        assert_eq!(argument(quoted, &["flags"]), Some(&b"RDONLY|CLOEXEC"[..]));
    }

    #[test]
    fn calls_in_two_lines_are_known() {
        let begun =
            Line::of(b"  6.956 (         ): wc/1 read(buf: 0x7f, count: 6)      ...").unwrap();
        let (name, rest) = (&b"read"[..], &b"buf: 0x7f, count: 6)"[..]);
        assert_eq!(begun.call, Part::Begun { name, rest });
        let ended =
            Line::of(b"  6.956 ( 7.910 ms): wc/1  ... [continued]: read())   = 49").unwrap();
        assert_eq!(ended.thread, b"wc/1");
        let rest = &b"))   = 49"[..];
        assert_eq!(ended.call, Part::Ended { name, rest });
        assert_eq!(Line::of(b"0.5 sched:sched_switch(a: 1)"), None);
        assert_eq!(Line::of(b"1700000000 1.0 read(3) = 5"), None);
    }
}
