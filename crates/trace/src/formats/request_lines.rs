//! Traces whose lines are requests to a volume, in fields with commas between them.
//!
//! A line may have spaces and quotes around its fields. A header may come first: any line of as many
//! fields that all begin with a letter. Times that count from an epoch start at the first line.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::collected::{Collected, LineFormat, LineReader, whole};
use crate::{Error, Flags, Input, Kind, Operation, Reader, Record};

static HEADER: Kind = Kind::left_out("header");
static OTHER_HEADER: Kind =
    Kind::assumed("header with other names than the published ones: fields in the published order");

/// Lines by which a format is recognised.
const SNIFFED_LINES: usize = 20;
/// Bytes that a text file may begin with to say that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A request to a volume.
#[derive(Debug)]
pub(super) struct VolumeRequest<'a> {
    /// Start, in nanoseconds since the format's epoch.
    pub(super) time_ns: i128,
    /// None where the trace does not tell it.
    pub(super) duration_ns: Option<i64>,
    pub(super) process: Cow<'a, str>,
    /// Name of the volume.
    pub(super) volume: Cow<'a, str>,
    pub(super) operation: Operation,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Content of a line.
#[derive(Debug)]
pub(super) enum RequestLine<'a> {
    Request(VolumeRequest<'a>),
    /// A valid line without a request that a record could hold.
    Other(&'static Kind),
}

/// A format of such lines.
pub(super) trait RequestFormat: Send + 'static {
    /// Description of the lines, for messages.
    const EXPECTED: &'static str;
    /// The published names of the fields.
    const FIELDS: &'static [&'static str];
    /// True if times count from an epoch, and not from the start of the trace.
    const HAS_EPOCH: bool;
    /// Assumption that holds for all of a trace; counted once.
    const ASSUMED: Option<&'static Kind> = None;
    /// Assumption that holds for each record.
    const ASSUMED_OF_EACH: Option<&'static Kind> = None;

    /// Reads a line; none if it is not of the format.
    fn line<'a>(fields: &mut Fields<'a>) -> Option<RequestLine<'a>>;
}

/// The fields of a line, without the spaces and quotes around them.
pub(super) struct Fields<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Self {
        Self {
            rest: Some(line.trim_ascii()),
        }
    }

    /// The next field.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let (field, rest) = match memchr::memchr(b',', rest) {
            Some(comma) => (&rest[..comma], Some(&rest[comma + 1..])),
            None => (rest, None),
        };
        self.rest = rest;
        let field = field.trim_ascii();
        let inside = field
            .strip_prefix(b"\"")
            .and_then(|it| it.strip_suffix(b"\""));
        Some(inside.map_or(field, <[u8]>::trim_ascii))
    }

    /// The next field as a whole number.
    pub(super) fn whole(&mut self) -> Option<u64> {
        whole(self.next()?)
    }

    /// True if none is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_none()
    }
}

/// Letters and digits in lower case: `DiskNumber` is `disk_number`.
fn plain(name: &[u8]) -> Vec<u8> {
    let letters = name.iter().filter(|it| it.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase).collect()
}

/// True for the published header.
fn is_published_header<F: RequestFormat>(line: &[u8]) -> bool {
    let mut fields = Fields::of(line);
    F::FIELDS.iter().all(|name| {
        fields
            .next()
            .is_some_and(|it| plain(it) == plain(name.as_bytes()))
    }) && fields.is_at_end()
}

/// True for a line of names.
fn is_header<F: RequestFormat>(line: &[u8]) -> bool {
    let mut fields = Fields::of(line);
    let mut count = 0;
    while let Some(field) = fields.next() {
        if !field.first().is_some_and(u8::is_ascii_alphabetic) {
            return false;
        }
        count += 1;
    }
    count == F::FIELDS.len()
}

/// `R` or `W`, in either case.
pub(super) fn read_or_write(field: &[u8]) -> Option<Operation> {
    match field {
        b"R" | b"r" => Some(Operation::Read),
        b"W" | b"w" => Some(Operation::Write),
        _ => None,
    }
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// True if most of the first lines are of the format, or the first is its published header.
pub(super) fn sniff<F: RequestFormat>(beginning: &[u8]) -> bool {
    let text = without_mark(beginning);
    let mut lines: Vec<_> = text.split(|byte| matches!(byte, b'\n' | b'\r')).collect();
    // The last line may be cut off.
    if lines.len() > 1 {
        lines.pop();
    }
    let mut lines = lines.into_iter().filter(|it| !it.trim_ascii().is_empty());
    let Some(first) = lines.next() else {
        return false;
    };
    let is_row = |line: &[u8]| F::line(&mut Fields::of(line)).is_some();
    let rest: Vec<_> = lines.take(SNIFFED_LINES).collect();
    let rows = rest.iter().filter(|it| is_row(it)).count();
    let most_are_rows = 2 * rows >= rest.len();
    match is_row(first) {
        true => most_are_rows,
        // A header, or any other first line.
        false => is_published_header::<F>(first) || rows > 0 && most_are_rows,
    }
}

/// Starts to read a format.
pub(super) fn open<F: RequestFormat>(input: Input) -> Result<Box<dyn Reader>, Error> {
    Ok(LineReader::open(input, RequestLines::<F>::default()))
}

struct RequestLines<F> {
    start_ns: Option<i128>,
    format: PhantomData<fn() -> F>,
}

impl<F> Default for RequestLines<F> {
    fn default() -> Self {
        Self {
            start_ns: None,
            format: PhantomData,
        }
    }
}

impl<F: RequestFormat> LineFormat for RequestLines<F> {
    const EXPECTED: &'static str = F::EXPECTED;

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        let is_first = into.line == 1;
        let text = if is_first { without_mark(line) } else { line };
        let request = match F::line(&mut Fields::of(text)) {
            Some(RequestLine::Request(request)) => request,
            Some(RequestLine::Other(kind)) => {
                into.count(kind, line);
                return Some(());
            }
            None if is_published_header::<F>(text) => {
                into.count(&HEADER, line);
                return Some(());
            }
            None if is_first && is_header::<F>(text) => {
                into.count(&OTHER_HEADER, line);
                return Some(());
            }
            None => return None,
        };
        let start_ns = match F::HAS_EPOCH {
            true => self.start_ns.unwrap_or(request.time_ns),
            false => 0,
        };
        let time_ns = i64::try_from(request.time_ns.checked_sub(start_ns)?).ok()?;
        if self.start_ns.is_none() {
            self.start_ns = Some(start_ns);
            if let Some(kind) = F::ASSUMED {
                into.count(kind, line);
            }
        }
        if let Some(kind) = F::ASSUMED_OF_EACH {
            into.count(kind, line);
        }
        let record = Record {
            time_ns,
            duration_ns: request.duration_ns.unwrap_or(0),
            offset: request.offset,
            size: request.size,
            process: into.processes.intern(&request.process),
            file: into.files.intern(&request.volume),
            operation: request.operation,
            flags: Flags::NO_DURATION.when(request.duration_ns.is_none()),
            other: Record::NO_FILE,
        };
        into.put(record);
        Some(())
    }
}
