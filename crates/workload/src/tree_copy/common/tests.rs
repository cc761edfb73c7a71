use headrace_spec::{Bytes, Trees, Weighted};
use proptest::prelude::*;

use super::*;

fn spec(directories: u32, files: u32, sizes: &[u64], chunk: u64, request: u64) -> TreeCopy {
    TreeCopy {
        trees: Trees::Common,
        chunk: Bytes(chunk),
        directories,
        files,
        file_sizes: Weighted(sizes.iter().map(|size| (Bytes(*size), 1.0)).collect()),
        request: Bytes(request),
    }
}

/// Operations of a process in each of the steps between barriers.
fn asked(application: &mut CommonTreeCopy, rank: u32) -> Vec<Vec<Ask>> {
    let mut counter = 0;
    let mut random = Random::named(1, "tree", &mut counter);
    let mut steps = vec![Vec::new()];
    loop {
        match application.next(rank, Time::ZERO, &mut random) {
            Ok(Next::Ask(ask)) => steps.last_mut().expect("a step").push(ask),
            Ok(Next::Barrier) => steps.push(Vec::new()),
            Ok(Next::Finished) => return steps,
            other => panic!("{other:?}"),
        }
    }
}

/// One directory of two files of 5 bytes, in chunks of 2: six chunks, of which each of two processes
/// has three. The first has the first file, the second the other one, by requests of at most 1 byte.
#[test]
fn processes_share_the_steps_of_a_copy() {
    let words = |step: &Vec<Ask>| -> Vec<(&str, u32, u64, u64)> {
        let word = |it: &Ask| (it.call.expect("a call").word(), it.file, it.offset, it.size);
        step.iter().map(word).collect()
    };
    let mut application = CommonTreeCopy::new(&spec(1, 2, &[5], 2, 9), 2);
    let first: Vec<_> = asked(&mut application, 0).iter().map(words).collect();
    let second: Vec<_> = asked(&mut application, 1).iter().map(words).collect();
    let walk = vec![
        ("find-first", 0, 0, 0),
        ("find-next", 0, 0, 0),
        ("stat", 0, 0, 0),
        ("stat", 1, 0, 0),
    ];
    assert_eq!(first[..2], [walk, vec![("mkdir", 2, 0, 0)]]);
    assert_eq!(second[..2], [vec![], vec![]]);
    for (steps, file) in [(first, 0), (second, 1)] {
        let copy = file + 2;
        assert_eq!(steps[2], [("create", copy, 0, 0), ("close", copy, 0, 0)]);
        let mut expected = vec![("open", file, 0, 0), ("open", copy, 0, 0)];
        for (offset, size) in [(0, 2), (2, 2), (4, 1)] {
            expected.extend([("read", file, offset, size), ("write", copy, offset, size)]);
        }
        expected.extend([("close", copy, 0, 0), ("close", file, 0, 0)]);
        assert_eq!(steps[3], expected);
        assert_eq!(steps.len(), 4);
    }
}

proptest! {
    #[test]
    fn every_byte_is_copied_once_by_any_number_of_processes(
        directories in 1..5_u32,
        files in 1..5_u32,
        sizes in prop::collection::btree_set(1..1000_u64, 1..4),
        chunk in 1..500_u64,
        request in 1..500_u64,
        processes in 1..9_u32,
    ) {
        let sizes: Vec<u64> = sizes.into_iter().collect();
        let spec = spec(directories, files, &sizes, chunk, request);
        let mut application = CommonTreeCopy::new(&spec, processes);
        let expected = application.total_requests();
        let ranks = 0..processes;
        let steps: Vec<_> = ranks.map(|rank| asked(&mut application, rank)).collect();
        let all: Vec<Ask> = steps.iter().flatten().flatten().copied().collect();
        prop_assert_eq!(expected, Some(all.len() as u64));
        prop_assert!(steps.iter().all(|it| it.len() == 4));
        let parts = |operation, file| {
            let parts = all.iter().filter(move |it| (it.operation, it.file) == (operation, file));
            let mut parts: Vec<_> = parts.map(|it| (it.offset, it.size)).collect();
            parts.sort_unstable();
            parts
        };
        for file in 0..spec.in_tree() {
            let copy = file + spec.in_tree();
            prop_assert_eq!(parts(Operation::Create, copy).len(), 1);
            prop_assert_eq!(parts(Operation::Stat, file).len(), 1);
            let read = parts(Operation::Read, file);
            prop_assert_eq!(&read, &parts(Operation::Write, copy));
            let mut end = 0;
            for (offset, size) in read {
                prop_assert_eq!(offset, end);
                prop_assert!(size > 0 && size <= request.min(chunk));
                end += size;
            }
            prop_assert_eq!(end, spec.size_of(file).0);
        }
        // Each process has what it uses open, and closes it.
        for process in &steps {
            let mut open = std::collections::BTreeSet::new();
            for ask in &process[3] {
                match ask.operation {
                    Operation::Open => prop_assert!(open.insert(ask.file)),
                    Operation::Close => prop_assert!(open.remove(&ask.file)),
                    _ => prop_assert!(open.contains(&ask.file)),
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
