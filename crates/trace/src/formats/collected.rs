//! Common parts of readers of single events: names, counts, and records in the order of starts.
//!
//! Many tracers print a call when it ends. Records wait in a window of [`Window::LIMIT`] until
//! those that began before them have come. Records that come later still are counted.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::lines::Lines;
use crate::{Error, Input, Kind, Names, Reader, Record, Skipped};

pub(super) static UNORDERED: Kind = Kind::assumed("record out of the order of starts");
pub(super) static TRUNCATED: Kind = Kind::not_understood("truncated last line");
pub(super) static NOT_A_LINE: Kind = Kind::not_understood("line that is not of the format");
pub(super) static WHOLE_SECONDS: Kind = Kind::assumed("time in whole seconds");
pub(super) static NO_TIMES: Kind = Kind::assumed("record without a time: 0");
pub(super) static UNKNOWN_FILE: Kind =
    Kind::assumed("file that the trace does not name: \"unknown file\"");

/// The name of a file that a trace does not name.
pub(super) const UNKNOWN: &str = "unknown file";

/// Values in the order of their times, as far as a bounded number of them tells it.
#[derive(Debug)]
pub(super) struct Window<T> {
    heap: BinaryHeap<Waiting<T>>,
    sequence: u64,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

#[derive(Debug)]
struct Waiting<T> {
    time_ns: i64,
    line: u64,
    sequence: u64,
    value: T,
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Waiting<T> {}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Waiting<T> {
    /// The earliest is the greatest, as the heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.time_ns, it.line, it.sequence);
        key(other).cmp(&key(self))
    }
}

impl<T> Window<T> {
    /// The most values that wait.
    pub(super) const LIMIT: usize = 1 << 16;

    /// Takes a value, which began in a line; gives the earliest one if too many wait.
    pub(super) fn push(&mut self, time_ns: i64, line: u64, value: T) -> Option<T> {
        self.sequence += 1;
        self.heap.push(Waiting {
            time_ns,
            line,
            sequence: self.sequence,
            value,
        });
        if self.heap.len() > Self::LIMIT {
            self.pop()
        } else {
            None
        }
    }

    /// The earliest value.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|it| it.value)
    }
}

/// The results of a reader so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) files: Names,
    pub(super) processes: Names,
    pub(super) skipped: Skipped,
    /// The number of the line at hand.
    pub(super) line: u64,
    window: Window<Record>,
    ready: VecDeque<Record>,
    last_ns: Option<i64>,
}

impl Collected {
    /// Takes a record of the line at hand.
    pub(super) fn put(&mut self, record: Record) {
        self.put_from(record, self.line);
    }

    /// Takes a record that began in an earlier line.
    pub(super) fn put_from(&mut self, record: Record, line: u64) {
        if let Some(first) = self.window.push(record.time_ns, line, record) {
            self.release(first);
        }
    }

    /// Lets all records go: the trace is at its end.
    pub(super) fn finish(&mut self) {
        while let Some(first) = self.window.pop() {
            self.release(first);
        }
    }

    fn release(&mut self, record: Record) {
        if self.last_ns.is_some_and(|it| record.time_ns < it) {
            self.count(&UNORDERED, record.operation.name().as_bytes());
        } else {
            self.last_ns = Some(record.time_ns);
        }
        self.ready.push_back(record);
    }

    /// The next record that waits no longer.
    pub(super) fn next(&mut self) -> Option<Record> {
        self.ready.pop_front()
    }

    /// Counts a kind met in the line at hand.
    pub(super) fn count(&mut self, kind: &'static Kind, text: &[u8]) {
        self.skipped.count(kind, self.line, text);
    }

    /// The number of a file; of the unknown one, which is counted, without a name.
    pub(super) fn file(&mut self, name: Option<&str>, line: &[u8]) -> u32 {
        let Some(name) = name else {
            self.count(&UNKNOWN_FILE, line);
            return self.files.intern(UNKNOWN);
        };
        self.files.intern(name)
    }
}

/// A format whose lines are events.
pub(super) trait LineFormat: Send {
    /// Description of the lines, for messages.
    const EXPECTED: &'static str;

    /// Takes in a line; none if it is not understood.
    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()>;

    /// Returns true if a line without its line break cannot be the beginning of a longer one. A
    /// line that ends with a number can be.
    fn is_surely_whole(_line: &[u8]) -> bool {
        false
    }

    /// Takes note that the trace is at its end.
    fn finish(&mut self, _into: &mut Collected) {}

    /// The reason to refuse the whole trace, and the expected content; asked at its end.
    fn refusal(&self) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// Lines to look at before a file without any line of the format is refused.
const PATIENCE: u64 = 1000;

/// Reads a format of lines.
pub(super) struct LineReader<F> {
    lines: Lines,
    format: F,
    collected: Collected,
    /// True once a line was understood.
    has_started: bool,
    at_end: bool,
}

impl<F: LineFormat + 'static> LineReader<F> {
    /// Starts at a format's first line.
    pub(super) fn open(input: Input, format: F) -> Box<dyn Reader> {
        Self::after_header(Lines::new(input.name, input.bytes), format, false)
    }

    /// Starts behind the part of a header that was read. With a header, a trace may have no further
    /// line.
    pub(super) fn after_header(lines: Lines, format: F, has_header: bool) -> Box<dyn Reader> {
        Box::new(Self {
            lines,
            format,
            collected: Collected::default(),
            has_started: has_header,
            at_end: false,
        })
    }

    fn advance(&mut self) -> Result<(), Error> {
        let Some(line) = self.lines.next()? else {
            return self.finish();
        };
        self.collected.line = line.number;
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        if !line.complete && !F::is_surely_whole(line.bytes) {
            self.collected.count(&TRUNCATED, line.bytes);
        } else if self.format.line(line.bytes, &mut self.collected).is_some() {
            self.has_started = true;
        } else if !line.complete && self.has_started {
            self.collected.count(&TRUNCATED, line.bytes);
        } else {
            self.collected.count(&NOT_A_LINE, line.bytes);
        }
        if !self.has_started && line.number >= PATIENCE {
            return Err(Error::Line {
                line: line.number,
                file: self.lines.name().to_string(),
                found: "no line of the format so far".into(),
                expected: F::EXPECTED.into(),
            });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.at_end = true;
        self.format.finish(&mut self.collected);
        self.collected.finish();
        if let Some((found, expected)) = self.format.refusal() {
            return Err(Error::File {
                file: self.lines.name().to_string(),
                found: found.into(),
                expected: expected.into(),
            });
        }
        if self.has_started {
            return Ok(());
        }
        Err(Error::File {
            file: self.lines.name().to_string(),
            found: match self.lines.number() {
                0 => "is empty".into(),
                1 if self.collected.skipped.of(TRUNCATED.name) > 0 => {
                    "has a single line, without a line break at its end: it may be cut".into()
                }
                number => format!("none of {number} lines is of the format"),
            },
            expected: F::EXPECTED.into(),
        })
    }
}

impl<F: LineFormat + 'static> Reader for LineReader<F> {
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

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|it| !it.is_empty())
}

/// A whole number without a sign.
pub(super) fn whole(field: &[u8]) -> Option<u64> {
    // Not parse(), which takes a plus sign.
    if !field.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A decimal number that is not negative, in units of 10 to the power of minus `digits`; further
/// digits are cut off.
pub(super) fn decimal(field: &[u8], digits: usize) -> Option<i64> {
    let mut parts = field.splitn(2, |byte| *byte == b'.');
    let integer = parts.next()?;
    let fraction = parts.next().unwrap_or(b"0");
    if integer.is_empty() || fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut value = i64::try_from(whole(integer)?).ok()?;
    for place in 0..digits {
        let digit = fraction.get(place).map_or(0, |it| it - b'0');
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal(b"1.5", 9), Some(1_500_000_000));
        assert_eq!(decimal(b"12", 3), Some(12_000));
        assert_eq!(decimal(b"0.0651239", 6), Some(65_123));
        assert_eq!(decimal(b"9223372036.854775807", 9), Some(i64::MAX));
        for wrong in [
            "",
            ".5",
            "1.",
            "1e3",
            "-1",
            "+1",
            "9223372036.854775808",
            "1.5x",
        ] {
            assert_eq!(decimal(wrong.as_bytes(), 9), None, "{wrong}");
        }
    }

    #[test]
    fn a_window_gives_the_earliest_first_and_is_bounded() {
        let mut window = Window::default();
        for time in (0..10).rev() {
            assert!(window.push(time, 0, time).is_none());
        }
        window.push(0, 0, 100);
        let order: Vec<_> = std::iter::from_fn(|| window.pop()).collect();
        assert_eq!(order, [0, 100, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let given = (0..3 * Window::<i64>::LIMIT as i64).filter_map(|it| window.push(it, 0, it));
        assert_eq!(given.count(), 2 * Window::<i64>::LIMIT);
    }
}
