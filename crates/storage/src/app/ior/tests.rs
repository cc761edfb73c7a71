use std::collections::BTreeSet;

use headrace_spec::{Bytes, Seconds};

use super::*;

fn spec(access: Access, order: Order) -> Ior {
    Ior {
        files: 3,
        block: Bytes(40),
        transfer: Bytes(10),
        segments: 2,
        requests: None,
        sync_per_write: false,
        access,
        order,
        phases: vec![Phase::Write, Phase::Read],
        think: Seconds(0.0),
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
                Ok(Next::Barrier) => barriers += 1,
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
        for order in [Order::Sequential, Order::Random] {
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
