//! Whatever the bytes, a reader neither panics nor runs on, and what it gives
//! does not depend on how it is asked.

mod common;

use std::sync::LazyLock;

use common::{drain, open_bytes, recorded};
use headrace_trace::{FORMATS, Summarizer};
use proptest::prelude::*;

static TRACES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut traces: Vec<_> = ["tar.strace", "build.strace"]
        .map(|it| std::fs::read(recorded(it)).unwrap())
        .into();
    let rows = (0..300).map(|it| format!("0.{it},p{},read,\"/f,{it}\",{it},1,0.1\n", it % 7));
    let header = "time,process,operation,file,offset,size,duration\n".to_string();
    traces.push(
        header
            .into_bytes()
            .into_iter()
            .chain(rows.flat_map(String::into_bytes))
            .collect(),
    );
    traces
});

/// Reads bytes in every format; gives what came of it.
fn read(bytes: &[u8], format: Option<&str>, batch: usize) -> String {
    let mut reader = match open_bytes("t", bytes, format) {
        Ok(reader) => reader,
        Err(error) => return error.to_string(),
    };
    let end = drain(reader.as_mut(), batch);
    let mut summarizer = Summarizer::default();
    if let Ok(records) = &end {
        for record in records {
            assert!(reader.files().get(record.file).is_some());
            assert!(reader.processes().get(record.process).is_some());
            assert!(record.duration_ns >= 0);
            summarizer.add(record);
        }
    }
    let summary = summarizer.finish(reader.files());
    format!("{end:?} {summary:?} {:?}", reader.skipped())
}

fn read_in_all_ways(bytes: &[u8]) {
    for format in FORMATS.iter().map(|it| Some(it.name)).chain([None]) {
        let one = read(bytes, format, 1);
        assert!(!one.is_empty());
        assert!(
            one == read(bytes, format, 1000),
            "batches of another size give other records"
        );
    }
}

/// A change to a trace, at places that are fractions of its length.
#[derive(Clone, Debug)]
enum Change {
    Replace(f64, u8),
    Remove(f64, usize),
    Insert(f64, Vec<u8>),
    Copy(f64, f64, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let pieces = proptest::sample::select(vec![
        "\n",
        "<",
        ">",
        "\"",
        "\\",
        "(",
        ")",
        "[",
        "{",
        ",",
        " = ",
        "-1",
        "0x",
        "AT_FDCWD",
        "...",
        " <unfinished ...>\n",
        "<... read resumed>",
        "+++ ",
        "--- ",
        "NULL",
        "/*",
        "\0",
        "\u{fc}",
        "18446744073709551615",
        "2147483648",
        "[pid  7] ",
        "strace: Process 8 attached\n",
        "CLONE_FILES|CLONE_THREAD",
        "+++ superseded by execve in pid 24153 +++\n",
        "fork( ",
        "9 1.0 vfork( <unfinished ...>\n",
    ]);
    prop_oneof![
        (0.0..1.0, any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (0.0..1.0, 1..200_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (0.0..1.0, pieces).prop_map(|(at, it)| Change::Insert(at, it.as_bytes().to_vec())),
        (0.0..1.0, 0.0..1.0, 1..2000_usize).prop_map(|(to, from, it)| Change::Copy(to, from, it)),
    ]
}

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    let place = |fraction: f64, bytes: &Vec<u8>| (fraction * bytes.len() as f64) as usize;
    match change {
        Change::Replace(at, byte) => {
            let at = place(*at, bytes);
            if let Some(slot) = bytes.get_mut(at) {
                *slot = *byte;
            }
        }
        Change::Remove(at, count) => {
            let at = place(*at, bytes);
            bytes.drain(at..(at + count).min(bytes.len()));
        }
        Change::Insert(at, piece) => {
            let at = place(*at, bytes);
            bytes.splice(at..at, piece.iter().copied());
        }
        Change::Copy(to, from, count) => {
            let (to, from) = (place(*to, bytes), place(*from, bytes));
            let piece = bytes[from..(from + count).min(bytes.len())].to_vec();
            bytes.splice(to..to, piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        read_in_all_ways(&bytes);
    }

    /// Bytes that are likelier to mean something to a parser.
    #[test]
    fn any_text_of_traces(text in r#"([0-9]{1,3} 1\.[0-9]{1,10} (open|read|close|dup2|lseek|fork|clone3|\+\+\+|<\.\.\. read resumed>)\(?[0-9</>"\\,\[\]{} =?a-f-]{0,40}\n?){0,30}"#) {
        read_in_all_ways(text.as_bytes());
    }

    #[test]
    fn changed_traces(
        which in 0..3_usize,
        start in 0.0..0.9,
        changes in proptest::collection::vec(change(), 1..40),
    ) {
        let trace = &TRACES[which];
        let start = (start * trace.len() as f64) as usize;
        let mut bytes = trace[start..(start + 20_000).min(trace.len())].to_vec();
        for change in &changes {
            apply(change, &mut bytes);
        }
        read_in_all_ways(&bytes);
    }
}
