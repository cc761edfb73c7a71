//! For any bytes, a reader neither panics nor runs on, and its records do not
//! depend on the sizes of its batches.

use std::sync::LazyLock;

use crate::common::{drain, open_bytes, samples};
use headrace_trace::{FORMATS, Reason, Summarizer};
use proptest::prelude::*;

static TRACES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let rows = (0..300).map(|it| format!("0.{it},p{},read,\"/f,{it}\",{it},1,0.1\n", it % 7));
    let header = "time,process,operation,file,offset,size,duration\n".to_string();
    let mut traces = vec![header.into_bytes()];
    traces[0].extend(rows.flat_map(String::into_bytes));
    traces.push(OLD_IOLOG.repeat(50).into_bytes());
    // Repeated, so that records of many lines wait for each other.
    let repeated = |bytes: Vec<u8>| bytes.repeat((4000 / bytes.len()).clamp(1, 50));
    traces.extend(samples().into_iter().map(|(_, bytes)| repeated(bytes)));
    traces
});

/// A format that another one's name reads too.
const OLD_IOLOG: &str =
    "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a wait 100 0\n/a close\n";

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
        " ... [continued]: read()) = ",
        "( 0.010 ms): ",
        "\"fhash\":1,",
        "\"ret\":-9223372036854775808,",
        "9223372036854775807 ",
        "( ",
        " )\n",
        "\u{7}taek",
        "{\"\":[[[",
        "Summary of events:\n",
        "% time     seconds\n",
        " X  WS 8 / 12 [dd]\n",
        "REST.GET.OBJECT ",
        ",R,",
        ",0.5,",
        "-1",
        "\u{feff}",
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

/// Lines of strace, one call each: all that the reader understands.
const CALLS: [&str; 30] = [
    "openat(AT_FDCWD</d>, \"f\", O_RDWR|O_CREAT) = 3</d/f>",
    "openat(AT_FDCWD, 0x7ffce6b3a200, O_RDONLY) = 4",
    "read(3</d/f>, \"\\1\\2\"..., 4096) = 100",
    "write(3, \"x\", 1) = 1",
    "pread64(3</d/f>, \"\", 10, 50) = 0",
    "lseek(3</d/f>, 0, SEEK_END) = 100",
    "close(3</d/f>) = 0",
    "close(4) = -1 EBADF (Bad file descriptor)",
    "close_range(3, 4294967295, 0) = 0",
    "dup2(3</d/f>, 1</d/g>) = 1</d/f>",
    "fcntl(3</d/f>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_END, l_start=-1, l_len=5}) = 0",
    "fcntl(3, F_DUPFD, 5) = 5",
    "flock(3</d/f>, LOCK_UN) = 0",
    "ioctl(6</c>, BTRFS_IOC_CLONE or FICLONE, 3</d/f>) = 0",
    "io_submit(0x7f, 2, [{aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3</d/f>, aio_buf=\"\", aio_nbytes=1, aio_offset=2}, ...]) = 2",
    "io_uring_enter(4, 1, 0, 0, NULL, 8) = 1",
    "io_getevents(0x7f, 1, 1, [{data=0, obj=0x5, res=1, res2=0}], NULL) = 1",
    "socket(AF_INET, SOCK_STREAM, 0) = 3<TCP:[5]>",
    "pipe2([3<pipe:[1]>, 4<pipe:[1]>], 0) = 0",
    "mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3</d/f>, 0) = 0x7f0000000000",
    "rename(\"a\", \"/d/b\") = 0",
    "ftruncate(3</d/f>, 5) = 0",
    "newfstatat(3</d/f>, \"\", {st_mode=S_IFREG|0644, st_size=7, ...}, AT_EMPTY_PATH) = 0",
    "copy_file_range(3</d/f>, [0], 5</e>, NULL, 10, 0) = 10",
    "clone3({flags=CLONE_FILES|CLONE_FS|CLONE_THREAD}, 88) = 6",
    "vfork() = 2 /* 7 in strace's PID NS */",
    "execve(\"/bin/x\", [\"x\"], 0x1 /* 9 vars */) = 0",
    "chdir(\"/w\") = 0",
    "getpid() = 5",
    "exit_group(0) = ?",
];

/// A call under some of strace's flags.
fn line(call: usize, process: u32, number: usize, flags: u8) -> String {
    let time = match flags % 4 {
        0 => format!("16000000{:02}.000{:03} ", number % 60, number % 1000),
        1 => format!("23:59:{:02}.5 ", number % 60),
        2 => format!("     0.000{:03} ", number % 1000),
        _ => String::new(),
    };
    let process = match (flags >> 2) % 3 {
        0 => format!("{process} "),
        1 => format!("{process}<x> "),
        _ => format!("[pid {process:5}] "),
    };
    let number = if flags & 16 == 0 { "" } else { "[ 257] " };
    let pointer = if flags & 32 == 0 {
        ""
    } else {
        "[00007f0a12345678] "
    };
    let duration = if flags & 64 == 0 { "" } else { " <0.000010>" };
    format!("{process}{time}{number}{pointer}{}{duration}", CALLS[call])
}

proptest! {
    /// Each line gives a record or is counted, and what the calls do does not
    /// depend on the flags under which they are shown.
    #[test]
    fn every_line_counts_under_any_flags(
        calls in proptest::collection::vec((0..CALLS.len(), 5..8_u32), 1..60),
        flags in any::<u8>(),
    ) {
        let trace = |flags| -> String {
            let lines = calls.iter().enumerate();
            lines.map(|(at, it)| line(it.0, it.1, at, flags) + "\n").collect()
        };
        let of = |count: usize| {
            let text: String = trace(flags).lines().take(count).map(|it| format!("{it}\n")).collect();
            let mut reader = open_bytes("t", text, Some("strace")).unwrap();
            // Input of assumptions only is an error.
            let records = drain(reader.as_mut(), 9).map_or(0, |it| it.len() as u64);
            let left = [Reason::LeftOut, Reason::NotUnderstood].map(|it| reader.skipped().total(it));
            records + left.iter().sum::<u64>()
        };
        for count in 1..=calls.len() {
            prop_assert!(of(count) > if count == 1 { 0 } else { of(count - 1) }, "line {count}");
        }
        let seen = |flags| {
            let mut reader = open_bytes("t", trace(flags), Some("strace")).unwrap();
            let records = drain(reader.as_mut(), 9).unwrap_or_default();
            records
                .iter()
                .map(|it| (it.operation, it.process, it.file, it.offset, it.size))
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(seen(flags), seen(0));
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
        which in 0..TRACES.len(),
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
