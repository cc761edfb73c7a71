//! Readers of traces: any input is read or refused, and its records can be summarised and written.
#![cfg_attr(fuzzing, no_main)]

use std::io::{Cursor, sink};

use headrace_trace::{
    Error, FORMATS, Input, Output, Reader, Record, Summarizer, create_in, open_input,
};

/// Reads an input as the format that it begins like, without and with messages between processes;
/// if it begins like none, in every format.
pub fn check(data: &[u8]) {
    match open(data, None) {
        Ok(reader) => {
            read(reader);
            if let Ok(mut reader) = open(data, None) {
                reader.keep_messages();
                read(reader);
            }
        }
        Err(_) => FORMATS
            .iter()
            .filter_map(|format| open(data, Some(format.name)).ok())
            .for_each(read),
    }
}

fn open(data: &[u8], format: Option<&str>) -> Result<Box<dyn Reader>, Error> {
    let bytes = Box::new(Cursor::new(data.to_vec()));
    open_input(
        Input {
            name: "fuzz".to_owned(),
            bytes,
        },
        format,
    )
}

fn read(mut reader: Box<dyn Reader>) {
    let mut records = Vec::new();
    while matches!(reader.next_batch(1000, &mut records), Ok(count) if count > 0) {}
    let mut summarizer = Summarizer::default();
    for record in &records {
        assert!(reader.files().get(record.file).is_some());
        assert!(reader.processes().get(record.process).is_some());
        assert!(record.duration_ns >= 0);
        summarizer.add(record);
    }
    let _ = summarizer.finish(reader.files());
    for format in FORMATS.iter().filter(|it| it.create.is_some()) {
        write(&records, reader.as_ref(), format.name);
    }
}

/// Writes the records; a format may refuse some.
fn write(records: &[Record], reader: &dyn Reader, format: &str) {
    let output = Output {
        name: "fuzz".to_owned(),
        bytes: Box::new(sink()),
    };
    let mut writer = create_in(output, format).expect("a format that is written");
    if writer
        .write(records, reader.files(), reader.processes())
        .is_ok()
    {
        writer.finish().expect("nothing refuses the bytes");
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
