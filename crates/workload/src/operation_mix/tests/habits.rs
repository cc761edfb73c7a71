//! Tests of file reuse, follow-up operations and file growth.

use super::*;

/// The operations of one client with one process, without ranks.
fn all(spec: &OperationMix) -> Vec<Ask> {
    asked(spec, 1, 1).into_iter().map(|(_, ask)| ask).collect()
}

fn weights(all: &[(MixedOperation, f64)]) -> Weighted<MixedOperation> {
    Weighted(all.to_vec())
}

fn of(all: &[Ask], operation: Operation) -> impl Iterator<Item = &Ask> {
    all.iter().filter(move |ask| ask.operation == operation)
}

/// As `share`, for draws of which `together` come at once: their variance is that much
/// larger at the most.
#[track_caller]
fn share_of_runs(part: usize, of: usize, expected: f64, together: f64) {
    let got = part as f64 / of as f64;
    let deviation = (expected * (1.0 - expected) * together / of as f64).sqrt();
    assert!((got - expected).abs() < 4.0 * deviation, "{got} {expected}");
}

#[test]
fn what_follows_is_on_the_same_file_and_the_mix_keeps_its_shares() {
    let spec = OperationMix {
        weights: weights(&[
            (MixedOperation::Open, 27.0),
            (MixedOperation::Read, 18.0),
            (MixedOperation::Readdir, 11.0),
            (MixedOperation::Stat, 44.0),
        ]),
        followed_by: Followers(vec![
            (MixedOperation::Open, MixedOperation::Read),
            (MixedOperation::Readdir, MixedOperation::Stat),
        ]),
        ..spec()
    };
    let all = all(&spec);
    for (operation, expected) in [
        (Operation::Open, 0.27),
        (Operation::Read, 0.18),
        (Operation::Readdir, 0.11),
        (Operation::Stat, 0.44),
    ] {
        let count = of(&all, operation).count();
        share_of_runs(count, all.len(), expected, 2.0);
    }
    let mut followed = 0;
    for pair in all.windows(2) {
        match pair[0].operation {
            // Every one is: there are more looks than listings.
            Operation::Readdir => {
                assert_eq!(pair[1].operation, Operation::Stat);
                assert_eq!(pair[1].file, pair[0].file);
            }
            Operation::Open if pair[1].operation == Operation::Read => {
                assert_eq!(pair[1].file, pair[0].file);
                followed += 1;
            }
            // There are fewer reads than opens: none comes by itself.
            _ => assert_ne!(pair[1].operation, Operation::Read),
        }
    }
    let opens = of(&all, Operation::Open).count();
    share(followed, opens, 18.0 / 27.0);
}

#[test]
fn chains_of_operations_are_followed_to_their_end() {
    use MixedOperation::{Close, Open, Read, Stat};
    let spec = OperationMix {
        weights: weights(&[(Open, 1.0), (Read, 1.0), (Close, 1.0), (Stat, 2.0)]),
        followed_by: Followers(vec![(Open, Read), (Read, Close)]),
        ..spec()
    };
    let all = all(&spec);
    for (place, ask) in all.iter().enumerate() {
        let Some(rest) = all.get(place..place + 3) else {
            break;
        };
        if ask.operation == Operation::Open {
            let kinds = rest.iter().map(|it| it.operation);
            let chain = [Operation::Open, Operation::Read, Operation::Close];
            assert!(kinds.eq(chain));
            assert!(rest.iter().all(|it| it.file == ask.file));
        }
    }
    share_of_runs(of(&all, Operation::Open).count(), all.len(), 0.2, 3.0);
}

#[test]
fn a_part_of_the_writes_comes_in_bursts_and_the_mix_keeps_its_shares() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Write, 1.0), (MixedOperation::Stat, 9.0)]),
        amount: Amount::Count(40_000),
        bursts: Bursts {
            share: 0.75,
            length: 10,
        },
        ..spec()
    };
    let all = all(&spec);
    let writes = of(&all, Operation::Write).count();
    share_of_runs(writes, all.len(), 0.1, 10.0);
    let runs = all.chunk_by(|one, other| one.operation == other.operation);
    let runs = runs.filter(|run| run[0].operation == Operation::Write);
    let in_bursts: usize = runs.filter(|run| run.len() >= 10).map(<[Ask]>::len).sum();
    // Single writes may stand beside a burst: up to 3 % of all here.
    let got = in_bursts as f64 / writes as f64;
    assert!((0.70..0.82).contains(&got), "{got}");
}

#[test]
fn some_files_are_written_and_the_others_read() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Read, 1.0), (MixedOperation::Write, 1.0)]),
        write_files: 0.4,
        append_share: 0.5,
        ..spec()
    };
    let all = all(&spec);
    let files = |operation| {
        let mut files: Vec<u32> = of(&all, operation).map(|ask| ask.file).collect();
        files.sort_unstable();
        files.dedup();
        files
    };
    let (read, written) = (files(Operation::Read), files(Operation::Write));
    assert!(read.iter().all(|file| !written.contains(file)));
    assert_eq!(written.len(), 40);
    // Reads are in files that hold 10 bytes: half of all.
    assert_eq!(read.len(), 30);
}

#[test]
fn groups_are_chosen_as_a_poisson_distribution_says() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Stat, 1.0)]),
        amount: Amount::Count(50_000),
        locality: Locality {
            groups: 10,
            ..spec().locality
        },
        ..spec()
    };
    let all = all(&spec);
    // Mean 5, of the numbers from 0 to 9: e^-5 5^k / k!.
    let weights = [
        1.0, 5.0, 12.5, 20.8333, 26.0417, 26.0417, 21.7014, 15.501, 9.68812, 5.38229,
    ];
    let sum: f64 = weights.iter().sum();
    for (group, weight) in weights.iter().enumerate() {
        let of_it = all.iter().filter(|ask| ask.file as usize % 10 == group);
        share(of_it.count(), all.len(), weight / sum);
    }
    // Within a group all files are alike.
    let of_group: Vec<&Ask> = all.iter().filter(|ask| ask.file % 10 == 4).collect();
    for file in (4..100).step_by(10) {
        let count = of_group.iter().filter(|ask| ask.file == file).count();
        share(count, of_group.len(), 0.1);
    }
}

#[test]
fn files_used_last_are_used_again() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Read, 1.0), (MixedOperation::Write, 1.0)]),
        files: 10_000,
        locality: Locality {
            reads: 0.6,
            overwrites: 0.0,
            recent_files: 4,
            ..spec().locality
        },
        ..spec()
    };
    let all = all(&spec);
    let again = |operation| {
        let files: Vec<u32> = of(&all, operation).map(|ask| ask.file).collect();
        let mut recent: Vec<u32> = Vec::new();
        let mut count = 0;
        for file in &files {
            count += usize::from(recent.contains(file));
            recent.retain(|other| other != file);
            recent.insert(0, *file);
            recent.truncate(4);
        }
        (count, files.len())
    };
    let (count, reads) = again(Operation::Read);
    // By chance, one of 5,000 files is hardly one of the last four.
    share(count, reads, 0.6);
    let (count, writes) = again(Operation::Write);
    assert!(count < writes / 100);
}

#[test]
fn small_files_are_used_in_order_and_large_ones_at_random() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Read, 1.0)]),
        file_sizes: Weighted(vec![(Bytes(25), 1.0), (Bytes(1000), 1.0)]),
        random_from: Some(Bytes(1000)),
        ..spec()
    };
    let mut places: HashMap<u32, u64> = HashMap::new();
    let mut jumps = 0;
    for ask in all(&spec) {
        let place = places.entry(ask.file).or_insert(0);
        if ask.file < 50 {
            // 10, 10 and the last 5 bytes, and again.
            assert_eq!(ask.offset, *place);
            assert_eq!(ask.size, if ask.offset == 20 { 5 } else { 10 });
            *place = (ask.offset + ask.size) % 25;
        } else {
            jumps += u32::from(ask.offset != *place);
            *place = ask.offset + ask.size;
        }
    }
    assert!(jumps > 4000);
}

#[test]
fn files_that_are_appended_to_stop_growing() {
    let spec = OperationMix {
        weights: weights(&[(MixedOperation::Write, 1.0)]),
        files: 1,
        file_sizes: Weighted(vec![(Bytes(40), 1.0)]),
        append_share: 1.0,
        append_limit: Some(Bytes(35)),
        amount: Amount::Count(7),
        ..spec()
    };
    let offsets: Vec<u64> = all(&spec).iter().map(|ask| ask.offset).collect();
    assert_eq!(offsets, [40, 50, 60, 40, 50, 60, 40]);
}

#[test]
fn files_grow_with_the_load() {
    let spec = |rate| OperationMix {
        rate: Some(rate),
        bytes_per_rate: Some(Bytes(10_000_000)),
        file_sizes: Weighted(vec![(Bytes(10_000), 1.0), (Bytes(30_000), 1.0)]),
        ..spec()
    };
    let bytes = |rate| -> (usize, u64) {
        let application = OperationMixApplication::new(&spec(rate), 1, 1, 1);
        let files = application.existing();
        (files.len(), files.iter().map(|file| file.size).sum())
    };
    assert_eq!(bytes(2.0), (1000, 20_000_000));
    assert_eq!(bytes(10.0), (5000, 100_000_000));
    // No fewer than are given.
    assert_eq!(bytes(0.1).0, 100);
}
