use std::collections::{BTreeMap, BTreeSet};

use headrace_spec::{Bytes, Seconds};

use super::*;

fn spec(access: Access, order: Order) -> Ior {
    Ior {
        files: 3,
        block: Bytes(40).into(),
        transfer: Bytes(10).into(),
        segments: 2,
        requests: None,
        sync_per_write: false,
        opens: Some(false),
        access,
        order,
        streams: 1,
        stride: 3,
        phases: vec![Phase::Write, Phase::Read],
        rank_shift: 0,
        stonewall: Seconds(0.0),
        read_share: 0.5,
        think: Seconds(0.0),
        interval: Seconds(0.0),
        think_distribution: ThinkDistribution::Constant,
        repeat: Repeat::Times(2),
    }
}

/// All requests of all processes, with barriers, one process after the other.
fn asks(ior: &Ior, processes: u32) -> (Vec<Ask>, u32) {
    let mut application = IorApplication::new(ior, processes, 1);
    let mut counter = 0;
    let mut random = Random::named(1, "ior", &mut counter);
    let (mut asks, mut barriers) = (Vec::new(), 0);
    for rank in 0..processes {
        loop {
            match application.next(rank, Time::ZERO, &mut random) {
                Ok(Next::Ask(ask)) => asks.push(ask),
                Ok(Next::Barrier | Next::PhaseOver) => barriers += 1,
                Ok(Next::Finished) => break,
                Ok(other) => panic!("{other:?}"),
                Err(message) => panic!("{message}"),
            }
        }
    }
    (asks, barriers)
}

#[test]
fn every_byte_is_touched_once_in_every_phase() {
    for access in [Access::FilePerProcess, Access::Shared] {
        for order in [
            Order::Sequential,
            Order::Backward,
            Order::Strided,
            Order::Random,
        ] {
            let ior = spec(access, order);
            let (asks, barriers) = asks(&ior, 5);
            assert_eq!(asks.len(), 5 * 4 * 3 * 2 * 4);
            assert_eq!(barriers, 5 * 3);
            for phase in 0..4 {
                let of_phase = asks.iter().filter(|ask| ask.phase == phase);
                let places: BTreeSet<(u32, u64)> =
                    of_phase.clone().map(|ask| (ask.file, ask.offset)).collect();
                assert_eq!(places.len(), of_phase.clone().count());
                let files: BTreeSet<u32> = of_phase.clone().map(|ask| ask.file).collect();
                let (files_expected, size) = match access {
                    Access::FilePerProcess => (15, 80),
                    Access::Shared => (3, 400),
                };
                assert_eq!(files.len(), files_expected);
                assert_eq!(
                    of_phase.clone().map(|ask| ask.offset + ask.size).max(),
                    Some(size)
                );
                let expected = if phase % 2 == 0 {
                    Operation::Write
                } else {
                    Operation::Read
                };
                assert!(of_phase.clone().all(|ask| ask.operation == expected));
            }
        }
    }
}

#[test]
fn the_total_is_what_is_asked() {
    let ior = spec(Access::Shared, Order::Random);
    let application = IorApplication::new(&ior, 7, 1);
    assert_eq!(
        application.total_requests(),
        Some(asks(&ior, 7).0.len() as u64)
    );
}

/// In random order a process may come to any file at any time.
#[test]
fn in_random_order_files_are_opened_before_and_closed_after_each_phase() {
    for access in [Access::FilePerProcess, Access::Shared] {
        let ior = Ior {
            opens: Some(true),
            sync_per_write: true,
            ..spec(access, Order::Random)
        };
        let (asks, _) = asks(&ior, 2);
        let total = IorApplication::new(&ior, 2, 1).total_requests();
        assert_eq!(total, Some(asks.len() as u64));
        let phase: Vec<&Ask> = asks.iter().filter(|ask| ask.phase == 2).collect();
        // Three files each, eight transfers of each file, as many syncs.
        let one = &phase[..phase.len() / 2];
        assert_eq!(one.len(), 3 + 2 * 24 + 3);
        for (part, operation) in [(&one[..3], Operation::Open), (&one[51..], Operation::Close)] {
            assert!(part.iter().all(|ask| ask.operation == operation));
            let files: BTreeSet<u32> = part.iter().map(|ask| ask.file).collect();
            let used: BTreeSet<u32> = one.iter().map(|ask| ask.file).collect();
            assert_eq!(files, used);
        }
    }
}

/// IOR and programs close one file before they open the next.
#[test]
fn in_order_each_file_is_opened_used_and_closed() {
    for order in [Order::Sequential, Order::Backward, Order::Strided] {
        for requests in [None, Some(9), Some(16)] {
            let ior = Ior {
                opens: Some(true),
                requests,
                phases: vec![Phase::Write, Phase::Sync],
                repeat: Repeat::Times(1),
                ..spec(Access::FilePerProcess, order)
            };
            let (asks, _) = asks(&ior, 1);
            let total = IorApplication::new(&ior, 1, 1).total_requests();
            assert_eq!(total, Some(asks.len() as u64));
            let mut open = None;
            let (mut writes, mut syncs, mut closed) = (0, 0, Vec::new());
            for ask in &asks {
                match ask.operation {
                    Operation::Open => assert_eq!(open.replace(ask.file), None),
                    Operation::Close => {
                        assert_eq!(open.take(), Some(ask.file));
                        closed.push((ask.phase, ask.file));
                    }
                    other => {
                        assert_eq!(open, Some(ask.file));
                        writes += u64::from(other == Operation::Write);
                        syncs += u64::from(other == Operation::Sync);
                    }
                }
            }
            assert_eq!((open, writes, syncs), (None, requests.unwrap_or(24), 3));
            // Files of eight transfers: those that were come to, then all that are synced.
            let written = requests.unwrap_or(24).div_ceil(8) as u32;
            let expected = (0..written)
                .map(|it| (0, it))
                .chain((0..3).map(|it| (1, it)));
            assert_eq!(closed, expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_write_is_followed_by_the_sync_of_its_file() {
    for order in [Order::Sequential, Order::Random, Order::Uniform] {
        let ior = Ior {
            sync_per_write: true,
            requests: Some(7),
            phases: vec![Phase::Write, Phase::Sync],
            repeat: Repeat::Times(1),
            ..spec(Access::FilePerProcess, order)
        };
        let (asks, _) = asks(&ior, 2);
        // Seven writes and their syncs, then one sync for each of three files.
        assert_eq!(asks.len(), 2 * (14 + 3));
        for pair in asks[..14].chunks(2) {
            assert_eq!(pair[0].operation, Operation::Write);
            assert_eq!((pair[1].operation, pair[1].size), (Operation::Sync, 0));
            assert_eq!(pair[0].file, pair[1].file);
        }
        let files: Vec<u32> = asks[14..17].iter().map(|ask| ask.file).collect();
        assert_eq!(files, [0, 1, 2]);
        let application = IorApplication::new(&ior, 2, 1);
        assert_eq!(application.total_requests(), Some(34));
    }
}

/// Among n transfers with a read fraction p, n·p are reads, give or take four standard deviations
/// √(n·p·(1−p)).
#[test]
fn a_mixed_phase_reads_its_share() {
    for share in [0.0, 0.3, 0.7, 1.0] {
        for order in [Order::Sequential, Order::Random, Order::Uniform] {
            let ior = Ior {
                block: Bytes(50_000).into(),
                segments: 1,
                phases: vec![Phase::Mixed],
                read_share: share,
                repeat: Repeat::Times(1),
                ..spec(Access::FilePerProcess, order)
            };
            let (asks, _) = asks(&ior, 4);
            assert_eq!(asks.len(), 60_000);
            let reads = asks.iter().filter(|ask| ask.operation == Operation::Read);
            let bound = 4.0 * (60_000.0 * share * (1.0 - share)).sqrt();
            let away = reads.count() as f64 - 60_000.0 * share;
            assert!(away.abs() <= bound, "{share}: {away}");
            assert!(asks.iter().all(|ask| ask.size == 10));
        }
    }
}

/// Reads are redrawn for each process and phase.
#[test]
fn processes_and_phases_mix_in_their_own_way() {
    let ior = Ior {
        files: 1,
        block: Bytes(10_000).into(),
        segments: 1,
        phases: vec![Phase::Mixed],
        ..spec(Access::FilePerProcess, Order::Sequential)
    };
    let (asks, _) = asks(&ior, 2);
    let writes: Vec<Vec<bool>> = asks
        .chunks(1000)
        .map(|part| {
            part.iter()
                .map(|ask| ask.operation == Operation::Write)
                .collect()
        })
        .collect();
    assert_eq!(writes.len(), 4);
    for (n, one) in writes.iter().enumerate() {
        for other in &writes[..n] {
            let same = one.iter().zip(other).filter(|(one, other)| one == other);
            // Half of them, give or take 6 · √(1000 / 4).
            assert!(same.count().abs_diff(500) < 95);
        }
    }
}

#[test]
fn writes_of_a_mixed_phase_are_synced_and_counted() {
    let ior = Ior {
        sync_per_write: true,
        opens: Some(false),
        phases: vec![Phase::Mixed, Phase::Sync],
        ..spec(Access::FilePerProcess, Order::Uniform)
    };
    let (asks, _) = asks(&ior, 3);
    let mixed: Vec<&Ask> = asks.iter().filter(|ask| ask.phase % 2 == 0).collect();
    let count = |operation| {
        mixed
            .iter()
            .filter(|ask| ask.operation == operation)
            .count()
    };
    assert_eq!(count(Operation::Write), count(Operation::Sync));
    assert_eq!(count(Operation::Write) + count(Operation::Read), 3 * 2 * 24);
    for pair in mixed.windows(2) {
        let synced = pair[1].operation == Operation::Sync;
        assert_eq!(pair[0].operation == Operation::Write, synced);
        assert!(!synced || pair[0].file == pair[1].file);
    }
    let application = IorApplication::new(&ior, 3, 1);
    assert_eq!(application.total_requests(), Some(asks.len() as u64));
}

#[test]
fn files_that_are_read_in_a_mixed_first_phase_are_there() {
    for (phase, there) in [(Phase::Mixed, 15), (Phase::Write, 0)] {
        let ior = Ior {
            phases: vec![phase],
            ..spec(Access::FilePerProcess, Order::Sequential)
        };
        let application = IorApplication::new(&ior, 5, 1);
        assert_eq!(application.existing().len(), there);
    }
}

/// Eight transfers of a file in three streams: sections of 3, 3 and 2.
#[test]
fn streams_are_gone_through_in_turn() {
    let ior = Ior {
        files: 2,
        streams: 3,
        phases: vec![Phase::Read],
        repeat: Repeat::Times(1),
        ..spec(Access::FilePerProcess, Order::Sequential)
    };
    let (asks, _) = asks(&ior, 1);
    let places: Vec<(u32, u64)> = asks.iter().map(|ask| (ask.file, ask.offset / 10)).collect();
    let of = |file| [0, 3, 6, 1, 4, 7, 2, 5].map(|number| (file, number));
    assert_eq!(places, [of(0), of(1)].concat());
    // More streams than transfers are as many as there are transfers.
    let many = Ior {
        streams: 100,
        ..ior
    };
    let (asks, _) = self::asks(&many, 1);
    let places: Vec<u64> = asks[..8].iter().map(|ask| ask.offset / 10).collect();
    assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn backward_and_strided_transfers_are_where_they_should_be() {
    let offsets = |order| {
        let ior = Ior {
            files: 2,
            segments: 1,
            phases: vec![Phase::Read],
            repeat: Repeat::Times(1),
            ..spec(Access::FilePerProcess, order)
        };
        let (asks, _) = asks(&ior, 1);
        asks.iter()
            .map(|ask| (ask.file, ask.offset / 10))
            .collect::<Vec<_>>()
    };
    let expected = |places: [u64; 4]| -> Vec<(u32, u64)> {
        let files = 0..2;
        files
            .flat_map(|file| places.map(|place| (file, place)))
            .collect()
    };
    assert_eq!(offsets(Order::Backward), expected([3, 2, 1, 0]));
    assert_eq!(offsets(Order::Strided), expected([0, 3, 1, 2]));
}

#[test]
fn an_interval_lies_before_each_repetition_and_nowhere_else() {
    let ior = Ior {
        interval: Seconds(2.0),
        repeat: Repeat::Times(3),
        ..spec(Access::FilePerProcess, Order::Sequential)
    };
    let (asks, _) = asks(&ior, 1);
    let after: Vec<(u32, Span)> = asks
        .iter()
        .filter(|ask| ask.after > Span::ZERO)
        .map(|ask| (ask.phase, ask.after))
        .collect();
    assert_eq!(
        after,
        [(2, Span::from_seconds(2.0)), (4, Span::from_seconds(2.0))]
    );
}

/// Simulation and measurement of a workload use the same places. They follow from the seed, the
/// process, the phase and the transfer's number, and not from other draws.
#[test]
fn drawn_places_are_the_workload_s_own() {
    let ior = Ior {
        requests: Some(4000),
        phases: vec![Phase::Read],
        ..spec(Access::FilePerProcess, Order::Uniform)
    };
    let places = |seed: u64, stream: u64| -> Vec<u64> {
        let mut application = IorApplication::new(&ior, 2, seed);
        let mut drawn = stream;
        let mut random = Random::named(stream, "process", &mut drawn);
        let mut places = Vec::new();
        for rank in [0, 1] {
            while let Next::Ask(ask) = application.next(rank, Time::ZERO, &mut random).unwrap() {
                if ask.operation == Operation::Read {
                    places.push(ask.offset);
                }
            }
        }
        places
    };
    let own = places(7, 1);
    assert_eq!(own, places(7, 2));
    assert_ne!(own, places(8, 1));
    let of_each = own.len() / 2;
    assert_ne!(own[..of_each], own[of_each..]);
}

#[test]
fn another_process_reads_what_was_written() {
    for access in [Access::FilePerProcess, Access::Shared] {
        let ior = Ior {
            rank_shift: 1,
            repeat: Repeat::Times(1),
            ..spec(access, Order::Sequential)
        };
        let (asks, _) = asks(&ior, 3);
        let places = |rank: usize, phase: u32| {
            let each = asks.len() / 3;
            let own = asks[rank * each..(rank + 1) * each].iter();
            own.filter(|ask| ask.phase == phase)
                .map(|ask| (ask.file, ask.offset))
                .collect::<Vec<_>>()
        };
        for rank in 0..3 {
            assert_eq!(places(rank, 1), places((rank + 1) % 3, 0), "{access:?}");
        }
    }
}

/// Operations, files and offsets of a process, by phase.
type ByPhase = BTreeMap<u32, Vec<(Operation, u32, u64)>>;

/// Transfers of processes that take this many seconds for each.
fn at_speeds(ior: &Ior, seconds: &[u64]) -> Vec<ByPhase> {
    let processes = seconds.len();
    let mut application = IorApplication::new(ior, processes as u32, 1);
    let mut counter = 0;
    let mut random = Random::named(1, "ior", &mut counter);
    let mut seen = vec![BTreeMap::new(); processes];
    let mut now = vec![Time::ZERO; processes];
    let mut finished = vec![false; processes];
    while finished.iter().any(|it| !it) {
        // Each process goes on until the next barrier, and all leave it together.
        for rank in 0..processes {
            loop {
                match application.next(rank as u32, now[rank], &mut random) {
                    Ok(Next::Ask(ask)) => {
                        let of_phase: &mut Vec<_> = seen[rank].entry(ask.phase).or_default();
                        of_phase.push((ask.operation, ask.file, ask.offset));
                        now[rank] = now[rank] + Span::from_seconds(seconds[rank] as f64);
                    }
                    Ok(Next::Barrier | Next::PhaseOver) => break,
                    Ok(Next::Finished) => {
                        finished[rank] = true;
                        break;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        let latest = now.iter().copied().max().expect("processes");
        now.fill(latest);
    }
    seen
}

#[test]
fn at_a_stonewall_all_write_as_much_as_the_fastest() {
    let ior = Ior {
        files: 1,
        block: Bytes(1000).into(),
        rank_shift: 1,
        stonewall: Seconds(10.0),
        repeat: Repeat::Times(2),
        phases: vec![Phase::Write, Phase::Sync, Phase::Read],
        ..spec(Access::FilePerProcess, Order::Sequential)
    };
    // By 10 s, after which the next transfer is not begun: 11, 6 and 3.
    let seen = at_speeds(&ior, &[1, 2, 5]);
    for (rank, phases) in (0..).zip(&seen) {
        for round in [0, 3] {
            let written: Vec<_> = (0..11)
                .map(|number| (Operation::Write, rank, number * 10))
                .collect();
            let read: Vec<_> = (0..11)
                .map(|number| (Operation::Read, (rank + 1) % 3, number * 10))
                .collect();
            assert_eq!(phases[&round], written);
            assert_eq!(phases[&(round + 1)].len(), 1);
            assert_eq!(phases[&(round + 2)], read);
        }
    }
    // Opened files are closed, and files without an access are not opened.
    let ior = Ior {
        files: 50,
        block: Bytes(20).into(),
        segments: 1,
        opens: Some(true),
        ..ior
    };
    let count = |ior: &Ior, seconds: &[u64], operation| {
        let seen = at_speeds(ior, seconds);
        let of_phase = |phases: &BTreeMap<_, Vec<(Operation, u32, u64)>>| {
            let all = phases[&0].iter().filter(|it| it.0 == operation);
            all.count()
        };
        seen.iter().map(of_phase).collect::<Vec<_>>()
    };
    for operation in [Operation::Open, Operation::Close] {
        let counts = count(&ior, &[1, 2, 5], operation);
        // In 11 s, open, two transfers and close take four: three files, the last one begun.
        assert_eq!(counts, [3, 3, 3], "{operation:?}");
    }
    assert_eq!(count(&ior, &[1, 2, 5], Operation::Write), [6, 6, 6]);
}

#[test]
fn a_stonewall_behind_the_last_transfer_changes_nothing() {
    for opens in [false, true] {
        let free = Ior {
            opens: Some(opens),
            repeat: Repeat::Times(1),
            ..spec(Access::FilePerProcess, Order::Sequential)
        };
        let ior = Ior {
            stonewall: Seconds(1e6),
            ..free.clone()
        };
        assert_eq!(at_speeds(&ior, &[1, 2]), at_speeds(&free, &[1, 2]));
        assert_eq!(IorApplication::new(&ior, 2, 1).total_requests(), None);
    }
}
