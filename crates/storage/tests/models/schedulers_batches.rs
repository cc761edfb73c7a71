//! Schedulers that serve classes of jobs in turn.

use headrace_spec::{Class, Ordered};
use headrace_storage::qos::{BatchOf, Crrn, Orr, RoundRobin, Scheduler};
use headrace_trace::Operation;
use proptest::prelude::*;

use crate::driving::{Arrival, SERVICE, at, drive, numbers};

fn of_client(time: u64, client: u32) -> Arrival {
    Arrival {
        client,
        ..at(time, 0, 1)
    }
}

/// Clients 0, 0, 0, 0, 1, 1, 2: the first goes at once. Client 0 still has jobs
/// waiting, so it stands first in line.
#[test]
fn round_robin_takes_one_of_each_in_turn() {
    let arrivals = [0, 0, 0, 0, 1, 1, 2].map(|client| of_client(0, client));
    let turns = |quantum| {
        move |_| Box::new(RoundRobin::new(1, Class::Client, quantum)) as Box<dyn Scheduler>
    };
    let (log, end) = drive(&arrivals, 1, 1, turns(1));
    assert_eq!(numbers(&log), [0, 1, 4, 6, 2, 5, 3]);
    assert_eq!(end, 7 * SERVICE);
    let (log, _) = drive(&arrivals, 1, 1, turns(2));
    assert_eq!(numbers(&log), [0, 1, 2, 4, 5, 6, 3]);
}

/// A group without jobs is skipped, and queues behind the others when it has jobs again.
#[test]
fn round_robin_keeps_no_place_for_who_is_silent() {
    let mut arrivals = vec![of_client(0, 0); 4];
    arrivals.extend([of_client(15, 1), of_client(16, 2)]);
    let turns = |_| Box::new(RoundRobin::new(1, Class::Client, 1)) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 1, turns);
    // At 20 client 0 has its turn, which began at 10; then 1, 2 and 0 again.
    assert_eq!(numbers(&log), [0, 1, 2, 4, 5, 3]);
}

/// With batches of two. Job 0 (client 0) goes at once; nothing is left, so round 1 begins. Client 0
/// has room in its batch but nothing waiting. Its jobs 1 and 2 are a new batch in round 1, job 3
/// begins that of round 2. Client 1's jobs 4 and 5 are in round 1, job 6 in round 2.
#[test]
fn crrn_serves_batches_of_clients_in_rounds() {
    let arrivals = [0, 0, 0, 0, 1, 1, 1].map(|client| of_client(0, client));
    let crrn = |quantum| move |_| Box::new(Crrn::new(1, quantum)) as Box<dyn Scheduler>;
    let (log, end) = drive(&arrivals, 1, 1, crrn(2));
    assert_eq!(numbers(&log), [0, 1, 2, 4, 5, 3, 6]);
    assert_eq!(end, 7 * SERVICE);
    let (log, _) = drive(&arrivals, 1, 1, crrn(1));
    assert_eq!(numbers(&log), [0, 1, 4, 2, 5, 3, 6]);
    let (log, _) = drive(&arrivals, 1, 1, crrn(8));
    assert_eq!(numbers(&log), [0, 1, 2, 3, 4, 5, 6]);
}

fn of_file(file: u32, offset: u64, operation: Operation) -> Arrival {
    Arrival {
        file,
        offset,
        operation,
        ..at(0, 0, 1)
    }
}

/// A batch of a file is in order of offsets, whatever the order of arrival. Job 0
/// goes at once.
#[test]
fn orr_sorts_batches_of_files_by_offset() {
    let places = [(9, 0), (1, 30), (2, 50), (1, 10), (2, 40), (1, 20)];
    let arrivals = places.map(|(file, offset)| of_file(file, offset, Operation::Read));
    let orr = |quantum| {
        move |_| {
            let orr = Orr::new(1, BatchOf::Object, quantum, Ordered::Reads);
            Box::new(orr) as Box<dyn Scheduler>
        }
    };
    let (log, _) = drive(&arrivals, 1, 1, orr(256));
    assert_eq!(numbers(&log), [0, 3, 5, 1, 4, 2]);
    // Two a batch: jobs 1 and 3 of file 1, then 2 and 4 of file 2, then job 5.
    let (log, _) = drive(&arrivals, 1, 1, orr(2));
    assert_eq!(numbers(&log), [0, 3, 1, 4, 2, 5]);
}

/// All files of a target are in one batch, sorted by file and offset.
#[test]
fn trr_sorts_over_files() {
    let places = [(9, 0), (2, 30), (1, 50), (2, 10), (1, 40)];
    let arrivals = places.map(|(file, offset)| of_file(file, offset, Operation::Read));
    let trr = |_| {
        let trr = Orr::new(1, BatchOf::Target, 256, Ordered::Reads);
        Box::new(trr) as Box<dyn Scheduler>
    };
    let (log, _) = drive(&arrivals, 1, 1, trr);
    assert_eq!(numbers(&log), [0, 4, 2, 3, 1]);
}

/// Unordered jobs are served first in, first out, in turn with the batches.
#[test]
fn orr_leaves_other_jobs_in_order() {
    use Operation::{Read, Write};
    let jobs = [
        (0, Write),
        (9, Write),
        (8, Read),
        (5, Write),
        (7, Read),
        (1, Write),
    ];
    let arrivals = jobs.map(|(offset, operation)| of_file(1, offset, operation));
    let orr = |ordered| {
        move |_| Box::new(Orr::new(1, BatchOf::Object, 256, ordered)) as Box<dyn Scheduler>
    };
    let (log, _) = drive(&arrivals, 1, 1, orr(Ordered::Reads));
    assert_eq!(numbers(&log), [0, 1, 4, 3, 2, 5]);
    let (log, _) = drive(&arrivals, 1, 1, orr(Ordered::Writes));
    assert_eq!(numbers(&log), [0, 5, 2, 3, 4, 1]);
    let (log, _) = drive(&arrivals, 1, 1, orr(Ordered::ReadsAndWrites));
    assert_eq!(numbers(&log), [0, 5, 3, 4, 2, 1]);
}

proptest! {
    /// No job waits for more than a quantum of each other client, servers rest only when nothing
    /// waits, and each client's jobs keep their order.
    #[test]
    fn turns_are_fair_and_work_conserving(
        clients in prop::collection::vec(0_u32..5, 2..80),
        quantum in 1_u32..5, depth in 1_u32..4, batches in any::<bool>(),
    ) {
        let arrivals: Vec<Arrival> = clients.iter().map(|&client| of_client(0, client)).collect();
        let make = |_| -> Box<dyn Scheduler> {
            match batches {
                true => Box::new(Crrn::new(depth, quantum)),
                false => Box::new(RoundRobin::new(depth, Class::Client, quantum)),
            }
        };
        let (log, end) = drive(&arrivals, depth, 1, make);
        prop_assert_eq!(log.len(), clients.len());
        prop_assert_eq!(end, (clients.len() as u64).div_ceil(u64::from(depth)) * SERVICE);
        let order = numbers(&log);
        for client in 0..5 {
            let own: Vec<u32> = order.iter().copied()
                .filter(|&job| clients[job as usize] == client).collect();
            prop_assert!(own.is_sorted());
        }
        // After all arrivals, no other client has more than two quanta between two jobs of a
        // waiting client: the end of one batch and another.
        let later = &order[(depth as usize).min(order.len())..];
        for one in 0..5 {
            let turns: Vec<usize> = (0..later.len())
                .filter(|&at| clients[later[at] as usize] == one).collect();
            for pair in turns.windows(2) {
                for other in (0..5).filter(|&other| other != one) {
                    let between = later[pair[0]..pair[1]].iter();
                    let count = between.filter(|&&job| clients[job as usize] == other).count();
                    prop_assert!(count <= 2 * quantum as usize, "{count} of {other} between");
                }
            }
        }
    }
}
