//! The state of the data servers as schedulers know it: sampled at intervals, and of a given age
//! when they learn it.
//!
//! ```text
//!   (clock) ⇄ [sample] ─▶ each server: (asked) ─▶ [report] ╌▶ samples
//!                 └─ view_delay ─▶ (known) ─▶ [publish] ╌ signals ╌▶ schedulers
//! ```
//!
//! A server reports its jobs, from their arrival behind its card until they are answered, and the
//! number that its threads or devices serve. It also reports the utilisation of its devices since
//! its last report, and the dirty and cached bytes of its memory. Nothing of it exists unless a
//! scheduler has a `view_period`.
//!
//! Not modelled: messages that carry the reports, which use no bandwidth and no processor time.

use std::collections::VecDeque;
use std::sync::Arc;

use headrace_net::{Firing, News, Observation, Page, Port, Span, Store, Time, To};
use headrace_spec::{Parallel, Position};

use crate::cache_counts::{CACHED, DIRTY, PAGE_CACHE};
use crate::duplex::Duplex;
use crate::tokens::Job;

/// The state of a data server at some time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ServerView {
    /// Jobs that have arrived and have not been answered.
    pub jobs: u32,
    /// Jobs that threads or devices serve.
    pub in_service: u32,
    /// Bytes in memory that are not on its devices yet.
    pub dirty: u64,
    /// Bytes of files in memory.
    pub cached: u64,
    /// Share of the time since the last report that its devices were busy, from 0 to 1.
    pub utilisation: f64,
}

impl ServerView {
    /// Jobs that wait.
    pub fn queue(&self) -> u32 {
        self.jobs - self.in_service
    }
}

/// The state of all data servers at some time.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    /// The time.
    pub time: Time,
    /// By number.
    pub servers: Vec<ServerView>,
}

impl View {
    /// The state at the start.
    pub(super) fn of_idle(parallel: &Parallel) -> View {
        View {
            time: Time::ZERO,
            servers: vec![ServerView::default(); parallel.servers.count as usize],
        }
    }
}

/// Samples that no scheduler knows yet, the oldest first.
#[derive(Clone, Default, Debug)]
struct Samples {
    taken: VecDeque<View>,
    /// Number of samples since something else was to happen.
    idle: u64,
}

/// A sample is due.
#[derive(Clone, Copy)]
struct Tick;

/// A server is to report.
#[derive(Clone, Copy, Debug)]
pub struct Ask(u32);

/// A view of the servers for the schedulers at a position.
#[derive(Clone, Copy)]
pub struct Watch {
    position: Position,
    period: Span,
    delay: Span,
    servers: u32,
    samples: Store<Samples>,
}

impl Watch {
    /// The watches of a scenario, in the outermost page.
    pub fn all(page: &mut Page<'_>, parallel: &Parallel) -> Vec<Watch> {
        let specs = parallel.scheduler.iter();
        let watches = specs.filter_map(|it| {
            let period = it.view_period?;
            Some(Watch {
                position: it.position,
                period: Span::from_seconds(period.0).max(Span(1)),
                delay: Span::from_seconds(it.view_delay.0),
                servers: parallel.servers.count,
                samples: page.store(&format!("samples for {}", of(it.position)), |_| {
                    Samples::default()
                }),
            })
        });
        watches.collect()
    }

    /// The position of its schedulers.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Joins it with the servers and the schedulers in the outermost page.
    pub fn join(self, page: &mut Page<'_>, ask: Port<Ask>, news_to: Vec<To<Job>>) {
        let schedulers = of(self.position);
        let clock = page.place::<Tick>(&format!("clock of {schedulers}"));
        page.tokens(clock, |_| [Tick]);
        page.rest(clock);
        let known = page.place::<Tick>(&format!("known to {schedulers}"));
        let Watch {
            period,
            delay,
            servers,
            ..
        } = self;
        // A scheduler may wait for news: time goes on for a while if nothing else happens.
        let patience = 100 + 2 * (delay.0 / period.0);
        let ask = ask.by(|it: &Ask| it.0);
        page.transition(&format!("sample for {schedulers}"))
            .take(clock)
            .with(self.samples)
            .priority(-2)
            .puts_many(ask)
            .puts(known)
            .may_put(clock)
            .later()
            .fires(move |firing, tick: Tick, samples| {
                let idle = firing.events_ahead() <= samples.taken.len();
                samples.idle = if idle { samples.idle + 1 } else { 0 };
                samples.taken.push_back(View {
                    time: firing.now(),
                    servers: vec![ServerView::default(); servers as usize],
                });
                (0..servers).for_each(|server| {
                    firing.put(ask, Ask(server));
                });
                firing.put_after(known, tick, delay);
                if samples.idle < patience {
                    firing.put_after(clock, tick, period);
                }
            });
        let publish = page.transition(&format!("publish to {schedulers}"));
        let publish = publish.take(known).with(self.samples).priority(-1);
        let publish = news_to.iter().fold(publish, |it, to| it.signals(*to));
        publish.fires(move |firing, _: Tick, samples| {
            if let Some(view) = samples.taken.pop_front() {
                let news: News = Arc::new(view);
                for to in &news_to {
                    firing.announce(*to, &news);
                }
            }
        });
    }
}

/// Jobs at a server, for its reports.
#[derive(Clone, Copy, Default, Debug)]
struct JobsHere(u32);

/// When a server reported last, and how long its devices had been at work until then.
type LastReport = (Time, Span);

/// Jobs of a server that its reports count.
#[derive(Clone, Copy)]
pub struct JobCounter(Store<JobsHere>);

impl JobCounter {
    /// Counts the jobs behind it, if a scheduler has a view.
    pub fn write(
        page: &mut Page<'_>,
        watches: &[Watch],
        outside: Duplex,
    ) -> (Option<JobCounter>, Duplex) {
        if watches.is_empty() {
            return (None, outside);
        }
        let here = page.store("jobs here", |_| JobsHere::default());
        let (arrived, answered) = (page.place("arrived"), page.place("answered"));
        page.transition("count arrival")
            .take(outside.received)
            .with(here)
            .put(arrived, |_, job: Job, here| {
                here.0 += 1;
                job
            });
        page.transition("count answer")
            .take(answered)
            .with(here)
            .put(outside.send, |_, job: Job, here| {
                here.0 = here.0.saturating_sub(1);
                job
            });
        let inside = Duplex {
            send: answered.into(),
            received: arrived,
        };
        (Some(JobCounter(here)), inside)
    }

    /// Writes a server's reports, once all else of its page has been written. `threads` is the
    /// number of those that serve jobs on a machine. Gives where reports are asked for, by watch.
    pub fn reports(
        self,
        page: &mut Page<'_>,
        watches: &[Watch],
        threads: Option<u32>,
    ) -> Vec<Port<Ask>> {
        watches
            .iter()
            .map(|watch| self.report(page, watch, threads))
            .collect()
    }

    fn report(self, page: &mut Page<'_>, watch: &Watch, threads: Option<u32>) -> Port<Ask> {
        let schedulers = of(watch.position);
        let ask = page.input(&format!("asked for {schedulers}"));
        let asked = page.place::<Ask>(&format!("to report to {schedulers}"));
        page.connect(ask, asked);
        let last = page.store(&format!("last report to {schedulers}"), |_| {
            LastReport::default()
        });
        let lists = vec![
            page.nodes_within("device"),
            page.nodes_within(if threads.is_some() {
                "threads"
            } else {
                "daemon"
            }),
            page.gauges_within(PAGE_CACHE, DIRTY),
            page.gauges_within(PAGE_CACHE, CACHED),
        ];
        page.transition(&format!("report to {schedulers}"))
            .take(asked)
            .with(self.0)
            .with(last)
            .with(watch.samples)
            .observes(lists)
            .fires(move |firing, Ask(server), (here, last, samples), seen| {
                let [devices, daemon, dirty, cached] = *seen else {
                    return;
                };
                let busy = match threads {
                    Some(threads) => u64::from(threads) - daemon.tokens.min(u64::from(threads)),
                    None => daemon.busy + devices.busy,
                };
                let view = ServerView {
                    jobs: here.0,
                    in_service: here.0.min(busy.min(u64::from(u32::MAX)) as u32),
                    dirty: dirty.sum,
                    cached: cached.sum,
                    utilisation: utilisation(firing, last, &devices),
                };
                if let Some(sample) = samples.taken.back_mut() {
                    sample.servers[server as usize] = view;
                }
            });
        ask
    }
}

fn utilisation(firing: &Firing<'_>, last: &mut LastReport, devices: &Observation) -> f64 {
    let now = firing.now();
    let (since, worked) = std::mem::replace(last, (now, devices.worked));
    // Statistics may have restarted since the last report.
    let worked = devices
        .worked
        .0
        .checked_sub(worked.0)
        .unwrap_or(devices.worked.0);
    let most = now.since(since).0 as f64 * devices.servers.max(1) as f64;
    if most > 0.0 {
        (worked as f64 / most).min(1.0)
    } else {
        0.0
    }
}

/// The schedulers at a position, as the names of their nodes say.
fn of(position: Position) -> &'static str {
    match position {
        Position::Server => "servers",
        Position::Client => "clients",
        Position::Gateway => "gateway",
        Position::Proxy => "proxies",
        Position::Metadata => "metadata servers",
    }
}
