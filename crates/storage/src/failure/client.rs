//! A client's page of attempts.
//!
//! ```text
//!   jobs, questions ─▶ [try] ─▶ send, ask
//!   received ─▶ [hear] ─▶ answered
//!   (timer) ─▶ [time out] ─▶ send, ask, answered
//! ```

use headrace_net::{Account, Firing, Node, Page, Time, To, Token};

use super::attempts::{AttemptContext, Step};
use super::{Attempts, Failing, Failures, RepairEvent};
use crate::duplex::Duplex;
use crate::host_pages::HostNumbers;
use crate::tokens::{Job, Role};

/// A client's timer, which runs out at that time.
#[derive(Clone, Copy)]
struct Timer(Time);

/// Output places of attempts.
#[derive(Clone)]
struct AttemptPorts {
    /// The clients' numbers.
    numbers: HostNumbers,
    send: To<Job>,
    ask: To<Job>,
    answered: Node<Job>,
    timer: Node<Timer>,
    /// Place where a server's repair learns of missed writes.
    missed: Option<Node<RepairEvent>>,
    /// Notification of schedulers in the network about abandoned jobs.
    given_up: Option<Node<Job>>,
}

/// Puts attempts between a client's jobs and its network, if servers fail. Metadata requests
/// leave by `ask`.
pub fn client(
    page: &mut Page<'_>,
    failing: Option<Failing>,
    numbers: HostNumbers,
    outside: Duplex,
    ask: To<Job>,
) -> (Duplex, To<Job>) {
    let Some(failing) = failing else {
        return (outside, ask);
    };
    let jobs = page.place::<Job>("to try");
    let timer = page.place::<Timer>("timer");
    page.rest(timer);
    let acts = AttemptPorts {
        numbers,
        send: outside.send,
        ask,
        answered: page.place("heard"),
        timer,
        missed: failing.repairing.map(|it| it.due),
        given_up: failing.given_up,
    };
    acts.when(page, failing, ("try", jobs), |attempts, job, it| {
        let account = it.firing.account();
        attempts.submit((job, account), it);
    });
    let received = ("hear", outside.received);
    acts.when(page, failing, received, |attempts, job, it| {
        attempts.hear(job, it);
    });
    acts.when(page, failing, ("time out", timer), |attempts, timer, it| {
        if attempts.disarm(timer.0) {
            attempts.wake(it);
        }
    });
    let inside = Duplex {
        send: jobs.into(),
        received: acts.answered,
    };
    (inside, jobs.into())
}

impl AttemptPorts {
    /// Writes a transition by which a client's attempts do something with each token.
    fn when<T: Token>(
        &self,
        page: &mut Page<'_>,
        failing: Failing,
        (name, from): (&str, Node<T>),
        does: impl Fn(&mut Attempts, T, &mut AttemptContext<'_, '_>) + Send + 'static,
    ) {
        let transition = page
            .transition(name)
            .take(from)
            .with(failing.store)
            .puts_many(self.send)
            .puts_many(self.ask)
            .puts_many(self.answered)
            .may_put(self.timer)
            .later();
        let transition = match self.missed {
            Some(missed) => transition.may_put(missed),
            None => transition,
        };
        let transition = match self.given_up {
            Some(given_up) => transition.puts_many(given_up),
            None => transition,
        };
        let ports = self.clone();
        transition.fires(move |firing, token: T, failures| {
            let Failures { clients, world } = failures;
            let attempts = &mut clients[ports.numbers.of(firing.copy()) as usize];
            let mut steps = Vec::new();
            let mut acting = AttemptContext {
                now: firing.now(),
                firing: &mut *firing,
                world: &mut *world,
                steps: &mut steps,
            };
            does(attempts, token, &mut acting);
            ports.put(firing, steps);
            if let (Some(missed), Some(repair)) = (ports.missed, &world.repair)
                && repair.has_fresh()
            {
                firing.put(missed, RepairEvent::Missed);
            }
            if let Some(time) = attempts.arm() {
                let after = time.since(firing.now());
                firing.put_after(ports.timer, Timer(time), after);
            }
        });
    }

    fn put(&self, firing: &mut Firing<'_>, steps: Vec<(Step, Account)>) {
        for (step, account) in steps {
            firing.charge(account);
            let (to, job): (To<Job>, Job) = match (step, self.given_up) {
                (Step::Send(job), _) if job.role == Role::Data => (self.send, job),
                (Step::Send(job), _) => (self.ask, job),
                (Step::Answer(job), _) => (self.answered.into(), job),
                (Step::GiveUp(job), Some(to)) if job.role == Role::Data => (to.into(), job),
                (Step::GiveUp(_), _) => continue,
            };
            firing.put(to, job);
        }
    }
}
