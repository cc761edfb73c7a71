//! The binary files of blktrace: one per CPU, or several one behind the other.
//!
//! A file is a sequence of `struct blk_io_trace` (48 bytes) in the byte order of the traced
//! machine. The data of each event follows it. The events of several CPUs are put into the order of
//! their times within a window. The records are those of `block`.

use std::io::{self, Read};

use rustc_hash::FxHashMap;

use super::block::{Class, Event, Request, Requests, process_name};
use super::collected::{Collected, Window};
use crate::{Error, Format, Input, Kind, Level, Names, Reader, Record, Skipped, text};

pub(super) static FORMAT: Format = Format {
    name: "blktrace",
    description: "binary files of blktrace, version 7",
    extensions: &["blktrace"],
    level: Level::Block,
    sniff,
    open,
    create: None,
};

static CUT: Kind = Kind::not_understood("truncated last event");
static NOTE: Kind = Kind::left_out("note of the kernel (process name, clock, message)");
static PASSTHROUGH: Kind = Kind::left_out("passthrough request");
static UNKNOWN_ACTION: Kind = Kind::not_understood("event of an unknown kind");

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const SIZE: usize = 48;
const EXPECTED: &str = "the binary files of blktrace, version 7 (see `blktrace -d`)";

/// Bits of the categories, in the upper half of an action.
mod category {
    pub(super) const READ: u32 = 1 << 0;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const FLUSH: u32 = 1 << 2;
    pub(super) const PASSTHROUGH: u32 = 1 << 9;
    pub(super) const NOTIFY: u32 = 1 << 10;
    pub(super) const DISCARD: u32 = 1 << 13;
    pub(super) const FUA: u32 = 1 << 15;
}

/// The letters of the actions, by their numbers.
const ACTIONS: &[u8; 17] = b"?QMFGSRDCPUTIXBA?";
/// The data begins with the number of a control group.
const CGROUP: u32 = 1 << 8;
/// A note gives a process's name.
const NOTE_PROCESS: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

impl Endian {
    fn of(magic: &[u8]) -> Option<Self> {
        let magic: [u8; 4] = magic.get(..4)?.try_into().ok()?;
        if u32::from_le_bytes(magic) & !0xff == MAGIC {
            Some(Endian::Little)
        } else if u32::from_be_bytes(magic) & !0xff == MAGIC {
            Some(Endian::Big)
        } else {
            None
        }
    }

    fn number(self, bytes: &[u8]) -> u64 {
        let mut padded = [0; 8];
        match self {
            Endian::Little => {
                padded[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(padded)
            }
            Endian::Big => {
                padded[8 - bytes.len()..].copy_from_slice(bytes);
                u64::from_be_bytes(padded)
            }
        }
    }
}

fn sniff(beginning: &[u8]) -> bool {
    Endian::of(beginning).is_some()
}

/// `struct blk_io_trace`
struct Trace {
    time_ns: u64,
    sector: u64,
    bytes: u64,
    action: u32,
    pid: u32,
    device: u32,
    error: u64,
    data: usize,
}

impl Trace {
    fn of(bytes: &[u8; SIZE], endian: Endian) -> Self {
        let at = |from: usize, length: usize| endian.number(&bytes[from..from + length]);
        let half = |from| at(from, 4) as u32;
        Self {
            time_ns: at(8, 8),
            sector: at(16, 8),
            bytes: at(24, 4),
            action: half(28),
            pid: half(32),
            device: half(36),
            error: at(44, 2),
            data: at(46, 2) as usize,
        }
    }
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    Ok(Box::new(BlktraceReader {
        name: input.name,
        input: io::BufReader::with_capacity(256 << 10, input.bytes),
        data: Vec::new(),
        at: 0,
        number: 0,
        start_ns: None,
        programs: FxHashMap::default(),
        window: Window::default(),
        requests: Requests::default(),
        collected: Collected::default(),
        at_end: false,
    }))
}

struct BlktraceReader {
    name: String,
    input: io::BufReader<Box<dyn Read + Send>>,
    /// The data behind the event at hand.
    data: Vec<u8>,
    /// Bytes read.
    at: u64,
    /// Number of the event.
    number: u64,
    /// Time of the earliest event.
    start_ns: Option<i64>,
    /// The programs' names, by number.
    programs: FxHashMap<u32, String>,
    window: Window<(Event, u64)>,
    requests: Requests,
    collected: Collected,
    at_end: bool,
}

impl BlktraceReader {
    /// Fills a buffer; gives the number of bytes, which are fewer at the end only.
    fn fill(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < into.len() {
            match self.input.read(&mut into[done..]) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::System {
                        file: self.name.clone(),
                        source,
                    });
                }
            }
        }
        self.at += done as u64;
        Ok(done)
    }

    fn wrong(&self, found: String) -> Error {
        Error::File {
            file: self.name.clone(),
            found,
            expected: EXPECTED.into(),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        let mut bytes = [0; SIZE];
        let start = self.at;
        let length = self.fill(&mut bytes)?;
        if length == 0 {
            return if self.number == 0 {
                Err(self.wrong("is empty".into()))
            } else {
                self.finish();
                Ok(())
            };
        }
        let Some(endian) = Endian::of(&bytes[..length]) else {
            return Err(self.wrong(format!("no event of blktrace at byte {start}")));
        };
        let version = endian.number(&bytes[..4]) as u32 & 0xff;
        if version != VERSION {
            return Err(self.wrong(format!("version {version} at byte {start}")));
        }
        self.number += 1;
        self.collected.line = self.number;
        let trace = Trace::of(&bytes, endian);
        let mut data = std::mem::take(&mut self.data);
        data.resize(trace.data, 0);
        if length < SIZE || self.fill(&mut data)? < data.len() {
            self.collected.count(&CUT, b"");
            self.finish();
            return Ok(());
        }
        self.event(&trace, &data);
        self.data = data;
        Ok(())
    }

    fn event(&mut self, trace: &Trace, data: &[u8]) {
        let categories = trace.action >> 16;
        let action = trace.action & 0xffff & !CGROUP;
        let has_group = trace.action & CGROUP != 0;
        if categories & category::NOTIFY != 0 {
            if action == NOTE_PROCESS && self.programs.len() < Window::<()>::LIMIT {
                let name = data
                    .get(if has_group { 8 } else { 0 }..)
                    .unwrap_or_default();
                let end = memchr::memchr(0, name).unwrap_or(name.len());
                let name = text(&name[..end]).into_owned();
                self.programs.insert(trace.pid, name);
            }
            self.collected.count(&NOTE, b"");
            return;
        }
        let letter = ACTIONS.get(action as usize).copied().unwrap_or(b'?');
        if letter == b'?' {
            return self.collected.count(&UNKNOWN_ACTION, b"");
        }
        if categories & category::PASSTHROUGH != 0 {
            return self.collected.count(&PASSTHROUGH, &[letter]);
        }
        let has = |bit: u32| categories & bit != 0;
        let class = if has(category::DISCARD) {
            Class::Discard
        } else if trace.bytes == 0 && has(category::FLUSH) {
            Class::Flush
        } else if trace.bytes > 0 && has(category::WRITE) {
            Class::Write
        } else if trace.bytes > 0 && has(category::READ) {
            Class::Read
        } else {
            Class::Other
        };
        let time_ns = trace.time_ns.cast_signed();
        let program = self.programs.get(&trace.pid).map_or("", String::as_str);
        let process = match letter {
            // The interrupted one
            b'C' | b'R' => 0,
            _ => {
                let name = process_name(program, trace.pid);
                self.collected.processes.intern(&name)
            }
        };
        let event = Event {
            time_ns,
            device: (trace.device >> 20, trace.device & 0xf_ffff),
            action: letter,
            request: Request {
                class,
                synchronous: has(category::FUA),
            },
            sector: trace.sector,
            bytes: trace.bytes,
            failed: trace.error != 0,
            process,
        };
        let earliest = self.window.push(time_ns, self.number, (event, self.number));
        if let Some((event, number)) = earliest {
            self.take(event, number);
        }
    }

    fn take(&mut self, mut event: Event, number: u64) {
        let start_ns = *self.start_ns.get_or_insert(event.time_ns);
        event.time_ns = event.time_ns.wrapping_sub(start_ns);
        self.collected.line = number;
        let text = [event.action];
        self.requests.event(event, &text, &mut self.collected);
    }

    fn finish(&mut self) {
        self.at_end = true;
        while let Some((event, number)) = self.window.pop() {
            self.take(event, number);
        }
        self.requests.finish(&mut self.collected);
        self.collected.finish();
    }
}

impl Reader for BlktraceReader {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        let mut done = 0;
        while done < max {
            if let Some(record) = self.collected.next() {
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
        &self.collected.files
    }

    fn processes(&self) -> &Names {
        &self.collected.processes
    }

    fn skipped(&self) -> &Skipped {
        &self.collected.skipped
    }
}
