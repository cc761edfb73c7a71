//! The text of `recorder2text` for a trace of Recorder 2.1 to 2.4, one file for each rank.
//!
//! From version 2.3 a line is `start end call level kind ( arguments )`; before, it is
//! `start end result call ( arguments )`. Times are seconds. Recorder puts the file's name in place
//! of a descriptor. Versions from 2.3 do not report results: bytes are those asked for, counted.
//! Offsets are those of `pread` and `pwrite`, or else positions in the file.
//!
//! The process is `rank N`, from the file's name (`_text/3.txt`). Records are of the calls of POSIX
//! and stdio. Calls of MPI and HDF5, on open directories, and `mmap` are counted.

use super::collected::{Collected, LineFormat, LineReader, decimal, whole, words};
use super::posix::{Calls, Event, Opening, Outcome, Whence};
use crate::{Format, Input, Kind, Level, text};

pub(super) static FORMAT: Format = Format {
    name: "recorder",
    description: "the text of recorder2text (Recorder 2)",
    extensions: &[],
    level: Level::File,
    sniff,
    open: |input: Input| {
        let recorder = Recorder::of(&input.name);
        Ok(LineReader::open(input, recorder))
    },
    create: None,
};

static OTHER_LAYER: Kind = Kind::left_out("call of MPI, HDF5 or the program");
static DIRECTORY: Kind =
    Kind::left_out("call on an open directory, whose name Recorder leaves out");

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .any(|line| Line::of(line).is_some())
}

/// The parts of a line.
struct Line<'a> {
    start_ns: i64,
    end_ns: i64,
    /// Versions before 2.3.
    result: Option<i64>,
    call: &'a [u8],
    is_posix: bool,
    arguments: Vec<&'a [u8]>,
}

impl<'a> Line<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let arguments = line.strip_suffix(b")")?;
        let open = memchr::memmem::find(line, b" (")?;
        let arguments = arguments.get(open + 2..)?;
        if !arguments.is_empty() && !arguments.starts_with(b" ") {
            return None;
        }
        let mut head = words(&line[..open]);
        let (start, end) = (head.next()?, head.next()?);
        if !start.contains(&b'.') || !end.contains(&b'.') {
            return None;
        }
        let third = head.next()?;
        let fourth = head.next()?;
        let is_name = |it: &[u8]| {
            !it[0].is_ascii_digit() && it.iter().all(|it| it.is_ascii_graphic()) && it[0] != b'-'
        };
        let (result, call, is_posix) = match head.next() {
            // start end call level kind
            Some(kind) => {
                whole(fourth)?;
                (None, third, whole(kind)? == 0)
            }
            // start end result call
            None => {
                let result = std::str::from_utf8(third).ok()?.parse().ok()?;
                let is_posix = !fourth.starts_with(b"MPI_") && !fourth.starts_with(b"H5");
                (Some(result), fourth, is_posix)
            }
        };
        if head.next().is_some() || !is_name(call) {
            return None;
        }
        Some(Self {
            start_ns: decimal(start, 9)?,
            end_ns: decimal(end, 9)?,
            result,
            call,
            is_posix,
            arguments: words(arguments).collect(),
        })
    }
}

struct Recorder {
    rank: String,
    calls: Calls,
}

impl Recorder {
    fn of(name: &str) -> Self {
        let file = name.rsplit('/').next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        let rank = match whole(stem.as_bytes()) {
            Some(rank) if !stem.is_empty() => format!("rank {rank}"),
            _ => "rank unknown".into(),
        };
        Self {
            rank,
            calls: Calls::default(),
        }
    }
}

impl LineFormat for Recorder {
    const EXPECTED: &'static str = "lines of recorder2text such as \
         `0.1250 0.1254 pwrite 0 0 ( /data/file 0x7f 4096 8192 )`";

    fn is_surely_whole(line: &[u8]) -> bool {
        line.ends_with(b" )")
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let parts = Line::of(line)?;
        if !parts.is_posix {
            into.count(&OTHER_LAYER, line);
            return Some(());
        }
        let name = text(parts.call);
        let plain = name.strip_prefix("__").unwrap_or(&name);
        let plain = plain.strip_suffix("64").unwrap_or(plain);
        let arguments = &parts.arguments;
        let number = |at: usize| -> Option<i64> {
            std::str::from_utf8(arguments.get(at)?).ok()?.parse().ok()
        };
        // The number of arguments behind a file's name, which may hold spaces.
        let first = |behind: usize| -> Option<String> {
            let end = arguments.len().checked_sub(behind)?;
            let words = arguments.get(..end)?;
            (!words.is_empty()).then(|| text(&words.join(&b' ')).into_owned())
        };
        let last = |at: usize| -> Option<i64> { number(arguments.len().checked_sub(at)?) };
        let count = |it: Option<i64>| it.map_or(0, |it| u64::try_from(it).unwrap_or(0));
        let mut event = Event {
            time_ns: parts.start_ns,
            duration_ns: parts.end_ns.saturating_sub(parts.start_ns).max(0),
            process: &self.rank,
            name: &name,
            outcome: match parts.result {
                Some(value) if value < 0 => Outcome::failed(""),
                Some(value) => Outcome::Value(value),
                None => Outcome::Unknown,
            },
            ..Event::default()
        };
        let (path, behind, other): (Option<String>, Option<String>, Option<String>);
        (path, behind, other) = match plain {
            "open" => {
                // With a mode, if the flags create the file
                let with_mode = arguments.len() > 2
                    && last(2).is_some_and(|it| it & 0o100 != 0)
                    && last(1).is_some();
                let flags = if with_mode { last(2)? } else { last(1)? };
                event.opening = Opening::of_number(flags.cast_unsigned());
                (Some(first(if with_mode { 2 } else { 1 })?), None, None)
            }
            "fopen" => {
                event.opening = Opening::of_mode(&text(arguments.last()?));
                (Some(first(1)?), None, None)
            }
            "read" | "write" => {
                event.count = count(last(1));
                (None, Some(first(2)?), None)
            }
            "readv" | "writev" => {
                event.count = count(last(2));
                (None, Some(first(2)?), None)
            }
            "pread" | "pwrite" => {
                event.count = count(last(2));
                event.offset = Some(last(1)?);
                (None, Some(first(3)?), None)
            }
            "fread" | "fwrite" => {
                event.count = count(number(1)).saturating_mul(count(number(2)));
                if let Outcome::Value(items) = event.outcome {
                    event.outcome = Outcome::Value(items.saturating_mul(number(1).unwrap_or(1)));
                }
                let words = arguments.get(3..).filter(|it| !it.is_empty())?;
                (None, Some(text(&words.join(&b' ')).into_owned()), None)
            }
            "lseek" | "fseek" | "fseeko" => {
                event.offset = Some(last(2)?);
                event.whence = Whence::of(&text(arguments.last()?))?;
                (None, Some(first(2)?), None)
            }
            "close" | "fclose" | "fsync" | "fdatasync" => (None, Some(first(0)?), None),
            "ftruncate" => {
                event.offset = Some(last(1)?);
                (None, Some(first(1)?), None)
            }
            "fxstat" => {
                let words = arguments.get(1..arguments.len().checked_sub(1)?)?;
                (None, Some(text(&words.join(&b' ')).into_owned()), None)
            }
            "xstat" | "lxstat" => {
                let words = arguments.get(1..arguments.len().checked_sub(1)?)?;
                (Some(text(&words.join(&b' ')).into_owned()), None, None)
            }
            "truncate" => {
                event.offset = Some(last(1)?);
                (Some(first(1)?), None, None)
            }
            "access" | "creat" | "mkdir" | "chmod" | "utime" => (Some(first(1)?), None, None),
            "chown" | "lchown" | "readlink" => (Some(first(2)?), None, None),
            "unlink" | "rmdir" | "remove" | "opendir" => (Some(first(0)?), None, None),
            "rename" | "link" | "symlink" => {
                let [from, to] = arguments[..] else {
                    return None;
                };
                (
                    Some(text(from).into_owned()),
                    None,
                    Some(text(to).into_owned()),
                )
            }
            "linkat" => {
                let word = |at: usize| arguments.get(at).map(|it| text(it).into_owned());
                (word(1), None, word(3))
            }
            "symlinkat" => {
                let word = |at: usize| arguments.get(at).map(|it| text(it).into_owned());
                (word(0), None, word(2))
            }
            "faccessat" | "readlinkat" => {
                let word = |at: usize| arguments.get(at).map(|it| text(it).into_owned());
                (word(1), None, None)
            }
            "xmknod" => {
                let word = |at: usize| arguments.get(at).map(|it| text(it).into_owned());
                (word(1), None, None)
            }
            "readdir" | "closedir" => {
                into.count(&DIRECTORY, line);
                return Some(());
            }
            _ => (None, None, None),
        };
        // The descriptors' numbers are not in the trace, although open's result is.
        if matches!(plain, "open" | "creat" | "fopen" | "opendir")
            && matches!(event.outcome, Outcome::Value(_))
        {
            event.outcome = Outcome::Unknown;
        }
        event.path = path.as_deref();
        event.behind = behind.as_deref();
        event.other = other.as_deref();
        self.calls.event(&event, line, into);
        Some(())
    }
}
