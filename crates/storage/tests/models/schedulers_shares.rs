//! Schedulers that share in proportion to weights: SFQ(D)+ and DSFQ.

use headrace_net::Span;
use headrace_storage::qos::{Dsfq, Scheduler, Sfq, SfqPlus};
use proptest::prelude::*;

use crate::driving::{Arrival, MESSAGE, SERVICE, at, drive, numbers};

fn plus(depth: u64, weights: &[f64]) -> impl FnMut(u32) -> Box<dyn Scheduler> {
    let weights = weights.to_vec();
    move |_| Box::new(SfqPlus::new(depth, weights.clone()))
}

/// Ten bytes may be out. Group 0 sends jobs of 8, group 1 of 2. Job 0 (8 bytes, tags
/// 0 to 8) goes at once, job 1 (tags 8 to 16) does not fit. Group 1's jobs 2, 3 and 4
/// have the tags 0, 2 and 4: job 2 is next and fits, which fills the depth.
#[test]
fn sfq_plus_fills_the_depth_in_bytes() {
    let arrivals = [(0, 8), (0, 8), (1, 2), (1, 2), (1, 2)];
    let arrivals = arrivals.map(|(group, size)| at(0, group, size));
    let (log, _) = drive(&arrivals, 9, 1, plus(10, &[1.0, 1.0]));
    // At 10 jobs 0 and 2 are back: jobs 3 and 4 go, then 1 does not fit in 10 − 4.
    assert_eq!(log, [(0, 0), (0, 2), (10, 3), (10, 4), (20, 1)]);
}

/// Job 1 is next but too large beside job 0. Job 2, whose start tag (0) is before job 1's finish
/// tag, passes it. Job 3's (8) is not before job 1's finish tag if job 1 is small.
#[test]
fn sfq_plus_passes_a_large_job_only_up_to_its_finish_tag() {
    // Group 0: job 0 (6 bytes, tags 0–6). Group 1: job 1 (6 bytes, 0–6). Group 2:
    // jobs 2 (4 bytes, 0–4), 3 (4 bytes, 4–8), 4 (4 bytes, 8–12). Depth 10.
    let arrivals = [(0, 6), (1, 6), (2, 4), (2, 4), (2, 4)];
    let arrivals = arrivals.map(|(group, size)| at(0, group, size));
    let (log, _) = drive(&arrivals, 9, 1, plus(10, &[1.0; 3]));
    // Job 2 passes job 1 at once. At 10 both are back: job 1, and job 3 beside it.
    assert_eq!(log, [(0, 0), (0, 2), (10, 1), (10, 3), (20, 4)]);
    // A job larger than the depth goes alone.
    let arrivals = [at(0, 0, 50), at(0, 1, 1), at(0, 1, 50)];
    let (log, _) = drive(&arrivals, 9, 1, plus(10, &[1.0, 1.0]));
    assert_eq!(log, [(0, 0), (10, 1), (20, 2)]);
}

fn dsfq(weights: &[f64], interval: u64) -> impl FnMut(u32) -> Box<dyn Scheduler> {
    let weights = weights.to_vec();
    move |_| Box::new(Dsfq::new(1, weights.clone(), Span(interval)))
}

fn to(scheduler: u32, arrival: Arrival) -> Arrival {
    Arrival {
        scheduler,
        ..arrival
    }
}

/// Group 0 asks scheduler 1 for 100 bytes, of which scheduler 0 hears at 7. At 8 both
/// groups ask scheduler 0 while it serves job 1. SFQ would take them by arrival:
/// all tags of the first jobs are 0. DSFQ delays group 0's first job to tag 100.
#[test]
fn dsfq_counts_what_a_group_has_elsewhere() {
    let arrivals = [
        to(1, at(0, 0, 100)),
        at(7, 1, 10),
        at(8, 0, 10),
        at(8, 0, 10),
        at(8, 1, 10),
        at(8, 1, 10),
    ];
    let (log, _) = drive(&arrivals, 1, 2, dsfq(&[1.0, 1.0], 0));
    // Tags: job 1 is 0–10; jobs 2 and 3 are 100 and 110; jobs 4 and 5 are 10 and 20.
    let here: Vec<u32> = numbers(&log).into_iter().filter(|&job| job > 0).collect();
    assert_eq!(here, [1, 4, 5, 2, 3]);
    let sfq = |_| Box::new(Sfq::new(1, vec![1.0, 1.0])) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 2, sfq);
    let here: Vec<u32> = numbers(&log).into_iter().filter(|&job| job > 0).collect();
    assert_eq!(here, [1, 2, 3, 4, 5]);
}

/// Between messages requests gather, and the next message reports them.
#[test]
fn dsfq_tells_no_more_often_than_it_may() {
    // Scheduler 1 reports job 0 at 0, and jobs 1 and 2 together at 1000.
    let mut arrivals = vec![to(1, at(0, 0, 1)), to(1, at(1, 0, 50)), to(1, at(2, 0, 50))];
    // At 900 scheduler 0 knows of one byte only: the tag of job 4 is 1, before that
    // of job 5, which is 10.
    arrivals.extend([at(899, 1, 10), at(900, 0, 10), at(900, 1, 10)]);
    // At 1100 it knows of all: job 7's tag is 111 and comes after job 8's.
    arrivals.extend([at(1099, 1, 10), at(1100, 0, 10), at(1100, 1, 10)]);
    let (log, _) = drive(&arrivals, 1, 2, dsfq(&[1.0, 1.0], 1000));
    let here: Vec<u32> = numbers(&log).into_iter().filter(|&job| job > 2).collect();
    assert_eq!(here, [3, 4, 5, 6, 8, 7]);
}

/// Group 0 asks both servers for the same, group 1 one of them, all for more than can
/// be served. SFQ halves the shared server. With DSFQ each of group 0's jobs there
/// counts twice, for it has asked for as much elsewhere: it gets a third.
#[test]
fn dsfq_shares_by_what_is_asked_for_in_all() {
    let mut arrivals = Vec::new();
    for number in 0..300 {
        let time = number * MESSAGE;
        arrivals.extend([
            to(0, at(time, 0, 10)),
            to(1, at(time, 0, 10)),
            to(1, at(time, 1, 10)),
        ]);
    }
    let shares = |make: &mut dyn FnMut(u32) -> Box<dyn Scheduler>| {
        let (log, _) = drive(&arrivals, 1, 2, make);
        let window = log.iter().filter(|(time, _)| (200..1400).contains(time));
        let groups = window.map(|&(_, job)| arrivals[job as usize].group);
        groups.fold([0_i32; 2], |mut count, group| {
            count[usize::from(group)] += 1;
            count
        })
    };
    // 120 jobs a server.
    let sfq = shares(&mut |_| Box::new(Sfq::new(1, vec![1.0, 1.0])));
    assert!((sfq[0] - 180).abs() <= 1, "{sfq:?}");
    let dsfq = shares(&mut dsfq(&[1.0, 1.0], 0));
    assert!((dsfq[0] - 160).abs() <= 1, "{dsfq:?}");
}

proptest! {
    /// Every job is served, and at most the depth is out at once but for single jobs. A group's own
    /// jobs keep their order if they are of one size.
    #[test]
    fn sfq_plus_keeps_its_depth(
        jobs in prop::collection::vec((0_u64..60, 0_u8..3), 2..60),
        sizes in [1_u64..40, 1..40, 1..40], depth in 1_u64..80,
    ) {
        let arrivals: Vec<Arrival> = jobs.iter()
            .map(|&(time, group)| at(time, group, sizes[usize::from(group)])).collect();
        let (log, _) = drive(&arrivals, 100, 1, plus(depth, &[1.0, 2.0, 0.5]));
        prop_assert_eq!(log.len(), arrivals.len());
        for &(time, _) in &log {
            let out: Vec<u64> = log.iter()
                .filter(|(other, _)| *other <= time && time < other + SERVICE)
                .map(|&(_, job)| arrivals[job as usize].size).collect();
            prop_assert!(out.len() == 1 || out.iter().sum::<u64>() <= depth, "{out:?}");
        }
        for group in 0..3 {
            let mut own: Vec<(u64, u32)> = numbers(&log).into_iter()
                .map(|job| (arrivals[job as usize].at, job))
                .filter(|&(_, job)| arrivals[job as usize].group == group).collect();
            let served = own.clone();
            own.sort_unstable();
            prop_assert_eq!(served, own);
        }
    }
}
