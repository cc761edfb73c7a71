//! Schedulers of jobs: which job goes to a server next, and when.
//!
//! A scheduler is called when a job arrives, when a dispatched job is done, when another
//! scheduler's message arrives, and at times that it requested. It dispatches jobs and sends
//! messages, which take `message_latency` and no bandwidth. These are the methods of PFSsim's
//! scheduler class (Liu et al. 2011, §4.2).
//!
//! | `position` | number | jobs that it sees |
//! | --- | --- | --- |
//! | `client` | one on each client, before its card | those of the client |
//! | `gateway` | one for all data servers, where jobs enter the network | all |
//! | `proxy` | one for each data server, where jobs enter the network | those of the server |
//! | `server` | one behind the card of each data server | those that have arrived there |
//! | `metadata` | one behind the card of each metadata server | opens and names, without bytes |
//!
//! A job passes the schedulers on its way in the order of the table. A gateway or proxy has the
//! same meaning at every grain of the network. A job that it dispatches takes the client's and the
//! server's links, and the latency of both ways, before it counts as finished. With a depth of 1, n
//! jobs of a device time d take n (2 L + d) at a latency L.
//!
//! A scheduler can change the order only of jobs that wait for it. Nearly all have a `depth`, the
//! number of jobs dispatched concurrently. Small depths enforce the order, large depths use the
//! servers fully. Shares by weight at each server are not shares over all servers; DSFQ ([`Dsfq`])
//! gives these. Its schedulers inform all others, so its messages grow with the square of their
//! number unless `message_interval` limits them.
//!
//! # A scheduler of your own
//!
//! Implement [`Scheduler`], and pass a function that creates one as `schedulers` in
//! [`Options`](crate::Options). It gets the position and the number, and returns none for the
//! scenario's own. `examples/own_scheduler.rs` is a whole one. To add a kind, write a file with a
//! type that implements [`Scheduler`]. Name the type here and in `make`. Its fields are a file in
//! `crates/spec/src/sections/scheduler`.
//!
//! # Omissions
//!
//! Not modelled: the time of a scheduler's decision; a host of a gateway's own, with links of its
//! own.

mod batches;
mod copies;
mod crrn;
mod dsfq;
mod edf;
mod external_scheduler;
mod fifo;
mod job_class;
mod least_loaded;
mod mclock;
mod ordered_queue;
mod orr;
mod round_robin;
mod sfq;
mod sfq_plus;
mod tag;
mod tbf;
mod two_level;
mod view;

pub use copies::{CannotServe, Copies};
pub use crrn::Crrn;
pub use dsfq::Dsfq;
pub use edf::Edf;
pub use fifo::Fifo;
pub use least_loaded::LeastLoaded;
pub use mclock::{Controls, Mclock};
pub use orr::{BatchOf, Orr};
pub use round_robin::RoundRobin;
pub use sfq::Sfq;
pub use sfq_plus::SfqPlus;
pub use tbf::Tbf;
pub use two_level::{Promise, TwoLevel};
pub use view::{Ask, JobCounter, ServerView, View, Watch};

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_net::{Discipline, Message, News, Page, Port, Random, Slot, Span, Station, Time, To};
use headrace_spec::{
    Groups, Parallel, PerGroup, Position, Scenario, SchedulerKind, Seconds, Weights,
};

use self::external_scheduler::ExternalScheduler;
use crate::tokens::{Job, Role};

/// Decides in which order, and how many at a time, jobs go on. The methods are
/// those of PFSsim's scheduler class (Liu et al. 2011, §4.2). Arrival and
/// finish of jobs and messages from other schedulers are here, dispatching and
/// sending messages on the [`Dispatcher`].
///
/// ```
/// use headrace_storage::qos::{Dispatcher, JobId, Scheduler};
///
/// /// Lets every job pass as it comes.
/// struct PassThrough;
///
/// impl Scheduler for PassThrough {
///     fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
///         dispatcher.dispatch(job);
///     }
///
///     fn name(&self) -> String {
///         "pass-through".to_owned()
///     }
/// }
/// ```
pub trait Scheduler: Send {
    /// A job has come; it waits until it is dispatched.
    fn job_arrival(&mut self, job: JobId, dispatcher: &mut Dispatcher<'_, '_>);

    /// A job that was dispatched has come back from its server.
    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        let _ = (job, dispatcher);
    }

    /// Another scheduler's message has come.
    fn message_arrival(
        &mut self,
        from: u32,
        message: Message,
        dispatcher: &mut Dispatcher<'_, '_>,
    ) {
        let _ = (from, message, dispatcher);
    }

    /// A time asked for with [`Dispatcher::wake_in`] has come.
    fn wake(&mut self, tag: u32, dispatcher: &mut Dispatcher<'_, '_>) {
        let _ = (tag, dispatcher);
    }

    /// The schedulers have learnt a newer state of the servers ([`Dispatcher::servers`]).
    fn view_arrival(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        let _ = dispatcher;
    }

    /// Returns its name, such as "SFQ(4)".
    fn name(&self) -> String;
}

/// A job that waits at a scheduler.
pub type JobId = Slot;

/// Interface of a scheduler to its server.
pub struct Dispatcher<'a, 's> {
    station: &'a mut Station<'s, Job>,
    context: &'a Context,
}

/// State of a scheduler that is not its own.
#[derive(Clone)]
struct Context {
    message_latency: Span,
    copies: Arc<Copies>,
    /// The state of the servers, as far as it is known.
    view: Option<Arc<View>>,
}

impl Dispatcher<'_, '_> {
    /// The time now.
    pub fn now(&self) -> Time {
        self.station.now()
    }

    /// The number of this scheduler among those at its position.
    pub fn scheduler(&self) -> u32 {
        self.station.copy()
    }

    /// Number of schedulers at its position.
    pub fn schedulers(&self) -> u32 {
        self.station.copies()
    }

    /// A job that waits here.
    pub fn job(&self, job: JobId) -> &Job {
        self.station.token(job)
    }

    /// Sends a waiting job on.
    pub fn dispatch(&mut self, job: JobId) {
        self.station.release(job);
    }

    /// Sends a waiting job to a server with a copy of its data, instead of the one that the layout
    /// or the client chose. Source: PFSsim, Liu et al. 2011, §4.2: `dispatchJob(ID, job)`.
    ///
    /// # Errors
    /// Why that server cannot serve it; the job then still waits.
    pub fn dispatch_to(&mut self, server: u32, job: JobId) -> Result<(), CannotServe> {
        let there = self.context.copies.at(self.station.token(job), server)?;
        if let Some(there) = there {
            *self.station.token_mut(job) = there;
        }
        self.station.release(job);
        Ok(())
    }

    /// The servers that [`Dispatcher::dispatch_to`] may send a job to.
    ///
    /// # Errors
    /// Why there are none.
    pub fn servers_of(&self, job: JobId) -> Result<impl Iterator<Item = u32>, CannotServe> {
        self.context.copies.servers(self.station.token(job))
    }

    /// The copies among which [`Dispatcher::dispatch_to`] may choose.
    pub fn copies(&self) -> &Arc<Copies> {
        &self.context.copies
    }

    /// The state of all data servers as the schedulers know it, by number: `scheduler.view_delay`
    /// old when it arrives, and renewed each `scheduler.view_period`. Empty without one.
    pub fn servers(&self) -> &[ServerView] {
        self.context.view.as_ref().map_or(&[], |view| &view.servers)
    }

    /// The same with the time that it is of; none without `scheduler.view_period`.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.context.view.as_ref()
    }

    /// The random stream of this scheduler.
    pub fn random(&mut self) -> Random<'_> {
        self.station.random()
    }

    /// Sends a message to another scheduler. It takes the scenario's
    /// `scheduler.message_latency` and no bandwidth.
    pub fn send_message(&mut self, to: u32, message: Message) {
        self.station.send(to, message, self.context.message_latency);
    }

    /// Ends the run with an error of the scheduler's.
    pub fn fail(&mut self, message: impl Into<String>) {
        self.station.fail(message);
    }

    /// Asks for [`Scheduler::wake`] after some time.
    pub fn wake_in(&mut self, span: Span, tag: u32) {
        self.station.wake_in(span, tag);
    }
}

/// A scheduler as the discipline of a station: jobs enter and wait until they
/// are dispatched. It serves nothing itself, so all of their stay is waiting.
struct Scheduled {
    scheduler: Box<dyn Scheduler>,
    context: Context,
}

impl Scheduled {
    fn with<'a, 's>(
        &'a mut self,
        station: &'a mut Station<'s, Job>,
    ) -> (&'a mut dyn Scheduler, Dispatcher<'a, 's>) {
        let context = &self.context;
        (&mut *self.scheduler, Dispatcher { station, context })
    }
}

impl Discipline<Job> for Scheduled {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let (scheduler, mut dispatcher) = self.with(station);
        scheduler.job_arrival(slot, &mut dispatcher);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Job>) {
        let (scheduler, mut dispatcher) = self.with(station);
        scheduler.wake(tag, &mut dispatcher);
    }

    fn signal(&mut self, job: &Job, station: &mut Station<'_, Job>) {
        let (scheduler, mut dispatcher) = self.with(station);
        scheduler.job_finish(job, &mut dispatcher);
    }

    fn message(&mut self, from: u32, message: Message, station: &mut Station<'_, Job>) {
        let (scheduler, mut dispatcher) = self.with(station);
        scheduler.message_arrival(from, message, &mut dispatcher);
    }

    fn news(&mut self, news: &News, station: &mut Station<'_, Job>) {
        if let Ok(view) = Arc::clone(news).downcast::<View>() {
            self.context.view = Some(view);
            let (scheduler, mut dispatcher) = self.with(station);
            scheduler.view_arrival(&mut dispatcher);
        }
    }

    fn name(&self) -> String {
        self.scheduler.name()
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}

/// A scheduler's ways in and out.
#[derive(Clone, Copy)]
pub struct SchedulerPorts {
    /// Jobs on their way to a server.
    pub submit: Port<Job>,
    /// Jobs sent on to the server.
    pub dispatched: Port<Job>,
    /// Jobs that come back.
    pub finished: Port<Job>,
    /// Jobs sent on to the client.
    pub returned: Port<Job>,
    /// Where news of the servers are announced, if the scheduler gets any.
    pub news: Option<Port<Job>>,
}

/// Makes the scheduler of a number among those at a position; none for those of the scenario.
pub type Make<'a> = dyn Fn(Position, u32) -> Option<Box<dyn Scheduler>> + Sync + 'a;

/// Schedulers of a scenario.
#[derive(Clone, Copy)]
pub struct Schedulers<'a> {
    scenario: &'a Parallel,
    groups: &'a Groups,
    own: Option<&'a Make<'a>>,
}

impl<'a> Schedulers<'a> {
    /// The scenario's, or in their place those of the caller's own.
    pub fn new(
        scenario: &'a Parallel,
        groups: &'a Groups,
        own: Option<&'a Make<'a>>,
    ) -> Schedulers<'a> {
        Schedulers {
            scenario,
            groups,
            own,
        }
    }

    fn own(&self, position: Position, number: u32) -> Option<Box<dyn Scheduler>> {
        self.own.and_then(|make| make(position, number))
    }
}

/// Number of schedulers that a scenario has at a position, if it has any.
pub fn count(scenario: &Scenario, position: Position) -> u32 {
    scenario.parallel().map_or(0, |parallel| match position {
        Position::Server | Position::Proxy => parallel.servers.count,
        Position::Client => scenario.clients.count,
        Position::Gateway => 1,
        Position::Metadata => parallel.metadata_servers(),
    })
}

/// The scheduler page, in every copy of the page around it, if schedulers stand at this position.
/// None if they do not, or the scenario has none. `number_of` gives the number of the scheduler in
/// a copy.
///
/// ```text
///   submit ─▶ (queue) ─▶ dispatched
///                ╎ job done
///   returned ◀─ [finish] ◀─ finished
/// ```
///
/// Where jobs can be redirected to other servers, their original servers are recorded, and the
/// senders get them back as they were:
///
/// ```text
///   submit ─▶ (queue) ─▶ [send on] ─▶ dispatched
///                ╎ job done    ╎ sent elsewhere
///   returned ◀─ [finish] ◀─ finished
/// ```
pub fn build(
    page: &mut Page<'_>,
    schedulers: Schedulers<'_>,
    position: Position,
    number_of: impl Fn(u32) -> u32,
) -> Option<SchedulerPorts> {
    let parallel = schedulers.scenario;
    let spec = parallel
        .scheduler
        .iter()
        .find(|it| it.position == position)?;
    let mut first = schedulers.own(position, number_of(0));
    let own = first.is_some();
    if !own && spec.is_none() {
        return None;
    }
    let latency = spec.message_latency.unwrap_or(parallel.network.latency);
    let context = Context {
        message_latency: Span::from_seconds(latency.0),
        copies: Arc::new(Copies::new(parallel, position, page.seed())),
        view: spec.view_period.map(|_| Arc::new(View::of_idle(parallel))),
    };
    let elsewhere = (own || matches!(spec.kind, SchedulerKind::LeastLoaded(_)))
        && context.copies.are_elsewhere();
    let make = |copy| {
        let own = match copy {
            0 => first.take(),
            _ => schedulers.own(position, number_of(copy)),
        };
        own.or_else(|| make(&spec.kind, schedulers.groups))
            .unwrap_or_else(|| Box::new(Fifo::new(None)))
    };
    Some(write(page, "scheduler", &context, elsewhere, make))
}

/// A scheduler page around schedulers of the caller's own; `make` gets the
/// copy's number.
pub fn with(
    page: &mut Page<'_>,
    message_latency: Span,
    make: impl FnMut(u32) -> Box<dyn Scheduler>,
) -> SchedulerPorts {
    named(page, "scheduler", message_latency, make)
}

/// A scheduler page of this name around schedulers of the caller's own; `make` gets the
/// copy's number.
pub fn named(
    page: &mut Page<'_>,
    name: &str,
    message_latency: Span,
    make: impl FnMut(u32) -> Box<dyn Scheduler>,
) -> SchedulerPorts {
    let context = Context {
        message_latency,
        copies: Arc::new(Copies::none()),
        view: None,
    };
    write(page, name, &context, false, make)
}

/// Jobs that were sent elsewhere, as they left, and the server and target that they were for.
type Elsewhere = BTreeMap<(u32, u32, u32, u16, u64), (u32, u16)>;

fn key(job: &Job) -> (u32, u32, u32, u16, u64) {
    (job.client, job.request, job.server, job.target, job.offset)
}

fn write(
    page: &mut Page<'_>,
    name: &str,
    context: &Context,
    elsewhere: bool,
    mut make: impl FnMut(u32) -> Box<dyn Scheduler>,
) -> SchedulerPorts {
    page.page(name, |page| {
        let mut ports = SchedulerPorts {
            submit: page.input("submit"),
            dispatched: page.output("dispatched"),
            finished: page.input("finished"),
            returned: page.output("returned"),
            news: None,
        };
        let queue = page.stations("queue", |copy| Scheduled {
            scheduler: make(copy),
            context: context.clone(),
        });
        let done = page.place("done");
        page.connect(ports.submit, queue);
        if context.view.is_some() {
            let news = page.input("news");
            page.connect(news, queue);
            ports.news = Some(news);
        }
        page.connect(ports.finished, done);
        if !elsewhere {
            page.connect(queue, ports.dispatched);
            page.transition("finish").take(done).signals(queue).put(
                ports.returned,
                move |firing, job, ()| {
                    firing.signal(queue, &job);
                    job
                },
            );
            return ports;
        }
        let sent = page.store("sent elsewhere", |_| Elsewhere::new());
        let copies = Arc::clone(&context.copies);
        page.transition("send on").take(queue).with(sent).put(
            ports.dispatched,
            move |_, mut job: Job, sent| {
                if let Some(was_for) = copies.came_as(&mut job) {
                    sent.insert(key(&job), was_for);
                }
                job
            },
        );
        page.transition("finish")
            .take(done)
            .with(sent)
            .signals(queue)
            .put(ports.returned, move |firing, mut job: Job, sent| {
                firing.signal(queue, &job);
                if job.role == Role::Data
                    && let Some((server, target)) = sent.remove(&key(&job))
                {
                    (job.server, job.target) = (server, target);
                }
                job
            });
        ports
    })
}

/// Returns where the schedulers' news go in, in any copy of the pages around.
pub fn news_of_copies(ports: &SchedulerPorts) -> Option<To<Job>> {
    ports.news.map(|news| news.by(|_: &Job| 0))
}

/// A scheduler of a kind; none if the scenario has none. To add a kind, write a
/// file and name it here and at the head.
fn make(kind: &SchedulerKind, groups: &Groups) -> Option<Box<dyn Scheduler>> {
    Some(match kind {
        SchedulerKind::NoScheduler(_) => return None,
        SchedulerKind::Fifo(it) => Box::new(Fifo::new(it.depth)),
        SchedulerKind::RoundRobin(it) => Box::new(RoundRobin::new(it.depth, it.by, it.quantum)),
        SchedulerKind::Sfq(it) => Box::new(Sfq::new(it.depth, weights(&it.weights, groups))),
        SchedulerKind::SfqPlus(it) => {
            Box::new(SfqPlus::new(it.depth.0, weights(&it.weights, groups)))
        }
        SchedulerKind::Dsfq(it) => {
            let interval = Span::from_seconds(it.message_interval.0);
            Box::new(Dsfq::new(it.depth, weights(&it.weights, groups), interval))
        }
        SchedulerKind::Edf(it) => {
            let latency = |group| latency(&it.deadlines, it.deadline, group);
            Box::new(Edf::new(it.depth, groups.names().map(latency).collect()))
        }
        SchedulerKind::TwoLevel(it) => {
            let promise = |group| Promise {
                rate: it.rates.of(group).unwrap_or(it.rate).0,
                latency: latency(&it.deadlines, it.deadline, group),
            };
            let promises: Vec<Promise> = groups.names().map(promise).collect();
            let period = Span::from_seconds(it.period.0).max(Span(1));
            Box::new(TwoLevel::new(it.depth, &promises, period))
        }
        SchedulerKind::Mclock(it) => {
            let controls = |group| Controls {
                reservation: it.reservations.of(group).map_or(0.0, |rate| rate.0),
                limit: it.limits.of(group).map_or(f64::INFINITY, |rate| rate.0),
                weight: it.weights.of(group),
            };
            Box::new(Mclock::new(
                it.depth,
                groups.names().map(controls).collect(),
            ))
        }
        SchedulerKind::Crrn(it) => Box::new(Crrn::new(it.depth, it.quantum)),
        SchedulerKind::Orr(it) => {
            Box::new(Orr::new(it.depth, BatchOf::Object, it.quantum, it.ordered))
        }
        SchedulerKind::Trr(it) => {
            Box::new(Orr::new(it.depth, BatchOf::Target, it.quantum, it.ordered))
        }
        SchedulerKind::PythonScheduler(it) => Box::new(ExternalScheduler(it.python.to_string())),
        SchedulerKind::LeastLoaded(it) => Box::new(LeastLoaded::new(it.depth, it.choices, it.load)),
        SchedulerKind::Tbf(it) => {
            let rate = |group| it.rates.of(group).unwrap_or(it.rate);
            let rates: Vec<f64> = groups.names().map(rate).collect();
            Box::new(Tbf::new(it.depth, it.by, &rates, it.bucket))
        }
    })
}

fn weights(weights: &Weights, groups: &Groups) -> Vec<f64> {
    groups.names().map(|group| weights.of(group)).collect()
}

fn latency(deadlines: &PerGroup<Seconds>, all: Seconds, group: &str) -> Span {
    Span::from_seconds(deadlines.of(group).unwrap_or(all).0)
}
