//! Known answers of the formats that are only read.

use crate::common::{drain, error_of, open_bytes, recorded, samples};
use headrace_trace::{FORMATS, Operation, Reader, Reason, Record, open};

/// A record in short: its time in microseconds, operation, file, offset and size.
fn short(reader: &dyn Reader, record: &Record) -> String {
    let file = reader.files().get(record.file).unwrap();
    let other = match record.other {
        Record::NO_FILE => String::new(),
        other => format!(" {}", reader.files().get(other).unwrap()),
    };
    format!(
        "{} {} {file}{other} {} {} {}",
        record.time_ns / 1000,
        record.operation.name(),
        record.offset,
        record.size,
        record.flags.text()
    )
    .trim_end()
    .to_string()
}

/// The records in short, and the counts.
fn read(name: &str, bytes: impl Into<Vec<u8>>) -> (Vec<String>, Vec<(&'static str, u64)>) {
    let mut reader = open_bytes(name, bytes, None).unwrap();
    let records = drain(reader.as_mut(), 3).unwrap();
    let short = records
        .iter()
        .map(|it| short(reader.as_ref(), it))
        .collect();
    let kinds = reader.skipped().kinds().iter();
    (short, kinds.map(|it| (it.kind.name, it.count)).collect())
}

fn read_file(name: &str) -> (Vec<String>, Vec<(&'static str, u64)>) {
    read(name, std::fs::read(recorded(name)).unwrap())
}

/// `perf trace -p` on a Python program with one descriptor opened before.
#[test]
fn perf_trace_of_an_attached_program() {
    let (records, kinds) = read_file("attached.perf-trace");
    assert_eq!(
        records,
        [
            "19715 seek /data/log 4096 0",
            "20023 read /data/log 4096 8192",
            "20076 read /data/log 5 100",
            "20099 write /data/log 20000 10",
            "20156 sync /data/log 0 0 data-only",
            "20998 truncate /data/log 100 0",
            "21615 read /data/log 12288 0",
            "21640 stat unknown file 0 0 failed|missing",
            "21702 create unknown file 0 0 write",
            "21870 write unknown file 0 100",
            "21907 close unknown file 0 0",
            "21932 rename unknown file 0 0",
            "21983 unlink unknown file 0 0",
            "22043 mkdir unknown file 0 0",
            "22139 rmdir unknown file 0 0",
            "22825 close /data/log 0 0",
        ]
    );
    let of = |name| kinds.iter().find(|it| it.0 == name).map_or(0, |it| it.1);
    assert_eq!(of("file that the trace does not name: \"unknown file\""), 8);
    assert_eq!(of("call that did not return"), 1);
    assert_eq!(of("line that is not of the format"), 0);
}

/// `perf trace -e read,write,openat,close,…` on a shell with a pipe: calls in two lines.
#[test]
fn perf_trace_of_two_programs() {
    let mut reader = open(&recorded("shell.perf-trace"), None).unwrap();
    let records = drain(reader.as_mut(), 3).unwrap();
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
    assert_eq!(
        reader
            .skipped()
            .of("beginning of a call that a later line ends"),
        1
    );
    let processes: Vec<_> = reader.processes().iter().collect();
    assert!(processes.contains(&"sh/12291") && processes.contains(&"wc/12293"));
    let long = records
        .iter()
        .find(|it| it.duration_ns == 7_910_000)
        .unwrap();
    assert_eq!(
        (long.operation, long.time_ns, long.size),
        (Operation::Read, 6_956_000, 49)
    );
    assert!(records.is_sorted_by_key(|it| it.time_ns));
}

#[test]
fn perf_trace_with_readable_paths() {
    let trace = r#"
 0.000 ( 0.005 ms): my prog/7 openat(dfd: CWD, filename: "/a, b", flags: RDWR|CREAT|TRUNC, mode: IRUGO) = 3
 0.100 ( 0.005 ms): my prog/7 write(fd: 3</a, b>, buf: 0x7f, count: 100)   = 100
 0.200 ( 0.005 ms): my prog/7 write(fd: 3</a, b>, buf: 0x7f, count: 100)   = 50
 0.300 ( 0.005 ms): other/8 read(buf: 0x7f, count: 100)   = 50
 0.400 ( 0.005 ms): my prog/7 pread64(fd: 3</a, b>, buf: 0x7f, count: 5) = 5
 0.500 ( 0.005 ms): my prog/7 rename(oldname: /a, newname: /b) = -1 ENOENT (No such file or directory)
 0.600 ( 0.005 ms): my prog/7 read(fd: 5<socket:[12]>, buf: 0x7f, count: 5) = 5
 0.700 ( 0.005 ms): my prog/7 dup2(oldfd: 3</a, b>, newfd: 1) = 1
 0.800 ( 0.005 ms): my prog/7 write(fd: 1, buf: 0x7f, count: 7) = 7
 0.850 my prog/7 sched:sched_switch(prev_comm: "x")
LOST 5 events!
 0.900 (         ): my prog/7 fsync(fd: 3</a, b>)            ...
"#;
    let (records, kinds) = read("t", trace);
    assert_eq!(
        records,
        [
            "0 create /a, b 0 0 read|write|truncate",
            "100 write /a, b 0 100",
            "200 write /a, b 100 50",
            "300 read unknown file 0 50",
            "400 read /a, b 0 5",
            "500 rename /a /b 0 0 failed|missing",
            "800 write /a, b 150 7",
        ]
    );
    assert_eq!(
        kinds,
        [
            ("file that the trace does not name: \"unknown file\"", 1),
            ("descriptor opened before the trace: offset from 0", 1),
            ("socket", 1),
            ("call that changes or queries descriptors alone", 1),
            ("event that is no call", 1),
            ("events that perf lost", 1),
            ("beginning of a call that a later line ends", 1),
            ("call whose end is missing", 1),
        ]
    );
}

/// `perf trace -S`: calls, and a summary behind them or between them.
#[test]
fn perf_trace_with_a_summary() {
    let call = |at: &str| format!(" {at} ( 0.005 ms): dd/7 fsync(fd: 3</a>)   = 0\n");
    let summary = "\n Summary of events:\n\n dd (7), 2 events, 97.7%\n\n   syscall   calls  errors\n  \
                   \x20          (msec)\n   --------- -----\n   fsync     2      0     0.005\n\n\n";
    let mixed = call("0.100") + summary + &call("0.200") + summary;
    let (records, kinds) = read("t", mixed);
    assert_eq!(records, ["100 sync /a 0 0", "200 sync /a 0 0"]);
    assert_eq!(kinds, [("line of perf's summary (-s, -S)", 12)]);
    // The traced program's own output may come first.
    let output = "f(x) = 1\n".repeat(30);
    assert_eq!(read("t", output + &call("0.100")).0, ["100 sync /a 0 0"]);
    assert_eq!(
        error_of("t", summary, None),
        "t: is a summary without calls (perf trace -s): expected the calls, which perf trace \
         prints with -S or without -s"
    );
}

#[test]
fn dftracer_with_hashes() {
    let (records, kinds) = read_file("two-files.pfw");
    assert_eq!(
        records,
        [
            "0 stat /data/in 0 0",
            "10 open /data/in 0 0 read",
            "300 read /data/in 0 800",
            "400 create /data/out 0 0 write|truncate",
            "500 write /data/out 0 4096",
            "600 write /data/out 4096 4000",
            "700 write /data/out 65536 10",
            "710 seek /data/out 8 0",
            "720 sync /data/out 0 0",
            "1900 read unknown file 0 3",
            "2100 close /data/out 0 0",
        ]
    );
    assert_eq!(
        kinds,
        [
            ("beginning or end of the list of events", 1),
            ("event that names a file, a host or a process", 3),
            ("event of the program or of DFTracer itself", 2),
            ("failed call on a descriptor", 1),
            ("number of a file that no FH event names", 1),
            ("file that the trace does not name: \"unknown file\"", 1),
            ("descriptor opened before the trace: offset from 0", 1),
            ("truncated last line", 1),
        ]
    );
}

/// Before version 1.0.6 all values are text, and the file's name is in each event.
#[test]
fn dftracer_with_names() {
    let event = |name: &str, at: u32, args: &str| {
        format!(
            " {{\"id\":\"{at}\",\"name\":\"{name}\",\"cat\":\"POSIX\",\"pid\":\"7\",\"tid\":\"8\",\
             \"ts\":\"16980803237755{at}\",\"dur\":\"141\",\"ph\":\"X\",\"args\":{{\"hostname\":\
             \"h\",\"fname\":\"/f\"{args}}}}}\n"
        )
    };
    let trace = "[\n".to_string()
        + &event("open", 10, ",\"ret\":18,\"flags\":66")
        + &event("write", 11, ",\"ret\":\"100\",\"count\":\"100\",\"fd\":18")
        + &event("close", 12, ",\"ret\":0,\"fd\":18")
        + &event("remove", 13, "")
        + "]\n";
    let mut reader = open_bytes("t", trace.clone(), None).unwrap();
    drain(reader.as_mut(), 3).unwrap();
    assert_eq!(reader.processes().get(0), Some("7/8"));
    assert_eq!(
        read("t", trace).0,
        [
            "0 create /f 0 0 read|write",
            "1 write /f 0 100",
            "2 close /f 0 0",
            "3 unlink /f 0 0",
        ]
    );
}

#[test]
fn recorder_of_version_2_3() {
    let trace = "\
0.001000 0.001500 open 0 0 ( /data/a b 577 420 )
0.002000 0.002100 write 0 0 ( /data/a b 0x7f1 4096 )
0.003000 0.003100 MPI_Barrier 0 2 ( MPI_COMM_WORLD )
0.003500 0.003600 fopen 0 0 ( /data/c r )
0.004000 0.004100 fread 0 0 ( 0x7f2 8 100 /data/c )
0.004200 0.004300 fseek 0 0 ( /data/c -100 1 )
0.004400 0.004500 fread 0 0 ( 0x7f2 1 10 /data/c )
0.005000 0.005100 pwrite64 1 0 ( /data/a b 0x7f1 512 65536 )
0.006000 0.006100 lseek 0 0 ( /data/a b 0 2 )
0.006500 0.006600 writev 0 0 ( /data/a b 300 2 )
0.007000 0.007900 fsync 0 0 ( /data/a b )
0.008000 0.008100 __xstat 0 0 ( 1 /data/a b 0x7ff )
0.008200 0.008300 rename 0 0 ( /data/c /data/d )
0.009000 0.009100 close 0 0 ( /data/a b )
0.009200 0.009300 H5Fopen 0 3 ( x )
0.009400 0.009500 unlink 0 0 ( /data/d )
";
    let (records, kinds) = read("/traces/_text/03.txt", trace);
    assert_eq!(
        records,
        [
            "1000 create /data/a b 0 0 write|truncate",
            "2000 write /data/a b 0 4096",
            "3500 open /data/c 0 0 read",
            "4000 read /data/c 0 800",
            "4200 seek /data/c 700 0",
            "4400 read /data/c 700 10",
            "5000 write /data/a b 65536 512",
            "6000 seek /data/a b 66048 0",
            "6500 write /data/a b 66048 300",
            "7000 sync /data/a b 0 0",
            "8000 stat /data/a b 0 0",
            "8200 rename /data/c /data/d 0 0",
            "9000 close /data/a b 0 0",
            "9400 unlink /data/d 0 0",
        ]
    );
    assert_eq!(
        kinds,
        [
            (
                "bytes as asked for: the trace does not report the result",
                5
            ),
            ("call of MPI, HDF5 or the program", 2),
            ("seek from the end: offset from the last known end", 1),
        ]
    );
    let mut reader = open_bytes("/traces/_text/03.txt", trace, None).unwrap();
    let records = drain(reader.as_mut(), 3).unwrap();
    assert_eq!(reader.processes().get(0), Some("rank 3"));
    assert_eq!(records[0].duration_ns, 500_000);
}

#[test]
fn recorder_before_version_2_3() {
    let trace = "0.001 0.002 5 open ( /a 0 )\n0.003 0.004 10 read ( /a 0x7f 4096 )\n\
                 0.005 0.006 0 MPI_Barrier ( MPI_COMM_WORLD )\n0.007 0.008 0 read ( /a 0x7f 4096 )\n";
    let (records, _) = read("t", trace);
    assert_eq!(
        records,
        [
            "1000 open /a 0 0 read",
            "3000 read /a 0 10",
            "7000 read /a 10 0"
        ]
    );
}

#[test]
fn dbench_load_files() {
    let trace = r#"# a comment
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client 1\mix" 0x40 0x1 9935 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client 1\mix" 0x40 0x2 9936 NT_STATUS_OK
WriteX 9936 65534 1 1 NT_STATUS_OK
ReadX 9936 0 65536 4096 NT_STATUS_OK
LockX 9936 100 10 NT_STATUS_OK
Flush 9936 NT_STATUS_OK
QUERY_FILE_INFORMATION 9936 258 NT_STATUS_OK
ReadX 77 0 1 1 NT_STATUS_OK
ReadX 9936 *%100 1 1 NT_STATUS_OK
Close 9936 NT_STATUS_OK
Close 9936 NT_STATUS_INVALID_HANDLE
Rename "\a" "\b" NT_STATUS_OK
FIND_FIRST "\a\*.txt" 260 1366 0 NT_STATUS_NO_SUCH_FILE
QUERY_FS_INFORMATION 1 NT_STATUS_OK
REPEAT 5
READ3 "/x" 0 5 0x00000000
nonsense
"#;
    let (records, kinds) = read("client.txt", trace);
    assert_eq!(
        records,
        [
            "0 mkdir /clients 0 0 untimed|no-duration",
            "0 open /clients/client 1/mix 0 0 read|write|failed|missing|untimed|no-duration",
            "0 create /clients/client 1/mix 0 0 read|write|exclusive|untimed|no-duration",
            "0 write /clients/client 1/mix 65534 1 untimed|no-duration",
            "0 read /clients/client 1/mix 0 4096 untimed|no-duration",
            "0 lock /clients/client 1/mix 100 10 untimed|no-duration",
            "0 sync /clients/client 1/mix 0 0 untimed|no-duration",
            "0 stat /clients/client 1/mix 0 0 untimed|no-duration",
            "0 close /clients/client 1/mix 0 0 untimed|no-duration",
            "0 rename /a /b 0 0 untimed|no-duration",
            "0 readdir /a 0 0 failed|missing|untimed|no-duration",
            "0 statfs / 0 0 untimed|no-duration",
        ]
    );
    assert_eq!(
        kinds,
        [
            ("comment", 1),
            ("Deltree: removal of a tree of unknown content", 1),
            ("record without a time: 0", 12),
            ("handle that no NTCreateX opened", 1),
            ("offset or length that dbench draws at random", 1),
            ("failed request on a handle", 1),
            ("request for the file system: as of \"/\"", 1),
            (
                "line that controls dbench (LOOP, REPEAT, SLEEP, RANDOMSTRING …)",
                1
            ),
            ("operation of another back end of dbench", 1),
            ("line that is not of the format", 1),
        ]
    );
    let timed = "0.000 NTCreateX \"/a\" 0x0 0x5 1 SUCCESS\n1.5 WriteX 1 0 10 10 0x00000000\n";
    assert_eq!(
        read("t", timed).0,
        [
            "0 create /a 0 0 read|write|truncate|no-duration",
            "1500000 write /a 0 10 no-duration"
        ]
    );
}

#[test]
fn pfssim_traces() {
    let trace =
        "0.052000 3 0 65536 1 0 0\n0.000000 3 65536 65536 1 0 1\n0.5 3 131072 65536 0 1 1\n";
    let (records, kinds) = read("client000trace00", trace);
    assert_eq!(
        records,
        [
            "52000 read file 3 0 65536 no-duration",
            "52000 read file 3 65536 65536 no-duration",
            "552000 write file 3 131072 65536 no-duration",
        ]
    );
    let kind = "time after a request whose duration is unknown: as if it took none";
    assert_eq!(kinds, [(kind, 2)]);
}

#[test]
fn block_traces_of_snia() {
    let trace = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                 128166372016382155,usr,1,Write,2517696512,4096,703\n";
    let (records, kinds) = read("usr_0.csv", trace);
    assert_eq!(
        records,
        [
            "0 read usr_0 7014609920 24576 direct",
            "1332052 write usr_1 2517696512 4096 direct"
        ]
    );
    assert_eq!(kinds, []);
    let mut reader = open_bytes("t", trace, None).unwrap();
    assert_eq!(drain(reader.as_mut(), 3).unwrap()[0].duration_ns, 4_128_600);
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    assert_eq!(read("t.csv", header.to_string() + trace).1, [("header", 1)]);

    let trace = "89967404756975 4892 syslogd 904265560 8 W 6 0 531e779136c16bf5a3e3a8b8d43e5f3c\n\
                 89967405756975 2559 kjournald 8 16 R 6 0 ff\n";
    let (records, kinds) = read("t", trace);
    assert_eq!(
        records,
        [
            "0 write 6,0 462983966720 4096 direct|no-duration",
            "1000 read 6,0 4096 8192 direct|no-duration"
        ]
    );
    assert_eq!(kinds, []);
}

#[test]
fn each_trace_is_recognised_by_its_format_alone() {
    for (name, bytes) in samples() {
        let beginning = &bytes[..bytes.len().min(64 << 10)];
        let by = FORMATS.iter().filter(|it| (it.sniff)(beginning));
        let by: Vec<_> = by
            .map(|it| it.name)
            .filter(|it| *it != "fio-iolog-2")
            .collect();
        assert_eq!(by, [name]);
    }
    for format in FORMATS.iter().filter(|it| it.name != "fio-iolog-2") {
        let has_sample = samples().iter().any(|(name, _)| *name == format.name);
        assert!(has_sample, "{}", format.name);
    }
}

/// One line of each reader's error states the expected text.
#[test]
fn files_of_another_kind_are_errors() {
    for format in FORMATS.iter().filter(|it| it.name != "csv") {
        let text = "hello\n".repeat(3);
        let error = error_of("t", text, Some(format.name));
        assert!(
            error.starts_with("t:") && error.contains(": expected "),
            "{error}"
        );
        let long = "hello\n".repeat(100_000);
        let error = error_of("t", long, Some(format.name));
        assert!(error.starts_with("t:") && !error.contains('\n'), "{error}");
        let empty = error_of("t", "", Some(format.name));
        assert!(empty.starts_with("t: is empty: expected "), "{empty}");
    }
}
