//! Operations that processes of several places execute at the same moment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::RoundKeeper;

/// Lets processes ask and messages arrive in an arbitrary order until all are idle. Returns the
/// operations that each asked, the waiting processes, and the number of rounds.
fn driven(
    spec: &OperationMix,
    (clients, per_client, places): (u32, u32, u32),
    order: u64,
) -> (Vec<(u32, Ask)>, Vec<u32>, RoundCounts) {
    let processes = clients * per_client;
    let place_of = |rank: u32| ((rank % clients) * places / clients) as usize;
    let mut there: Vec<_> = (0..places as usize)
        .map(|place| {
            let mut one = OperationMixApplication::new(spec, processes, per_client, 1);
            let here: Vec<u32> = (0..processes).filter(|it| place_of(*it) == place).collect();
            assert_eq!(one.is_carried_out_by(&here), places > 1);
            one
        })
        .collect();
    let mut keeper = RoundKeeper::new(there.len());
    let mut begun = 0;
    let mut to_first = vec![VecDeque::new(); there.len()];
    let mut from_first: Vec<VecDeque<RoundNews>> = vec![VecDeque::new(); there.len()];
    let (mut draws, mut none) = (0, 0);
    let mut random = Random::named(order, "order", &mut draws);
    let mut unused = Random::named(1, "unused", &mut none);
    let mut free: BTreeSet<u32> = (0..processes).collect();
    let mut waiting = BTreeSet::new();
    let mut asked = Vec::new();
    loop {
        let none_sent = to_first.iter().all(VecDeque::is_empty);
        if none_sent && free.is_empty() && from_first.iter().all(VecDeque::is_empty) {
            break;
        }
        let place = random.below(u64::from(places)) as usize;
        match random.below(3) {
            0 => {
                if let Some(message) = to_first[place].pop_front() {
                    begun += u64::from(matches!(message, RoundMessage::Begins { .. }));
                    for kept in keeper.hear(place as u32, message) {
                        for (at, to) in (0..).zip(&mut from_first) {
                            to.extend(kept.at(at));
                        }
                    }
                }
            }
            1 => {
                if let Some(news) = from_first[place].pop_front() {
                    there[place].hear(news);
                }
            }
            _ => {
                let of_it: Vec<u32> = free
                    .iter()
                    .copied()
                    .filter(|it| place_of(*it) == place)
                    .collect();
                if of_it.is_empty() {
                    continue;
                }
                let rank = of_it[random.below(of_it.len() as u64) as usize];
                let next = there[place].next(rank, Time::ZERO, &mut unused);
                match next.expect("nothing is wrong") {
                    Next::Ask(ask) => asked.push((rank, ask)),
                    Next::Wait => {
                        free.remove(&rank);
                        waiting.insert(rank);
                    }
                    Next::Finished => drop(free.remove(&rank)),
                    other => panic!("{other:?}"),
                }
            }
        }
        while let Some(message) = there[place].message() {
            to_first[place].push_back(message);
        }
        while let Some(rank) = there[place].woken() {
            if waiting.remove(&rank) {
                free.insert(rank);
            }
        }
    }
    let rounds = there.iter().filter_map(|it| it.rounds());
    let rounds = rounds.reduce(|sum, one| RoundCounts {
        whole: sum.whole + one.whole,
        broken_off: sum.broken_off + one.broken_off,
    });
    if places > 1 {
        assert_eq!(rounds.map(|it| it.whole), Some(begun));
    }
    let waiting = waiting.into_iter().collect();
    (asked, waiting, rounds.unwrap_or_default())
}

fn shared(amount: u32) -> OperationMix {
    OperationMix {
        weights: Weighted(vec![
            (MixedOperation::SharedRead, 1.0),
            (MixedOperation::Stat, 1.0),
        ]),
        amount: Amount::Count(amount),
        sharing: Sharing::Clients,
        ..spec()
    }
}

proptest! {
    #[test]
    fn one_process_of_each_client_takes_part_wherever_it_is(
        clients in 2_u32..6, per_client in 1_u32..4, places in 1_u32..6, amount in 1_u32..60,
        order: u64,
    ) {
        let shape = (clients, per_client, places.min(clients));
        let (asked, waiting, rounds) = driven(&shared(amount), shape, order);
        prop_assert_eq!(waiting, Vec::<u32>::new());
        prop_assert_eq!(rounds.broken_off, 0);
        let mut of_clients = vec![(0, 0); clients as usize];
        for (rank, ask) in &asked {
            let (all, reads) = &mut of_clients[(rank % clients) as usize];
            *all += 1;
            *reads += u64::from(ask.operation == Operation::Read);
        }
        // Those that have come to their end are not waited for.
        prop_assert!(of_clients.iter().all(|(_, reads)| *reads <= rounds.whole));
        prop_assert!(of_clients.iter().any(|(_, reads)| *reads == rounds.whole));
        // A process at its end has asked for all; others' rounds may be more.
        prop_assert!(of_clients.iter().all(|(all, _)| *all >= amount));
    }

    #[test]
    fn all_of_a_round_have_one_time_wherever_they_are(
        places in 1_u32..4, order: u64,
    ) {
        let spec = OperationMix { rate: Some(100.0), ..shared(50) };
        let (asked, _, rounds) = driven(&spec, (3, 2, places), order);
        let mut times = BTreeMap::new();
        for (rank, ask) in asked.iter().filter(|(_, ask)| ask.operation == Operation::Read) {
            prop_assert!(times.entry(ask.intended).or_insert_with(BTreeSet::new).insert(rank % 3));
        }
        prop_assert_eq!(times.len() as u64, rounds.whole);
        let all = times.values().filter(|it| it.len() == 3).count();
        prop_assert!(all > 3, "{} of {}", all, times.len());
    }
}
