//! The block layer's requests: blktrace's binary files and the text of blkparse.

use crate::common::{drain, error_of, names, open_bytes, record, recorded, written};
use headrace_trace::{Flags, Operation, Reason, Record, open};
use proptest::prelude::*;

/// Time, duration, operation, offset, size, device and process of each record.
type Seen = Vec<(i64, i64, Operation, u64, u64, String, String, Flags)>;

fn seen(name: &str) -> (Seen, Vec<(&'static str, u64)>) {
    let mut reader = open(&recorded(name), None).unwrap();
    let records = drain(reader.as_mut(), 5).unwrap();
    let seen = records.iter().map(|it| {
        let file = reader.files().get(it.file).unwrap().to_string();
        let process = reader.processes().get(it.process).unwrap().to_string();
        let Record {
            time_ns,
            duration_ns,
            operation,
            offset,
            size,
            flags,
            ..
        } = *it;
        (
            time_ns,
            duration_ns,
            operation,
            offset,
            size,
            file,
            process,
            flags,
        )
    });
    let seen = seen.collect();
    let kinds = reader.skipped().kinds().iter();
    (seen, kinds.map(|it| (it.kind.name, it.count)).collect())
}

/// The text is what blkparse 1.2 makes of the binary file.
#[test]
fn text_and_binary_give_the_requests() {
    let is = |start, end, operation, sector: u64, sectors: u64, device: &str, process: &str| {
        let (device, process) = (device.to_string(), process.to_string());
        let duration = if end == 0 { 0 } else { end - start };
        let (offset, size) = (sector * 512, sectors * 512);
        (
            start,
            duration,
            operation,
            offset,
            size,
            device,
            process,
            Flags::DIRECT.when(operation != Operation::Sync),
        )
    };
    use Operation::{Read, Sync, Write};
    let mut expected = vec![
        is(2_000, 89_000, Read, 2048, 8, "8,0", "dd/697"),
        is(4_000, 249_000, Write, 8192, 16, "8,0", "dd/697"),
        is(300_000, 899_000, Sync, 0, 0, "8,0", "dd/697"),
        is(930_000, 949_000, Read, 9999, 1, "8,0", "dd/697"),
        is(969_000, 989_000, Write, 64, 2, "253,2", "dd/697"),
        is(1_989_000, 0, Read, 123, 1, "8,0", "dd/697"),
    ];
    expected[3].7 |= Flags::FAILED;
    // The one with FUA; others have S, for which a process merely waits.
    expected[4].7 |= Flags::SYNCHRONOUS;
    expected[5].7 |= Flags::NO_DURATION;
    for name in [
        "requests.blkparse",
        "requests.blktrace",
        "requests-big-endian.blktrace",
    ] {
        let (records, kinds) = seen(name);
        assert_eq!(records, expected, "{name}");
        let of = |kind| kinds.iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
        assert_eq!(of("discard"), 3, "{name}");
        assert_eq!(of("passthrough request"), 2, "{name}");
        assert_eq!(
            of("request whose completion is missing: without a duration"),
            1,
            "{name}"
        );
        assert_eq!(
            of("request without an issue (D): from its queueing (Q)"),
            1,
            "{name}"
        );
        assert_eq!(of("line that is not of the format"), 0, "{name} {kinds:?}");
        assert_eq!(
            of("line of blkparse's summary") > 0,
            name == "requests.blkparse"
        );
    }
}

/// The files of several CPUs, one behind the other: sorted.
#[test]
fn files_of_several_cpus_are_put_in_order() {
    let bytes = std::fs::read(recorded("requests.blktrace")).unwrap();
    let mut events = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let length = 48 + usize::from(u16::from_le_bytes([rest[46], rest[47]]));
        events.push(&rest[..length]);
        rest = &rest[length..];
    }
    let every = |which| {
        events
            .iter()
            .enumerate()
            .filter(move |it| it.0 % 2 == which)
    };
    let parts: Vec<u8> = [0, 1]
        .into_iter()
        .flat_map(every)
        .flat_map(|it| it.1.iter().copied())
        .collect();
    // The process's name is in the first file.
    let all = |bytes| drain(open_bytes("t", bytes, None).unwrap().as_mut(), 9).unwrap();
    assert_eq!(all(parts), all(bytes));
}

#[test]
fn damaged_binary_files_are_told() {
    let bytes = std::fs::read(recorded("requests.blktrace")).unwrap();
    let mut reader = open_bytes("t", &bytes[..bytes.len() - 5], None).unwrap();
    assert_eq!(drain(reader.as_mut(), 9).unwrap().len(), 5);
    assert_eq!(reader.skipped().of("truncated last event"), 1);
    let expected = "expected the binary files of blktrace, version 7 (see `blktrace -d`)";
    let mut other = bytes.clone();
    other[0] = 8;
    let error = error_of("t", other, None);
    assert_eq!(error, format!("t: version 8 at byte 0: {expected}"));
    let mut damaged = bytes;
    damaged[220..].fill(0xee);
    let error = error_of("t", damaged, None);
    assert!(
        error.starts_with("t: no event of blktrace at byte "),
        "{error}"
    );
    assert!(error.ends_with(expected), "{error}");
    let error = error_of("t", "", Some("blktrace"));
    assert_eq!(error, format!("t: is empty: {expected}"));
}

#[test]
fn a_trace_of_queueing_alone_gives_records() {
    let line = |time: u32, sector: u32| {
        format!("  8,16   1 {time:8}     0.00000{time:04}   697  Q   W {sector} + 8 [dd]\n")
    };
    let mut reader = open_bytes("t", line(1, 0) + &line(2, 8), None).unwrap();
    let records = drain(reader.as_mut(), 9).unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(
        (records[1].offset, records[1].size, records[1].time_ns),
        (4096, 4096, 2)
    );
    assert_eq!(reader.files().get(0), Some("8,16"));
    let error = error_of("t", "hello\n", Some("blkparse"));
    assert_eq!(
        error,
        "t: none of 1 lines is of the format: expected lines of blkparse such as \
         `8,0 3 11 0.009507758 697 D W 223490 + 8 [dd]`"
    );
}

/// Requests at different places, in the order of their starts.
fn requests() -> impl Strategy<Value = Vec<Record>> {
    let request = (
        0..4_u8,
        0..1000_i64,
        0..5000_i64,
        1..100_u64,
        0..2_u32,
        0..2_u32,
    );
    proptest::collection::vec(request, 0..40).prop_map(|requests| {
        let mut time_ns = 0;
        let records = requests.into_iter().enumerate().map(|(at, request)| {
            let (kind, step, duration_ns, sectors, file, process) = request;
            time_ns += step;
            let operation = [
                Operation::Read,
                Operation::Write,
                Operation::Write,
                Operation::Sync,
            ][usize::from(kind)];
            let is_sync = operation == Operation::Sync;
            Record {
                time_ns,
                // Flushes have no place that distinguishes them.
                duration_ns: if is_sync { 0 } else { duration_ns },
                offset: if is_sync { 0 } else { at as u64 * 1000 * 512 },
                size: if is_sync { 0 } else { sectors * 512 },
                process,
                file,
                operation,
                flags: Flags::SYNCHRONOUS.when(kind == 2)
                    | Flags::FAILED.when(sectors == 7)
                    | Flags::DIRECT.when(!is_sync),
                other: Record::NO_FILE,
            }
        });
        records.collect()
    })
}

proptest! {
    #[test]
    fn requests_come_back(records in requests()) {
        let (files, processes) = (names(&["8,0", "259,1"]), names(&["dd/7", "8"]));
        let (text, skipped) = written(&records, &files, &processes, "blkparse");
        prop_assert!(skipped.kinds().is_empty(), "{:?}", skipped);
        prop_assume!(!records.is_empty());
        let mut reader = open_bytes("t", text, None).unwrap();
        let read = drain(reader.as_mut(), 9).unwrap();
        prop_assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
        let named = |it: &Record, reader: &dyn headrace_trace::Reader| {
            let file = reader.files().get(it.file).unwrap().to_string();
            let process = reader.processes().get(it.process).unwrap().to_string();
            (Record { file: 0, process: 0, ..*it }, file, process)
        };
        let expected = records.iter().map(|it| {
            let file = files.get(it.file).unwrap().to_string();
            let process = processes.get(it.process).unwrap().to_string();
            (Record { file: 0, process: 0, ..*it }, file, process)
        });
        prop_assert_eq!(
            read.iter().map(|it| named(it, reader.as_ref())).collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_is_no_request_is_counted() {
    let files = names(&["/a", "/b"]);
    let records = [
        record(0, Operation::Open, 0, 0, 0),
        record(0, Operation::Read, 1, 100, 500),
        record(0, Operation::Write, 1, 0, 0),
        record(0, Operation::Sync, 1, 0, 0),
    ];
    let (text, skipped) = written(&records, &files, &names(&["main"]), "blkparse");
    let kinds: Vec<_> = skipped
        .kinds()
        .iter()
        .map(|it| (it.kind.name, it.count))
        .collect();
    assert_eq!(
        kinds,
        [
            ("operation that is no request of a device", 1),
            ("file that is no device: as device 0,N", 1),
            ("process without a number: its place among the processes", 2),
            ("range that is no whole number of sectors: widened", 1),
            ("read or write of no bytes", 1),
            ("sync: a flush of the device", 1),
        ]
    );
    assert_eq!(
        text,
        "  0,1    0        1     0.000000000     0  D   R 0 + 2 [main]\n  \
           0,1    0        2     0.000000000     0  C   R 0 + 2 [0]\n  \
           0,1    0        3     0.000000000     0  D  FN [main]\n  \
           0,1    0        4     0.000000000     0  C  FN 0 [0]\n"
    );
}

type Counts = Vec<(&'static str, u64)>;

/// Start, duration, offset and size of the requests, from the text of blkparse.
fn requests_of(lines: &[&str]) -> (Vec<(i64, i64, u64, u64)>, Counts) {
    let text: String = lines
        .iter()
        .enumerate()
        .map(|(at, it)| format!("  8,0    1 {:8} {it}\n", at + 1))
        .collect();
    let mut reader = open_bytes("t", text, None).unwrap();
    let records = drain(reader.as_mut(), 9).unwrap();
    let requests = records
        .iter()
        .map(|it| (it.time_ns, it.duration_ns, it.offset, it.size));
    let kinds = reader.skipped().kinds().iter();
    (
        requests.collect(),
        kinds.map(|it| (it.kind.name, it.count)).collect(),
    )
}

fn count(kinds: &[(&'static str, u64)], name: &str) -> u64 {
    kinds.iter().find(|it| it.0 == name).map_or(0, |it| it.1)
}

/// 16 sectors are issued at 1 ms, and complete as 8 at 3 ms and 8 at 6 ms. That is one request of 8
/// KiB and 5 ms.
#[test]
fn requests_that_complete_in_parts_are_whole() {
    let parts = [
        "0.000500000   697  Q   R 1000 + 16 [dd]",
        "0.001000000   697  D   R 1000 + 16 [dd]",
        "0.003000000     0  C   R 1000 + 8 [0]",
        "0.006000000     0  C   R 1008 + 8 [0]",
    ];
    let expected = [(1_000_000, 5_000_000, 512_000, 8192)];
    let (requests, kinds) = requests_of(&parts);
    assert_eq!(requests, expected);
    let before = "completion of a part of a request, before the last one";
    assert_eq!(count(&kinds, before), 1);
    let none = "completion of a request whose start is missing";
    assert_eq!(count(&kinds, none), 0);
    // The rest is issued again.
    let (requests, kinds) = requests_of(&[
        parts[0],
        parts[1],
        parts[2],
        "0.003500000     0  R   R 1008 + 8 [0]",
        "0.004000000   697  D   R 1008 + 8 [dd]",
        parts[3],
    ]);
    assert_eq!(requests, expected);
    assert_eq!(count(&kinds, none), 0);
    // The end of the trace comes before the last part.
    let (requests, kinds) = requests_of(&parts[..3]);
    assert_eq!(requests, [(1_000_000, 2_000_000, 512_000, 8192)]);
    let cut = "request of which only parts completed: as long as they took";
    assert_eq!(count(&kinds, cut), 1);
}

/// One request of 2,048 sectors is split at 1,512 and issued as two, of 512 and 1,536 sectors.
#[test]
fn split_and_merged_requests_count_once() {
    let (requests, kinds) = requests_of(&[
        "0.000000000   697  D   R 0 + 8 [dd]",
        "0.000100000     0  C   R 0 + 8 [0]",
        "0.001000000   697  Q   W 1000 + 2048 [dd]",
        "0.001100000   697  X   W 1000 / 1512 [dd]",
        "0.002000000   697  D   W 1000 + 512 [dd]",
        "0.002500000    55  D   W 1512 + 1536 [kworker]",
        "0.003000000     0  C   W 1512 + 1536 [0]",
        "0.004000000     0  C   W 1000 + 512 [0]",
    ]);
    assert_eq!(
        requests,
        [
            (0, 100_000, 0, 4096),
            (2_000_000, 2_000_000, 512_000, 262_144),
            (2_500_000, 500_000, 774_144, 786_432),
        ]
    );
    assert_eq!(
        count(
            &kinds,
            "queued request that was never issued (merged, split or remapped)"
        ),
        0
    );
    // Behind (M) and in front (F): 24 sectors from 992 on.
    let (requests, kinds) = requests_of(&[
        "0.001000000   697  Q   W 1000 + 8 [dd]",
        "0.001100000   697  Q   W 1008 + 8 [dd]",
        "0.001100000   697  M   W 1008 + 8 [dd]",
        "0.001200000   697  Q   W 992 + 8 [dd]",
        "0.001200000   697  F   W 992 + 8 [dd]",
        "0.002000000    55  D   W 992 + 24 [kworker]",
        "0.003000000     0  C   W 992 + 24 [0]",
    ]);
    assert_eq!(requests, [(2_000_000, 1_000_000, 507_904, 12_288)]);
    assert_eq!(
        count(
            &kinds,
            "queued request that was never issued (merged, split or remapped)"
        ),
        0
    );
}

proptest! {
    /// However a request completes, it has the bytes that were issued and the time to the last part.
    #[test]
    fn parts_add_up(sectors in proptest::collection::vec(1..64_u64, 1..20)) {
        let total: u64 = sectors.iter().sum();
        let mut lines = vec![format!("0.001000000   697  D   R 4000 + {total} [dd]")];
        let mut at = 4000;
        for (number, part) in sectors.iter().enumerate() {
            lines.push(format!("0.{:09}     0  C   R {at} + {part} [0]", 1_000_000 + (number + 1) * 1000));
            at += part;
        }
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let (requests, _) = requests_of(&lines);
        let expected = (1_000_000, sectors.len() as i64 * 1000, 4000 * 512, total * 512);
        prop_assert_eq!(requests, [expected]);
    }
}
