//! A client's page of attempts.
//!
//! ```text
//!   jobs, questions ─▶ [try] ─▶ send, ask
//!   received ─▶ [hear] ─▶ answered
//!   (timer) ─▶ [time out] ─▶ send, ask, answered
//! ```

use headrace_net::{Firing, Node, Page, Time, To};

use super::attempts::Step;
use super::{Attempts, Due, Failing, Failures, World};
use crate::client::Network;
use crate::tokens::{Job, Role};

/// A client's timer, which runs out at that time.
#[derive(Clone, Copy)]
struct Timer(Time);

/// Where attempts put what they do.
#[derive(Clone, Copy)]
struct Acts {
    send: To<Job>,
    ask: To<Job>,
    answered: Node<Job>,
    timer: Node<Timer>,
    /// Where a server's repair hears what it has missed.
    missed: Option<Node<Due>>,
}

/// Puts attempts between a client's jobs and its network, if servers fail.
pub fn client(page: &mut Page<'_>, failing: Option<Failing>, ends: Network) -> Network {
    let Some(failing) = failing else {
        return ends;
    };
    let jobs = page.place::<Job>("to try");
    let timer = page.place::<Timer>("timer");
    page.rest(timer);
    let acts = Acts {
        send: ends.send,
        ask: ends.ask,
        answered: page.place("heard"),
        timer,
        missed: failing.repairing.map(|it| it.due),
    };
    let of_job = [("try", jobs, true), ("hear", ends.received, false)];
    for (name, from, is_new) in of_job {
        let transition = page
            .transition(name)
            .take(from)
            .with(failing.store)
            .puts_many(acts.send)
            .puts_many(acts.ask)
            .puts_many(acts.answered)
            .may_put(acts.timer)
            .later();
        let transition = match acts.missed {
            Some(missed) => transition.may_put(missed),
            None => transition,
        };
        transition.fires(move |firing, job: Job, failures| {
            acts.act(firing, failures, |attempts, now, world, steps| {
                if is_new {
                    attempts.submit(job, now, world, steps);
                } else {
                    attempts.hear(job, now, world, steps);
                }
            });
        });
    }
    let transition = page
        .transition("time out")
        .take(timer)
        .with(failing.store)
        .puts_many(acts.send)
        .puts_many(acts.ask)
        .puts_many(acts.answered)
        .may_put(acts.timer)
        .later();
    let transition = match acts.missed {
        Some(missed) => transition.may_put(missed),
        None => transition,
    };
    transition.fires(move |firing, Timer(time): Timer, failures| {
        acts.act(firing, failures, |attempts, now, world, steps| {
            if attempts.disarm(time) {
                attempts.wake(now, world, steps);
            }
        });
    });
    Network {
        send: jobs.into(),
        ask: jobs.into(),
        received: acts.answered,
        locks: ends.locks,
    }
}

impl Acts {
    /// Lets a client's attempts do something, and puts what comes of it.
    fn act(
        self,
        firing: &mut Firing<'_>,
        failures: &mut Failures,
        does: impl FnOnce(&mut Attempts, Time, &mut World, &mut Vec<Step>),
    ) {
        let Failures { clients, world } = failures;
        let attempts = &mut clients[firing.copy() as usize];
        let mut steps = Vec::new();
        does(attempts, firing.now(), world, &mut steps);
        for step in steps {
            match step {
                Step::Send(job) if job.role == Role::Data => firing.put(self.send, job),
                Step::Send(job) => firing.put(self.ask, job),
                Step::Answer(job) => firing.put(self.answered, job),
            };
        }
        if let (Some(missed), Some(repair)) = (self.missed, &world.repair)
            && repair.has_fresh()
        {
            firing.put(missed, Due::Missed);
        }
        if let Some(time) = attempts.arm() {
            let after = time.since(firing.now());
            firing.put_after(self.timer, Timer(time), after);
        }
    }
}
