//! Code shared by the tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use headrace_trace::{Error, Input, Names, Output, Reader, Record, Skipped, create_in, open_input};

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

/// A table of these names.
pub fn names(list: &[&str]) -> Names {
    let mut names = Names::new();
    for name in list {
        names.intern(name);
    }
    names
}

/// Bytes that a writer leaves.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a format's writer makes of records, and what it counts.
pub fn written(
    records: &[Record],
    files: &Names,
    processes: &Names,
    format: &str,
) -> (String, Skipped) {
    let shared = Shared::default();
    let output = Output {
        name: "out".into(),
        bytes: Box::new(shared.clone()),
    };
    let mut writer = create_in(output, format).unwrap();
    for batch in records.chunks(3) {
        // Each batch may have numbers of its own.
        let (mut own_files, mut own_processes) = (Names::new(), Names::new());
        let mut intern = |record: &Record| Record {
            file: own_files.intern(files.get(record.file).unwrap()),
            process: own_processes.intern(processes.get(record.process).unwrap()),
            ..*record
        };
        let batch: Vec<_> = batch.iter().map(&mut intern).collect();
        writer.write(&batch, &own_files, &own_processes).unwrap();
    }
    writer.finish().unwrap();
    let skipped = writer.skipped().clone();
    drop(writer);
    let bytes = shared.0.lock().unwrap().clone();
    (String::from_utf8(bytes).unwrap(), skipped)
}
