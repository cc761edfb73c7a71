//! Outstanding requests of a client. The client re-sends requests that are not answered in time,
//! possibly to another server.
//!
//! - An attempt that is not answered for `recovery.timeout` is aborted if its server is away or has
//!   been since. A slow server answers pings. The server then counts as failed: all requests of the
//!   client at it are aborted, and only a ping is sent there every `recovery.retry`.
//! - Requests for a failed server go to another server with a copy of the data, or wait. The answer
//!   to a ping ends that.
//! - If a server was away since its last answer, its next answer shows the client that the
//!   connection was reset. The client then resends its earlier requests at once.
//!
//! Sources: Lustre 1.8 (ptlrpc: obd_timeout, RECONNECT_INTERVAL), GlusterFS 3.1 (protocol/client:
//! ping-timeout bails out all calls; cluster/replicate uses live children), nfs(5) (timeo, retrans,
//! hard).
//!
//! Not modelled: adaptive timeouts; back-off of later tries; TCP's own timers; the size of a ping,
//! which is an empty message.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use headrace_net::{Account, Firing, Held, Span, Time, WaitId};
use headrace_spec::Recovery;
use headrace_trace::Operation;

use super::ServerState;
use super::failover_routing::Route;
use crate::time_conversion::span;
use crate::tokens::{Direction, Job, Message};

/// Action of a client.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sends a message.
    Send(Job),
    /// Is done with a job.
    Answer(Job),
    /// Does not wait for the answer to a message any more.
    GiveUp(Job),
}

/// Context of attempts: their firing and the account to charge.
pub struct AttemptContext<'a, 'f> {
    pub firing: &'a mut Firing<'f>,
    pub now: Time,
    pub world: &'a mut ServerState,
    pub steps: &'a mut Vec<(Step, Account)>,
}

/// A job, and on whose account it is.
type Charged = (Job, Account);

/// A server that has a part in a job.
#[derive(Clone, Copy, Debug)]
struct Need {
    host: u32,
    /// Number of times it had gone or come when the job was sent.
    changes: u32,
    /// The client took it for failed then. If it has restarted before the job arrives, the job is
    /// passed on to it all the same.
    left_out: bool,
}

/// A job that a server has.
#[derive(Clone, Debug)]
struct Attempt {
    /// The job as it came.
    job: Job,
    /// The message by which it went.
    message: Job,
    /// The servers that have a part in it, that which gets it first.
    needs: Vec<Need>,
    /// Account to charge.
    account: Account,
    /// Since it was lost.
    lost: Option<Held>,
}

impl Attempt {
    /// Returns true if it is at a server.
    fn is_at(&self, host: u32) -> bool {
        self.needs.first().is_some_and(|it| it.host == host)
    }

    /// Returns true if a required server is unavailable or has been.
    fn is_lost(&self, world: &ServerState) -> bool {
        let hosts = &world.hosts;
        let mut needs = self.needs.iter();
        needs.any(|it| {
            let gone = !it.left_out && !hosts.is_there(it.host);
            gone || hosts.changes(it.host) != it.changes
        })
    }
}

/// A server that has been taken for failed.
#[derive(Clone, Default, Debug)]
struct Failed {
    /// Time of the next ping, or of its abandonment.
    next: Option<Time>,
    waiting: Vec<Waiting>,
}

/// A job that waits for a failed server.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    job: Job,
    /// Number of unanswered pings.
    pings: u32,
    since: Held,
}

impl Waiting {
    /// It waits no more.
    fn over(self, firing: &mut Firing<'_>) -> Charged {
        (self.job, firing.let_go(self.since))
    }
}

/// A client's attempts.
#[derive(Clone, Debug)]
pub struct Attempts {
    client: u32,
    timeout: Span,
    retry: Span,
    retries: Option<u32>,
    /// The run ends at some time, even if requests wait.
    run_ends: bool,
    /// The number of the next attempt.
    next: u32,
    live: BTreeMap<u32, Attempt>,
    /// Deadlines of attempts, in order.
    deadlines: VecDeque<(Time, u32)>,
    failed: BTreeMap<u32, Failed>,
    /// Number of times servers had gone or come when they were heard last.
    heard: BTreeMap<u32, u32>,
    /// Time when the client's timer runs out.
    armed: Option<Time>,
    /// On what the time of jobs is booked that wait for failed servers or are lost.
    wait: WaitId,
}

impl Attempts {
    /// None yet, in a run that ends at some time or not.
    pub fn new(client: u32, spec: &Recovery, run_ends: bool, wait: WaitId) -> Attempts {
        Attempts {
            client,
            timeout: span(spec.timeout),
            retry: span(spec.retry),
            retries: spec.retries.limit(),
            run_ends,
            next: 0,
            live: BTreeMap::new(),
            deadlines: VecDeque::new(),
            failed: BTreeMap::new(),
            heard: BTreeMap::new(),
            armed: None,
            wait,
        }
    }

    /// A message of an attempt is lost.
    pub fn is_lost(&mut self, number: u32, firing: &mut Firing<'_>) {
        if let Some(attempt) = self.live.get_mut(&number) {
            let wait = self.wait;
            attempt.lost.get_or_insert_with(|| {
                firing.charge(attempt.account);
                firing.hold(wait)
            });
        }
    }

    /// Returns true if the client takes a server for failed.
    pub fn takes_for_failed(&self, host: u32) -> bool {
        self.failed.contains_key(&host)
    }

    /// A job is to be done.
    pub fn submit(&mut self, (job, account): Charged, it: &mut AttemptContext<'_, '_>) {
        let world = &mut *it.world;
        match world.way(&job, |host| self.takes_for_failed(host)) {
            Route::To(there) => {
                if world.ways.passed_on(&job) {
                    self.leaves_out(&job, world);
                }
                let step = self.send((job, account), there, it.now, world);
                // Lost on the way from server to server, it has no token anywhere.
                it.firing.charge(account);
                it.firing.begin_gap_wait(self.wait);
                it.steps.push((step, account));
            }
            Route::Without => {
                self.leaves_out(&job, world);
                it.steps.push((Step::Answer(answer(job)), account));
            }
            Route::Decoded => {
                let message = Message::Lost;
                let step = Step::Answer(Job {
                    message,
                    ..answer(job)
                });
                it.steps.push((step, account));
            }
            Route::Waits(host) => {
                it.firing.charge(account);
                let since = it.firing.hold(self.wait);
                let failed = self.failed.entry(host).or_default();
                failed.waiting.push(Waiting {
                    job,
                    pings: 0,
                    since,
                });
            }
        }
    }

    /// A write goes past the servers that have been taken for failed.
    fn leaves_out(&self, job: &Job, world: &mut ServerState) {
        let Some(repair) = &mut world.repair else {
            return;
        };
        if job.operation != Operation::Write {
            return;
        }
        let ways = &world.ways;
        let own = (!ways.passed_on(job)).then_some(1);
        let written = ways.written(job).into_iter();
        let holders = written.take(own.unwrap_or(usize::MAX));
        for holder in holders.filter(|it| self.takes_for_failed(ways.host(it))) {
            repair.misses(&holder);
        }
    }

    fn send(
        &mut self,
        (job, account): Charged,
        there: Job,
        now: Time,
        world: &ServerState,
    ) -> Step {
        self.forget_answered();
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let needs = world.ways.needed(&there).into_iter().map(|host| Need {
            host,
            changes: world.hosts.changes(host),
            left_out: self.takes_for_failed(host),
        });
        let message = world.message(Job {
            request: number,
            ..there
        });
        let attempt = Attempt {
            job,
            message,
            needs: needs.collect(),
            account,
            lost: None,
        };
        self.live.insert(number, attempt);
        self.deadlines.push_back((now + self.timeout, number));
        Step::Send(message)
    }

    /// A message has come.
    pub fn hear(&mut self, message: Job, it: &mut AttemptContext<'_, '_>) {
        let mut host = it.world.ways.host(&it.world.ways.of_server(message));
        if message.message != Message::Ping {
            // Answers to aborted attempts are late.
            let Some(attempt) = self.live.remove(&message.request) else {
                return;
            };
            host = attempt.needs.first().map_or(host, |it| it.host);
            it.firing.charge(attempt.account);
            it.firing.end_gap_wait();
            if let Some(lost) = attempt.lost {
                it.firing.let_go(lost);
            }
            let step = Step::Answer(answer(attempt.job));
            it.steps.push((step, attempt.account));
        }
        if let Some(failed) = self.failed.remove(&host) {
            let waiting = failed.waiting.into_iter();
            let mut jobs: Vec<Charged> = waiting.map(|job| job.over(it.firing)).collect();
            jobs.extend(self.freed(it));
            self.again(jobs, it);
        }
        let changes = it.world.hosts.changes(host);
        if self.heard.insert(host, changes).unwrap_or(0) != changes {
            let lost = self.take(
                |_, attempt, world| attempt.is_at(host) && attempt.is_lost(world),
                it,
            );
            self.again(lost, it);
        }
    }

    /// Jobs that waited for other servers and can be done without them now.
    fn freed(&mut self, it: &mut AttemptContext<'_, '_>) -> Vec<Charged> {
        let hosts: BTreeSet<u32> = self.failed.keys().copied().collect();
        let mut freed = Vec::new();
        for failed in self.failed.values_mut() {
            failed.waiting.retain(|waiting| {
                let way = it.world.way(&waiting.job, |host| hosts.contains(&host));
                let waits = matches!(way, Route::Waits(_));
                if !waits {
                    freed.push(waiting.over(it.firing));
                }
                waits
            });
        }
        freed
    }

    /// The timer has run out.
    pub fn wake(&mut self, it: &mut AttemptContext<'_, '_>) {
        let now = it.now;
        let hosts: Vec<u32> = self.failed.keys().copied().collect();
        for host in hosts {
            self.ping(host, it);
        }
        while let Some(&(deadline, number)) = self.deadlines.front()
            && deadline <= now
        {
            self.deadlines.pop_front();
            let Some(attempt) = self.live.get(&number) else {
                continue;
            };
            let world = &mut *it.world;
            if !attempt.is_lost(world) {
                self.deadlines.push_back((now + self.timeout, number));
                continue;
            }
            let needs = attempt.needs.iter().filter(|it| !it.left_out);
            let away = needs.map(|it| it.host);
            let away: Vec<u32> = away.filter(|&it| !world.hosts.is_there(it)).collect();
            for &host in &away {
                self.fails(host, now, world);
            }
            let gone = |attempt: &Attempt| away.iter().any(|&host| attempt.is_at(host));
            let lost = self.take(|other, attempt, _| other == number || gone(attempt), it);
            self.again(lost, it);
        }
    }

    /// A server is taken for failed.
    fn fails(&mut self, host: u32, now: Time, world: &mut ServerState) {
        world.hosts.noticed(host, now);
        // A server that never answers is not pinged, unless jobs fail by that or the run ends.
        let pings = self.retries.is_some() || self.run_ends || !world.hosts.is_gone(host);
        let next = pings.then_some(now + self.retry);
        self.failed.entry(host).or_insert(Failed {
            next,
            waiting: Vec::new(),
        });
    }

    /// Pings a failed server if it is time to.
    fn ping(&mut self, host: u32, it: &mut AttemptContext<'_, '_>) {
        let now = it.now;
        let (retries, retry) = (self.retries, self.retry);
        let Some(failed) = self.failed.get_mut(&host) else {
            return;
        };
        if failed.next.is_none_or(|next| next > now) {
            return;
        }
        failed.next = Some(now + retry);
        failed.waiting.retain_mut(|waiting| {
            if retries.is_some_and(|most| waiting.pings >= most) {
                let message = Message::Failed;
                let (job, account) = waiting.over(it.firing);
                let step = Step::Answer(Job {
                    message,
                    ..answer(job)
                });
                it.steps.push((step, account));
                return false;
            }
            waiting.pings += 1;
            true
        });
        let ping = it.world.ways.ping(host, self.client);
        let step = Step::Send(it.world.message(ping));
        it.steps.push((step, Account::NOBODY));
    }

    /// Takes the attempts that are lost.
    fn take(
        &mut self,
        is_lost: impl Fn(u32, &Attempt, &ServerState) -> bool,
        it: &mut AttemptContext<'_, '_>,
    ) -> Vec<Charged> {
        let mut lost: Vec<Charged> = Vec::new();
        self.live.retain(|&number, attempt| {
            let keep = !is_lost(number, attempt, it.world);
            if !keep {
                it.firing.charge(attempt.account);
                it.firing.end_gap_wait();
                if let Some(since) = attempt.lost {
                    it.firing.let_go(since);
                }
                lost.push((attempt.job, attempt.account));
                let step = Step::GiveUp(attempt.message);
                it.steps.push((step, Account::NOBODY));
            }
            keep
        });
        lost
    }

    fn again(&mut self, jobs: Vec<Charged>, it: &mut AttemptContext<'_, '_>) {
        for job in jobs {
            self.submit(job, it);
        }
    }

    fn forget_answered(&mut self) {
        while let Some((_, number)) = self.deadlines.front()
            && !self.live.contains_key(number)
        {
            self.deadlines.pop_front();
        }
    }

    /// Returns the new timer expiry, if the timer must be re-armed.
    pub fn arm(&mut self) -> Option<Time> {
        self.forget_answered();
        let deadline = self.deadlines.front().map(|(deadline, _)| *deadline);
        let pings = self.failed.values().filter_map(|failed| failed.next);
        let next = pings.chain(deadline).min()?;
        if self.armed.is_some_and(|armed| armed <= next) {
            return None;
        }
        self.armed = Some(next);
        Some(next)
    }

    /// Returns true if a timer that has run out is the one that was set last.
    pub fn disarm(&mut self, time: Time) -> bool {
        let this = self.armed == Some(time);
        if this {
            self.armed = None;
        }
        this
    }
}

/// A job that is done.
fn answer(job: Job) -> Job {
    Job {
        direction: Direction::Back,
        ..job
    }
}
