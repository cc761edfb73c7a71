use headrace_spec::{Bytes, Weighted};
use proptest::prelude::*;

use super::*;

fn spec(directories: u32, files: u32, sizes: &[u64], request: u64) -> TreeCopy {
    TreeCopy {
        trees: Trees::Own,
        chunk: Bytes(4 << 20),
        directories,
        files,
        file_sizes: Weighted(sizes.iter().map(|size| (Bytes(*size), 1.0)).collect()),
        request: Bytes(request),
    }
}

fn asked(application: &mut TreeCopyApplication, rank: u32) -> Vec<Ask> {
    let mut counter = 0;
    let mut random = Random::named(1, "tree", &mut counter);
    let mut seen = Vec::new();
    while let Ok(Next::Ask(ask)) = application.next(rank, Time::ZERO, &mut random) {
        seen.push(ask);
    }
    seen
}

#[test]
fn a_tree_is_copied_call_by_call_as_cp_does_it() {
    let mut application = TreeCopyApplication::new(&spec(1, 2, &[5], 3), 2);
    let words = |ask: &Ask| (ask.call.expect("a call").word(), ask.file, ask.size);
    let seen: Vec<_> = asked(&mut application, 1).iter().map(words).collect();
    // The second process's: files 4 and 5, their copies 6 and 7.
    let mut expected = vec![("mkdir", 6, 0), ("find-first", 4, 0), ("find-next", 4, 0)];
    for (file, copy) in [(4, 6), (5, 7)] {
        expected.extend([
            ("stat", file, 0),
            ("open", file, 0),
            ("fstat", file, 0),
            ("create", copy, 0),
            ("fstat", copy, 0),
            ("read", file, 3),
            ("write", copy, 3),
            ("read", file, 2),
            ("write", copy, 2),
            ("close", copy, 0),
            ("close", file, 0),
        ]);
    }
    assert_eq!(seen, expected);
    assert_eq!(application.total_requests(), Some(2 * seen.len() as u64));
    assert!(!application.makes_directory_of(5) && application.makes_directory_of(6));
}

proptest! {
    #[test]
    fn every_byte_of_every_file_is_read_and_written_once(
        directories in 1..5_u32,
        files in 1..5_u32,
        sizes in prop::collection::btree_set(1..1000_u64, 1..4),
        request in 1..1000_u64,
    ) {
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let spec = spec(directories, files, &sizes, request);
        let mut application = TreeCopyApplication::new(&spec, 1);
        let existing = application.existing();
        let expected = application.total_requests();
        let seen = asked(&mut application, 0);
        prop_assert_eq!(expected, Some(seen.len() as u64));
        for file in existing {
            let of = |operation, file| {
                let parts = seen.iter().filter(move |it| (it.operation, it.file) == (operation, file));
                parts.map(|it| (it.offset, it.size)).collect::<Vec<_>>()
            };
            let read = of(Operation::Read, file.file);
            prop_assert_eq!(&read, &of(Operation::Write, file.file + spec.in_tree()));
            let mut end = 0;
            for (offset, size) in read {
                prop_assert_eq!(offset, end);
                prop_assert!(size > 0 && size <= request);
                end += size;
            }
            prop_assert_eq!(end, file.size);
        }
    }
}

#[test]
fn each_size_comes_as_often_as_its_weight_says() {
    let spec = spec(10, 1000, &[1, 2, 3, 4], 1);
    for size in 1..=4 {
        let count = (0..10_000).filter(|file| spec.size_of(*file).0 == size);
        assert!(count.count().abs_diff(2500) <= 5, "{size}");
    }
}
