//! Lines of strace that a test cannot bring about at will: races, old formats,
//! other machines' calls.

use crate::common::{drain, error_of, open_bytes};
use headrace_trace::Reader;

const THREAD: &str = "process that no clone shows: a thread that shares descriptors";

type Seen = (i64, String, String, String, u64, u64);

/// Reads lines; gives microsecond, process, operation, file, offset, size.
fn seen(lines: &[&str]) -> (Vec<Seen>, Box<dyn Reader>) {
    let mut trace = lines.join("\n");
    trace.push('\n');
    let mut reader = open_bytes("t", trace, Some("strace")).unwrap();
    let records = drain(reader.as_mut(), 2).unwrap();
    let seen = records
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
        .collect();
    (seen, reader)
}

fn row(at: i64, process: &str, operation: &str, file: &str, offset: u64, size: u64) -> Seen {
    (
        at,
        process.into(),
        operation.into(),
        file.into(),
        offset,
        size,
    )
}

#[test]
fn a_record_begins_where_its_call_began_and_lasts_as_long() {
    let (seen, reader) = seen(&[
        "1 7.000000 openat(AT_FDCWD</d>, \"f\", O_RDONLY) = 3</d/f> <0.000001>",
        "1 7.000010 read(3</d/f>,  <unfinished ...>",
        "2 7.000020 unlink(\"/x\" <unfinished ...>",
        "3 7.000030 rmdir(\"/y\") = -1 ENOENT (No such file or directory) <0.000004>",
        "2 7.000040 <... unlink resumed>) = 0 <0.000025>",
        "1 7.000050 <... read resumed>\"\"..., 100) = 60 <0.000045>",
    ]);
    assert_eq!(
        seen,
        [
            row(0, "1", "open", "/d/f", 0, 0),
            row(10, "1", "read", "/d/f", 0, 60),
            row(20, "1/2", "unlink", "/x", 0, 0),
            row(30, "1/3", "rmdir", "/y", 0, 0),
        ]
    );
    let [threads] = reader.skipped().kinds() else {
        panic!("{:?}", reader.skipped())
    };
    assert_eq!((threads.kind.name, threads.count), (THREAD, 2));
    let mut again = open_bytes(
        "t",
        "1 7.000010 read(3</d/f>,  <unfinished ...>\n\
         1 7.5 <... read resumed>\"\"..., 100) = 60 <0.489990000>\n",
        None,
    )
    .unwrap();
    let records = drain(again.as_mut(), 9).unwrap();
    assert_eq!(
        (records[0].time_ns, records[0].duration_ns),
        (0, 489_990_000)
    );
}

/// Two forks are in progress; the child of the later one shows first.
#[test]
fn a_child_is_its_parents_even_if_another_fork_began_before() {
    let (seen, reader) = seen(&[
        "10 1.000000 openat(AT_FDCWD</>, \"/ten\", O_RDONLY) = 3</ten> <0.000001>",
        "10 1.000001 read(3</ten>, \"\"..., 5) = 5 <0.000001>",
        "10 1.000002 vfork() = 11 <0.000001>",
        "11 1.000003 close(3</ten>) = 0 <0.000001>",
        "11 1.000004 openat(AT_FDCWD</>, \"/eleven\", O_RDONLY) = 3</eleven> <0.000001>",
        "11 1.000005 read(3</eleven>, \"\"..., 7) = 7 <0.000001>",
        "10 1.000006 vfork( <unfinished ...>",
        "11 1.000007 vfork( <unfinished ...>",
        "13 1.000008 read(3</eleven>, \"\"..., 2) = 2 <0.000001>",
        "12 1.000009 read(3</ten>, \"\"..., 2) = 2 <0.000001>",
        "11 1.000010 <... vfork resumed>) = 13 <0.000003>",
        "10 1.000011 <... vfork resumed>) = 12 <0.000005>",
        "11 1.000012 read(3</eleven>, \"\"..., 1) = 1 <0.000001>",
        "10 1.000013 read(3</ten>, \"\"..., 1) = 1 <0.000001>",
    ]);
    let reads: Vec<_> = seen
        .into_iter()
        .filter(|it| it.2 == "read")
        .skip(2)
        .collect();
    assert_eq!(
        reads,
        [
            row(8, "13", "read", "/eleven", 7, 2),
            row(9, "12", "read", "/ten", 5, 2),
            row(12, "11", "read", "/eleven", 9, 1),
            row(13, "10", "read", "/ten", 7, 1),
        ]
    );
    assert_eq!(reader.skipped().of("process of an uncertain parent"), 0);
}

/// The numbers mislead, but the forks' results set it right.
#[test]
fn a_wrongly_assumed_parent_is_put_right_and_counted() {
    let (seen, reader) = seen(&[
        "10 1.000000 openat(AT_FDCWD</>, \"/ten\", O_RDONLY) = 3</ten> <0.000001>",
        "10 1.000001 fork() = 11 <0.000001>",
        "11 1.000002 openat(AT_FDCWD</>, \"/eleven\", O_RDONLY) = 4</eleven> <0.000001>",
        "11 1.000003 read(4</eleven>, \"\"..., 7) = 7 <0.000001>",
        "10 1.000004 fork( <unfinished ...>",
        "11 1.000005 fork( <unfinished ...>",
        "12 1.000006 getpid() = 12 <0.000001>",
        "11 1.000007 <... fork resumed>) = 12 <0.000003>",
        "10 1.000008 <... fork resumed>) = 13 <0.000005>",
        "12 1.000009 read(4</eleven>, \"\"..., 2) = 2 <0.000001>",
        "11 1.000010 read(4</eleven>, \"\"..., 1) = 1 <0.000001>",
    ]);
    let offsets: Vec<_> = seen
        .iter()
        .filter(|it| it.2 == "read")
        .map(|it| it.4)
        .collect();
    assert_eq!(offsets, [0, 7, 9]);
    assert!(reader.skipped().of("process of an uncertain parent") > 0);
}

/// A thread that executes a program takes its leader's number.
#[test]
fn an_executing_thread_takes_over() {
    let (seen, reader) = seen(&[
        "5 1.000000 openat(AT_FDCWD</>, \"/a\", O_RDONLY|O_CLOEXEC) = 3</a> <0.000001>",
        "5 1.000001 openat(AT_FDCWD</>, \"/b\", O_RDONLY) = 4</b> <0.000001>",
        "5 1.000002 read(4</b>, \"\"..., 9) = 9 <0.000001>",
        "5 1.000003 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88) = 6 <0.000001>",
        "6 1.000004 execve(\"/bin/x\", [\"x\"], 0x1 /* 9 vars */ <unfinished ...>",
        "5 1.000005 futex(0x1, FUTEX_WAIT, 6, NULL <unfinished ...>) = ?",
        "5 1.000006 +++ superseded by execve in pid 6 +++",
        "5 1.000007 <... execve resumed>) = 0 <0.000003>",
        "5 1.000008 read(4</b>, \"\"..., 1) = 1 <0.000001>",
        "5 1.000009 read(3</c>, \"\"..., 1) = 1 <0.000001>",
    ]);
    assert_eq!(
        seen[3..],
        [
            row(8, "5", "read", "/b", 9, 1),
            row(9, "5", "read", "/c", 0, 1)
        ]
    );
    let inherited = "descriptor opened before the trace: offset from 0";
    assert_eq!(reader.skipped().of(inherited), 1, "{:?}", reader.skipped());
}

#[test]
fn execve_closes_what_is_marked() {
    let (seen, _) = seen(&[
        "5 1.0 openat(AT_FDCWD, \"/a\", O_RDONLY|O_CLOEXEC) = 3 <0.1>",
        "5 1.0 openat(AT_FDCWD, \"/b\", O_RDONLY) = 4 <0.1>",
        "5 1.0 openat(AT_FDCWD, \"/c\", O_RDONLY) = 5 <0.1>",
        "5 1.0 fcntl(5, F_SETFD, FD_CLOEXEC) = 0 <0.1>",
        "5 1.0 dup3(4, 6, O_CLOEXEC) = 6 <0.1>",
        "5 1.0 dup2(3, 7) = 7 <0.1>",
        "5 1.0 execve(\"/no\", [\"no\"], 0x1 /* 9 vars */) = -1 ENOENT (No such file or directory) <0.1>",
        "5 1.0 execve(\"/bin/x\", [\"x\"], 0x1 /* 9 vars */) = 0 <0.1>",
        "5 1.0 read(3, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(4, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(5, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(6, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(7, \"\"..., 1) = 1 <0.1>",
    ]);
    let files: Vec<_> = seen[3..].iter().map(|it| it.3.as_str()).collect();
    assert_eq!(files, ["/b", "/a"]);
}

#[test]
fn calls_that_did_not_return_give_nothing() {
    let (seen, reader) = seen(&[
        "5 1.0 read(3</f>,  <unfinished ...>) = ?",
        "5 1.0 +++ killed by SIGKILL +++",
        "6 1.0 read(3</f>,  <unfinished ...>",
        "6 1.0 <... read resumed> <unfinished ...>) = ?",
        "6 1.0 +++ exited with 1 +++",
        "7 1.0 read(3</f>, 0x1, 100) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
        "7 1.0 --- SIGINT {si_signo=SIGINT, si_code=SI_KERNEL} ---",
        "7 1.0 <... read resumed>\"\"..., 5) = 5 <0.1>",
        "8 1.0 write(3</f>, \"\"..., 5 <unfinished ...>",
    ]);
    assert_eq!(seen, []);
    assert_eq!(reader.skipped().of("call that did not return"), 3);
    assert_eq!(
        reader
            .skipped()
            .of("end of a call whose beginning is missing"),
        1
    );
    assert_eq!(reader.skipped().of("call whose end is missing"), 1);
}

#[test]
fn calls_of_other_machines_and_versions_are_read() {
    let (seen, reader) = seen(&[
        "5 1.0 openat(AT_FDCWD</d>, \"f\", O_RDWR) = 3</d/f> <0.1>",
        "5 1.0 _llseek(3</d/f>, 4294967296, [4294967296], SEEK_SET) = 0 <0.1>",
        "5 1.0 write(3</d/f>, \"\"..., 2) = 2 <0.1>",
        "5 1.0 <... fsync resumed> ) = 0 <0.1>",
        "5 1.0 fstat64(3</d/f>, {st_mode=S_IFREG|0644, st_size=7, ...}) = 0 <0.1>",
        "5 1.0 write(3</d/f (deleted)>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 openat2(AT_FDCWD</d>, \"g\", {flags=O_WRONLY|O_CREAT|O_APPEND, mode=0644, resolve=0}, 24) = 4</d/g> <0.1>",
        "5 1.0 statx(AT_FDCWD</d>, \"./g\", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=STATX_ALL, stx_mode=S_IFREG|0644, stx_size=50, ...}) = 0 <0.1>",
        "5 1.0 write(4</d/g>, \"\"..., 5) = 5 <0.1>",
        "5 1.0 pwritev2(4</d/g>, [{iov_base=\"\"..., iov_len=3}], 1, -1, 0) = 3 <0.1>",
        "5 1.0 creat(\"/d/new\", 0600) = 5</d/new> <0.1>",
        "5 1.0 unlinkat(AT_FDCWD</d>, \"old\", AT_REMOVEDIR) = 0 <0.1>",
        "5 1.0 close_range(4, 4294967295, 0) = 0 <0.1>",
        "5 1.0 read(4</d/g>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 sync_file_range(3</d/f>, 10, 20, SYNC_FILE_RANGE_WRITE) = 0 <0.1>",
    ]);
    let short: Vec<_> = seen
        .iter()
        .map(|it| (it.2.as_str(), it.3.as_str(), it.4, it.5))
        .collect();
    assert_eq!(
        short,
        [
            ("open", "/d/f", 0, 0),
            ("seek", "/d/f", 1 << 32, 0),
            ("write", "/d/f", 1 << 32, 2),
            ("stat", "/d/f", 0, 7),
            ("write", "/d/f", (1 << 32) + 2, 1),
            ("create", "/d/g", 0, 0),
            ("stat", "/d/g", 0, 50),
            ("write", "/d/g", 50, 5),
            ("write", "/d/g", 55, 3),
            ("create", "/d/new", 0, 0),
            ("rmdir", "/d/old", 0, 0),
            ("close", "/d/g", 0, 0),
            ("close", "/d/new", 0, 0),
            ("read", "/d/g", 0, 1),
            ("sync", "/d/f", 10, 20),
        ]
    );
    assert_eq!(
        reader
            .skipped()
            .of("end of a call whose beginning is missing"),
        1
    );
}

/// Paths are distinguished from the text that follows them, for any characters in them.
#[test]
fn relative_paths_follow_the_directory_of_the_process() {
    let (seen, reader) = seen(&[
        "5 1.0 unlink(\"a\") = 0 <0.1>",
        "5 1.0 newfstatat(AT_FDCWD</w>, \"b\", {st_mode=S_IFREG|0644, st_size=1, ...}, 0) = 0 <0.1>",
        "5 1.0 unlink(\"a) = 0, \\\"\\\\<\") = 0 <0.1>",
        "5 1.0 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 6 <0.1>",
        "6 1.0 chdir(\"../x/./y\") = 0 <0.1>",
        "6 1.0 mkdir(\"z\", 0777) = 0 <0.1>",
        "5 1.0 mkdir(\"z\", 0777) = 0 <0.1>",
        "5 1.0 getcwd(\"/v\", 4096) = 3 <0.1>",
        "5 1.0 renameat2(9</e>, \"m\", AT_FDCWD</u>, \"n\", RENAME_NOREPLACE) = 0 <0.1>",
        "5 1.0 rmdir(\"o\") = 0 <0.1>",
    ]);
    let files: Vec<_> = seen.iter().map(|it| it.3.as_str()).collect();
    assert_eq!(
        files,
        [
            "a",
            "/w/b",
            "/w/a) = 0, \"\\<",
            "/x/y/z",
            "/w/z",
            "/e/m",
            "/v/o"
        ]
    );
    assert_eq!(
        reader.skipped().of("relative path in an unknown directory"),
        1
    );
}

/// Each is left out and counted under its kind.
#[test]
fn what_is_no_file_is_left_out_by_kind() {
    let (seen, reader) = seen(&[
        "5 1.0 read(0</dev/pts/0<char 136:0>>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 write(3<pipe:[10197]>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(4<TCP:[127.0.0.1:5->127.0.0.1:6]>, \"\"..., 1) = 1 <0.1>",
        "5 1.0 read(5<anon_inode:[eventfd]>, \"\"..., 8) = 8 <0.1>",
        "5 1.0 openat(AT_FDCWD</>, \"/proc/self/maps\", O_RDONLY) = 6</proc/5/maps> <0.1>",
        "5 1.0 openat(AT_FDCWD</>, \"/link\", O_RDONLY) = 6</dev/null> <0.1>",
        "5 1.0 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3</f>, 0) = 0x7f0000000000 <0.1>",
        "5 1.0 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000 <0.1>",
        "5 1.0 read(9</d>, 0x1, 100) = -1 EISDIR (Is a directory) <0.1>",
        "5 1.0 io_uring_enter(4<anon_inode:[io_uring]>, 1, 0, 0, NULL, 8) = 1 <0.1>",
    ]);
    assert_eq!(seen, []);
    for (kind, count) in [
        ("terminal or device", 2),
        ("pipe", 1),
        ("socket", 1),
        ("anonymous descriptor", 1),
        ("file made by the kernel (/proc, /sys)", 1),
        ("mmap", 1),
        ("failed call on a descriptor", 1),
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

/// strace attached to a program with 30 threads: each waits in a call, and its line comes first.
#[test]
fn an_attach_to_many_threads_begins_with_unfinished_calls() {
    let waiting = |it: u32| match it % 3 {
        0 => format!("{it}  futex(0x7f00, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL <unfinished ...>\n"),
        1 => {
            format!("{it}  restart_syscall(<... resuming interrupted poll ...> <unfinished ...>\n")
        }
        _ => format!("{it}  read(9</srv/log>,  <unfinished ...>\n"),
    };
    let mut trace: String = (4100..4130).map(waiting).collect();
    trace += "4102  <... restart_syscall resumed>) = 0\n\
              4102  openat(AT_FDCWD, \"/srv/a\", O_RDONLY) = 3</srv/a>\n\
              4102  close(3</srv/a>) = 0\n\
              4103  <... read resumed>\"\"..., 512) = 100\n";
    let mut reader = open_bytes("t", trace.clone(), None).unwrap();
    let records = drain(reader.as_mut(), 9).unwrap();
    let seen: Vec<_> = records
        .iter()
        .map(|it| {
            (
                it.operation.name(),
                it.size,
                reader.processes().get(it.process).unwrap(),
            )
        })
        .collect();
    let other = "4100/4102";
    assert_eq!(
        seen,
        [
            ("open", 0, other),
            ("close", 0, other),
            ("read", 100, "4100/4103")
        ]
    );
    assert_eq!(reader.skipped().of("line that is not strace's"), 0);
    // With times, lines of the program's own that look alike are still none of strace.
    let timed = format!("f(1) = 2\n{}", "5 1.5 fsync(3</a>) = 0 <0.1>\n".repeat(2));
    let mut reader = open_bytes("t", timed, None).unwrap();
    assert_eq!(drain(reader.as_mut(), 9).unwrap().len(), 2);
    assert_eq!(reader.skipped().of("line that is not strace's"), 1);
}

/// Before its calls strace prints its target, in old versions for each thread.
#[test]
fn messages_of_an_attach_are_recognised() {
    for own in ["strace: Process", "Process"] {
        let said: String = (0..30)
            .map(|it| format!("{own} {} attached\n", 500 + it))
            .collect();
        let trace = said + "[pid   500] fsync(3</a>) = 0\n";
        let mut reader = open_bytes("t", trace, None).unwrap();
        assert_eq!(drain(reader.as_mut(), 9).unwrap().len(), 1, "{own}");
        assert_eq!(reader.skipped().of("message of strace itself"), 30);
    }
}

#[test]
fn the_summary_of_strace_is_no_trace() {
    let summary = "% time     seconds  usecs/call     calls    errors syscall\n\
                   ------ ----------- ----------- --------- --------- ----------------\n \
                   56.12    0.000123          12        10           read\n\
                   ------ ----------- ----------- --------- --------- ----------------\n\
                   100.00    0.000219           8        26         2 total\n";
    let trace = format!("fsync(3</a>) = 0\n{summary}");
    let mut reader = open_bytes("t", trace, None).unwrap();
    assert_eq!(drain(reader.as_mut(), 9).unwrap().len(), 1);
    assert_eq!(reader.skipped().of("line of strace's summary (-c, -C)"), 5);
    assert_eq!(
        error_of("t", summary, None),
        "t: is a summary without calls (strace -c): expected lines of strace -f -ttt -T -y such \
         as `5967 1795297771.219264 read(3</etc/hosts>, \"…\", 4096) = 158 <0.000007>`"
    );
}

/// Rows of a trace with what passes between processes: microsecond, duration, process, operation,
/// file, size.
fn messages(lines: &[&str]) -> Vec<(i64, i64, String, String, String, u64)> {
    let mut reader = open_bytes("t", lines.join("\n") + "\n", Some("strace")).unwrap();
    reader.keep_messages();
    let mut records = drain(reader.as_mut(), 2).unwrap();
    records.sort_by_key(|record| record.time_ns);
    let row = |record: &headrace_trace::Record| {
        let name = |names: &headrace_trace::Names, number| names.get(number).unwrap().to_owned();
        (
            record.time_ns / 1000,
            record.duration_ns / 1000,
            name(reader.processes(), record.process),
            record.operation.name().to_owned(),
            name(reader.files(), record.file),
            record.size,
        )
    };
    records.iter().map(row).collect()
}

/// A row of [`messages`] from text.
fn message(text: &str) -> (i64, i64, String, String, String, u64) {
    let fields: Vec<&str> = text.split(", ").collect();
    let [time, duration, process, operation, file, size] = fields[..] else {
        panic!("{text}")
    };
    (
        time.parse().unwrap(),
        duration.parse().unwrap(),
        process.into(),
        operation.into(),
        file.into(),
        size.parse().unwrap(),
    )
}

#[test]
fn starts_ends_and_pipes_of_processes_are_messages_if_they_are_kept() {
    let lines = [
        "1 7.000000 pipe2([3<pipe:[5]>, 4<pipe:[5]>], 0) = 0 <0.000001>",
        // The child shows before the call that made it returns.
        "1 7.000010 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>",
        "2 7.000020 write(4<pipe:[5]>, \"\"..., 100 <unfinished ...>",
        "1 7.000030 <... clone resumed>) = 2 <0.000020>",
        "1 7.000040 poll([{fd=3<pipe:[5]>, events=POLLIN}], 1, -1 <unfinished ...>",
        "2 7.000050 <... write resumed>) = 100 <0.000030>",
        "1 7.000060 <... poll resumed>) = 1 ([{fd=3, revents=POLLIN}]) <0.000020>",
        "1 7.000070 read(3<pipe:[5]>, \"\"..., 4096) = 100 <0.000002>",
        "1 7.000080 poll([{fd=0</dev/pts/1>, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000003>",
        "1 7.000090 wait4(-1,  <unfinished ...>",
        "2 7.000100 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0}, NULL) = 0 <0.000010>",
        "2 7.000120 +++ exited with 0 +++",
        "1 7.000130 <... wait4 resumed>[{WIFEXITED(s)}], 0, NULL) = 2 <0.000040>",
        "1 7.000140 read(0</dev/zero>, \"\"..., 10) = 10 <0.000001>",
        "1 7.000150 +++ exited with 0 +++",
    ];
    let expected = [
        "10, 0, 1, send, start of 2, 1",
        "20, 0, 2, receive, start of 2, 1",
        "20, 0, 2, send, pipe:[5], 100",
        // The poll belongs to the read.
        "40, 32, 1, receive, pipe:[5], 100",
        "80, 3, 1, pause, time, 0",
        "90, 40, 1, receive, end of 2, 1",
        "100, 10, 2, pause, time, 0",
        "120, 0, 2, send, end of 2, 1",
        "150, 0, 1, send, end of 1, 1",
    ];
    assert_eq!(messages(&lines), expected.map(message));
    // Without them nothing changes.
    let (records, _) = seen(&[&lines[..], &["1 7.2 fsync(5</f>) = 0 <0.1>"]].concat());
    assert_eq!(records, [row(200_000, "1", "sync", "/f", 0, 0)]);
}

#[test]
fn sockets_futexes_and_threads_are_messages_if_they_are_kept() {
    let clone = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD";
    let clone = format!("1 7.000000 clone3({{flags={clone}}}, 88) = 2 <0.000001>");
    let lines = [
        &clone,
        "1 7.000010 sendto(3<UNIX-STREAM:[12->13]>, \"\"..., 8, 0, NULL, 0) = 8 <0.000001>",
        "2 7.000020 recvfrom(4<UNIX-STREAM:[13->12, \"/run/s\"]>, \"\"..., 9, 0, NULL, NULL) = 8 <0.000001>",
        "2 7.000030 futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>",
        "1 7.000040 futex(0x7f00, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000001>",
        "2 7.000050 <... futex resumed>) = 0 <0.000020>",
        "1 7.000060 futex(0x7f04, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=1}, ~0) = -1 ETIMEDOUT (Connection timed out) <0.000005>",
        "1 7.000070 futex(0x7f08, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 2, NULL, ~0 <unfinished ...>",
        "2 7.000080 +++ exited with 0 +++",
        "1 7.000090 <... futex resumed>) = 0 <0.000020>",
        "1 7.000100 read(5<TCP:[1.2.3.4:5->6.7.8.9:10]>, \"\"..., 9) = 3 <0.000001>",
        "1 7.000110 read(6<socket:[99]>, \"\"..., 9) = 3 <0.000001>",
        "1 7.000120 futex(0x7f08, FUTEX_WAIT_PRIVATE, 7, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000001>",
        // A signal interrupts a wait, which goes on.
        "1 7.000130 read(7<pipe:[5]>, 0x7f, 9) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.000020>",
        "1 7.000160 read(7<pipe:[5]>, \"\"..., 9) = 9 <0.000003>",
        // One that waits for a signal was a pause.
        "1 7.000164 rt_sigsuspend([], 8) = ? ERESTARTNOHAND (To be restarted if no handler) <0.000002>",
        "1 7.000167 wait4(2, NULL, 0, NULL) = 2 <0.000001>",
        // Before bytes are sent a poll waits for room alone.
        "1 7.000170 poll([{fd=8, events=POLLOUT}], 1, -1) = 1 ([{fd=8, revents=POLLOUT}]) <0.000020>",
        "1 7.000200 write(8<pipe:[6]>, \"\"..., 9) = 9 <0.000003>",
    ];
    let expected = [
        "0, 0, 1, send, start of 2, 1",
        "10, 0, 1, send, UNIX-STREAM:[12->13], 8",
        "20, 0, 1/2, receive, start of 2, 1",
        "20, 1, 1/2, receive, UNIX-STREAM:[12->13], 8",
        "30, 20, 1/2, receive, futex 1 0x7f00, 1",
        "40, 0, 1, send, futex 1 0x7f00, 1",
        "60, 5, 1, pause, time, 0",
        "70, 20, 1, receive, end of 2, 1",
        "80, 0, 1/2, send, end of 2, 1",
        "100, 1, 1, receive, TCP:[6.7.8.9:10->1.2.3.4:5], 3",
        "110, 1, 1, pause, time, 0",
        "130, 33, 1, receive, pipe:[5], 9",
        "164, 2, 1, pause, time, 0",
        "167, 1, 1, receive, end of 2, 1",
        "200, 0, 1, send, pipe:[6], 9",
    ];
    assert_eq!(messages(&lines), expected.map(message));
}

#[test]
fn a_negative_duration_is_none() {
    let lines = [
        "1 7.000000 fsync(3</f>) = 0 <-0.000010>",
        "1 7.000100 fsync(3</f>) = 0 <0.000010>",
    ];
    let mut reader = open_bytes("t", lines.join("\n") + "\n", None).unwrap();
    let records = drain(reader.as_mut(), 9).unwrap();
    let durations: Vec<i64> = records.iter().map(|record| record.duration_ns).collect();
    assert_eq!(durations, [0, 10_000]);
}
