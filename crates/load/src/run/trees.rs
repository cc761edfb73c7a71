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
