//! The store that sees every request start and end.

use headrace_net::{Span, Time};
use headrace_trace::Operation;

use super::activity::Activity;
use super::job_counts::JobCounts;
use super::latencies::Latencies;
use super::series::Series;
use super::single_requests::SingleRequests;
use super::unfinished_requests::Unfinished;
use crate::tokens::Request;

/// One request, as it happened.
#[derive(Clone, Copy, Debug)]
pub struct Completed {
    /// The request.
    pub request: Request,
    /// Time when it was done.
    pub completed: Time,
}

/// Requests so far, by group and operation.
pub struct Recorder {
    groups: usize,
    /// By group, then by operation code; made when first needed.
    cells: Vec<Option<Box<Cell>>>,
    pub(crate) series: Series,
    requests: u64,
    since_start: u64,
    /// Since the last reset; none if they are more than can be counted.
    bytes: Option<u64>,
    /// Picoseconds.
    thought: u128,
    single: SingleRequests,
    pub(crate) unfinished: Unfinished,
    /// Jobs of the requests since the last reset.
    pub(crate) jobs: JobCounts,
    /// By workload: true if its files bypass the page cache, or their writes wait for the device.
    unbuffered: Vec<bool>,
}

/// One operation of one group.
#[derive(Clone)]
pub(crate) struct Cell {
    pub count: u64,
    pub bytes: u64,
    /// Those that neither bypass the page cache nor wait for the device: what a client's cache
    /// takes, if they are writes.
    pub buffered: u64,
    /// Requests that failed; they are in none of the other figures.
    pub failed: u64,
    /// Latency from the actual start.
    pub latency: Latencies,
    /// Latency from the intended start, if any request was late.
    pub response: Option<Latencies>,
    pub activity: Activity,
}

impl Cell {
    pub fn new() -> Cell {
        Cell {
            count: 0,
            bytes: 0,
            buffered: 0,
            failed: 0,
            latency: Latencies::new(),
            response: None,
            activity: Activity::default(),
        }
    }
}

impl Recorder {
    /// An empty recorder. `single` gives the use of every single request, and `unbuffered` the
    /// workloads that open their files with O_DIRECT or O_SYNC.
    pub(crate) fn new(
        groups: usize,
        window: Option<Span>,
        single: SingleRequests,
        unfinished: Unfinished,
        unbuffered: Vec<bool>,
    ) -> Recorder {
        let columns = groups * Operation::ALL.len();
        Recorder {
            groups,
            cells: vec![const { None }; columns],
            series: Series::new(window, columns, groups),
            requests: 0,
            since_start: 0,
            bytes: Some(0),
            thought: 0,
            single,
            unfinished,
            jobs: JobCounts::default(),
            unbuffered,
        }
    }

    fn cell(&mut self, request: &Request) -> (usize, &mut Cell) {
        let index = column(usize::from(request.group), request.operation);
        (
            index,
            self.cells[index].get_or_insert_with(|| Box::new(Cell::new())),
        )
    }

    /// A process thinks, or waits for its next request's recorded time.
    pub fn thinks(&mut self, span: Span) {
        self.thought += u128::from(span.0);
    }

    /// Mean time that processes thought before a request, in seconds.
    pub(crate) fn mean_think(&self) -> f64 {
        self.thought as f64 * 1e-12 / self.requests.max(1) as f64
    }

    /// A request starts.
    pub fn issued(&mut self, request: &Request, now: Time) {
        self.unfinished.issued(request);
        self.series.issued(usize::from(request.group), now);
        let (_, cell) = self.cell(request);
        cell.activity
            .issued(request.process.workload, request.phase, now);
    }

    /// A request is done.
    pub fn completed(&mut self, request: &Request, now: Time) {
        self.unfinished.completed(request);
        if request.has_failed() {
            self.failed(request, now);
            return;
        }
        self.bytes = self.bytes.and_then(|sum| sum.checked_add(request.size));
        if self.bytes.is_none() {
            return;
        }
        let workload = request.process.workload as usize;
        let opened_unbuffered = self.unbuffered.get(workload).is_some_and(|it| *it);
        let mode = request.mode;
        let is_buffered = !(opened_unbuffered || mode.is_direct() || mode.is_synchronous());
        let (index, cell) = self.cell(request);
        cell.count += 1;
        cell.buffered += u64::from(is_buffered);
        cell.bytes += request.size;
        if cell.response.is_none() && request.intended < request.issued {
            // All before it were on time: only this one differs.
            cell.response = Some(cell.latency.clone());
        }
        cell.latency.record(now.since(request.issued));
        if let Some(response) = &mut cell.response {
            response.record(now.since(request.intended));
        }
        cell.activity
            .completed(request.process.workload, Some(request.size), now);
        let (group, size) = (usize::from(request.group), request.size);
        self.series.completed(group, index, size, now);
        self.requests += 1;
        self.since_start += 1;
        self.single.push(Completed {
            request: *request,
            completed: now,
        });
    }

    /// A request has failed: it has moved nothing.
    fn failed(&mut self, request: &Request, now: Time) {
        let (index, cell) = self.cell(request);
        cell.failed += 1;
        cell.activity.completed(request.process.workload, None, now);
        self.series
            .completed(usize::from(request.group), index, 0, now);
        self.requests += 1;
        self.since_start += 1;
    }

    /// Resets the statistics; requests in progress are counted when they end.
    pub fn reset(&mut self, now: Time) {
        for cell in &mut self.cells {
            let mut activity = cell.take().map_or_else(Activity::default, |it| it.activity);
            if activity.reset(now) {
                *cell = Some(Box::new(Cell {
                    activity,
                    ..Cell::new()
                }));
            }
        }
        self.series.reset(now);
        self.unfinished.reset(now);
        self.jobs = JobCounts::default();
        self.requests = 0;
        self.bytes = Some(0);
        self.thought = 0;
        self.single.forget();
    }

    /// Returns the error for a run that is too long to count.
    pub fn overflow(&self) -> Option<String> {
        if self.bytes.is_none() {
            let message = "more than 16 EiB were moved, which nothing can count: look at \
                           workload.block and run.stop";
            return Some(message.to_owned());
        }
        // Called after every request, so the message is only written if it is needed.
        self.series.overflowed().then(|| {
            format!(
                "run.window = \"{} s\" makes more than {} windows; expected a longer one",
                self.series.window_seconds(),
                self.series.most_windows()
            )
        })
    }

    /// The run has ended, and these were due and had not been issued.
    pub(crate) fn finish(&mut self, now: Time, not_issued: &[(Operation, Time)]) {
        for cell in self.cells.iter_mut().flatten() {
            cell.activity.finish(now);
        }
        self.unfinished.finish(not_issued, now);
        self.series.finish(now);
    }

    /// Number of requests completed since the start of the run.
    pub fn since_start(&self) -> u64 {
        self.since_start
    }

    /// Number of requests that are done since the last reset.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Returns the single requests, if they were recorded, and removes them.
    pub fn take_kept(&mut self) -> Vec<Completed> {
        self.single.take()
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    pub(crate) fn seen(&self, group: usize, operation: Operation) -> Option<&Cell> {
        self.cells[column(group, operation)].as_deref()
    }

    /// The distribution of latency over all requests: (seconds, share of the
    /// requests that took no longer), at most a few hundred points.
    pub fn latency_curve(&self) -> Vec<(f64, f64)> {
        let mut all = Latencies::new();
        for cell in self.cells.iter().flatten() {
            all.merge(&cell.latency);
        }
        all.curve()
    }

    /// Bytes moved over time; column group × operations + operation code.
    pub fn series(&self) -> &Series {
        &self.series
    }
}

pub(crate) fn column(group: usize, operation: Operation) -> usize {
    group * Operation::ALL.len() + usize::from(operation.code())
}
