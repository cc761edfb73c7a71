//! Code shared by the tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::Cursor;
use std::path::PathBuf;

use headrace_trace::{Error, Input, Reader, Record, open_input};

/// A recorded trace: see tests/data/traces/README.md.
pub fn recorded(name: &str) -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/traces"
    ))
    .join(name)
}

/// Opens bytes as a trace with this name.
pub fn open_bytes(
    name: &str,
    bytes: impl Into<Vec<u8>>,
    format: Option<&str>,
) -> Result<Box<dyn Reader>, Error> {
    let bytes = Box::new(Cursor::new(bytes.into()));
    open_input(
        Input {
            name: name.into(),
            bytes,
        },
        format,
    )
}

/// Reads all that is left.
pub fn drain(reader: &mut dyn Reader, batch: usize) -> Result<Vec<Record>, Error> {
    let mut records = Vec::new();
    while reader.next_batch(batch, &mut records)? > 0 {}
    Ok(records)
}

/// The error that opening or reading these bytes gives.
pub fn error_of(name: &str, bytes: impl Into<Vec<u8>>, format: Option<&str>) -> String {
    match open_bytes(name, bytes, format).and_then(|mut reader| drain(reader.as_mut(), 100)) {
        Ok(records) => panic!("no error, but {} records", records.len()),
        Err(error) => error.to_string(),
    }
}
