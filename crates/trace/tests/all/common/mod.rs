//! Code shared by the tests.
#![allow(dead_code, reason = "each test uses a part")]

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use headrace_trace::{
    Error, Flags, Input, Names, Operation, Output, Reader, Record, Skipped, create_in, open_input,
};

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

/// A record without duration, flags or other file, of the first process.
pub fn record(time_us: i64, operation: Operation, file: u32, offset: u64, size: u64) -> Record {
    Record {
        time_ns: time_us * 1000,
        duration_ns: 0,
        offset,
        size,
        process: 0,
        file,
        operation,
        flags: Flags::NONE,
        other: Record::NO_FILE,
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

/// The output of a format's writer for records, and its counts.
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

/// Each format, and a trace of it in a file.
const FILES: [(&str, &str); 14] = [
    ("csv", "log.csv"),
    ("fio-iolog", "random.iolog"),
    ("blktrace", "requests.blktrace"),
    ("blktrace", "requests-big-endian.blktrace"),
    ("blkparse", "requests.blkparse"),
    ("perf-trace", "attached.perf-trace"),
    ("perf-trace", "shell.perf-trace"),
    ("dftracer", "two-files.pfw"),
    ("strace", "tar.strace"),
    ("strace", "build.strace"),
    ("strace", "copy.strace"),
    ("strace", "git.strace"),
    ("strace", "sqlite.strace"),
    ("strace", "untar.strace"),
];

/// Lines of the formats without a file.
pub const LINES: [(&str, &str); 13] = [
    (
        "recorder",
        "0.001 0.002 open 0 0 ( /a 577 420 )\n0.002 0.003 write 0 0 ( /a 0x7f1 4096 )\n",
    ),
    (
        "msr",
        "128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    ),
    (
        "fiu",
        "89967404756975 4892 syslogd 904265560 8 W 6 0 531e779136c16bf5\n",
    ),
    (
        "dbench",
        "0.1 NTCreateX \"\\a\" 0x40 0x2 9 NT_STATUS_OK\n0.2 WriteX 9 0 4 4 NT_STATUS_OK\n\
         Close 9 *\n",
    ),
    (
        "pfssim",
        "0.052 3 1048576 65536 1 0 1\n0.000 3 1048576 65536 0 0 0\n",
    ),
    (
        "spc",
        "0,2048,4096,r,0.000000\n1,16,8192,W,0.250000\n0,2056,512,w,1.500000,7,note\n",
    ),
    (
        "alibaba",
        "64,W,1073741824,16384,1577808000000500\n7,R,4096,4096,1577808000000600\n\
         64,R,0,512,1577808001000500\n",
    ),
    (
        "tencent",
        "1538323200,2048,128,1,1063\n1538323200,0,8,0,1063\n1538323202,8,8,0,9\n",
    ),
    (
        "systor17",
        "Timestamp,Response,IOType,LUN,Offset,Size\n\
         1456095145.250000000,0.000800000,R,0,8192000,131072\n\
         1456095145.250500000,0.001200000,W,3,4096,4096\n\
         1456095146.000000000,,,0,0,4096\n",
    ),
    (
        "ibm-cos",
        "60000 REST.PUT.OBJECT 0123456789abcdef 8192\n\
         61500 REST.GET.OBJECT 0123456789abcdef 8192 4096 8191\n\
         61501 REST.HEAD.OBJECT fedcba9876543210 528\n\
         61502 REST.DELETE.OBJECT fedcba9876543210\n",
    ),
    (
        "systor17",
        "1456095145.250000000,0.000800000,R,0,8192000,131072\n",
    ),
    ("alibaba", "7,R,4096,4096,1577808000000600\n"),
    (
        "cloudphysics",
        "1,86400,2a,4096,2048\n1,86400,28,512,8\n1,86402,35,0,0\n1,86402,00,0,0\n",
    ),
];

/// A record of vscsiStats, version 1: command, bytes, block, microseconds.
pub fn vscsi_1(command: u16, size: u32, block: u64, time_us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    for value in [2_147_483_892, size, 1] {
        record.extend(u32::to_le_bytes(value));
    }
    record.extend(command.to_le_bytes());
    record.extend(0x0100_u16.to_le_bytes());
    record.extend(block.to_le_bytes());
    record.extend(time_us.to_le_bytes());
    record
}

/// A record of version 2, with the response time in microseconds.
pub fn vscsi_2(command: u16, size: u32, block: u64, time_us: u64, response_us: u64) -> Vec<u8> {
    let mut record = Vec::new();
    record.extend(command.to_le_bytes());
    record.extend(0x0200_u16.to_le_bytes());
    for value in [7, size, 1] {
        record.extend(u32::to_le_bytes(value));
    }
    for value in [block, time_us, response_us] {
        record.extend(value.to_le_bytes());
    }
    record
}

/// A record of oracleGeneral.
pub fn oracle_general(seconds: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
    let mut record = seconds.to_le_bytes().to_vec();
    record.extend(object.to_le_bytes());
    record.extend(size.to_le_bytes());
    record.extend(next.to_le_bytes());
    record
}

/// Each format's name and traces of it: what all formats are tested with.
pub fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let files = FILES.map(|(name, it)| (name, std::fs::read(recorded(it)).unwrap()));
    let lines = LINES.map(|(name, it)| (name, it.as_bytes().to_vec()));
    let binary = [
        (
            "vscsi",
            [
                vscsi_1(0x28, 4096, 8, 5_000_000),
                vscsi_1(0x2a, 512, 1000, 5_000_250),
                vscsi_1(0x35, 0, 0, 5_001_000),
            ]
            .concat(),
        ),
        (
            "vscsi",
            [
                vscsi_2(0x88, 4096, 8, 5_000_000, 300),
                vscsi_2(0x8a, 512, 1000, 5_000_250, 40),
                vscsi_2(0x00, 0, 0, 5_001_000, 1),
            ]
            .concat(),
        ),
        (
            "oracle-general",
            [
                oracle_general(100, 11, 4096, 3),
                oracle_general(100, 12, 512, -1),
                oracle_general(103, 11, 4096, i64::MAX),
            ]
            .concat(),
        ),
    ];
    files.into_iter().chain(lines).chain(binary).collect()
}
