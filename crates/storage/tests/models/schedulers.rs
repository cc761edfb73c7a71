//! Schedulers by themselves: between a source of jobs and servers that take a
//! fixed time for each.

use std::sync::{Arc, Mutex};

use headrace_net::{Message, Span};
use headrace_storage::Job;
use headrace_storage::qos::{Dispatcher, Fifo, JobId, Scheduler, Sfq};
use proptest::prelude::*;

use crate::driving::{Arrival, MESSAGE, SERVICE, at, drive, numbers};

/// Groups of weight 1 and 2, jobs of cost 2: finish tags grow by 2 and by 1.
///
/// | job | 0 | 1 | 2 | 3 | 4 | 5 | 6 |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | group | 0 | 0 | 0 | 1 | 1 | 1 | 1 |
/// | start tag | 0 | 2 | 4 | 0 | 1 | 2 | 3 |
///
/// Job 0 goes at once; of jobs 1 and 5 with equal tags the earlier one goes first.
#[test]
fn sfq_serves_by_start_tags() {
    let arrivals = [0, 0, 0, 1, 1, 1, 1].map(|group| at(0, group, 2));
    let sfq = |depth| move |_| Box::new(Sfq::new(depth, vec![1.0, 2.0])) as Box<dyn Scheduler>;
    let (log, end) = drive(&arrivals, 1, 1, sfq(1));
    assert_eq!(numbers(&log), [0, 3, 4, 1, 5, 6, 2]);
    let times: Vec<u64> = log.iter().map(|&(time, _)| time).collect();
    assert_eq!(times, [0, 10, 20, 30, 40, 50, 60]);
    assert_eq!(end, 7 * SERVICE);
    // With depth 2, jobs 0 and 1 go at once, and the virtual time is 2 when the
    // others arrive. Group 1 has the tags 2, 3, 4 and 5.
    let (log, end) = drive(&arrivals, 2, 1, sfq(2));
    assert_eq!(numbers(&log), [0, 1, 3, 4, 2, 5, 6]);
    assert_eq!(end, 4 * SERVICE);
}

/// An idle group saves no credit: its next job starts at the virtual time, which is the start tag
/// of the job dispatched last.
#[test]
fn sfq_gives_no_credit_for_silence() {
    // Group 0 arrives with five jobs, tags 0, 2, 4, 6, 8. Group 1 arrives with
    // two at time 25, when job 2 (tag 4) is served: its tags are 4 and 6.
    let mut arrivals = vec![at(0, 0, 2); 5];
    arrivals.extend([at(25, 1, 2), at(25, 1, 2)]);
    let sfq = |_| Box::new(Sfq::new(1, vec![1.0, 1.0])) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 1, sfq);
    // Jobs 3 and 6 both have tag 6, and job 3 came first.
    assert_eq!(numbers(&log), [0, 1, 2, 5, 3, 6, 4]);
}

/// Costs are bytes: a group with jobs twice as large gets half as many.
#[test]
fn sfq_counts_bytes() {
    let arrivals: Vec<Arrival> = (0..60)
        .map(|n| at(0, n % 2, 1 + u64::from(n % 2)))
        .collect();
    let sfq = |_| Box::new(Sfq::new(1, vec![1.0, 1.0])) as Box<dyn Scheduler>;
    let (log, _) = drive(&arrivals, 1, 1, sfq);
    let large = log[..30]
        .iter()
        .filter(|(_, number)| number % 2 == 1)
        .count();
    assert_eq!(large, 10);
}

#[test]
fn fifo_keeps_the_order_and_the_depth() {
    let arrivals: Vec<Arrival> = (0..20)
        .map(|n| at(n / 3, (n % 2) as u8, 1 + n % 5))
        .collect();
    for depth in [None, Some(1), Some(3), Some(100)] {
        let (log, end) = drive(&arrivals, 100, 1, |_| Box::new(Fifo::new(depth)));
        assert_eq!(numbers(&log), (0..20).collect::<Vec<u32>>());
        for &(time, _) in &log {
            let out = log
                .iter()
                .filter(|(other, _)| *other <= time && time < other + SERVICE);
            assert!(depth.is_none_or(|depth| out.count() <= depth as usize));
        }
        match depth {
            None | Some(100) => assert_eq!(end, 6 + SERVICE),
            Some(depth) => assert_eq!(end, 20_u64.div_ceil(u64::from(depth)) * SERVICE),
        }
    }
}

proptest! {
    /// While both groups wait, the service of each divided by its weight
    /// differs by at most one job, at any depth. Source: Goyal, Vin, Cheng
    /// 1997, theorem 1, for jobs as they are dispatched.
    #[test]
    fn sfq_shares_within_one_job(
        sizes in prop::collection::vec((0_u8..2, 1_u64..50), 2..80),
        weights in (1_u32..9, 1_u32..9), depth in 1_u32..6,
    ) {
        let arrivals: Vec<Arrival> = sizes.iter().map(|&(group, size)| at(0, group, size)).collect();
        let weights = vec![f64::from(weights.0), f64::from(weights.1)];
        let sfq = |_| Box::new(Sfq::new(depth, weights.clone())) as Box<dyn Scheduler>;
        let (log, end) = drive(&arrivals, depth, 1, sfq);
        prop_assert_eq!(log.len(), arrivals.len());
        // Servers rest only when nothing waits.
        prop_assert_eq!(end, (arrivals.len() as u64).div_ceil(u64::from(depth)) * SERVICE);
        let mut left = [0, 1].map(|group| sizes.iter().filter(|it| it.0 == group).count());
        let most = sizes.iter().map(|&(group, size)| size as f64 / weights[usize::from(group)]);
        let most = most.fold(0.0, f64::max);
        let mut given = [0.0; 2];
        // The jobs that go at once go before the others have come.
        for (index, &(_, number)) in log.iter().enumerate() {
            let (group, size) = sizes[number as usize];
            let group = usize::from(group);
            given[group] += size as f64 / weights[group];
            left[group] -= 1;
            if index < depth as usize {
                continue;
            }
            if left[0] == 0 || left[1] == 0 {
                break;
            }
            let early: f64 = log[..depth as usize].iter().map(|&(_, number)| {
                let (group, size) = sizes[number as usize];
                size as f64 / weights[usize::from(group)]
            }).sum();
            prop_assert!((given[0] - given[1]).abs() <= most + early + 1e-9);
        }
        // A group's own jobs keep their order.
        for group in 0..2 {
            let own: Vec<u32> = numbers(&log).into_iter()
                .filter(|&number| sizes[number as usize].0 == group).collect();
            prop_assert!(own.is_sorted());
        }
    }
}

/// Notifies all others of every finished job, as DSFQ does, and records the
/// messages that it receives. Source: Wang and Merchant, "Proportional-share
/// scheduling for distributed storage systems", FAST 2007.
struct Telling {
    heard: Arc<Mutex<Vec<Heard>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Heard {
    time: u64,
    by: u32,
    from: u32,
    message: Message,
}

impl Scheduler for Telling {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        dispatcher.dispatch(job);
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        for other in 0..dispatcher.schedulers() {
            if other != dispatcher.scheduler() {
                dispatcher.send_message(other, [job.size, u64::from(job.group), 0, 9]);
            }
        }
    }

    fn message_arrival(
        &mut self,
        from: u32,
        message: Message,
        dispatcher: &mut Dispatcher<'_, '_>,
    ) {
        self.heard.lock().unwrap().push(Heard {
            time: dispatcher.now().0,
            by: dispatcher.scheduler(),
            from,
            message,
        });
    }

    fn name(&self) -> String {
        "telling".to_owned()
    }
}

#[test]
fn schedulers_hear_each_other_after_the_message_latency() {
    let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
    let arrivals: Vec<Arrival> = (0..3)
        .map(|scheduler| Arrival {
            at: 100 * u64::from(scheduler),
            group: scheduler as u8,
            size: 5 + u64::from(scheduler),
            scheduler,
            ..at(0, 0, 0)
        })
        .collect();
    drive(&arrivals, 1, 3, |_| {
        Box::new(Telling {
            heard: Arc::clone(&heard),
        })
    });
    let mut expected = Vec::new();
    for from in 0..3_u64 {
        for by in (0..3).filter(|&by| u64::from(by) != from) {
            expected.push(Heard {
                time: 100 * from + SERVICE + MESSAGE,
                by,
                from: from as u32,
                message: [5 + from, from, 0, 9],
            });
        }
    }
    let mut heard = heard.lock().unwrap().clone();
    heard.sort_unstable();
    expected.sort_unstable();
    assert_eq!(heard, expected);
}

/// Holds every job for a time of its own.
struct Holding(Vec<JobId>);

impl Scheduler for Holding {
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let tag = self.0.len() as u32;
        let hold = dispatcher.job(job).size;
        self.0.push(job);
        dispatcher.wake_in(Span(hold), tag);
    }

    fn wake(&mut self, tag: u32, dispatcher: &mut Dispatcher<'_, '_>) {
        dispatcher.dispatch(self.0[tag as usize]);
    }

    fn name(&self) -> String {
        "holding".to_owned()
    }
}

#[test]
fn schedulers_are_woken_when_they_asked() {
    let arrivals = [at(0, 0, 30), at(5, 0, 10), at(5, 0, 60), at(6, 0, 0)];
    let (log, _) = drive(&arrivals, 9, 1, |_| Box::new(Holding(Vec::new())));
    assert_eq!(log, [(6, 3), (15, 1), (30, 0), (65, 2)]);
}
