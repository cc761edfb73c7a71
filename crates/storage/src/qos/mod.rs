//! Schedulers of jobs: who is served next, and when. To add one, write a file
//! with a type that implements [`Scheduler`] and name it in `factory.rs`.

mod batches;
mod crrn;
mod dsfq;
mod edf;
mod external_scheduler;
mod factory;
mod fifo;
mod job_class;
mod mclock;
mod ordered_queue;
mod orr;
mod round_robin;
mod sfq;
mod sfq_plus;
mod tag;
mod tbf;
mod two_level;

pub use crrn::Crrn;
pub use dsfq::Dsfq;
pub use edf::Edf;
pub use fifo::Fifo;
pub use mclock::{Controls, Mclock};
pub use orr::{BatchOf, Orr};
pub use round_robin::RoundRobin;
pub use sfq::Sfq;
pub use sfq_plus::SfqPlus;
pub use tbf::Tbf;
pub use two_level::{Promise, TwoLevel};

use headrace_net::{Discipline, Message, Page, Port, Slot, Span, Station, Time};
use headrace_spec::{Groups, Parallel, Position, Scenario, SchedulerKind};

use crate::tokens::Job;

/// Decides in which order, and how many at a time, jobs go on. The methods
/// are those of PFSsim's scheduler class (Liu et al. 2011, §4.2): arrival and
/// finish of jobs and messages from other schedulers here, dispatching and
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

    /// Returns its name, such as "SFQ(4)".
    fn name(&self) -> String;
}

/// A job that waits at a scheduler.
pub type JobId = Slot;

/// Interface of a scheduler to its server.
pub struct Dispatcher<'a, 's> {
    station: &'a mut Station<'s, Job>,
    message_latency: Span,
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

    /// Sends a message to another scheduler. It takes the scenario's
    /// `scheduler.message_latency` and no bandwidth.
    pub fn send_message(&mut self, to: u32, message: Message) {
        self.station.send(to, message, self.message_latency);
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
    message_latency: Span,
}

impl Scheduled {
    fn with<'a, 's>(
        &'a mut self,
        station: &'a mut Station<'s, Job>,
    ) -> (&'a mut dyn Scheduler, Dispatcher<'a, 's>) {
        let message_latency = self.message_latency;
        (
            &mut *self.scheduler,
            Dispatcher {
                station,
                message_latency,
            },
        )
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

    fn name(&self) -> String {
        self.scheduler.name()
    }

    fn servers(&self) -> Option<u32> {
        None
    }
}

/// A scheduler's ways in and out.
pub struct SchedulerPorts {
    /// Jobs on their way to a server.
    pub submit: Port<Job>,
    /// Jobs sent on to the server.
    pub dispatched: Port<Job>,
    /// Jobs that come back.
    pub finished: Port<Job>,
    /// Jobs sent on to the client.
    pub returned: Port<Job>,
}

/// Makes the scheduler of a number among those at its position.
pub type Make<'a> = dyn Fn(u32) -> Box<dyn Scheduler> + Sync + 'a;

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

    fn make(&self, number: u32) -> Option<Box<dyn Scheduler>> {
        match self.own {
            Some(make) => Some(make(number)),
            None => factory::make(&self.scenario.scheduler.kind, self.groups),
        }
    }
}

/// Number of schedulers a scenario has, if it has any.
pub fn count(scenario: &Scenario) -> u32 {
    scenario
        .parallel()
        .map_or(0, |parallel| match parallel.scheduler.position {
            Position::Server | Position::Proxy => parallel.servers.count,
            Position::Client => scenario.clients.count,
            Position::Gateway => 1,
            Position::Metadata => parallel.metadata_servers(),
        })
}

/// The scheduler page, in every copy of the page around it, if schedulers stand at
/// this position: none if they do not, or the scenario has none.
///
/// ```text
///   submit ─▶ (queue) ─▶ dispatched
///                ╎ job done
///   returned ◀─ [finish] ◀─ finished
/// ```
pub fn build(
    page: &mut Page<'_>,
    schedulers: Schedulers<'_>,
    position: Position,
) -> Option<SchedulerPorts> {
    let scenario = schedulers.scenario;
    if scenario.scheduler.position != position {
        return None;
    }
    let own = schedulers.own.is_some();
    if !own && matches!(scenario.scheduler.kind, SchedulerKind::NoScheduler(_)) {
        return None;
    }
    let latency = scenario
        .scheduler
        .message_latency
        .unwrap_or(scenario.network.latency);
    Some(with(page, Span::from_seconds(latency.0), |number| {
        schedulers
            .make(number)
            .unwrap_or_else(|| Box::new(Fifo::new(None)))
    }))
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

/// The same, as a page of another name.
pub fn named(
    page: &mut Page<'_>,
    name: &str,
    message_latency: Span,
    mut make: impl FnMut(u32) -> Box<dyn Scheduler>,
) -> SchedulerPorts {
    page.page(name, |page| {
        let ports = SchedulerPorts {
            submit: page.input("submit"),
            dispatched: page.output("dispatched"),
            finished: page.input("finished"),
            returned: page.output("returned"),
        };
        let queue = page.stations("queue", |copy| Scheduled {
            scheduler: make(copy),
            message_latency,
        });
        let done = page.place("done");
        page.connect(ports.submit, queue);
        page.connect(queue, ports.dispatched);
        page.connect(ports.finished, done);
        page.transition("finish").take(done).signals(queue).put(
            ports.returned,
            move |firing, job, ()| {
                firing.signal(queue, &job);
                job
            },
        );
        ports
    })
}
