//! The recorded traces, against facts known about them from elsewhere.

use crate::common::{drain, open_bytes, recorded};
use headrace_trace::{
    Columns, Flags, Operation, Output, Reason, Record, Summary, create_in, open, text,
};
use proptest::prelude::*;

fn read(name: &str) -> (Box<dyn headrace_trace::Reader>, Vec<Record>) {
    let mut reader = open(&recorded(name), None).unwrap();
    let records = drain(reader.as_mut(), 1000).unwrap();
    (reader, records)
}

fn totals(records: &[Record], operation: Operation) -> (usize, u64) {
    let of_it = records.iter().filter(|it| it.operation == operation);
    (of_it.clone().count(), of_it.map(|it| it.size).sum())
}

/// The sums are of another, simpler program over the same lines; the archive's
/// length and the sources' are the file system's.
#[test]
fn tar_moves_what_it_is_known_to_move() {
    let (reader, records) = read("tar.strace");
    assert_eq!(totals(&records, Operation::Read), (76, 152_770));
    assert_eq!(totals(&records, Operation::Write), (19, 194_560));
    assert!(records.is_sorted_by_key(|it| it.time_ns));
    let archive = reader.files().number("/out/sources.tar").unwrap();
    let mut end = 0;
    for write in records.iter().filter(|it| it.operation == Operation::Write) {
        assert_eq!((write.file, write.offset), (archive, end));
        end = write.end();
    }
    assert_eq!(end, 194_560);
    let of_sources: u64 = records
        .iter()
        .filter(|it| it.operation == Operation::Read)
        .filter(|it| reader.files().get(it.file).unwrap().starts_with("/src/"))
        .map(|it| it.size)
        .sum();
    assert_eq!(of_sources, 145_521);
    assert_eq!(reader.skipped().of("mmap"), 17);
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
    assert_eq!(reader.skipped().total(Reason::Assumed), 0);
}

#[test]
fn build_moves_what_it_is_known_to_move() {
    let (reader, records) = read("build.strace");
    assert_eq!(totals(&records, Operation::Read), (367, 864_898));
    assert_eq!(totals(&records, Operation::Write), (61, 10_748));
    assert!(records.is_sorted_by_key(|it| it.time_ns));
    // make, three times gcc, and under these cc1, as, collect2 and ld.
    assert_eq!(reader.processes().len(), 10);
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
    assert_eq!(
        reader.skipped().total(Reason::Assumed),
        0,
        "{:?}",
        reader.skipped()
    );
}

#[test]
fn the_summary_adds_up() {
    let mut reader = open(&recorded("build.strace"), None).unwrap();
    let summary = Summary::of(reader.as_mut()).unwrap();
    let (_, records) = read("build.strace");
    assert_eq!(summary.records, records.len() as u64);
    assert_eq!(
        (summary.bytes_read, summary.bytes_written),
        (864_898, 10_748)
    );
    assert_eq!(
        summary.operations.iter().map(|it| it.count).sum::<u64>(),
        summary.records
    );
    let requests = summary.request_sizes.iter().map(|it| (it.reads, it.writes));
    let (reads, writes) = requests.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    assert_eq!((reads, writes), (367, 61));
    assert_eq!(summary.busiest_files.len(), 10);
    assert_eq!(
        summary.busiest_files[0].file,
        "/usr/lib/x86_64-linux-gnu/libc.so.6"
    );
    assert!(
        summary
            .busiest_files
            .is_sorted_by_key(|it| { std::cmp::Reverse(it.bytes_read + it.bytes_written) })
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["operations"][0]["operation"], "open");
    assert_eq!(json["operations"][0]["group"], "metadata");
}

#[test]
fn a_trace_comes_back_from_csv_and_from_columns() {
    for name in ["tar.strace", "build.strace"] {
        let (reader, records) = read(name);
        let (files, processes) = (reader.files(), reader.processes());
        let path = tempfile::NamedTempFile::new().unwrap();
        let bytes = Box::new(path.reopen().unwrap());
        let output = Output {
            name: "t.csv".into(),
            bytes,
        };
        let mut writer = create_in(output, "csv").unwrap();
        for batch in records.chunks(100) {
            writer.write(batch, files, processes).unwrap();
        }
        writer.finish().unwrap();
        drop(writer);
        let mut again = open(path.path(), None).unwrap();
        let back = drain(again.as_mut(), 77).unwrap();
        assert_eq!(back.len(), records.len());
        for (one, other) in records.iter().zip(&back) {
            assert_eq!(files.get(one.file), again.files().get(other.file));
            assert_eq!(files.get(one.other), again.files().get(other.other));
            assert_eq!(
                processes.get(one.process),
                again.processes().get(other.process)
            );
            assert_eq!(
                Record {
                    file: one.file,
                    process: one.process,
                    other: one.other,
                    ..*other
                },
                *one
            );
        }
        let columns = Columns::of(&records);
        assert_eq!(
            columns.records(files.len(), processes.len()).unwrap(),
            records
        );
    }
}

fn any_record() -> impl Strategy<Value = Record> {
    let operation = proptest::sample::select(Operation::ALL);
    let numbers = (
        any::<i64>(),
        0..i64::MAX,
        any::<u64>(),
        any::<u64>(),
        0..5_u32,
        0..5_u32,
        0..1_u16 << 14,
        prop_oneof![Just(Record::NO_FILE), 0..5_u32],
    );
    (operation, numbers).prop_map(
        |(operation, (time_ns, duration_ns, offset, size, process, file, flags, other))| {
            let time_ns = time_ns.max(-i64::MAX);
            let flags = Flags::from_bits(flags).expect("fourteen flags");
            Record {
                time_ns,
                duration_ns,
                offset,
                size,
                process,
                file,
                operation,
                flags,
                other,
            }
        },
    )
}

proptest! {
    #[test]
    fn any_record_comes_back_from_csv(
        records in proptest::collection::vec(any_record(), 0..20),
        name in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut files = headrace_trace::Names::new();
        // Quotes, commas, line ends and bytes that are no text.
        for file in [&name[..], b"", b"\"", b"a,b\r\nc", b" "] {
            files.intern(&text(file));
        }
        prop_assume!(files.len() == 5);
        let path = tempfile::NamedTempFile::new().unwrap();
        let bytes = Box::new(path.reopen().unwrap());
        let mut writer = create_in(Output { name: "t".into(), bytes }, "csv").unwrap();
        writer.write(&records, &files, &files).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let mut reader = open_bytes("t", std::fs::read(path.path()).unwrap(), None).unwrap();
        let back = drain(reader.as_mut(), 3).unwrap();
        prop_assert_eq!(back.len(), records.len());
        for (one, other) in records.iter().zip(&back) {
            prop_assert_eq!(files.get(one.file), reader.files().get(other.file));
            prop_assert_eq!(files.get(one.process), reader.processes().get(other.process));
            let named = files.get(one.other).filter(|it| !it.is_empty());
            prop_assert_eq!(named, reader.files().get(other.other));
            let known = Record { file: one.file, process: one.process, other: one.other, ..*other };
            prop_assert_eq!(known, *one);
        }
    }
}
