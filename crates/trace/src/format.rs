use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::source::{self, Stop};
use crate::{Error, FORMATS, Flags, Names, Record, Skipped};

/// Reads a trace's records in batches.
pub trait Reader: Send {
    /// Appends up to `max` records to `into` and tells how many; 0 at the end
    /// (or if `max` is 0).
    ///
    /// # Errors
    /// If the input cannot be read or is invalid. Reading on after an error
    /// gives no further records of use.
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error>;

    /// The names of the files met so far; a record's `file` is a number in it.
    fn files(&self) -> &Names;

    /// The names of the processes met so far.
    fn processes(&self) -> &Names;

    /// Returns the records skipped and the assumptions made so far.
    fn skipped(&self) -> &Skipped;

    /// Gives from now on also records of [`Group::Process`](crate::Group::Process), which a format
    /// may leave out otherwise. To be called before the first batch.
    fn keep_messages(&mut self) {}
}

/// Writes records as a trace.
pub trait Writer: Send {
    /// Appends records, whose numbers refer to `files` and `processes`.
    ///
    /// # Errors
    /// If the system refuses, or a record's number has no name.
    fn write(&mut self, records: &[Record], files: &Names, processes: &Names) -> Result<(), Error>;

    /// Writes out buffered records. Without this call the end may be lost.
    ///
    /// # Errors
    /// If the system refuses.
    fn finish(&mut self) -> Result<(), Error>;

    /// The records that the format could not hold, and the values that it lacks; lines are
    /// numbers of records. The native format holds all.
    fn skipped(&self) -> &Skipped {
        Skipped::none()
    }
}

/// Source of a trace.
pub struct Input {
    /// The name that messages give it: for a file, its path.
    pub name: String,
    /// Its bytes.
    pub bytes: Box<dyn Read + Send>,
}

/// Destination of a trace.
pub struct Output {
    /// The name that messages give it: for a file, its path.
    pub name: String,
    /// Takes its bytes.
    pub bytes: Box<dyn Write + Send>,
}

/// Starts to read a trace.
pub type Open = fn(Input) -> Result<Box<dyn Reader>, Error>;

/// Starts to write a trace.
pub type Create = fn(Output) -> Result<Box<dyn Writer>, Error>;

/// Level of the I/O stack at which requests are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Calls of programs on files.
    File,
    /// Requests to a block device, below the page cache: reads and writes are
    /// [direct](Flags::DIRECT).
    Block,
}

/// A trace format.
#[derive(Debug)]
pub struct Format {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// Short description.
    pub description: &'static str,
    /// The ends of file names that suggest it, without the dot.
    pub extensions: &'static [&'static str],
    /// Level of the I/O stack at which its requests were recorded.
    pub level: Level,
    /// True if the beginning of a file (up to 64 KiB) looks like it.
    pub sniff: fn(&[u8]) -> bool,
    /// Starts to read.
    pub open: Open,
    /// Starts to write; none for a format that is only read.
    pub create: Option<Create>,
}

const SNIFFED: u64 = 64 << 10;

/// Opens a trace file; without a `format`, by its content, else by its
/// extension. It may be compressed with gzip.
///
/// # Errors
/// If the file cannot be opened, the format is unknown, or the beginning is
/// not what the format requires.
pub fn open(path: &Path, format: Option<&str>) -> Result<Box<dyn Reader>, Error> {
    open_input(source::open_file(path)?, format)
}

/// Opens a trace that is read once: a file, a pipe, or, under the name `-`,
/// standard input. Reading ends once `stop` returns true.
///
/// # Errors
/// As for [`open`].
pub fn open_stream(
    path: &Path,
    format: Option<&str>,
    stop: Stop,
) -> Result<Box<dyn Reader>, Error> {
    open_input(source::open_stream(path, stop)?, format)
}

/// Opens a trace from any source of bytes; its name's extension counts.
///
/// # Errors
/// As for [`open`].
pub fn open_input(input: Input, format: Option<&str>) -> Result<Box<dyn Reader>, Error> {
    let Input { name, mut bytes } = input;
    let beginning = source::read_beginning(&mut bytes, &name, SNIFFED)?;
    let input = Input { name, bytes };
    let (input, beginning) = source::decompressed(input, beginning, SNIFFED)?;
    let Input { name, bytes } = input;
    let format = match format {
        Some(format) => named(format)?,
        None if beginning.is_empty() => {
            return Err(Error::File {
                file: name,
                found: "is empty".into(),
                expected: known(),
            });
        }
        None => FORMATS
            .iter()
            .find(|it| (it.sniff)(&beginning))
            .or_else(|| by_extension(Path::new(&name)))
            .ok_or_else(|| Error::File {
                file: name.clone(),
                found: "is in no known trace format".into(),
                expected: known(),
            })?,
    };
    let bytes = Box::new(io::Cursor::new(beginning).chain(bytes));
    let reader = (format.open)(Input { name, bytes })?;
    Ok(match format.level {
        Level::File => reader,
        Level::Block => Box::new(BlockReader(reader)),
    })
}

/// A reader of a format of [`Level::Block`].
struct BlockReader(Box<dyn Reader>);

impl Reader for BlockReader {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        let before = into.len();
        let read = self.0.next_batch(max, into)?;
        for record in &mut into[before..] {
            record.flags |= Flags::DIRECT.when(record.operation.carries_bytes());
        }
        Ok(read)
    }

    fn files(&self) -> &Names {
        self.0.files()
    }

    fn processes(&self) -> &Names {
        self.0.processes()
    }

    fn skipped(&self) -> &Skipped {
        self.0.skipped()
    }
}

/// Creates a trace file; without a `format`, by its extension.
///
/// # Errors
/// If the file cannot be created, or the format is unknown or only read.
pub fn create(path: &Path, format: Option<&str>) -> Result<Box<dyn Writer>, Error> {
    create_at(path, path, format)
}

/// As [`create`], where the file is open by another name (`at`) until it is whole.
///
/// # Errors
/// As [`create`].
pub fn create_at(path: &Path, at: &Path, format: Option<&str>) -> Result<Box<dyn Writer>, Error> {
    let name = path.display().to_string();
    let format = match format {
        Some(format) => named(format)?,
        None => by_extension(path).ok_or_else(|| Error::File {
            file: name.clone(),
            found: "has an extension of no known trace format".into(),
            expected: written(),
        })?,
    };
    // Refuse before an existing file is emptied.
    let Some(create) = format.create else {
        return Err(only_read(format));
    };
    let file = File::create(at).map_err(|source| Error::System {
        file: name.clone(),
        source,
    })?;
    create(Output {
        name,
        bytes: Box::new(file),
    })
}

/// Writes a trace to any taker of bytes.
///
/// # Errors
/// If the format is unknown or only read.
pub fn create_in(output: Output, format: &str) -> Result<Box<dyn Writer>, Error> {
    let format = named(format)?;
    let Some(create) = format.create else {
        return Err(only_read(format));
    };
    create(output)
}

fn only_read(format: &Format) -> Error {
    Error::Value {
        name: "format",
        found: format!("\"{}\", which is only read", format.name),
        expected: written(),
    }
}

fn named(name: &str) -> Result<&'static Format, Error> {
    FORMATS
        .iter()
        .copied()
        .find(|it| it.name == name)
        .ok_or_else(|| Error::Value {
            name: "format",
            found: format!("\"{name}\""),
            expected: known(),
        })
}

fn by_extension(path: &Path) -> Option<&'static &'static Format> {
    let mut path = path.to_path_buf();
    if path.extension().is_some_and(|it| it == "gz") {
        path.set_extension("");
    }
    let extension = path.extension()?.to_str()?;
    FORMATS.iter().find(|it| it.extensions.contains(&extension))
}

fn known() -> String {
    list(|_| true)
}

fn written() -> String {
    list(|it| it.create.is_some())
}

fn list(which: impl Fn(&Format) -> bool) -> String {
    let formats: Vec<_> = FORMATS
        .iter()
        .filter(|it| which(it))
        .map(|it| format!("{} ({})", it.name, it.description))
        .collect();
    formats.join(" or ")
}
