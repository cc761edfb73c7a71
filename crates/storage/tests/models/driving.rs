//! Schedulers between a source of jobs and servers that take a fixed time for each.

use std::sync::{Arc, Mutex};

use headrace_net::{Builder, Fcfs, Limits, Span, Time};
use headrace_storage::Job;
use headrace_storage::qos::{Scheduler, with};
use headrace_trace::Operation;

/// A job of a group that arrives at a time; its number is in `request`.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: u64,
    pub group: u8,
    pub size: u64,
    pub scheduler: u32,
    pub client: u32,
    pub file: u32,
    pub offset: u64,
    pub operation: Operation,
}

pub fn at(at: u64, group: u8, size: u64) -> Arrival {
    Arrival {
        at,
        group,
        size,
        scheduler: 0,
        client: 0,
        file: 0,
        offset: 0,
        operation: Operation::Write,
    }
}

/// Arrivals of jobs at their server, by the job's number.
type Log = Arc<Mutex<Vec<(u64, u32)>>>;

pub const SERVICE: u64 = 10;
pub const MESSAGE: u64 = 7;

/// Runs jobs through schedulers, each before `servers` servers of its own.
/// Gives (time, job) as jobs were dispatched, and the time at which all were back.
pub fn drive(
    arrivals: &[Arrival],
    servers: u32,
    schedulers: u32,
    make: impl FnMut(u32) -> Box<dyn Scheduler>,
) -> (Vec<(u64, u32)>, u64) {
    let log: Log = Arc::default();
    let mut builder = Builder::new("test", 1);
    let mut page = builder.root();
    let jobs: Vec<Job> = arrivals
        .iter()
        .zip(0..)
        .map(|(arrival, number)| job(arrival, number))
        .collect();
    let source = page.place::<Job>("source");
    let coming = page.place::<Job>("coming");
    let back = page.place::<Job>("back");
    page.sink(back);
    let times: Vec<u64> = arrivals.iter().map(|arrival| arrival.at).collect();
    page.tokens(source, move |_| jobs.clone());
    page.transition("send")
        .take(source)
        .puts(coming)
        .fires(move |firing, job: Job, ()| {
            firing.put_after(coming, job, Span(times[job.request as usize]));
        });
    let ports = page.fold("node", schedulers, |page| {
        let ports = with(page, Span(MESSAGE), make);
        let dispatched = page.place::<Job>("dispatched");
        let server = page.station("server", Fcfs::new(servers, Span(SERVICE)));
        let submit = page.input::<Job>("submit");
        let returned = page.output::<Job>("returned");
        page.connect(submit, ports.submit);
        page.connect(ports.dispatched, dispatched);
        let log = Arc::clone(&log);
        page.transition("note")
            .take(dispatched)
            .put(server, move |firing, job: Job, ()| {
                log.lock().unwrap().push((firing.now().0, job.request));
                job
            });
        page.connect(server, ports.finished);
        page.connect(ports.returned, returned);
        (submit, returned)
    });
    page.connect(coming, ports.0.by(|job: &Job| job.server));
    page.connect(ports.1, back);
    let mut net = builder.compile().unwrap();
    net.run(&Limits::default()).unwrap();
    assert_eq!(net.node_report(back).inside, arrivals.len() as u64);
    let log = log.lock().unwrap().clone();
    (log, net.now().0)
}

fn job(arrival: &Arrival, number: u32) -> Job {
    Job {
        request: number,
        client: arrival.client,
        server: arrival.scheduler,
        target: 0,
        file: arrival.file,
        offset: arrival.offset,
        size: arrival.size,
        wire: 0,
        tail: Time::ZERO,
        pending: 0,
        workload: 0,
        group: arrival.group,
        operation: arrival.operation,
        direction: headrace_storage::Direction::Out,
        role: headrace_storage::Role::Data,
        message: headrace_storage::Message::Whole,
        received: false,
        synchronous: false,
        turn: 0,
    }
}

pub fn numbers(log: &[(u64, u32)]) -> Vec<u32> {
    log.iter().map(|&(_, number)| number).collect()
}
