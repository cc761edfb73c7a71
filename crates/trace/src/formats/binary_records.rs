//! Binary traces whose records have one length.

use std::io::{self, Read};

use super::collected::Collected;
use crate::{Error, Input, Kind, Names, Reader, Record, Skipped};

static TRUNCATED: Kind = Kind::not_understood("truncated last record");
static NOT_A_RECORD: Kind = Kind::not_understood("record that is not of the format");

/// Records to look at before a file without any record of the format is refused.
const PATIENCE: u64 = 1000;
/// The longest record of a format, in bytes.
const LONGEST: usize = 64;

/// A format of such records.
pub(super) trait RecordFormat: Send + 'static {
    /// Description of the file, for messages.
    const EXPECTED: &'static str;

    /// Bytes of a record, up to [`LONGEST`].
    fn length(&self) -> usize;

    /// Takes in a record; none if it is not understood.
    fn record(&mut self, bytes: &[u8], into: &mut Collected) -> Option<()>;
}

/// The little-endian number in up to 8 bytes from a position.
pub(super) fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at + length).unwrap_or_default();
    field
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Reads such a format.
pub(super) struct RecordReader<F> {
    name: String,
    input: io::BufReader<Box<dyn Read + Send>>,
    format: F,
    collected: Collected,
    /// Records read.
    number: u64,
    /// True once a record was understood.
    has_started: bool,
    at_end: bool,
}

impl<F: RecordFormat> RecordReader<F> {
    pub(super) fn open(input: Input, format: F) -> Box<dyn Reader> {
        Box::new(Self {
            name: input.name,
            input: io::BufReader::with_capacity(256 << 10, input.bytes),
            format,
            collected: Collected::default(),
            number: 0,
            has_started: false,
            at_end: false,
        })
    }

    fn wrong(&self, found: String) -> Error {
        Error::File {
            file: self.name.clone(),
            found,
            expected: F::EXPECTED.into(),
        }
    }

    /// Reads up to a record's length; fewer bytes at the end only.
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
        Ok(done)
    }

    fn advance(&mut self) -> Result<(), Error> {
        let mut space = [0; LONGEST];
        let length = self.format.length().min(LONGEST);
        let bytes = &mut space[..length];
        let read = self.fill(bytes)?;
        if read == 0 {
            return self.finish();
        }
        self.number += 1;
        self.collected.line = self.number;
        if read < length {
            self.collected.count(&TRUNCATED, b"");
            return self.finish();
        }
        match self.format.record(bytes, &mut self.collected) {
            Some(()) => self.has_started = true,
            None => self.collected.count(&NOT_A_RECORD, b""),
        }
        if !self.has_started && self.number >= PATIENCE {
            let number = self.number;
            return Err(self.wrong(format!(
                "none of the first {number} records is of the format"
            )));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.at_end = true;
        self.collected.finish();
        match self.number {
            _ if self.has_started => Ok(()),
            0 => Err(self.wrong("is empty".into())),
            number => Err(self.wrong(format!("none of {number} records is of the format"))),
        }
    }
}

impl<F: RecordFormat> Reader for RecordReader<F> {
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
