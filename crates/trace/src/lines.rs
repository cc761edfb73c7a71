use std::io::{self, Read};

use memchr::memchr;

use crate::Error;

/// The most bytes that a line, or a row of CSV, may have: 1 MiB.
///
/// More than `strace` prints for one call unless configured to print long
/// strings; small enough that a file without a newline cannot fill the memory.
pub const LINE_LIMIT: usize = 1 << 20;

const CHUNK: usize = 256 << 10;

/// Reads an input line by line, in memory bounded by [`LINE_LIMIT`].
pub(crate) struct Lines {
    name: String,
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    at_end: bool,
    /// End of a line: a newline, or a carriage return alone where the beginning of the input has no
    /// newline.
    end_of_line: u8,
}

/// One line, without its end.
pub(crate) struct Line<'a> {
    pub(crate) number: u64,
    pub(crate) bytes: &'a [u8],
    /// True if the line ended with a newline or carriage return; if not, it may be cut off.
    pub(crate) complete: bool,
    /// Bytes read ahead of the current line.
    pub(crate) ahead: &'a [u8],
}

impl Lines {
    pub(crate) fn new(name: String, input: Box<dyn Read + Send>) -> Self {
        Self {
            name,
            input,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            number: 0,
            at_end: false,
            end_of_line: b'\n',
        }
    }

    /// The trace's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of the last line given; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line, or none at the end.
    ///
    /// # Errors
    /// If the system refuses, or a line is longer than [`LINE_LIMIT`].
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Error> {
        let mut searched = 0;
        let (length, complete) = loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(found) = memchr(self.end_of_line, &waiting[searched..]) {
                break (searched + found, true);
            }
            if self.number == 0 && self.has_returns_alone() {
                self.end_of_line = b'\r';
                searched = 0;
                continue;
            }
            searched = waiting.len();
            if self.at_end {
                if searched == 0 {
                    return Ok(None);
                }
                break (searched, false);
            }
            if searched > LINE_LIMIT {
                return Err(Error::Line {
                    file: self.name.clone(),
                    line: self.number + 1,
                    found: format!("a line of more than {LINE_LIMIT} bytes"),
                    expected: "the lines of a trace".into(),
                });
            }
            self.fill()?;
        };
        self.number += 1;
        let bytes = &self.buffer[self.start..self.start + length];
        self.start += length + usize::from(complete);
        let ahead = &self.buffer[self.start..self.end];
        let without_return = bytes.strip_suffix(b"\r");
        Ok(Some(Line {
            number: self.number,
            bytes: without_return.unwrap_or(bytes),
            complete: complete || without_return.is_some(),
            ahead,
        }))
    }

    /// Returns true if the input looks like one of lines that end with carriage returns: asked
    /// where no newline has been found.
    fn has_returns_alone(&self) -> bool {
        let waiting = &self.buffer[self.start..self.end];
        self.end_of_line == b'\n'
            && (self.at_end || waiting.len() >= CHUNK / 2)
            && memchr(b'\r', waiting).is_some_and(|at| at + 1 < waiting.len())
    }

    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() - self.end < CHUNK / 2 {
            self.buffer.resize(self.buffer.len() + CHUNK, 0);
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.at_end = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::System {
                    file: self.name.clone(),
                    source,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Lines::new("x".into(), Box::new(io::Cursor::new(input.to_vec())));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.number, line.bytes.to_vec(), line.complete));
        }
        all
    }

    #[test]
    fn lines_are_cut_at_newlines_of_both_kinds() {
        let expected = [
            (1, b"one".to_vec(), true),
            (2, b"".to_vec(), true),
            (3, b"two".to_vec(), true),
            (4, b"thr".to_vec(), false),
        ];
        assert_eq!(lines(b"one\n\r\ntwo\r\nthr"), expected);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        let expected = [
            (1, b"one".to_vec(), true),
            (2, b"two".to_vec(), true),
            (3, b"three".to_vec(), false),
        ];
        assert_eq!(lines(b"one\rtwo\rthree"), expected);
        let long = b"line\r".repeat(CHUNK);
        assert_eq!(lines(&long).len(), CHUNK);
        assert_eq!(lines(b"one\r"), [(1, b"one".to_vec(), true)]);
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let mut input = vec![b'a'; 3 * CHUNK];
        input.push(b'\n');
        input.extend(vec![b'b'; LINE_LIMIT - 1]);
        input.extend(b"\nc\n");
        let lengths: Vec<_> = lines(&input).into_iter().map(|it| it.1.len()).collect();
        assert_eq!(lengths, [3 * CHUNK, LINE_LIMIT - 1, 1]);
    }

    #[test]
    fn an_endless_line_is_an_error_in_little_memory() {
        let mut lines = Lines::new("x".into(), Box::new(io::repeat(b'a')));
        let error = lines.next().err().unwrap().to_string();
        assert!(
            error.starts_with("x:1: a line of more than 1048576 bytes"),
            "{error}"
        );
        assert!(lines.buffer.len() <= LINE_LIMIT + 3 * CHUNK);
    }
}
