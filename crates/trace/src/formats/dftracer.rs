//! The `.pfw` files of DFTracer: events of Chrome's trace format, one a line.
//!
//! `DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=app LD_PRELOAD=libdftracer_preload.so app` records one.
//!
//! An event has name, process, thread, start and duration in microseconds, and `args`. Up to
//! version 1.0.5 the file's name is in `fname`; later it is a number in `fhash`, whose name an `FH`
//! event gives. Bytes are `ret`, which for stdio are items; without it, those asked for, counted.
//! Offsets are those of the event, or else positions.
//!
//! Calls of POSIX and stdio are records. Events of other categories are the program's own, and are
//! counted. Positions do not follow fork and append.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::collected::{Collected, LineFormat, LineReader};
use super::posix::{Calls, Event, Opening, Outcome, Whence};
use crate::{Format, Kind, Level};

pub(super) static FORMAT: Format = Format {
    name: "dftracer",
    description: "the .pfw files of DFTracer",
    extensions: &["pfw"],
    level: Level::File,
    sniff,
    open: |input| Ok(LineReader::open(input, Dftracer::default())),
    create: None,
};

static LIST: Kind = Kind::left_out("beginning or end of the list of events");
static METADATA: Kind = Kind::left_out("event that names a file, a host or a process");
static OWN: Kind = Kind::left_out("event of the program or of DFTracer itself");
static NO_NAME: Kind = Kind::not_understood("number of a file that no FH event names");

fn sniff(beginning: &[u8]) -> bool {
    const CATEGORIES: [&[u8]; 3] = [b"\"POSIX\"", b"\"STDIO\"", b"\"dftracer\""];
    beginning
        .split(|byte| *byte == b'\n')
        .take(20)
        .map(<[u8]>::trim_ascii)
        .any(|line| {
            let has = |it: &[u8]| memchr::memmem::find(line, it).is_some();
            line.starts_with(b"{")
                && has(b"\"cat\":")
                && has(b"\"ph\":")
                && CATEGORIES.iter().any(|it| has(it))
        })
}

#[derive(Default)]
struct Dftracer {
    calls: Calls,
    /// The names of files, by their hashes.
    names: FxHashMap<String, String>,
    /// Start of the first event.
    start_us: Option<i64>,
}

/// A number, which old versions write as text.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_u64().map(u64::cast_signed)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A hash, as text: a number or, in later versions, hexadecimal digits.
fn hash(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl LineFormat for Dftracer {
    const EXPECTED: &'static str = "lines of DFTracer such as \
         `{\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":2,\"ph\":\"X\",\
         \"args\":{\"fname\":\"/f\",\"ret\":4096}}`";

    /// An event is an object, which no shorter text is.
    fn is_surely_whole(_line: &[u8]) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let text = line.trim_ascii();
        let text = text.strip_suffix(b",").unwrap_or(text);
        if matches!(text, b"[" | b"]") {
            into.count(&LIST, line);
            return Some(());
        }
        // The first event may stand behind the bracket.
        let text = text.strip_prefix(b"[").unwrap_or(text);
        let event: Value = serde_json::from_slice(text).ok()?;
        let word = |name: &str| event.get(name).and_then(Value::as_str);
        let name = word("name")?;
        let args = event.get("args");
        match word("ph")? {
            "M" => {
                if name == "FH" {
                    let file = args?.get("name")?.as_str()?;
                    let key = hash(args?.get("value")?)?;
                    self.names.insert(key, file.to_string());
                }
                into.count(&METADATA, line);
                return Some(());
            }
            "X" if matches!(word("cat"), Some("POSIX" | "STDIO")) => {}
            _ => {
                into.count(&OWN, line);
                return Some(());
            }
        }
        self.call(name, &event, line, into)
    }
}

impl Dftracer {
    fn call(&mut self, name: &str, event: &Value, line: &[u8], into: &mut Collected) -> Option<()> {
        let args = event.get("args").unwrap_or(&Value::Null);
        let get = |names: &[&str]| names.iter().find_map(|it| args.get(it).and_then(number));
        let word = |name: &str| args.get(name).and_then(Value::as_str);
        let start_us = number(event.get("ts")?)?;
        let duration_us = number(event.get("dur")?)?.max(0);
        let first_us = *self.start_us.get_or_insert(start_us);
        let process = number(event.get("pid")?)?;
        let thread = event.get("tid").and_then(number).unwrap_or(process);
        let named = |hash_name: &str, name: &str| -> Option<Option<String>> {
            if let Some(name) = word(name) {
                return Some(Some(name.to_string()));
            }
            let Some(hash) = args.get(hash_name).and_then(hash) else {
                return Some(None);
            };
            self.names.get(&hash).cloned().map(Some)
        };
        let file = match named("fhash", "fname") {
            Some(file) => file,
            None => {
                into.count(&NO_NAME, line);
                None
            }
        };
        // A second name, or the path of openat
        let other = ["newpath", "path2", "pathname"]
            .iter()
            .find_map(|it| named(it, it).flatten());
        let plain = name.strip_prefix("__").unwrap_or(name);
        let is_stdio = event.get("cat").and_then(Value::as_str) == Some("STDIO");
        // Names of calls on descriptors; else the file is that of the path.
        let on_descriptor = [
            "read",
            "write",
            "pread",
            "pwrite",
            "close",
            "fclose",
            "fread",
            "fwrite",
            "lseek",
            "fseek",
            "fsync",
            "fdatasync",
            "ftruncate",
            "fxstat",
            "mmap",
            "closedir",
            "readdir",
            "readv",
            "writev",
            "ftell",
            "fcntl",
            "preadv",
            "pwritev",
        ];
        let plain = plain.strip_suffix("64").unwrap_or(plain);
        let on_descriptor = on_descriptor.contains(&plain);
        let result = get(&["ret"]);
        let items = if is_stdio {
            get(&["size"]).unwrap_or(1)
        } else {
            1
        };
        let outcome = match result {
            Some(value) if value < 0 => Outcome::failed(""),
            Some(value) => Outcome::Value(value.saturating_mul(items.max(0))),
            None => Outcome::Unknown,
        };
        let opening = match (get(&["flags"]), word("mode")) {
            (Some(flags), _) => Opening::of_number(flags.cast_unsigned()),
            (None, Some(mode)) => Opening::of_mode(mode),
            _ => Opening::default(),
        };
        let whence = get(&["whence"]).and_then(|it| Whence::of(&it.to_string()));
        let path = match plain {
            "openat" => other.as_deref().or(file.as_deref()),
            _ if on_descriptor => None,
            _ => file.as_deref(),
        };
        let count = get(&["count"]).unwrap_or(0).saturating_mul(items).max(0);
        let process_name = match process == thread {
            true => process.to_string(),
            false => format!("{process}/{thread}"),
        };
        let event = Event {
            time_ns: start_us.checked_sub(first_us)?.checked_mul(1000)?,
            duration_ns: duration_us.checked_mul(1000)?,
            process: &process_name,
            owner: process.cast_unsigned(),
            name,
            path,
            path_is_hidden: path.is_none() && !on_descriptor,
            behind: file.as_deref().filter(|_| on_descriptor),
            other: other.as_deref().filter(|_| plain != "openat"),
            descriptor: get(&["fd"]),
            outcome,
            count: count.cast_unsigned(),
            offset: get(&["offset", "length"]),
            whence: whence.unwrap_or_default(),
            opening,
        };
        self.calls.event(&event, line, into);
        Some(())
    }
}
