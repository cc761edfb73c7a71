//! A scheduler in the network whose jobs may be lost: it waits no longer for jobs that clients have
//! aborted.
//!
//! ```text
//!   submit ─▶ scheduler ─▶ [send on] ─▶ dispatched
//!                  ▲            └ given up meanwhile ─┐
//!                  ├◀─────────────────────────────────┘
//!                  └◀ [finish once] ◀─ finished: answers, and what is given up
//!   returned ◀─ [give back] ◀─ scheduler
//! ```
//!
//! Not modelled: messages by which it learns that: it sees at once what its clients see, as their
//! connections end at it.

use std::collections::BTreeSet;

use headrace_net::Page;

use super::Failing;
use crate::qos::SchedulerPorts;
use crate::tokens::{Job, Message};

/// Jobs by client and the client's number.
type Keys = BTreeSet<(u32, u32)>;

/// Dispatched jobs that have not returned, and abandoned jobs.
#[derive(Default)]
struct DispatchedJobs {
    dispatched: Keys,
    given_up: Keys,
}

fn key(job: &Job) -> (u32, u32) {
    (job.client, job.request)
}

/// Lets a scheduler in the network bear that jobs are lost, if servers fail.
pub fn lossy_scheduler(
    page: &mut Page<'_>,
    failing: Option<Failing>,
    scheduler: SchedulerPorts,
) -> SchedulerPorts {
    if failing.is_none() {
        return scheduler;
    }
    let ports = SchedulerPorts {
        submit: scheduler.submit,
        dispatched: page.output("sent on"),
        finished: page.input("answers"),
        returned: page.output("given back"),
        news: scheduler.news,
    };
    let known = page.store("known jobs", |_| DispatchedJobs::default());
    let chosen = page.place::<Job>("chosen");
    page.connect(scheduler.dispatched, chosen);
    page.transition("send on")
        .take(chosen)
        .with(known)
        .puts_one_of([ports.dispatched.into(), scheduler.finished.into()])
        .fires(move |firing, job: Job, known| {
            if known.given_up.remove(&key(&job)) {
                let message = Message::Failed;
                firing.put(scheduler.finished, Job { message, ..job });
            } else {
                known.dispatched.insert(key(&job));
                firing.put(ports.dispatched, job);
            }
        });
    let answers = page.place::<Job>("answered or given up");
    page.connect(ports.finished, answers);
    page.transition("finish once")
        .take(answers)
        .with(known)
        .may_put(scheduler.finished)
        .may_put(ports.returned)
        .fires(move |firing, job: Job, known| {
            if known.dispatched.remove(&key(&job)) {
                firing.put(scheduler.finished, job);
            } else if job.message == Message::Failed {
                known.given_up.insert(key(&job));
            } else {
                // Late: the client has given it up.
                firing.put(ports.returned, job);
            }
        });
    let done = page.place::<Job>("seen by the scheduler");
    page.connect(scheduler.returned, done);
    page.transition("give back")
        .take(done)
        .may_put(ports.returned)
        .fires(move |firing, job: Job, ()| {
            if job.message != Message::Failed {
                firing.put(ports.returned, job);
            }
        });
    ports
}
