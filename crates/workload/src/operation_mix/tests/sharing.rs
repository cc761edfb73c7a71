//! Operations that several processes execute at the same moment.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn shared(sharing: Sharing, amount: u32) -> OperationMix {
    OperationMix {
        weights: Weighted(vec![
            (MixedOperation::SharedRead, 1.0),
            (MixedOperation::Stat, 3.0),
        ]),
        amount: Amount::Count(amount),
        sharing,
        ..spec()
    }
}

/// Lets processes ask in an arbitrary order until none has anything to do, or `most` operations are
/// asked. Returns the requests of each process, and the waiting processes.
fn driven(
    application: &mut OperationMixApplication,
    order: u64,
    most: usize,
) -> (Vec<(u32, Ask)>, Vec<u32>) {
    let mut draws = 0;
    let mut random = Random::named(order, "order", &mut draws);
    let mut none = 0;
    let mut unused = Random::named(1, "unused", &mut none);
    let mut free: Vec<u32> = (0..application.processes()).collect();
    let mut waiting = Vec::new();
    let mut asked = Vec::new();
    while !free.is_empty() && asked.len() < most {
        let place = random.below(free.len() as u64) as usize;
        let rank = free[place];
        let next = application.next(rank, Time::ZERO, &mut unused);
        match next.expect("nothing is wrong") {
            Next::Ask(ask) => asked.push((rank, ask)),
            Next::Wait => waiting.push(free.swap_remove(place)),
            Next::Finished => drop(free.swap_remove(place)),
            other => panic!("{other:?}"),
        }
        while let Some(rank) = application.woken() {
            assert!(
                waiting.contains(&rank),
                "nobody is woken that does not wait"
            );
            waiting.retain(|it| *it != rank);
            free.push(rank);
        }
    }
    (asked, waiting)
}

fn reads_by_rank(asked: &[(u32, Ask)]) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::new();
    for (rank, ask) in asked {
        *counts.entry(*rank).or_default() += u64::from(ask.operation == Operation::Read);
    }
    counts
}

proptest! {
    #[test]
    fn all_processes_of_a_client_take_part_in_each_round(
        clients in 1_u32..4, per_client in 1_u32..6, amount in 1_u32..200, order: u64,
    ) {
        let spec = shared(Sharing::Client, amount);
        let mut application =
            OperationMixApplication::new(&spec, clients * per_client, per_client, 1);
        let (asked, waiting) = driven(&mut application, order, usize::MAX);
        prop_assert_eq!(waiting, Vec::<u32>::new());
        let reads = reads_by_rank(&asked);
        for client in 0..clients {
            let of_client: Vec<u64> = (0..per_client)
                .map(|it| reads.get(&(client + it * clients)).copied().unwrap_or(0))
                .collect();
            prop_assert!(of_client.windows(2).all(|it| it[0] == it[1]), "{of_client:?}");
        }
        let rounds = application.rounds().expect("there are rounds");
        let counted: u64 = reads.values().sum();
        prop_assert_eq!(rounds.whole * u64::from(per_client), counted);
        prop_assert_eq!(rounds.broken_off, 0);
        // The last round may be of more than are left.
        prop_assert!(asked.len() as u64 >= u64::from(amount * clients));
        prop_assert!(asked.len() as u64 <= u64::from((amount + per_client) * clients));
    }

    #[test]
    fn one_process_of_each_client_takes_part_in_each_round(
        clients in 1_u32..5, per_client in 1_u32..4, amount in 1_u32..200, order: u64,
    ) {
        let spec = shared(Sharing::Clients, amount);
        let mut application =
            OperationMixApplication::new(&spec, clients * per_client, per_client, 1);
        let (asked, waiting) = driven(&mut application, order, usize::MAX);
        prop_assert_eq!(waiting, Vec::<u32>::new());
        let mut of_clients = vec![0; clients as usize];
        for (rank, reads) in reads_by_rank(&asked) {
            of_clients[(rank % clients) as usize] += reads;
        }
        let rounds = application.rounds().expect("there are rounds");
        prop_assert_eq!(rounds.broken_off, 0);
        // Those that have come to their end are not waited for.
        prop_assert!(of_clients.iter().all(|reads| *reads <= rounds.whole));
        prop_assert!(of_clients.iter().sum::<u64>() >= rounds.whole);
    }
}

#[test]
fn every_client_is_there_while_none_has_come_to_its_end() {
    let spec = OperationMix {
        amount: Amount::Forever,
        ..shared(Sharing::Clients, 1)
    };
    let mut application = OperationMixApplication::new(&spec, 6, 2, 1);
    let (asked, waiting) = driven(&mut application, 7, 3000);
    let rounds = application.rounds().expect("there are rounds");
    let mut of_clients = [0; 3];
    for (rank, reads) in reads_by_rank(&asked) {
        of_clients[(rank % 3) as usize] += reads;
    }
    // The last rounds that have the go-ahead may not have been asked for yet.
    assert!(
        of_clients.iter().all(|reads| rounds.whole - reads <= 2),
        "{of_clients:?}"
    );
    assert!(rounds.whole > 100 && rounds.broken_off <= waiting.len() as u64);
}

#[test]
fn the_mix_keeps_its_shares() {
    for sharing in [Sharing::Client, Sharing::Clients] {
        let spec = shared(sharing, 10_000);
        let mut application = OperationMixApplication::new(&spec, 8, 4, 1);
        let (asked, _) = driven(&mut application, 3, usize::MAX);
        let reads: u64 = reads_by_rank(&asked).values().sum();
        let share = reads as f64 / asked.len() as f64;
        // Four come at once: four standard deviations.
        let deviation = (0.25 * 0.75 * 4.0 / asked.len() as f64).sqrt();
        assert!(
            (share - 0.25).abs() < 4.0 * deviation,
            "{sharing:?} {share}"
        );
    }
}

#[test]
fn a_round_that_somebody_does_not_come_to_is_broken_off() {
    let spec = OperationMix {
        weights: Weighted(vec![(MixedOperation::SharedRead, 1.0)]),
        ..shared(Sharing::Client, 10)
    };
    let mut application = OperationMixApplication::new(&spec, 3, 3, 1);
    let mut none = 0;
    let mut unused = Random::named(1, "unused", &mut none);
    for rank in 0..2 {
        let next = application.next(rank, Time::ZERO, &mut unused);
        assert_eq!(next, Ok(Next::Wait));
    }
    let rounds = application.rounds().expect("there are rounds");
    assert_eq!((rounds.whole, rounds.broken_off), (0, 1));
}

#[test]
fn all_of_a_round_have_one_time_and_as_many_arrivals_as_they_are() {
    let spec = OperationMix {
        rate: Some(100.0),
        ..shared(Sharing::Client, 999)
    };
    let mut application = OperationMixApplication::new(&spec, 3, 3, 1);
    let (asked, _) = driven(&mut application, 5, usize::MAX);
    let mut times = BTreeMap::new();
    for (_, ask) in &asked {
        if ask.operation == Operation::Read {
            *times.entry(ask.intended).or_insert(0) += 1;
        }
    }
    assert!(
        times.len() > 30 && times.values().all(|count| *count == 3),
        "{times:?}"
    );
    let last = asked.iter().filter_map(|(_, ask)| ask.intended).max();
    let last = last.expect("some").as_seconds();
    let expected = asked.len() as f64 / 100.0;
    assert!((last - expected).abs() < 4.0 * (asked.len() as f64).sqrt() / 100.0);
}
