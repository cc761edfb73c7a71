//! The native format as text: comma-separated values after RFC 4180.
//!
//! Times and durations are seconds with nine digits after the point, so that
//! nothing is lost. A duration that the trace does not tell is empty. Processes and files are names, quoted where needed.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use csv::{ByteRecord, ReaderBuilder, WriterBuilder};

use crate::{
    Error, Flags, Format, Input, Kind, LINE_LIMIT, Level, Names, Operation, Output, Reader, Record,
    Skipped, Writer, text,
};

const COLUMNS: [&str; 9] = [
    "time",
    "process",
    "operation",
    "file",
    "offset",
    "size",
    "duration",
    "flags",
    "other",
];
/// The columns that every trace has; older ones have no others.
const REQUIRED: usize = 7;
const HEADER: &str = "time,process,operation,file,offset,size,duration, perhaps with ,flags,other";

static TRUNCATED: Kind = Kind::not_understood("truncated last line");

pub(super) static FORMAT: Format = Format {
    name: "csv",
    description: "comma-separated values with the header time,process,operation,file,offset,size,duration",
    extensions: &["csv"],
    level: Level::File,
    sniff,
    open,
    create: Some(create),
};

/// Also true of a header that is nearly right, which gives a better error. Block traces with a
/// header have times, offsets and sizes too, and no column `operation` or `process`.
fn sniff(beginning: &[u8]) -> bool {
    let line = beginning
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    line.len() < 200
        && (contains(line, b"operation") || contains(line, b"process"))
        && COLUMNS
            .iter()
            .filter(|it| contains(line, it.as_bytes()))
            .count()
            >= 3
}

fn contains(line: &[u8], field: &[u8]) -> bool {
    line.split(|byte| *byte == b',')
        .any(|it| it.trim_ascii() == field)
}

fn open(input: Input) -> Result<Box<dyn Reader>, Error> {
    let watch = Arc::new(Watch::default());
    let guarded = Guarded {
        input: input.bytes,
        watch: Arc::clone(&watch),
    };
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(guarded);
    let mut row = ByteRecord::new();
    let read = rows.read_byte_record(&mut row);
    let mut reader = CsvReader {
        name: input.name,
        rows,
        row,
        columns: 0,
        watch,
        line: 1,
        files: Names::new(),
        processes: Names::new(),
        skipped: Skipped::default(),
    };
    match read {
        Err(error) => Err(reader.unreadable(error)),
        Ok(_) if is_header(&reader.row) => {
            reader.columns = reader.row.len();
            Ok(Box::new(reader))
        }
        Ok(found) => {
            let header = reader.row_text();
            let found = if found {
                format!("header {header}")
            } else {
                "no header".into()
            };
            Err(reader.wrong(found, format!("exactly {HEADER}")))
        }
    }
}

fn is_header(row: &ByteRecord) -> bool {
    let is = |columns: &[&str]| row.iter().eq(columns.iter().map(|it| it.as_bytes()));
    is(&COLUMNS) || is(&COLUMNS[..REQUIRED])
}

/// Bytes that the CSV library has read since the last row, and the end of that read.
#[derive(Default)]
struct Watch {
    taken: AtomicU64,
    ended_with_newline: AtomicBool,
    /// True once there is nothing more to read. The library reads on only within a row, so that a
    /// row that it gives afterwards has no line break.
    at_end: AtomicBool,
}

/// Refuses to feed the CSV library a row without end: an unclosed quote would
/// make it collect the rest of the file.
struct Guarded {
    input: Box<dyn Read + Send>,
    watch: Arc<Watch>,
}

impl Read for Guarded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.watch.taken.load(Relaxed) > LINE_LIMIT as u64 {
            let problem = format!("a row of more than {LINE_LIMIT} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let count = self.input.read(into)?;
        self.watch.taken.fetch_add(count as u64, Relaxed);
        if count == 0 {
            self.watch.at_end.store(true, Relaxed);
        } else {
            self.watch
                .ended_with_newline
                .store(into[count - 1] == b'\n', Relaxed);
        }
        Ok(count)
    }
}

struct CsvReader {
    name: String,
    rows: csv::Reader<Guarded>,
    row: ByteRecord,
    columns: usize,
    watch: Arc<Watch>,
    line: u64,
    files: Names,
    processes: Names,
    skipped: Skipped,
}

impl CsvReader {
    fn wrong(&self, found: String, expected: String) -> Error {
        Error::Line {
            file: self.name.clone(),
            line: self.line,
            found,
            expected,
        }
    }

    fn unreadable(&self, error: csv::Error) -> Error {
        let message = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(source) if source.kind() == io::ErrorKind::InvalidData => self
                .wrong(
                    source.to_string(),
                    "rows of as many values as the header has, quotes closed".into(),
                ),
            csv::ErrorKind::Io(source) => Error::System {
                file: self.name.clone(),
                source,
            },
            _ => self.wrong(message, "rows of as many values as the header has".into()),
        }
    }

    fn row_text(&self) -> String {
        let bytes = self.row.iter().collect::<Vec<_>>().join(&b","[..]);
        text(&bytes[..bytes.len().min(Skipped::EXAMPLE_LENGTH)]).into_owned()
    }

    fn record(&mut self) -> Result<Record, Error> {
        let fields = self.row.len();
        if fields != self.columns {
            return Err(self.wrong(
                format!("{fields} values"),
                format!(
                    "{}, {} values",
                    COLUMNS[..self.columns].join(","),
                    self.columns
                ),
            ));
        }
        let time_ns = self.parse(0, "seconds such as 0.000125000", nanoseconds)?;
        let operation = self.parse(2, &format!("one of {}", Operation::names()), operation)?;
        let offset = self.parse(4, "a number of bytes such as 4096", whole)?;
        let size = self.parse(5, "a number of bytes such as 4096", whole)?;
        // Empty where the trace does not tell it.
        let duration = |field: &[u8]| match field {
            b"" => Some(None),
            field => nanoseconds(field).filter(|it| *it >= 0).map(Some),
        };
        let expected = "seconds such as 0.000125000, not negative, or nothing";
        let duration_ns = self.parse(6, expected, duration)?;
        let process = self.processes.intern(&text(&self.row[1]));
        let file = self.files.intern(&text(&self.row[3]));
        let (mut named, mut other) = (Flags::NONE, Record::NO_FILE);
        if self.columns > REQUIRED {
            let expected = format!("some of {}, with | between them", Flags::names());
            named = self.parse(7, &expected, flags)?;
            if !self.row[8].is_empty() {
                other = self.files.intern(&text(&self.row[8]));
            }
        }
        Ok(Record {
            time_ns,
            duration_ns: duration_ns.unwrap_or(0),
            offset,
            size,
            process,
            file,
            operation,
            flags: named | Flags::NO_DURATION.when(duration_ns.is_none()),
            other,
        })
    }

    fn parse<T>(
        &self,
        field: usize,
        expected: &str,
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<T, Error> {
        let bytes = &self.row[field];
        parse(bytes).ok_or_else(|| {
            let shown = text(&bytes[..bytes.len().min(80)]).into_owned();
            self.wrong(format!("{} = \"{shown}\"", COLUMNS[field]), expected.into())
        })
    }
}

impl Reader for CsvReader {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        for done in 0..max {
            self.watch.taken.store(0, Relaxed);
            let more = self.rows.read_byte_record(&mut self.row);
            self.line = self.row.position().map_or(self.line, csv::Position::line);
            if !more.map_err(|error| self.unreadable(error))? {
                return Ok(done);
            }
            let has_line_break = !self.watch.at_end.load(Relaxed);
            if !has_line_break && !self.watch.ended_with_newline.load(Relaxed) {
                let row = self.row_text();
                self.skipped.count(&TRUNCATED, self.line, row.as_bytes());
                return Ok(done);
            }
            let record = self.record()?;
            if !has_line_break {
                return Err(self.wrong(
                    "a quote that is not closed".into(),
                    "rows of as many values as the header has, quotes closed".into(),
                ));
            }
            into.push(record);
        }
        Ok(max)
    }

    fn files(&self) -> &Names {
        &self.files
    }

    fn processes(&self) -> &Names {
        &self.processes
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

fn operation(field: &[u8]) -> Option<Operation> {
    Operation::from_name(std::str::from_utf8(field).ok()?)
}

fn flags(field: &[u8]) -> Option<Flags> {
    Flags::from_text(std::str::from_utf8(field).ok()?)
}

fn whole(field: &[u8]) -> Option<u64> {
    // Not parse(), which takes a plus sign.
    if !field.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Decimal seconds with up to nine digits after the point, exactly.
fn nanoseconds(field: &[u8]) -> Option<i64> {
    let (negative, field) = match field.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, field),
    };
    let mut parts = field.splitn(2, |byte| *byte == b'.');
    let (seconds, fraction) = (parts.next()?, parts.next().unwrap_or(b"0"));
    if seconds.is_empty() || fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let scale = 10_i64.checked_pow(9 - u32::try_from(fraction.len()).ok()?)?;
    let fraction = i64::try_from(whole(fraction)?).ok()?.checked_mul(scale)?;
    let seconds = i64::try_from(whole(seconds)?)
        .ok()?
        .checked_mul(1_000_000_000)?;
    let value = seconds.checked_add(fraction)?;
    Some(if negative { -value } else { value })
}

struct CsvWriter {
    name: String,
    rows: csv::Writer<Box<dyn io::Write + Send>>,
}

fn create(output: Output) -> Result<Box<dyn Writer>, Error> {
    let rows = WriterBuilder::new().from_writer(output.bytes);
    let mut writer = CsvWriter {
        name: output.name,
        rows,
    };
    writer.row(COLUMNS)?;
    Ok(Box::new(writer))
}

impl CsvWriter {
    fn row<'a>(&mut self, fields: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        let written = self.rows.write_record(fields);
        written.map_err(|error| {
            let text = error.to_string();
            self.refused(match error.into_kind() {
                // With the system's number, which a conversion would lose.
                csv::ErrorKind::Io(source) => source,
                _ => io::Error::other(text),
            })
        })
    }

    fn refused(&self, source: io::Error) -> Error {
        Error::System {
            file: self.name.clone(),
            source,
        }
    }
}

fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let size = nanoseconds.unsigned_abs();
    format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000)
}

impl Writer for CsvWriter {
    fn write(&mut self, records: &[Record], files: &Names, processes: &Names) -> Result<(), Error> {
        for record in records {
            self.row([
                seconds(record.time_ns).as_str(),
                super::named(processes, record.process, "process")?,
                record.operation.name(),
                super::named(files, record.file, "file")?,
                &record.offset.to_string(),
                &record.size.to_string(),
                &match record.flags.has(Flags::NO_DURATION) {
                    true => String::new(),
                    false => seconds(record.duration_ns),
                },
                &record.flags.text(),
                match record.other {
                    Record::NO_FILE => "",
                    other => super::named(files, other, "other")?,
                },
            ])?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.rows.flush().map_err(|source| self.refused(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        let cases = [
            0,
            1,
            999_999_999,
            1_000_000_000,
            1_795_297_771_218_484_000,
            -1,
            i64::MAX,
        ];
        for value in cases {
            assert_eq!(
                nanoseconds(seconds(value).as_bytes()),
                Some(value),
                "{value}"
            );
        }
        assert_eq!(nanoseconds(b"12"), Some(12_000_000_000));
        assert_eq!(nanoseconds(b"0.5"), Some(500_000_000));
        for wrong in [
            "",
            ".5",
            "1.",
            "1.0000000001",
            "1e3",
            "+1",
            "--1",
            "9223372037",
            "nan",
        ] {
            assert_eq!(nanoseconds(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
