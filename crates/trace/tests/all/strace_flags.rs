//! strace with the flags that people give it, and attached to what runs.

use crate::common::{drain, error_of, open_bytes, recorded};
use headrace_trace::{Flags, Reader, Reason, Record};

/// Microsecond, process, operation, file, offset, size.
type Seen = (i64, String, String, String, u64, u64);

fn seen_of(reader: &dyn Reader, records: &[Record]) -> Vec<Seen> {
    records
        .iter()
        .map(|it| {
            (
                it.time_ns / 1000,
                reader.processes().get(it.process).unwrap().into(),
                it.operation.name().into(),
                reader.files().get(it.file).unwrap().into(),
                it.offset,
                it.size,
            )
        })
        .collect()
}

fn read(trace: impl Into<Vec<u8>>) -> (Vec<Seen>, Box<dyn Reader>) {
    let mut reader = open_bytes("t", trace, None).unwrap();
    let records = drain(reader.as_mut(), 2).unwrap();
    (seen_of(reader.as_ref(), &records), reader)
}

fn recorded_case(name: &str) -> (Vec<Seen>, Box<dyn Reader>) {
    read(std::fs::read(recorded("strace").join(name)).unwrap())
}

/// Operation, file, offset, size.
fn short(seen: &[Seen]) -> Vec<(&str, &str, u64, u64)> {
    let short = seen.iter();
    short
        .map(|it| (it.2.as_str(), it.3.as_str(), it.4, it.5))
        .collect()
}

fn lines(lines: &[&str]) -> (Vec<Seen>, Box<dyn Reader>) {
    read(lines.join("\n") + "\n")
}

const THREAD: &str = "process that no clone shows: a thread that shares descriptors";
const SEPARATED: &str = "such a thread with other files behind its descriptors: a process";
const UNKNOWN: &str = "descriptor of an unknown file";

#[test]
fn threads_share_descriptors_and_positions_where_strace_is_attached() {
    let announced = ["attach-threads.strace", "attach-threads-no-y.strace"];
    let traces = announced.map(|it| std::fs::read_to_string(recorded("strace").join(it)).unwrap());
    for trace in traces {
        let quiet: String = trace.lines().skip(1).map(|it| format!("{it}\n")).collect();
        let to_file = quiet
            .replace("[pid  ", "")
            .replace("] 1600000000", " 1600000000");
        for trace in [trace, quiet, to_file] {
            let (seen, reader) = read(trace.clone());
            let moved: Vec<_> = seen
                .iter()
                .filter(|it| it.5 > 0)
                .map(|it| (it.1.as_str(), it.2.as_str(), it.4, it.5))
                .collect();
            assert_eq!(
                moved,
                [
                    ("4100", "read", 0, 4096),
                    ("4100/4101", "read", 4096, 4096),
                    ("4100/4102", "write", 8192, 4096),
                ],
                "{trace}"
            );
            assert_eq!(reader.skipped().of(THREAD), 2, "{:?}", reader.skipped());
            assert_eq!(reader.skipped().of(UNKNOWN), 0);
            assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
        }
    }
}

#[test]
fn processes_that_are_attached_to_stay_apart() {
    let (seen, reader) = lines(&[
        "strace: Process 100 attached with 2 threads",
        "strace: Process 200 attached",
        "[pid   200] 1.0 openat(AT_FDCWD, \"/b\", O_RDONLY) = 3 <0.1>",
        "[pid   101] 1.0 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.1>",
        "[pid   100] 1.0 read(3, \"\"..., 5) = 5 <0.1>",
        "[pid   200] 1.0 read(3, \"\"..., 7) = 7 <0.1>",
        "[pid   101] 1.0 read(3, \"\"..., 5) = 5 <0.1>",
    ]);
    let of_reads: Vec<_> = seen
        .iter()
        .filter(|it| it.2 == "read")
        .map(|it| (it.1.as_str(), it.3.as_str(), it.4))
        .collect();
    assert_eq!(
        of_reads,
        [("100", "/a", 0), ("200", "/b", 0), ("100/101", "/a", 5)]
    );
    assert_eq!(reader.skipped().of(THREAD), 1);
}

/// With clone filtered out, children look like threads until their open files
/// contradict.
#[test]
fn processes_taken_for_threads_are_separated_by_what_they_have_open() {
    let (seen, reader) = lines(&[
        "10 1.0 openat(AT_FDCWD</>, \"/a\", O_RDONLY) = 3</a> <0.1>",
        "10 1.0 read(3</a>, \"\"..., 5) = 5 <0.1>",
        "11 1.0 read(3</a>, \"\"..., 5) = 5 <0.1>",
        "11 1.0 close(3</a>) = 0 <0.1>",
        "11 1.0 openat(AT_FDCWD</>, \"/b\", O_RDONLY) = 3</b> <0.1>",
        "10 1.0 read(3</a>, \"\"..., 5) = 5 <0.1>",
        "11 1.0 read(3</b>, \"\"..., 7) = 7 <0.1>",
        "10 1.0 openat(AT_FDCWD</>, \"/c\", O_RDONLY) = 4</c> <0.1>",
        "12 1.0 openat(AT_FDCWD</>, \"/d\", O_RDONLY) = 4</d> <0.1>",
        "10 1.0 read(4</c>, \"\"..., 1) = 1 <0.1>",
        "12 1.0 read(4</d>, \"\"..., 2) = 2 <0.1>",
        "10 1.0 read(4</c>, \"\"..., 1) = 1 <0.1>",
        "12 1.0 read(4</d>, \"\"..., 2) = 2 <0.1>",
    ]);
    let reads: Vec<_> = seen
        .iter()
        .filter(|it| it.2 == "read")
        .map(|it| (it.1.as_str(), it.3.as_str(), it.4))
        .collect();
    assert_eq!(
        reads,
        [
            ("10", "/a", 0),
            ("10/11", "/a", 5),
            // The child has closed its descriptor and not its parent's, which
            // the trace shows too late for the position.
            ("10", "/a", 0),
            ("10/11", "/b", 0),
            ("10", "/c", 0),
            ("12", "/d", 0),
            ("10", "/c", 1),
            ("12", "/d", 2),
        ]
    );
    assert_eq!(reader.skipped().of(SEPARATED), 2);
}

#[test]
fn processes_of_another_namespace_have_their_parent() {
    let tail = [
        "1005 1.3 read(3, \"\"..., 5) = 5 <0.1>",
        "1004 1.4 read(3, \"\"..., 5) = 5 <0.1>",
    ];
    for (fork, known) in [
        (
            vec!["1004 1.1 vfork() = 2 /* 1005 in strace's PID NS */ <0.1>"],
            0,
        ),
        (vec!["1004 1.1 vfork() = 2 <0.1>"], 1),
        (
            vec![
                "1004 1.1 vfork( <unfinished ...>",
                "1005 1.1 getpid() = 2 <0.1>",
                "1004 1.2 <... vfork resumed>) = 2 <0.1>",
            ],
            1,
        ),
        (
            vec![
                "1004 1.1 vfork( <unfinished ...>",
                "1005 1.1 getpid() = 2 <0.1>",
                "1004 1.2 <... vfork resumed>) = 2 /* 1005 in strace's PID NS */ <0.1>",
            ],
            0,
        ),
    ] {
        let mut trace = vec!["1004 1.0 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.1>"];
        trace.extend(&fork);
        trace.extend(tail);
        let (seen, reader) = lines(&trace);
        let reads: Vec<_> = seen[1..].iter().map(|it| (it.1.as_str(), it.4)).collect();
        assert_eq!(reads, [("1005", 0), ("1004", 5)], "{trace:?}");
        let parents = reader.skipped().of("process of an uncertain parent");
        assert_eq!(parents, known, "{trace:?}");
        assert_eq!(reader.skipped().of(THREAD), 0);
    }
}

/// A number is free as soon as a close has begun.
#[test]
fn a_close_that_another_thread_overtakes_closes_its_own() {
    let (seen, _) = lines(&[
        "5 1.0 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.1>",
        "5 1.0 clone3({flags=CLONE_FILES|CLONE_FS|CLONE_THREAD}, 88) = 6 <0.1>",
        "5 1.1 close(3 <unfinished ...>",
        "6 1.2 openat(AT_FDCWD, \"/b\", O_RDONLY) = 3 <0.1>",
        "5 1.3 <... close resumed>) = 0 <0.2>",
        "6 1.4 read(3, \"\"..., 5) = 5 <0.1>",
    ]);
    let found: Vec<_> = short(&seen).into_iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(
        found,
        [
            ("open", "/a"),
            ("close", "/a"),
            ("open", "/b"),
            ("read", "/b")
        ]
    );
}

#[test]
fn other_flags_beside_the_time_are_read() {
    let base = [
        ("with-command-names.strace", "830"),
        ("with-both-times.strace", "830"),
        ("with-call-numbers.strace", "830"),
    ];
    for (name, process) in base {
        let (seen, reader) = recorded_case(name);
        assert_eq!(
            seen,
            [
                (0, process.into(), "open".into(), "/srv/a".into(), 0, 0),
                (100, process.into(), "read".into(), "/srv/a".into(), 0, 4096),
                (200, process.into(), "close".into(), "/srv/a".into(), 0, 0),
            ],
            "{name}"
        );
        assert!(
            reader.skipped().kinds().is_empty(),
            "{:?}",
            reader.skipped()
        );
    }
}

#[test]
fn names_in_hexadecimal_are_read() {
    let (seen, reader) = recorded_case("all-hex.strace");
    assert_eq!(
        short(&seen),
        [
            ("open", "/srv/a", 0, 0),
            ("read", "/srv/a", 0, 4096),
            ("write", "/srv/a", 4096, 100),
            ("close", "/srv/a", 0, 0),
        ]
    );
    assert!(
        reader.skipped().kinds().is_empty(),
        "{:?}",
        reader.skipped()
    );
}

#[test]
fn relative_times_add_up() {
    let (seen, reader) = recorded_case("relative-times.strace");
    let times: Vec<_> = seen.iter().map(|it| it.0).collect();
    assert_eq!(times, [0, 10_000, 510_000, 510_200, 510_350]);
    assert!(
        reader.skipped().kinds().is_empty(),
        "{:?}",
        reader.skipped()
    );
    // Lines that are no file operation count too.
    let (seen, _) = lines(&[
        "     0.000000 open(\"/a\", O_RDONLY) = 3 <0.1>",
        "     0.5 getpid() = 5 <0.1>",
        "     0.25 --- SIGCHLD {si_signo=SIGCHLD} ---",
        "     1 close(3) = 0 <0.1>",
        "     0 +++ exited with 0 +++",
    ]);
    let times: Vec<_> = seen.iter().map(|it| it.0).collect();
    assert_eq!(times, [0, 1_750_000]);
}

#[test]
fn times_of_day_and_whole_seconds_are_read() {
    let (seen, reader) = lines(&[
        "5 23:59:59.900000 open(\"/a\", O_RDONLY) = 3 <0.1>",
        "5 00:00:00.100000 read(3, \"\"..., 5) = 5 <0.1>",
        "6 23:59:59.950000 unlink(\"/b\") = 0 <0.1>",
        "[pid 5] 00:00:01 close(3) = 0 <0.1>",
    ]);
    let mut times: Vec<_> = seen.iter().map(|it| it.0).collect();
    times.sort_unstable();
    assert_eq!(times, [0, 50_000, 200_000, 1_100_000]);
    assert_eq!(reader.skipped().of("time in whole seconds"), 1);
    for process in ["", "5 ", "[pid     5] "] {
        let trace = [
            format!("{process}1795625790 open(\"/a\", O_RDONLY) = 3 <0.1>"),
            format!("{process}1795625792 close(3) = 0 <0.1>"),
        ];
        let (seen, reader) = read(trace.join("\n") + "\n");
        let times: Vec<_> = seen.iter().map(|it| it.0).collect();
        assert_eq!(times, [0, 2_000_000], "{process}");
        assert_eq!(reader.skipped().of("time in whole seconds"), 2);
    }
}

#[test]
fn a_trace_without_times_is_counted_and_says_so() {
    let (seen, reader) = lines(&[
        "some program's output",
        "5 open(\"/a\", O_RDONLY) = 3 <0.000005>",
        "5 read(3,  <unfinished ...>",
        "6 unlink(\"/b\") = 0 <0.000005>",
        "5 <... read resumed>\"\"..., 5) = 5",
        "6 +++ exited with 0 +++",
    ]);
    assert_eq!(
        short(&seen),
        [
            ("open", "/a", 0, 0),
            ("unlink", "/b", 0, 0),
            ("read", "/a", 0, 5)
        ]
    );
    assert!(seen.iter().all(|it| it.0 == 0));
    assert_eq!(
        reader.skipped().of("call without a time (no -t, no -r): 0"),
        5
    );
    assert_eq!(reader.skipped().of("call without a duration (no -T): 0"), 1);
    // Text that looks like a call before lines with times is the program's.
    let (seen, reader) = lines(&["compute(1, 2) = 3", "5 1.0 unlink(\"/b\") = 0 <0.1>"]);
    assert_eq!(seen.len(), 1);
    assert_eq!(reader.skipped().of("line that is not strace's"), 1);
}

#[test]
fn a_path_that_strace_could_not_read_is_an_unknown_file() {
    let (seen, reader) = recorded_case("unreadable-path.strace");
    assert_eq!(
        short(&seen),
        [
            ("open", "/srv/www/index.html", 0, 0),
            ("read", "/srv/www/index.html", 0, 4096),
        ]
    );
    assert_eq!(reader.skipped().of(UNKNOWN), 2);
    assert_eq!(
        reader
            .skipped()
            .of("path that strace could not read (an address)"),
        1
    );
}

/// Any call that returns a number takes it from the file that had it.
#[test]
fn new_descriptors_release_the_number() {
    for call in [
        "openat(AT_FDCWD, 0x7ffce6b3a200, O_RDONLY) = 11",
        "openat2(AT_FDCWD, 0x7ffce6b3a200, {flags=O_RDONLY, resolve=0}, 24) = 11",
        "creat(0x7ffce6b3a200, 0600) = 11",
        "open_by_handle_at(3, {handle_bytes=8}, O_RDONLY) = 11",
        "memfd_create(\"x\", 0) = 11",
        "socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 11",
        "accept(3, NULL, NULL) = 11",
        "accept4(3, {sa_family=AF_INET}, [128 => 16], 0) = 11",
        "pipe([11, 12]) = 0",
        "pipe2([10, 11], O_CLOEXEC) = 0",
        "socketpair(AF_UNIX, SOCK_STREAM, 0, [11, 12]) = 0",
        "eventfd2(0, 0) = 11",
        "epoll_create1(EPOLL_CLOEXEC) = 11",
        "timerfd_create(CLOCK_MONOTONIC, 0) = 11",
        "signalfd4(-1, [INT], 8, 0) = 11",
        "inotify_init1(0) = 11",
        "io_uring_setup(8, {flags=0}) = 11",
        "pidfd_open(5, 0) = 11",
        "dup(4) = 11",
        "dup2(4, 11) = 11",
        "fcntl(4, F_DUPFD, 3) = 11",
        "recvmsg(6, {msg_name=NULL, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, \
         cmsg_type=SCM_RIGHTS, cmsg_data=[11]}], msg_flags=0}, 0) = 1",
    ] {
        let (seen, reader) = lines(&[
            "38 1.0 open(\"/a\", O_RDONLY) = 11 <0.1>",
            &format!("38 1.1 {call} <0.1>"),
            "38 1.2 read(11, \"\"..., 9) = 9 <0.1>",
        ]);
        assert_eq!(short(&seen), [("open", "/a", 0, 0)], "{call}");
        let counted = reader.skipped().kinds().iter().map(|it| it.count);
        assert!(counted.sum::<u64>() >= 2, "{call}");
    }
    // One that has failed leaves it.
    let (seen, _) = lines(&[
        "38 1.0 open(\"/a\", O_RDONLY) = 11 <0.1>",
        "38 1.1 socket(AF_INET, SOCK_STREAM, 0) = -1 EMFILE (Too many open files) <0.1>",
        "38 1.2 read(11, \"\"..., 9) = 9 <0.1>",
    ]);
    assert_eq!(seen.len(), 2);
}

/// The position of an inherited descriptor follows from the trace.
#[test]
fn inherited_descriptors_have_the_position_that_the_trace_tells() {
    let stat = "5 1.0 fstat(0</in>, {st_mode=S_IFREG|0644, st_size=1000, ...}) = 0 <0.1>";
    let cases: [(&[&str], &[u64]); 6] = [
        (&["5 1.0 read(0</in>, \"\", 4096) = 0 <0.1>"], &[0]),
        (&[stat, "5 1.0 read(0</in>, \"\", 4096) = 0 <0.1>"], &[1000]),
        (
            &[
                stat,
                "5 1.0 read(0</in>, \"\"..., 100) = 100 <0.1>",
                "5 1.0 read(0</in>, \"\"..., 4096) = 300 <0.1>",
                "5 1.0 read(0</in>, \"\", 4096) = 0 <0.1>",
            ],
            &[0, 700, 1000],
        ),
        (
            &[
                "5 1.0 lseek(0</in>, 0, SEEK_CUR) = 50 <0.1>",
                "5 1.0 read(0</in>, \"\"..., 100) = 100 <0.1>",
            ],
            &[50, 50],
        ),
        (
            &[
                stat,
                "5 1.0 write(0</in>, \"\"..., 10) = 10 <0.1>",
                "5 1.0 write(0</in>, \"\"..., 10) = 10 <0.1>",
            ],
            &[1000, 1010],
        ),
        (&["5 1.0 write(0</in>, \"\"..., 10) = 10 <0.1>"], &[0]),
    ];
    for (trace, expected) in cases {
        let (seen, _) = lines(trace);
        let offsets: Vec<_> = seen
            .iter()
            .filter(|it| it.2 != "stat")
            .map(|it| it.4)
            .collect();
        assert_eq!(offsets, expected, "{trace:?}");
    }
}

#[test]
fn locks_are_records_and_clones_are_named() {
    let (seen, reader) = recorded_case("locks-and-clones.strace");
    assert_eq!(
        short(&seen),
        [
            ("open", "/srv/db", 0, 0),
            ("lock", "/srv/db", 0, 0),
            ("lock", "/srv/db", 0, 512),
            ("unlock", "/srv/db", 0, 0),
            ("close", "/srv/db", 0, 0),
        ]
    );
    let cloned = "clone of a file's blocks (FICLONE, FICLONERANGE, FIDEDUPERANGE)";
    assert_eq!(
        (reader.skipped().of("msync"), reader.skipped().of(cloned)),
        (1, 1)
    );
    assert_eq!(reader.skipped().kinds().len(), 2, "{:?}", reader.skipped());
    let (seen, reader) = lines(&[
        "5 1.0 openat(AT_FDCWD</>, \"/f\", O_RDWR|O_CREAT|O_EXCL) = 3</f> <0.1>",
        "5 1.0 write(3</f>, \"\"..., 100) = 100 <0.1>",
        "5 1.0 fcntl(3</f>, F_SETLKW, {l_type=F_RDLCK, l_whence=SEEK_CUR, l_start=-40, l_len=20}) = 0 <0.1>",
        "5 1.0 fcntl(3</f>, F_OFD_SETLK, {l_type=F_WRLCK, l_whence=SEEK_END, l_start=-10, l_len=-5}) = 0 <0.1>",
        "5 1.0 fcntl(3</f>, F_OFD_SETLKW, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=7, l_len=0}) = 0 <0.1>",
        "5 1.0 fcntl(3</f>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=1}) = -1 EAGAIN (Resource temporarily unavailable) <0.1>",
        "5 1.0 fcntl(3</f>, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=1, l_pid=0}) = 0 <0.1>",
        "5 1.0 fcntl(3</f>, F_SETLK, 0x7ffe01) = 0 <0.1>",
        "5 1.0 ioctl(4</g>, BTRFS_IOC_CLONE_RANGE or FICLONERANGE, {src_fd=3</f>, src_offset=0, src_length=100, dest_offset=50}) = 0 <0.1>",
        "5 1.0 openat(AT_FDCWD</>, \"/g\", O_WRONLY|O_APPEND) = 5</g> <0.1>",
        "5 1.0 write(5</g>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 ioctl(3</f>, TCGETS, 0x7ffe01) = -1 ENOTTY (Inappropriate ioctl for device) <0.1>",
    ]);
    assert_eq!(
        short(&seen)[2..],
        [
            ("lock", "/f", 60, 20),
            ("lock", "/f", 85, 5),
            ("unlock", "/f", 7, 0),
            ("open", "/g", 0, 0),
            ("write", "/g", 150, 1),
        ]
    );
    for (kind, count) in [
        ("failed call on a descriptor", 2),
        ("lock query (F_GETLK)", 1),
        ("lock whose range strace could not read", 1),
        (cloned, 1),
    ] {
        assert_eq!(reader.skipped().of(kind), count, "{kind}");
    }
}

#[test]
fn requests_of_libaio_are_records() {
    let (seen, reader) = recorded_case("libaio.strace");
    assert_eq!(
        short(&seen),
        [
            ("open", "/srv/ib.dat", 0, 0),
            ("write", "/srv/ib.dat", 32768, 16384),
            ("read", "/srv/ib.dat", 65536, 4096),
            ("close", "/srv/ib.dat", 0, 0),
        ]
    );
    assert_eq!(reader.skipped().of("io_getevents: ends of requests"), 1);
    let (seen, reader) = lines(&[
        "5 1.0 openat(AT_FDCWD, \"/f\", O_RDWR) = 3 <0.1>",
        "5 1.0 io_submit(0x7f, 5, [{aio_lio_opcode=IOCB_CMD_PWRITEV, aio_fildes=3, aio_buf=[{iov_base=\"aio_offset=9, \", iov_len=14}, {iov_base=\"]}\", iov_len=2}], aio_offset=100}, {aio_lio_opcode=IOCB_CMD_FDSYNC, aio_fildes=3}, {aio_lio_opcode=IOCB_CMD_POLL, aio_fildes=3, aio_buf=POLLIN}, ...]) = 4 <0.1>",
        "5 1.0 io_submit(0x7f, 1, [{data=0x1, pwrite, fildes=3, str=\"\\0\"..., nbytes=512, offset=1024}]) = 1 <0.1>",
        "5 1.0 io_submit(0x7f, 2, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x1, aio_nbytes=1, aio_offset=2}, {aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x1, aio_nbytes=1, aio_offset=3}]) = 1 <0.1>",
        "5 1.0 io_submit(0x7f, 1, [0x5]) = -1 EAGAIN (Resource temporarily unavailable) <0.1>",
        "5 1.0 io_uring_enter(4, 1, 0, 0, NULL, 8) = 1 <0.1>",
    ]);
    assert_eq!(
        short(&seen)[1..],
        [
            ("write", "/f", 100, 16),
            ("sync", "/f", 0, 0),
            ("write", "/f", 1024, 512),
            ("read", "/f", 2, 1),
        ]
    );
    for (kind, count) in [
        ("io_submit: request that strace does not show", 1),
        ("io_submit: request that moves no bytes", 1),
        (
            "io_submit: bytes as asked for, duration of the submission alone",
            3,
        ),
        ("io_uring_enter: strace does not show its requests", 1),
    ] {
        assert_eq!(
            reader.skipped().of(kind),
            count,
            "{kind}: {:?}",
            reader.skipped()
        );
    }
}

#[test]
fn what_strace_itself_says_is_counted() {
    let (seen, reader) = lines(&[
        "5 1.0 unlink(\"/a\") = 0 <0.1>",
        " > /usr/lib/libc.so.6(unlink+0x7) [0xd4ad7]",
        "5 1.1 <... ???? resumed>) = 0 <0.1>",
        "5 1.2 read(3, strace: Process 5 detached",
        " <detached ...>",
        "5 1.3 read(3,  <detached ...>",
    ]);
    assert_eq!(seen.len(), 1);
    for (kind, count) in [
        ("stack of a call (-k)", 1),
        ("message of strace itself", 1),
        ("end of a call whose beginning is missing", 1),
        ("call that did not return", 2),
    ] {
        assert_eq!(
            reader.skipped().of(kind),
            count,
            "{kind}: {:?}",
            reader.skipped()
        );
    }
}

#[test]
fn lines_that_end_with_carriage_returns_are_read() {
    let trace = "5 1.0 unlink(\"/a\") = 0 <0.1>\r5 1.1 unlink(\"/b\") = 0 <0.1>\r";
    let (seen, reader) = read(trace);
    assert_eq!(seen.len(), 2);
    assert!(reader.skipped().kinds().is_empty());
}

/// A file of which nothing is understood is an error, and no trace of nothing.
#[test]
fn a_trace_without_a_record_or_a_reason_is_an_error() {
    let error = error_of("t", "5 1.0 <... read resumed>) = 5 <0.1>\n", None);
    assert!(
        error.starts_with("t: none of 1 lines gives a record or is understood"),
        "{error}"
    );
    let (seen, reader) = lines(&["5 1.0 getpid() = 5 <0.1>"]);
    assert_eq!(seen, []);
    assert_eq!(reader.skipped().total(Reason::LeftOut), 1);
}

/// A file that O_TMPFILE makes is no directory, and no other file's name is its own.
#[test]
fn a_file_without_a_name_is_a_file() {
    let (seen, reader) = lines(&[
        r#"10 1700000000.000000 openat(AT_FDCWD, "/w", O_RDWR|O_TMPFILE, 0600) = 3 <0.000100>"#,
        r#"10 1700000000.001000 pwrite64(3, "x"..., 1000, 0) = 1000 <0.000100>"#,
        r#"10 1700000000.002000 fsync(3) = 0 <0.010000>"#,
        r#"10 1700000000.013000 close(3) = 0 <0.000010>"#,
        r#"10 1700000000.014000 openat(AT_FDCWD</w>, "/w", O_RDWR|O_TMPFILE, 0600) = 3</w/#9>(deleted) <0.000100>"#,
        r#"10 1700000000.015000 close(3</w/#9>(deleted)) = 0 <0.000010>"#,
    ]);
    let paths: Vec<&str> = seen.iter().map(|it| it.3.as_str()).collect();
    assert_eq!(
        paths,
        ["/w/#1", "/w/#1", "/w/#1", "/w/#1", "/w/#9", "/w/#9"]
    );
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0);
}

#[test]
fn synchronous_flags_of_a_write_are_counted() {
    let (seen, reader) = lines(&[
        r#"10 1700000000.000000 openat(AT_FDCWD, "/w/f", O_RDWR|O_CREAT, 0600) = 3 <0.000100>"#,
        r#"10 1700000000.001000 pwritev2(3, [{iov_base="x", iov_len=1}], 1, 0, RWF_DSYNC|RWF_HIPRI) = 1 <0.0001>"#,
        r#"10 1700000000.002000 pwritev2(3, [{iov_base="x", iov_len=1}], 1, 0, RWF_SYNC) = 1 <0.0001>"#,
        r#"10 1700000000.003000 pwritev2(3, [{iov_base="x", iov_len=1}], 1, 0, RWF_HIPRI) = 1 <0.0001>"#,
    ]);
    assert_eq!(seen.len(), 4);
    let counted = reader
        .skipped()
        .of("write with RWF_SYNC or RWF_DSYNC: as one without");
    assert_eq!(counted, 2);
}

/// Each line of a call whose end is missing is counted, by its own number.
#[test]
fn lines_after_a_damaged_call_are_counted_one_by_one() {
    let (seen, reader) = lines(&[
        r#"10 1700000000.0 openat(AT_FDCWD, "/w/f" = 3"#,
        "garbage",
        "more",
        r#"10 1700000000.2 openat(AT_FDCWD, "/w/g", O_RDWR|O_CREAT, 0600) = 3 <0.0001>"#,
    ]);
    assert_eq!(seen.len(), 1);
    let skipped = reader.skipped();
    assert_eq!(skipped.of("call with unexpected arguments"), 1);
    assert_eq!(skipped.of("line that is not strace's"), 2);
    let first: Vec<u64> = skipped
        .kinds()
        .iter()
        .map(|it| it.examples[0].line)
        .collect();
    assert_eq!(first, [1, 2]);
}

#[test]
fn records_without_a_time_say_so() {
    for (line, untimed) in [
        (r#"5 read(3</a>, "", 10) = 10"#, true),
        (r#"5 1795297771.5 read(3</a>, "", 10) = 10"#, false),
        (r#"5      0.000000 read(3</a>, "", 10) = 10"#, false),
    ] {
        let mut reader = open_bytes("t", format!("{line}\n"), None).unwrap();
        let records = drain(reader.as_mut(), 10).unwrap();
        assert_eq!(records.len(), 1, "{line}");
        assert_eq!(records[0].time_ns, 0);
        assert_eq!(records[0].flags.has(Flags::UNTIMED), untimed, "{line}");
    }
}

/// Output of the traced program falls within its calls, on any number of lines.
#[test]
fn output_within_a_call_is_part_of_its_line() {
    let begun = r#"10 1.0 openat(AT_FDCWD, "/w/f", O_WRONLY|O_CREAT, 0600) = 3 <0.1>"#;
    let end = ")   = 6 <0.1>";
    for output in [vec![""], vec!["b", "c"], vec!["x (y) = 3"; 9]] {
        let call = format!("10 1.2 write(3, \"a\"..., 6{}", output[0]);
        let text = [&[begun, call.as_str()], &output[1..], &[end]].concat();
        let (seen, reader) = lines(&text);
        assert_eq!(short(&seen)[1], ("write", "/w/f", 0, 6), "{text:?}");
        assert_eq!(reader.skipped().total(Reason::NotUnderstood), 0, "{text:?}");
    }
}

/// Lines that look like ends are read again a limited number of times.
#[test]
fn many_lines_after_a_damaged_call_are_counted_one_by_one() {
    let mut text = vec![r#"10 1.0 openat(AT_FDCWD, "/w/f" = 3"#];
    text.extend(["a (b) = 2"; 1000]);
    text.push(r#"10 1.2 openat(AT_FDCWD, "/w/g", O_RDWR|O_CREAT, 0600) = 3 <0.1>"#);
    let (seen, reader) = lines(&text);
    assert_eq!(short(&seen), [("create", "/w/g", 0, 0)]);
    assert_eq!(reader.skipped().total(Reason::NotUnderstood), 1001);
}
