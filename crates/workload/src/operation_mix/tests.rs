use super::*;
use crate::Named;
use headrace_spec::{
    Bursts, Bytes, FileSets, Followers, Locality, NameSets as Names, Sharing, Weighted,
};

mod file_sets;
mod habits;
mod sharing;
mod sharing_among_several;

fn spec() -> OperationMix {
    OperationMix {
        weights: Weighted(vec![
            (MixedOperation::Read, 3.0),
            (MixedOperation::Stat, 6.0),
            (MixedOperation::Create, 1.0),
        ]),
        amount: Amount::Count(10_000),
        rate: None,
        think: Seconds(0.0),
        think_distribution: ThinkDistribution::Constant,
        files: 100,
        file_sizes: Weighted(vec![(Bytes(1), 50.0), (Bytes(10), 30.0), (Bytes(40), 20.0)]),
        read_sizes: Weighted(vec![(Bytes(10), 1.0)]),
        write_sizes: Weighted(vec![(Bytes(10), 1.0)]),
        append_share: 0.0,
        hot_files: 1.0,
        hot_share: 1.0,
        bytes_per_rate: None,
        file_sets: FileSets::Shared,
        write_files: 0.0,
        append_limit: None,
        random_from: None,
        names: Names {
            directories: 0,
            directories_per_rate: 0.0,
            symbolic_links: 0,
            symbolic_links_per_rate: 0.0,
            sets: 10,
            made_in: MadeIn::Process,
            taken: Taken::Own,
        },
        locality: Locality {
            groups: 1,
            reads: 0.0,
            overwrites: 0.0,
            recent_files: 8,
        },
        bursts: Bursts {
            share: 0.0,
            length: 8,
        },
        followed_by: Followers::default(),
        sharing: Sharing::None,
    }
}

/// All that the processes ask, those of all clients in turn.
fn asked(spec: &OperationMix, processes: u32, per_client: u32) -> Vec<(u32, Ask)> {
    let mut application = OperationMixApplication::new(spec, processes, per_client, 1);
    let mut counter = 0;
    let mut unused = Random::named(1, "unused", &mut counter);
    let mut all = Vec::new();
    let mut running: Vec<u32> = (0..processes).collect();
    while !running.is_empty() {
        running.retain(
            |&rank| match application.next(rank, Time::ZERO, &mut unused) {
                Ok(Next::Ask(ask)) => {
                    all.push((rank, ask));
                    true
                }
                _ => false,
            },
        );
    }
    assert_eq!(application.total_requests(), Some(all.len() as u64));
    all
}

/// Within four standard deviations of a binomial distribution.
#[track_caller]
fn share(part: usize, of: usize, expected: f64) {
    let got = part as f64 / of as f64;
    let deviation = (expected * (1.0 - expected) / of as f64).sqrt();
    assert!((got - expected).abs() < 4.0 * deviation, "{got} {expected}");
}

#[test]
fn operations_come_as_often_as_their_weights_say() {
    let all = asked(&spec(), 4, 2);
    assert_eq!(all.len(), 20_000);
    for (operation, expected) in [
        (Operation::Read, 0.3),
        (Operation::Stat, 0.6),
        (Operation::Create, 0.1),
    ] {
        let of_it = all.iter().filter(|(_, ask)| ask.operation == operation);
        share(of_it.count(), all.len(), expected);
    }
}

#[test]
fn files_are_as_large_as_their_weights_say_and_transfers_lie_in_them() {
    let application = OperationMixApplication::new(&spec(), 1, 1, 1);
    let existing = application.existing();
    let of_size = |size| existing.iter().filter(|file| file.size == size).count();
    assert_eq!([of_size(1), of_size(10), of_size(40)], [50, 30, 20]);
    let all = asked(&spec(), 1, 1);
    let reads: Vec<&Ask> = all
        .iter()
        .map(|(_, ask)| ask)
        .filter(|ask| ask.operation == Operation::Read)
        .collect();
    for ask in &reads {
        assert!(ask.file >= 50 && ask.file < 100, "{ask:?}");
        assert_eq!((ask.size, ask.offset % 10), (10, 0));
        assert!(ask.offset < if ask.file < 80 { 10 } else { 40 }, "{ask:?}");
    }
    let large = reads.iter().filter(|ask| ask.file >= 80).count();
    share(large, reads.len(), 0.4);
    // Transfers larger than all files use the largest.
    let large = OperationMix {
        read_sizes: Weighted(vec![(Bytes(100), 1.0)]),
        ..spec()
    };
    for (_, ask) in asked(&large, 1, 1) {
        if ask.operation == Operation::Read {
            assert!(ask.file >= 80 && ask.size == 40 && ask.offset == 0);
        }
    }
}

#[test]
fn hot_files_are_asked_for_more_and_lie_among_all() {
    let spec = OperationMix {
        weights: Weighted(vec![(MixedOperation::Stat, 1.0)]),
        hot_files: 0.1,
        hot_share: 0.7,
        ..spec()
    };
    let mut counts = vec![0; 100];
    let all = asked(&spec, 1, 1);
    for (_, ask) in &all {
        counts[ask.file as usize] += 1;
    }
    let hot: Vec<usize> = (0..100).filter(|&file| counts[file] > 300).collect();
    assert_eq!(hot, (0..10).map(|file| 10 * file + 9).collect::<Vec<_>>());
    share(hot.iter().map(|&file| counts[file]).sum(), all.len(), 0.7);
    assert!(counts.iter().all(|&count| count > 0));
}

#[test]
fn what_is_appended_follows_what_was() {
    let spec = OperationMix {
        weights: Weighted(vec![(MixedOperation::Write, 1.0)]),
        append_share: 0.8,
        ..spec()
    };
    let mut ends = HashMap::new();
    let all = asked(&spec, 2, 2);
    let mut appended = 0;
    for (_, ask) in &all {
        let end = ends
            .entry(ask.file)
            .or_insert(spec.sets()[0].size_of(ask.file).0);
        if ask.offset == *end {
            appended += 1;
            *end += ask.size;
        } else {
            assert!(ask.offset + ask.size <= spec.sets()[0].size_of(ask.file).0);
        }
    }
    share(appended, all.len(), 0.8);
}

#[test]
fn an_open_loop_is_a_poisson_process_of_every_client() {
    let spec = OperationMix {
        rate: Some(100.0),
        ..spec()
    };
    let all = asked(&spec, 8, 4);
    let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for (rank, ask) in &all {
        let intended = ask.intended.expect("it has a time").as_seconds();
        times[*rank as usize % 2].push(intended);
    }
    for times in times {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let number = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / number;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / number;
        assert!(gaps.iter().all(|gap| *gap >= 0.0));
        // 50 a second; of exponential times the deviation is the mean.
        assert!((mean / 0.02 - 1.0).abs() < 0.04, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.06, "{variance}");
    }
}

/// The sequence of a client does not depend on the process that asks, or on time.
#[test]
fn a_client_asks_the_same_by_however_many_processes() {
    let what = |all: Vec<(u32, Ask)>| -> Vec<_> {
        let asks = all.into_iter().filter(|(rank, _)| rank % 2 == 0);
        asks.map(|(_, ask)| (ask.operation, ask.file, ask.offset, ask.size))
            .collect()
    };
    assert_eq!(what(asked(&spec(), 2, 1)), what(asked(&spec(), 6, 3)));
}

/// Each name alone asks for what a simulation knows, and says which it was.
#[test]
fn finer_names_are_told_beside_what_they_are_simulated_as() {
    let spec = |operation| OperationMix {
        weights: Weighted(vec![(operation, 1.0)]),
        amount: Amount::Count(200),
        file_sizes: Weighted(vec![(Bytes(1), 50.0), (Bytes(10_000), 50.0)]),
        append_share: 0.5,
        ..spec()
    };
    for &operation in MixedOperation::ALL {
        let all = asked(&spec(operation), 1, 1);
        let mut seen: Vec<Operation> = all.iter().map(|(_, ask)| ask.operation).collect();
        seen.sort();
        seen.dedup();
        let both = operation.reads() && operation.writes();
        assert_eq!(seen.len(), 1 + usize::from(both), "{operation:?}");
        for (_, ask) in &all {
            assert_eq!(ask.call, Some(operation));
            assert_eq!(ask.size > 0, operation.reads() || operation.writes());
            if operation.is_direct() {
                assert_eq!((ask.offset % 4096, ask.size % 4096), (0, 0));
                assert!(ask.size > 0);
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_has_its_first_length_and_grows_again_from_there() {
    let spec = OperationMix {
        weights: Weighted(vec![
            (MixedOperation::Write, 1.0),
            (MixedOperation::Truncate, 1.0),
        ]),
        append_share: 1.0,
        ..spec()
    };
    let mut ends: HashMap<u32, u64> = HashMap::new();
    for (_, ask) in asked(&spec, 1, 1) {
        let first = spec.sets()[0].size_of(ask.file).0;
        match ask.operation {
            Operation::Truncate => {
                assert_eq!(ask.offset, first);
                ends.remove(&ask.file);
            }
            _ => {
                let end = ends.entry(ask.file).or_insert(first);
                assert_eq!(ask.offset, *end);
                *end += ask.size;
            }
        }
    }
}

/// Kolmogorov and Smirnov's test at the level of 0.1 %: of 20,000 arrivals, the distances
/// are those of an exponential distribution.
#[test]
fn times_between_arrivals_are_exponential() {
    let spec = OperationMix {
        rate: Some(2000.0),
        amount: Amount::Count(20_000),
        ..spec()
    };
    let arrivals = asked(&spec, 1, 1);
    let arrivals = arrivals.iter().map(|(_, ask)| ask.intended);
    let seconds: Vec<f64> = arrivals
        .map(|time| time.expect("an open loop").0 as f64 * 1e-12)
        .collect();
    let mut between: Vec<f64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    between.sort_by(f64::total_cmp);
    let count = between.len() as f64;
    let distance = |(place, between): (usize, &f64)| {
        let expected = 1.0 - (-2000.0 * between).exp();
        let (below, up_to) = (place as f64 / count, (place + 1) as f64 / count);
        (expected - below).max(up_to - expected)
    };
    let farthest = between.iter().enumerate().map(distance).fold(0.0, f64::max);
    assert!(farthest < 1.95 / count.sqrt(), "{farthest}");
}

#[test]
fn directories_and_links_grow_with_the_load_and_are_gone_to() {
    let spec = OperationMix {
        weights: Weighted(vec![
            (MixedOperation::Readdir, 1.0),
            (MixedOperation::Chdir, 1.0),
            (MixedOperation::Readlink, 2.0),
            (MixedOperation::Stat, 1.0),
        ]),
        rate: Some(20.0),
        names: Names {
            directories: 7,
            directories_per_rate: 10.0,
            symbolic_links: 5_000,
            symbolic_links_per_rate: 100.0,
            ..spec().names
        },
        ..spec()
    };
    let sets = OperationMixApplication::new(&spec, 1, 1, 1).name_sets();
    assert_eq!(
        (sets.first, sets.directories, sets.symbolic_links),
        (200, 200, 5_000)
    );
    let all = asked(&spec, 1, 1);
    let mut seen = [vec![false; 200], vec![false; 5_000]];
    for (_, ask) in &all {
        match (ask.call, sets.named(ask.file)) {
            (Some(MixedOperation::Readdir | MixedOperation::Chdir), Named::Directory(number)) => {
                seen[0][number as usize] = true;
            }
            (Some(MixedOperation::Readlink), Named::SymbolicLink(number)) => {
                seen[1][number as usize] = true;
            }
            (Some(MixedOperation::Stat), Named::File) => {}
            other => panic!("{other:?}"),
        }
    }
    // In 4,000 draws, e^-20 of 200 files are never drawn, and e^-0.8 of 5,000.
    assert!(seen[0].iter().all(|it| *it));
    let drawn = seen[1].iter().filter(|it| **it).count();
    share(drawn, 5_000, 1.0 - (-0.8f64).exp());
}

/// Two clients of two processes, and five directories, which become six: three for each client.
#[test]
fn names_are_made_in_the_directories_of_those_who_share_them() {
    for (made_in, of_all) in [(MadeIn::Client, false), (MadeIn::Clients, true)] {
        let spec = OperationMix {
            weights: Weighted(vec![
                (MixedOperation::Create, 2.0),
                (MixedOperation::Unlink, 1.0),
                (MixedOperation::Stat, 2.0),
                (MixedOperation::Readdir, 1.0),
                (MixedOperation::Read, 1.0),
            ]),
            names: Names {
                directories: 5,
                made_in,
                ..spec().names
            },
            ..spec()
        };
        let sets = OperationMixApplication::new(&spec, 4, 2, 1).name_sets();
        // 100 files; as many names for each directory; for all clients, 5 divides 100.
        let (directories, made) = if of_all { (5, 100) } else { (6, 102) };
        assert_eq!((sets.directories, sets.made), (directories, made));
        assert_eq!(sets.first, 100 + made);
        let mut seen = std::collections::BTreeSet::new();
        for (rank, ask) in asked(&spec, 4, 2) {
            let directory = match sets.named(ask.file) {
                Named::Made(directory) if ask.call != Some(MixedOperation::Read) => directory,
                Named::Directory(directory) => directory,
                Named::File if ask.call == Some(MixedOperation::Read) => continue,
                other => panic!("{other:?} {ask:?}"),
            };
            seen.insert(directory);
            assert!(of_all || directory % 2 == rank % 2, "{rank} {directory}");
        }
        assert_eq!(seen.len() as u32, directories);
    }
}
