//! Trees that are copied.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use super::tests::{done, scenario};
use super::*;

const COPY: &str = r#"
    clients = { count = 1, processes = 2 }
    [[workload]]
    kind = "tree-copy"
    directories = 3
    files = 5
    file_sizes = { "1 KiB" = 1, "300 KiB" = 1 }
"#;

fn bytes(root: &Path, directory: u32, file: u32) -> Vec<u8> {
    fs::read(root.join(format!("hr-w0/hr-d{directory}/hr-f{file}"))).expect("a file")
}

#[test]
fn every_file_of_a_tree_is_copied_and_closed() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let outcome = run(&scenario(COPY), &directory, Options::default(), watch).expect("it runs");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    // Two trees of 15 files; those of 300 KiB in three parts.
    for (name, count) in [("mkdir", 6), ("find-first", 6), ("find-next", 6)] {
        assert_eq!(done(&outcome, name).0, count, "{name}");
    }
    for name in ["stat", "open", "create"] {
        assert_eq!(done(&outcome, name).0, 30, "{name}");
    }
    assert_eq!(done(&outcome, "fstat").0, 60);
    assert_eq!(done(&outcome, "close").0, 60);
    assert_eq!(done(&outcome, "read"), done(&outcome, "write"));
    for process in 0..2 {
        for number in 0..15 {
            let (file, first) = (process * 30 + number, process * 6 + number / 5);
            let tree = bytes(directory.path(), first, file);
            assert_eq!(
                tree,
                bytes(directory.path(), first + 3, file + 15),
                "{file}"
            );
        }
    }
    directory.remove().expect("it goes");
    assert_eq!(fs::read_dir(below.path()).expect("it is there").count(), 0);
}

#[test]
fn a_copy_is_made_anew_and_not_over_another() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let mut again = || run(&scenario(COPY), &directory, Options::default(), watch);
    assert!(again().expect("it runs").error.is_none());
    let error = again().expect("it begins").error.expect("it is there");
    assert!(error.to_string().contains("mkdir"), "{error}");
    directory.remove().expect("it goes");
}

/// Three processes copy fifteen files in chunks of 64 KiB: eight files of 1 KiB are a chunk each, and
/// seven of 300 KiB five.
#[test]
fn one_tree_is_copied_by_all_processes_together() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let text =
        COPY.replace("processes = 2", "processes = 3") + "trees = \"common\"\nchunk = \"64 KiB\"\n";
    let outcome = run(&scenario(&text), &directory, Options::default(), watch).expect("it runs");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    for (name, count) in [
        ("mkdir", 3),
        ("find-first", 3),
        ("stat", 15),
        ("create", 15),
    ] {
        assert_eq!(done(&outcome, name).0, count, "{name}");
    }
    let files = |size: u64| {
        let all = outcome_sizes(&text);
        all.iter().filter(|it| **it == size).count() as u64
    };
    let (small, large) = (files(1 << 10), files(300 << 10));
    assert_eq!(small + large, 15);
    assert_eq!(done(&outcome, "read").0, small + 5 * large);
    assert_eq!(done(&outcome, "read"), done(&outcome, "write"));
    for number in 0..15 {
        let tree = bytes(directory.path(), number / 5, number);
        assert_eq!(tree, bytes(directory.path(), 3 + number / 5, number + 15));
        assert!(tree.iter().any(|byte| *byte != 0));
    }
    directory.remove().expect("it goes");
}

fn outcome_sizes(text: &str) -> Vec<u64> {
    let scenario = scenario(text);
    let headrace_spec::WorkloadKind::TreeCopy(copy) = &scenario.workload[0].kind else {
        panic!("a copy");
    };
    (0..copy.in_tree())
        .map(|file| copy.size_of(file).0)
        .collect()
}
