//! Groups of operations that have files of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn per_group(weights: &[(MixedOperation, f64)]) -> OperationMix {
    OperationMix {
        weights: Weighted(weights.to_vec()),
        files: 101,
        file_sets: FileSets::PerGroup,
        ..spec()
    }
}

/// The files that each operation was on.
fn files_of(spec: &OperationMix) -> BTreeMap<&'static str, BTreeSet<u32>> {
    let mut files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (_, ask) in asked(spec, 4, 2) {
        let call = ask.call.expect("a mix says which").word();
        files.entry(call).or_default().insert(ask.file);
    }
    files
}

#[test]
fn each_group_has_files_of_its_own_by_its_part_of_the_load() {
    use MixedOperation::{Create, Fread, Read, SharedRead, SharedWrite, Stat, Truncate, Write};
    let spec = per_group(&[
        (Stat, 50.0),
        (Read, 20.0),
        (Fread, 10.0),
        (Write, 10.0),
        (Truncate, 10.0),
        (SharedRead, 5.0),
        (SharedWrite, 5.0),
        (Create, 100.0),
    ]);
    let sets = spec.sets();
    // One file is common; of the other 100, reads are 30 in 100, writes 20 and stats 50.
    let sizes: Vec<_> = sets.iter().map(|set| (set.first, set.files)).collect();
    for ((first, files), (expected_first, expected)) in
        sizes.iter().zip([(0, 30), (30, 20), (50, 50), (100, 1)])
    {
        assert!(first.abs_diff(expected_first) <= 1, "{sizes:?}");
        assert!(files.abs_diff(expected) <= 1, "{sizes:?}");
    }
    assert_eq!(sets.iter().map(|set| set.files).sum::<u32>(), 101);
    let files = files_of(&spec);
    let of = |number: usize, name: &str| {
        let set = &sets[number];
        files[name]
            .iter()
            .all(|file| (set.first..set.end()).contains(file))
    };
    for (number, name) in [
        (0, "read"),
        (0, "fread"),
        (1, "write"),
        (1, "truncate"),
        (2, "stat"),
        (3, "shared-read"),
        (3, "shared-write"),
    ] {
        assert!(of(number, name), "{name}: {:?}", files[name]);
    }
    assert_eq!(files["stat"].len() as u32, sets[2].files);
    // Names that are made are none of the files.
    assert!(files["create"].iter().all(|name| *name >= 101));
}

#[test]
fn every_set_has_files_of_all_sizes_and_the_common_file_is_as_large_as_any() {
    use MixedOperation::{Read, SharedRead, Write};
    let spec = per_group(&[(Read, 1.0), (Write, 1.0), (SharedRead, 1.0)]);
    let application = OperationMixApplication::new(&spec, 1, 1, 1);
    let existing = application.existing();
    assert_eq!(existing.len(), 101);
    for first in [0, 50] {
        let sizes = existing[first..first + 50].iter().map(|file| file.size);
        let of_size = |size| sizes.clone().filter(|it| *it == size).count();
        assert_eq!([1, 10, 40].map(of_size), [25, 15, 10]);
    }
    assert_eq!(existing[100].size, 40);
    for (_, ask) in asked(&spec, 1, 1) {
        let held = existing[ask.file as usize].size;
        assert!(ask.offset + ask.size <= held, "{ask:?}");
    }
}

#[test]
fn reads_and_writes_of_one_operation_stay_with_its_files() {
    use MixedOperation::{Read, ReadWrite, Write};
    let mut spec = per_group(&[(Read, 1.0), (ReadWrite, 1.0), (Write, 1.0)]);
    spec.locality.reads = 0.5;
    spec.locality.overwrites = 0.5;
    let files = files_of(&spec);
    assert!(files["read"].is_disjoint(&files["read-write"]));
    assert!(files["write"].is_disjoint(&files["read-write"]));
    assert!(files["read"].is_disjoint(&files["write"]));
}

#[test]
fn what_follows_is_on_the_file_before_and_leaves_no_trace_in_its_own_set() {
    use MixedOperation::{Open, Read};
    let mut spec = per_group(&[(Open, 1.0), (Read, 2.0)]);
    spec.followed_by = Followers(vec![(Open, Read)]);
    spec.locality.reads = 0.9;
    let opened = spec.sets()[1].first;
    let all = asked(&spec, 1, 1);
    let mut before = None;
    for (_, ask) in all {
        if let Some(file) = before.take() {
            assert_eq!(ask.file, file);
        } else if ask.operation == Operation::Read {
            assert!(ask.file < opened, "{ask:?}");
        }
        before = (ask.operation == Operation::Open).then_some(ask.file);
    }
}
