//! The iolog of fio: read, written, and replayed by fio itself.

use std::process::Command;

use crate::common::{drain, error_of, names, open_bytes, record, recorded, written};
use headrace_trace::{Flags, Operation, Reason, Record, open};
use proptest::prelude::*;

/// Written by fio 3.33: two files, 16 KiB blocks, a sync after each four writes.
#[test]
fn a_log_of_fio_is_read() {
    let mut reader = open(&recorded("random.iolog"), None).unwrap();
    let records = drain(reader.as_mut(), 7).unwrap();
    let count = |it| {
        records
            .iter()
            .filter(|record| record.operation == it)
            .count()
    };
    assert_eq!(records.len(), 22);
    assert_eq!(count(Operation::Open), 2);
    assert_eq!(count(Operation::Close), 2);
    assert_eq!(count(Operation::Read), 9);
    assert_eq!(count(Operation::Write), 7);
    assert_eq!(count(Operation::Sync), 2);
    assert_eq!(reader.skipped().of("add: name of a file"), 2);
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
    let first = records[1];
    assert_eq!(
        (first.time_ns, first.offset, first.size),
        (233_000, 0, 16384)
    );
    assert_eq!(reader.files().get(first.file), Some("/data/first.0.0"));
    assert_eq!(reader.processes().get(first.process), Some("fio"));
}

#[test]
fn version_2_has_times_where_it_waits() {
    let log = "fio version 2 iolog\n/a b add\n/a b open\n/a b wait 100 0\n/a b read 4096 512\n\
               /a b wait 250 0\n/a b datasync 0 0\n/a b trim 0 4096\n/a b close\nnonsense\n/a b re";
    let mut reader = open_bytes("t", log, None).unwrap();
    let records = drain(reader.as_mut(), 9).unwrap();
    let seen: Vec<_> = records
        .iter()
        .map(|it| (it.operation, it.time_ns, it.offset, it.size, it.flags))
        .collect();
    assert_eq!(
        seen,
        [
            (Operation::Open, 0, 0, 0, Flags::NO_DURATION),
            (Operation::Read, 100_000_000, 4096, 512, Flags::NO_DURATION),
            (
                Operation::Sync,
                250_000_000,
                0,
                0,
                Flags::DATA_ONLY | Flags::NO_DURATION
            ),
            (Operation::Close, 250_000_000, 0, 0, Flags::NO_DURATION),
        ]
    );
    assert_eq!(reader.files().iter().collect::<Vec<_>>(), ["/a b"]);
    assert_eq!(reader.skipped().of("trim (discard)"), 1);
    assert_eq!(reader.skipped().of("line that is not of the format"), 1);
    assert_eq!(reader.skipped().of("truncated last line"), 1);

    let log = "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a close\n";
    let records = drain(open_bytes("t", log, None).unwrap().as_mut(), 9).unwrap();
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|it| it.flags.has(Flags::UNTIMED)));
}

#[test]
fn other_headers_are_errors() {
    let error = error_of("t", "fio version 1 iolog\n0, 0, 4096\n", None);
    assert_eq!(
        error,
        "t:1: header fio version 1 iolog: expected `fio version 3 iolog` or \
         `fio version 2 iolog` in the first line"
    );
    let error = error_of("t", "", Some("fio-iolog"));
    assert!(
        error.starts_with("t: is empty: expected `fio version 3"),
        "{error}"
    );
    let empty = open_bytes("t", "fio version 3 iolog\n", None);
    assert_eq!(drain(empty.unwrap().as_mut(), 9).unwrap(), []);
}

#[test]
fn a_log_holds_some_operations_and_the_rest_is_counted() {
    let files = names(&["/a", "/b c", "/d"]);
    let opened = |flags| Record {
        flags,
        ..record(5, Operation::Open, 0, 0, 0)
    };
    let records = [
        record(1, Operation::Stat, 0, 0, 0),
        record(2, Operation::Read, 0, 10, 3 << 30),
        Record {
            process: 1,
            duration_ns: 5,
            ..record(3, Operation::Write, 1, 0, 1)
        },
        record(4, Operation::Read, 0, 0, 0),
        record(4, Operation::Write, 0, 0, u64::MAX),
        opened(Flags::FAILED),
        opened(Flags::DIRECTORY),
        Record {
            process: 1,
            duration_ns: 5,
            time_ns: 6001,
            ..record(6, Operation::Write, 2, 0, 1)
        },
        opened(Flags::NONE),
        record(7, Operation::Close, 0, 0, 0),
        record(7, Operation::Close, 0, 0, 0),
    ];
    let (log, skipped) = written(&records, &files, &names(&["1", "2"]), "fio-iolog");
    let gib = 1_u64 << 30;
    assert_eq!(
        log,
        format!(
            "fio version 3 iolog\n2 /a add\n2 /a open\n2 /a read 10 {gib}\n\
             2 /a read {} {gib}\n2 /a read {} {gib}\n6 /d add\n6 /d open\n6 /d write 0 1\n\
             7 /a close\n",
            10 + gib,
            10 + 2 * gib
        )
    );
    let kinds: Vec<_> = skipped
        .kinds()
        .iter()
        .map(|it| (it.kind.name, it.count))
        .collect();
    assert_eq!(
        kinds,
        [
            ("operation that an iolog cannot hold", 1),
            ("file used before it is opened: opened then", 2),
            (
                "file whose name fio could not read: a space, or over 255 bytes",
                1
            ),
            ("read or write of no bytes", 1),
            ("read or write of more than 1 TiB", 1),
            ("failed call", 1),
            ("open or close of a directory", 1),
            ("record of a further process: as of one process", 1),
            ("duration, which an iolog cannot hold", 1),
            ("time in whole units of the iolog", 1),
            (
                "open of an open file, or a close that leaves it open: fio opens a file once",
                2
            ),
        ]
    );
    assert_eq!(
        written(&[], &files, &files, "fio-iolog").0,
        "fio version 3 iolog\n"
    );
}

/// Each of three files is opened, used and closed.
fn used_files() -> impl Strategy<Value = Vec<Record>> {
    let uses = (
        0..3_u32,
        0..3_u8,
        any::<u32>(),
        1..1_000_000_u64,
        0..5000_i64,
    );
    proptest::collection::vec(uses, 0..40).prop_map(|uses| {
        let mut records: Vec<_> = (0..3)
            .map(|it| record(0, Operation::Open, it, 0, 0))
            .collect();
        let mut time_ms = 0;
        for (file, kind, offset, size, step) in uses {
            time_ms += step;
            let time_us = time_ms * 1000;
            records.push(match kind {
                0 => record(time_us, Operation::Read, file, offset.into(), size),
                1 => record(time_us, Operation::Write, file, offset.into(), size),
                _ => Record {
                    flags: Flags::DATA_ONLY.when(size % 2 == 0),
                    ..record(time_us, Operation::Sync, file, 0, 0)
                },
            });
        }
        records.extend((0..3).map(|it| record(time_ms * 1000, Operation::Close, it, 0, 0)));
        records
    })
}

proptest! {
    #[test]
    fn records_come_back(records in used_files(), version_2 in any::<bool>()) {
        let files = names(&["/a", "/b", "/c"]);
        let format = if version_2 { "fio-iolog-2" } else { "fio-iolog" };
        let (log, skipped) = written(&records, &files, &names(&["1", "2"]), format);
        prop_assert_eq!(skipped.total(Reason::LeftOut), 0);
        prop_assert_eq!(skipped.total(Reason::Assumed), 0);
        let mut reader = open_bytes("t", log, None).unwrap();
        let mut read = drain(reader.as_mut(), 9).unwrap();
        let untimed = records.iter().all(|it| it.time_ns == 0) && version_2;
        for record in &mut read {
            prop_assert_eq!(record.flags.has(Flags::UNTIMED), untimed);
            prop_assert!(record.flags.has(Flags::NO_DURATION));
            let of_format = Flags::UNTIMED.bits() | Flags::NO_DURATION.bits();
            record.flags = Flags::from_bits(record.flags.bits() & !of_format).unwrap();
        }
        prop_assert_eq!(read, records);
    }
}

/// fio replays each written version: all requests, with their sizes.
#[test]
fn fio_accepts_what_is_written() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("fio is not installed");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (data, other) = (path("data"), path("other"));
    std::fs::write(&data, vec![0; 1 << 20]).unwrap();
    std::fs::write(&other, vec![0; 1 << 20]).unwrap();
    let files = names(&[&data, &other]);
    let records = [
        record(0, Operation::Open, 0, 0, 0),
        record(100, Operation::Write, 0, 4096, 8192),
        record(1500, Operation::Sync, 0, 0, 0),
        record(2000, Operation::Read, 1, 0, 1000),
        record(2500, Operation::Read, 1, 1000, 1000),
        record(3000, Operation::Close, 0, 0, 0),
    ];
    for format in ["fio-iolog", "fio-iolog-2"] {
        let log = path(format);
        std::fs::write(
            &log,
            written(&records, &files, &names(&["1", "2"]), format).0,
        )
        .unwrap();
        let run = Command::new("fio")
            .current_dir(directory.path())
            .args(["--name=replay", "--ioengine=psync", "--output-format=json"])
            .arg(format!("--read_iolog={log}"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && errors.is_empty(), "{text} {errors}");
        let result: serde_json::Value = serde_json::from_str(&text).unwrap();
        let job = &result["jobs"][0];
        assert_eq!(job["error"], 0, "{text}");
        let total = |kind: &str| {
            (
                job[kind]["total_ios"].as_u64(),
                job[kind]["io_bytes"].as_u64(),
            )
        };
        assert_eq!(total("read"), (Some(2), Some(2000)), "{format} {text}");
        assert_eq!(total("write"), (Some(1), Some(8192)), "{format}");
    }
}
