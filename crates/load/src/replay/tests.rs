//! Traces of real programs, and made ones, replayed in a temporary directory.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use headrace_trace::{Operation, Summary};
use headrace_workload::LeftOut;
use proptest::prelude::*;

use crate::directory::Directory;
use crate::operation;
use crate::run::run;
use crate::run::tests::{done, scenario};
use crate::run_options::{LiveProgress, Options};
use crate::{Backend, Outcome};

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/traces")
        .join(name)
}

fn of_trace(file: &Path) -> String {
    format!("[[workload]]\nkind = \"trace\"\nfile = {file:?}\n")
}

/// Replays a trace, and has all of it removed again: nothing lies elsewhere.
fn replayed(file: &Path, options: Options) -> Outcome {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let outcome = run(&scenario(&of_trace(file)), &directory, options, watch).expect("it begins");
    directory.remove().expect("all in it is the run's own");
    let left = std::fs::read_dir(below.path())
        .expect("a directory")
        .count();
    assert_eq!(left, 0, "nothing beside it");
    outcome
}

fn by<'a>(outcome: &'a Outcome, who: &'a str) -> impl Iterator<Item = &'a LeftOut> {
    outcome.left_out.iter().filter(move |it| it.by == who)
}

fn carried_out(outcome: &Outcome) -> u64 {
    let all = operation::ALL.iter();
    all.map(|it| done(outcome, it.name()).0).sum()
}

const TRACES: [&str; 7] = [
    "log.csv",
    "tar.strace",
    "untar.strace",
    "copy.strace",
    "git.strace",
    "sqlite.strace",
    "build.strace",
];

#[test]
fn every_record_is_carried_out_or_counted() {
    for trace in TRACES {
        let file = recorded(trace);
        let mut reader = headrace_trace::open(&file, None).expect("a trace");
        let summary = Summary::of(&mut *reader).expect("it can be read");
        let outcome = replayed(&file, Options::default());
        assert!(outcome.error.is_none(), "{trace}: {:?}", outcome.error);
        let failed: Vec<_> = by(&outcome, "engine").collect();
        assert!(failed.is_empty(), "{trace}: {failed:?}");
        let left: u64 = by(&outcome, "replay").map(|it| it.count).sum();
        assert_eq!(carried_out(&outcome) + left, summary.records, "{trace}");
        assert_eq!(done(&outcome, "read").1, summary.bytes_read, "{trace}");
        assert_eq!(done(&outcome, "write").1, summary.bytes_written, "{trace}");
        let recorded = |operation: Operation| {
            let totals = summary.operations.iter();
            let mut totals = totals.filter(|it| it.operation == operation);
            totals.next().map_or(0, |it| it.count)
        };
        for operation in [Operation::Sync, Operation::Close, Operation::Rename] {
            let name = operation.name();
            let left = by(&outcome, "replay").filter(|it| it.what == name);
            let left: u64 = left.map(|it| it.count).sum();
            assert!(left <= 1, "{trace}: a link that was opened itself");
            assert_eq!(
                done(&outcome, name).0 + left,
                recorded(operation),
                "{trace}: {name}"
            );
        }
        let skipped = reader.skipped();
        let of_reader: u64 = by(&outcome, "trace reader").map(|it| it.count).sum();
        let counted = skipped.total(headrace_trace::Reason::LeftOut)
            + skipped.total(headrace_trace::Reason::NotUnderstood);
        assert_eq!(of_reader, counted, "{trace}");
    }
}

#[test]
fn two_syncs_of_a_log_are_made() {
    let outcome = replayed(&recorded("log.csv"), Options::default());
    assert_eq!(done(&outcome, "sync").0, 2);
    assert_eq!(done(&outcome, "close").0, 1);
    assert!(outcome.left_out.is_empty(), "{:?}", outcome.left_out);
}

#[test]
fn a_trace_is_replayed_by_every_kind_of_calls() {
    for calls in [Backend::Null, Backend::Uring] {
        let options = Options {
            calls,
            ..Options::default()
        };
        if calls == Backend::Uring && !has_uring() {
            eprintln!("not through io_uring: this kernel, or its settings, do not allow it");
            continue;
        }
        let outcome = replayed(&recorded("sqlite.strace"), options);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let counted: u64 = by(&outcome, "replay").map(|it| it.count).sum();
        assert!(carried_out(&outcome) > counted);
    }
}

fn has_uring() -> bool {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    Backend::Uring.calls(directory.root()).is_ok()
}

fn csv(rows: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a temporary file");
    writeln!(
        file,
        "time,process,operation,file,offset,size,duration,flags,other\n{rows}"
    )
    .expect("it can be written");
    file
}

/// Rows without time and duration.
fn rows(all: &[&str]) -> String {
    let rows = all.iter().map(|row| {
        let mut values = row.splitn(6, ',');
        let mut next = || values.next().unwrap_or_default();
        let (process, operation, file) = (next(), next(), next());
        let (offset, size, rest) = (next(), next(), next());
        let rest = if rest.is_empty() { "," } else { rest };
        format!("0.0,{process},{operation},{file},{offset},{size},0.0,{rest}")
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Every byte is moved; a request that O_DIRECT does not allow is counted.
#[test]
fn direct_requests_that_are_not_aligned_go_through_the_cache() {
    let file = csv(&rows(&[
        "1,create,/f,0,0,write|direct,",
        "1,write,/f,0,4096,,",
        "1,write,/f,4096,100,,",
        "1,close,/f,0,0,,",
        "2,read,/f,0,4096,direct,",
        "2,read,/f,1,100,direct,",
    ]));
    let outcome = replayed(file.path(), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(done(&outcome, "write"), (2, 4196));
    assert_eq!(done(&outcome, "read"), (2, 4196));
    let reasons = by(&outcome, "engine").map(|it| (it.what.as_str(), it.count));
    let mut sorted: Vec<_> = reasons.collect();
    sorted.sort_unstable();
    let aligned = [("read", 1), ("write", 1)];
    let without = [("create", 1), ("read", 1)];
    // A file system without O_DIRECT, such as an older tmpfs, refuses the opens.
    assert!(
        sorted == aligned || sorted == without,
        "{:?}",
        outcome.left_out
    );
}

#[test]
fn names_that_lead_elsewhere_stay_in_the_directory() {
    let long = format!("1,create,/{},0,0", "x".repeat(3000));
    let file = csv(&rows(&[
        "1,create,/../../../etc/headrace-test,0,0",
        "1,write,/../../../etc/headrace-test,0,10",
        "1,mkdir,../../up,0,0",
        "1,create,../../up/file,0,0",
        "1,create,/a/../b,0,0",
        "1,stat,/b,0,0",
        "1,symlink,/b/../link,0,0,,/../../etc/passwd",
        "1,readlink,/link,0,0",
        &long,
    ]));
    let outcome = replayed(file.path(), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(outcome.left_out.is_empty(), "{:?}", outcome.left_out);
    assert_eq!(carried_out(&outcome), 9);
    assert!(!Path::new("/etc/headrace-test").exists());
}

#[test]
fn what_existed_is_there_and_what_failed_fails() {
    let file = csv(&rows(&[
        // A file that is read, one that is only looked at, a directory that is there already.
        "1,open,/d/old,0,0,read,",
        "1,read,/d/old,8192,100",
        "1,read,/d/old,8292,0",
        "1,close,/d/old,0,0",
        "1,stat,/d/big,0,1000000000000,regular,",
        "1,mkdir,/d,0,0,failed|exists,",
        "1,mkdir,/d/new,0,0",
        "1,stat,/d/none,0,0,failed|missing,",
        "1,open,/d/none,0,0,failed|missing,",
        "1,create,/d/old,0,0,write|exclusive|failed|exists,",
        // Unlinked while it is open, and recreated.
        "1,create,/d/log,0,0,write,",
        "1,unlink,/d/log,0,0",
        "1,write,/d/log,0,4096",
        "1,sync,/d/log,0,0",
        "1,close,/d/log,0,0",
        "1,stat,/d/log,0,0,failed|missing,",
        "1,create,/d/log,0,0,read|write|truncate,",
        // Renamed, and written under its new name by another process that inherited it.
        "1,rename,/d/log,0,0,,/d/new/log",
        "2,write,/d/new/log,0,512",
        "1,close,/d/new/log,0,0",
        "2,close,/d/new/log,0,0",
        "1,rename,/d/new,0,0,,/d/moved",
        "2,stat,/d/moved/log,0,512,regular,",
        "2,symlink,/d/link,0,0,,/d/moved/log",
        "2,stat,/d/link,0,0",
        "2,symlink,/d/dangling,0,0,,/d/nowhere",
        "2,stat,/d/dangling,0,0",
        "2,link,/d/second,0,0,,/d/moved/log",
        "2,unlink,/d/moved/log,0,0",
        "1,rmdir,/d/moved,0,0",
        "1,truncate,/d/second,100,0",
    ]));
    let outcome = replayed(file.path(), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(outcome.left_out.is_empty(), "{:?}", outcome.left_out);
    assert_eq!(carried_out(&outcome), 31);
}

#[test]
fn what_is_left_out_is_named() {
    let file = csv(&rows(&[
        "1,create,/a,0,0",
        "1,seek,/a,10,0",
        "1,allocate,/a,0,4096",
        "1,sync,/a,0,4096,range,",
        "1,setattr,/a,0,0,failed,",
        "1,link,/b,0,0",
    ]));
    let outcome = replayed(file.path(), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let mut named: Vec<_> = by(&outcome, "replay").map(|it| it.what.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["allocate", "link", "seek", "setattr", "sync"]);
    assert_eq!(carried_out(&outcome), 1);
}

/// A process that begins later in the trace waits for the files that it needs.
#[test]
fn processes_wait_for_what_others_make() {
    let mut all = Vec::new();
    for number in 0..200 {
        all.push(format!("1,create,/f{number},0,0,write|exclusive,"));
        all.push(format!("1,write,/f{number},0,64"));
        all.push(format!("1,close,/f{number},0,0"));
        all.push(format!("2,open,/f{number},0,0,read,"));
        all.push(format!("2,read,/f{number},0,64"));
        all.push(format!("2,close,/f{number},0,0"));
        all.push(format!("3,unlink,/f{number},0,0"));
        all.push(format!("1,stat,/f{number},0,0,failed|missing,"));
    }
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let file = csv(&rows(&all));
    let outcome = replayed(file.path(), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(outcome.left_out.is_empty(), "{:?}", outcome.left_out);
    assert_eq!(done(&outcome, "read"), (200, 12_800));
}

fn any_row() -> impl Strategy<Value = String> {
    const NAMES: &[&str] = &["/a", "/a/b", "/a/b/c", "/d", "b", "../x", "/a/../d/e", "/"];
    const FLAGS: &[&str] = &[
        "",
        "read",
        "write|truncate",
        "exclusive",
        "failed|missing",
        "failed|exists",
    ];
    (
        1..4_u32,
        proptest::sample::select(Operation::ALL),
        proptest::sample::select(NAMES),
        0..3_u64,
        0..3_u64,
        proptest::sample::select(FLAGS),
        proptest::option::of(proptest::sample::select(NAMES)),
    )
        .prop_map(|(process, operation, name, offset, size, flags, other)| {
            let (operation, offset, size) = (operation.name(), offset * 500, size * 300);
            let other = other.unwrap_or_default();
            format!("{process},{operation},{name},{offset},{size},{flags},{other}")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any trace, a replay ends, stays in its directory, and accounts for all of it.
    #[test]
    fn any_trace_is_accounted_for(all in proptest::collection::vec(any_row(), 1..60)) {
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        let file = csv(&rows(&all));
        let operations = ["seek"];
        prop_assume!(!all.iter().all(|it| operations.iter().any(|name| it.contains(name))));
        let asked = headrace_workload::TraceReplayApplication::new(&headrace_spec::TraceReplay {
            file: file.path().to_path_buf(),
            replay: headrace_spec::Replay::Closed,
            gaps: headrace_spec::Gaps::Wait,
            shift: headrace_spec::Seconds(0.0),
            scale: 1.0,
            space: None,
            flags: headrace_spec::RecordFlags::Kept,
            output_volume: None,
        });
        prop_assume!(asked.is_ok());
        let outcome = replayed(file.path(), Options::default());
        prop_assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let short = |it: &&LeftOut| {
            !["bytes that", "O_DIRECT"].iter().any(|text| it.reason.starts_with(text))
        };
        let left: u64 = outcome.left_out.iter().filter(short).map(|it| it.count).sum();
        prop_assert_eq!(carried_out(&outcome) + left, all.len() as u64);
    }
}
