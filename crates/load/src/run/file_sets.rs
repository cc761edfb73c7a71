//! Files of each group of operations, on a real file system.

use std::ops::ControlFlow;

use super::tests::scenario;
use super::*;
use crate::Report;
use crate::operation::Group::{File, FileStat, Read, ReadWriteSharing, Write};

const MIX: &str = r#"
    clients = { count = 2, processes = 3 }
    [[workload]]
    kind = "operation-mix"
    weights = { read = 5, write = 5, stat = 5, create = 1, unlink = 3, sync = 1, open = 1, shared-read = 1, shared-write = 1 }
    amount = 400
    files = 20
    file_sets = "per-group"
    file_sizes = { "4 KiB" = 1, "64 KiB" = 1 }
    append_share = 0.5
    io = { verify = true }
"#;

#[test]
fn groups_of_operations_have_files_of_their_own() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let scenario = scenario(MIX);
    let outcome = run(&scenario, &directory, Options::default(), watch).expect("it runs");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let report = Report::of(&scenario, String::new(), &outcome);
    let sets = &report.file_sets;
    assert_eq!(sets.iter().map(|set| set.files).sum::<u32>(), 20);
    let of = |group| sets.iter().position(|set| set.group == group);
    assert_eq!(
        [Read, Write, FileStat, File, ReadWriteSharing].map(of),
        [Some(0), Some(1), Some(2), Some(3), Some(4)]
    );
    // Only files of the writers and the common one have become longer.
    let lengths = |number: usize| {
        let first: u32 = sets[..number].iter().map(|set| set.files).sum();
        let files = first..first + sets[number].files;
        files.map(|file| {
            let path = directory.path().join(format!("hr-w0/hr-d0/hr-f{file}"));
            std::fs::metadata(path).expect("it is there").len()
        })
    };
    assert!(lengths(0).all(|length| length <= 64 << 10));
    assert!(lengths(1).any(|length| length > 64 << 10));
    assert!(
        lengths(2)
            .chain(lengths(3))
            .all(|length| length <= 64 << 10)
    );
    assert!(lengths(4).all(|length| length == 64 << 10));
    directory.remove().expect("it goes");
}
