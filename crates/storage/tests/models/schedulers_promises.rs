//! Schedulers that promise rates or latencies: EDF, two-level, TBF, mClock.

use headrace_net::Span;
use headrace_spec::Class;
use headrace_storage::qos::{Controls, Edf, Mclock, Promise, Scheduler, Tbf, TwoLevel};
use proptest::prelude::*;

use crate::driving::{Arrival, SERVICE, at, drive, numbers};

/// Times are picoseconds, so that rates of one an instant are 10^12 a second.
const PER_PICOSECOND: f64 = 1e12;

/// Latencies 100 and 30. Job 0 goes at once. Deadlines: job 1 101, job 2 102, job 3
/// 35, job 4 80.
#[test]
fn edf_serves_by_deadline() {
    let arrivals = [
        at(0, 0, 1),
        at(1, 0, 1),
        at(2, 0, 1),
        at(5, 1, 1),
        at(50, 1, 1),
    ];
    let edf = |_| Box::new(Edf::new(1, vec![Span(100), Span(30)])) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 1, edf);
    assert_eq!(log, [(0, 0), (10, 3), (20, 1), (30, 2), (50, 4)]);
}

proptest! {
    /// If any order meets all deadlines of jobs that come together, that by deadlines
    /// does (Liu, Layland 1973, theorem 7).
    #[test]
    fn edf_meets_what_can_be_met(groups in prop::collection::vec(0_usize..6, 1..30)) {
        // The n-th job to be served is done at 10 (n + 1); latencies are such that the
        // jobs sorted by latency just meet them.
        let mut sorted = groups.clone();
        sorted.sort_unstable();
        let latencies: Vec<Span> = (0..6).map(|group| {
            let before = sorted.iter().filter(|&&other| other <= group).count() as u64;
            Span(before * SERVICE)
        }).collect();
        // A first job of the earliest deadline, which goes before the others have come.
        let mut arrivals: Vec<Arrival> = groups.iter().map(|&it| at(0, it as u8, 1)).collect();
        let first = (0..arrivals.len()).min_by_key(|&it| (groups[it], it)).unwrap_or(0);
        arrivals.swap(0, first);
        let edf = |_| Box::new(Edf::new(1, latencies.clone())) as Box<dyn Scheduler>;
        let (log, _) = drive(&arrivals, 1, 1, edf);
        for (time, job) in log {
            let deadline = latencies[usize::from(arrivals[job as usize].group)];
            prop_assert!(time + SERVICE <= deadline.0, "job {job}");
        }
    }
}

fn tbf(depth: Option<u32>, rates: &[f64], bucket: u32) -> impl FnMut(u32) -> Box<dyn Scheduler> {
    let rates: Vec<f64> = rates.iter().map(|rate| rate * PER_PICOSECOND).collect();
    move |_| Box::new(Tbf::new(depth, Class::Group, &rates, bucket))
}

/// A token each 100, three saved: jobs 0 to 2 go at once, then one each 100. Group 1 has a token
/// each 40 and is not held up. From 300 on no job arrives: at 1000 there are three tokens again.
#[test]
fn tbf_spends_saved_tokens_and_then_keeps_the_rate() {
    let mut arrivals = vec![at(0, 0, 1); 5];
    arrivals.extend([at(0, 1, 1); 5]);
    arrivals.extend([at(1000, 0, 1); 4]);
    let (log, _) = drive(&arrivals, 100, 1, tbf(None, &[0.01, 0.025], 3));
    let mut by_job = log.clone();
    by_job.sort_unstable_by_key(|&(_, job)| job);
    let times: Vec<u64> = by_job.iter().map(|&(time, _)| time).collect();
    assert_eq!(times[..5], [0, 0, 0, 100, 200]);
    assert_eq!(times[5..10], [0, 0, 0, 40, 80]);
    assert_eq!(times[10..], [1000, 1000, 1000, 1100]);
}

/// The job that could have gone first goes first when a server is free.
#[test]
fn tbf_serves_the_token_that_was_due_first() {
    // Depth 1. Group 0's tokens come each 100, group 1's each 15, one is saved. Job 0
    // takes group 0's at 0. At 10 group 1's job 2 goes, its token saved since long.
    // Then job 3's token is due at 25, job 1's at 100, job 4's at 40.
    let arrivals = [
        at(0, 0, 1),
        at(0, 0, 1),
        at(1, 1, 1),
        at(1, 1, 1),
        at(1, 1, 1),
    ];
    let (log, _) = drive(&arrivals, 1, 1, tbf(Some(1), &[0.01, 1.0 / 15.0], 1));
    let order = numbers(&log);
    assert_eq!(order, [0, 2, 3, 4, 1]);
    assert_eq!(log[2].0, 25);
    assert_eq!(log[4].0, 100);
}

proptest! {
    /// In any time t a class gets no more than its bucket and its rate times t. With idle servers
    /// no job with a token waits.
    #[test]
    fn tbf_never_exceeds_its_rate(
        jobs in prop::collection::vec((0_u64..3000, 0_u8..2), 1..60),
        bucket in 1_u32..5, intervals in [20_u64..200, 20..200],
    ) {
        let arrivals: Vec<Arrival> = jobs.iter().map(|&(time, group)| at(time, group, 1)).collect();
        let rates = intervals.map(|interval| 1.0 / interval as f64);
        let (log, _) = drive(&arrivals, 100, 1, tbf(None, &rates, bucket));
        prop_assert_eq!(log.len(), arrivals.len());
        for group in [0, 1] {
            let interval = intervals[usize::from(group)];
            let times: Vec<u64> = log.iter()
                .filter(|(_, job)| arrivals[*job as usize].group == group)
                .map(|&(time, _)| time).collect();
            for (first, &start) in times.iter().enumerate() {
                for (last, &end) in times.iter().enumerate().skip(first) {
                    // One more may be due by a fraction of a token at the start.
                    let most = u64::from(bucket) + (end - start) / interval + 1;
                    prop_assert!(((last - first) as u64) < most);
                }
            }
            // The simple reference: tokens counted one by one.
            let mut came: Vec<u64> = jobs.iter().filter(|it| it.1 == group).map(|it| it.0).collect();
            came.sort_unstable();
            let mut empty = -(i64::from(bucket) * interval as i64);
            let expected: Vec<u64> = came.into_iter().map(|came| {
                let full = came as i64 - i64::from(bucket) * interval as i64;
                empty = empty.max(full) + interval as i64;
                empty.max(came as i64) as u64
            }).collect();
            prop_assert_eq!(times, expected);
        }
    }
}

fn promise(rate: f64, latency: u64) -> Promise {
    Promise {
        rate: rate * PER_PICOSECOND,
        latency: Span(latency),
    }
}

/// In a period of 1000, group 0 has credit for 30 bytes, group 1 for 10. Jobs of 10 bytes take 10
/// each, so credits are used up long before the period ends. The next one begins when nothing is
/// left below.
#[test]
fn two_level_shares_what_is_spare_as_the_credits_are() {
    let mut arrivals = vec![at(0, 0, 10); 6];
    arrivals.extend([at(0, 1, 10); 3]);
    let promises = [promise(0.03, 500), promise(0.01, 100)];
    let two = |_| Box::new(TwoLevel::new(1, &promises, Span(1000))) as Box<dyn Scheduler>;
    let (log, end) = drive(&arrivals, 1, 1, two);
    // Job 0 goes before the others come; 1, 2 (credit left 20) and 6 pass: 6 has the
    // earlier deadline. Then credits for 3, 4, 5 and 7, then for 8.
    assert_eq!(numbers(&log), [0, 6, 1, 2, 7, 3, 4, 5, 8]);
    assert_eq!(end, 9 * SERVICE);
}

/// A group that floods cannot push another behind its flood: jobs over its credit wait above.
#[test]
fn two_level_isolates_latency_from_a_flood() {
    let mut arrivals = vec![at(0, 0, 10); 50];
    arrivals.push(at(95, 1, 10));
    // Though the flood's deadlines are earlier, only jobs with credit are below.
    let promises = [promise(0.02, 10), promise(0.02, 1000)];
    let two = |_| Box::new(TwoLevel::new(1, &promises, Span(1000))) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 1, two);
    let when = log.iter().find(|(_, job)| *job == 50).map(|it| it.0);
    // At 80 the fifth credit for two jobs began; at 100 the other group's job is alone
    // below.
    assert_eq!(when, Some(100));
}

proptest! {
    /// It rests only when nothing waits, whatever the credits.
    #[test]
    fn two_level_is_work_conserving(
        jobs in prop::collection::vec((0_u8..3, 1_u64..100), 1..60),
        rates in [1e-6..1.0_f64, 1e-6..1.0, 1e-6..1.0], depth in 1_u32..4, period in 1_u64..2000,
    ) {
        let arrivals: Vec<Arrival> = jobs.iter().map(|&(group, size)| at(0, group, size)).collect();
        let promises = rates.map(|rate| promise(rate, 100));
        let two = |_| {
            Box::new(TwoLevel::new(depth, &promises, Span(period))) as Box<dyn Scheduler>
        };
        let (log, end) = drive(&arrivals, depth, 1, two);
        prop_assert_eq!(log.len(), jobs.len());
        prop_assert_eq!(end, (jobs.len() as u64).div_ceil(u64::from(depth)) * SERVICE);
    }
}

fn controls(reservation: f64, limit: f64, weight: f64) -> Controls {
    Controls {
        reservation: reservation * PER_PICOSECOND,
        limit: limit * PER_PICOSECOND,
        weight,
    }
}

fn mclock(depth: u32, controls: &[Controls]) -> impl FnMut(u32) -> Box<dyn Scheduler> {
    let controls = controls.to_vec();
    move |_| Box::new(Mclock::new(depth, controls.clone()))
}

const FREE: f64 = f64::INFINITY;

/// Weights 1 and 3, jobs of one byte: P tags grow by 1 and by 1/3. Job 0 goes at
/// once, and group 0's next P is 1; group 1 begins there or later.
#[test]
fn mclock_shares_by_weight() {
    let mut arrivals = vec![at(0, 0, 3); 4];
    arrivals.extend([at(0, 1, 3); 6]);
    let both = [controls(0.0, FREE, 1.0), controls(0.0, FREE, 3.0)];
    let (log, _) = drive(&arrivals, 1, 1, mclock(1, &both));
    // P: group 0 is at 3 when group 1 comes, which begins there: 3, 4, 5, 6, 7.
    // Equal tags go to the first group.
    assert_eq!(numbers(&log), [0, 1, 4, 5, 6, 2, 7, 8, 9, 3]);
}

/// Group 1 reserves a byte each 40; its weight is a thousandth of group 0's. Jobs of
/// one byte take 10.
#[test]
fn mclock_meets_the_reservation_first() {
    let mut arrivals = vec![at(0, 0, 1); 20];
    arrivals.extend([at(0, 1, 1); 5]);
    let both = [controls(0.0, FREE, 1000.0), controls(0.025, FREE, 1.0)];
    let (log, end) = drive(&arrivals, 1, 1, mclock(1, &both));
    let times: Vec<u64> = log.iter().filter(|it| it.1 >= 20).map(|it| it.0).collect();
    assert_eq!(times, [10, 40, 80, 120, 160]);
    assert_eq!(end, 25 * SERVICE);
}

/// Group 0 may have a byte each 50, group 1 has no limit: the server rests rather
/// than give more.
#[test]
fn mclock_keeps_the_limit() {
    let mut arrivals = vec![at(0, 0, 2); 4];
    arrivals.extend([at(0, 1, 2); 2]);
    let both = [controls(0.0, 0.02, 100.0), controls(0.0, FREE, 1.0)];
    let (log, _) = drive(&arrivals, 1, 1, mclock(1, &both));
    assert_eq!(
        log,
        [(0, 0), (10, 4), (20, 5), (100, 1), (200, 2), (300, 3)]
    );
}

/// Service beyond its reservation does not count against a group.
#[test]
fn mclock_does_not_count_spare_service_against_the_reservation() {
    // Alone until 100, group 0 has ten jobs: three by reservation (0, 40, 80), the
    // others by weight. When group 1 comes with a weight beyond measure, group 0 still
    // gets its reservation each 40.
    let mut arrivals = vec![at(0, 0, 1); 16];
    arrivals.extend([at(95, 1, 1); 30]);
    let both = [controls(0.025, FREE, 1.0), controls(0.0, FREE, 1e6)];
    let (log, _) = drive(&arrivals, 1, 1, mclock(1, &both));
    let times: Vec<u64> = log.iter().filter(|it| it.1 < 16).map(|it| it.0).collect();
    assert_eq!(times[..10], [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    // At 100 its P is behind no more than group 1's began: one more by weight at most.
    let later: Vec<u64> = times[10..]
        .iter()
        .copied()
        .filter(|&time| time < 260)
        .collect();
    assert!(
        later.contains(&120) && later.contains(&160) && later.contains(&200),
        "{later:?}"
    );
}

proptest! {
    /// Reservations that together are less than the server are met, whatever the
    /// weights: by t since all wait, r t bytes less a job's. Limits hold in any time.
    #[test]
    fn mclock_promises_hold(
        weights in [0.01..100.0_f64, 0.01..100.0, 0.01..100.0],
        reserved in [0.0..0.03_f64, 0.0..0.03, 0.0..0.03],
        limits in [0.03..0.1_f64, 0.03..0.1, 0.03..0.1],
    ) {
        let all: Vec<Controls> = (0..3)
            .map(|it| controls(reserved[it], limits[it], weights[it])).collect();
        let arrivals: Vec<Arrival> = (0..180).map(|number| at(0, number % 3, 1)).collect();
        let (log, _) = drive(&arrivals, 1, 1, mclock(1, &all));
        prop_assert_eq!(log.len(), arrivals.len());
        for group in 0..3 {
            let times: Vec<u64> = log.iter()
                .filter(|(_, job)| arrivals[*job as usize].group == group as u8)
                .map(|&(time, _)| time).collect();
            for (had, &time) in times.iter().enumerate() {
                let promised = reserved[group] * time as f64;
                // Three jobs may stand before it: those in service and other's tags.
                prop_assert!(had as f64 + 4.0 >= promised, "{had} at {time}, not {promised}");
            }
            let most = limits[group].max(reserved[group]);
            for (had, &time) in times.iter().enumerate() {
                prop_assert!(had as f64 <= most * time as f64 + 2.0, "{had} at {time}");
            }
        }
    }
}
