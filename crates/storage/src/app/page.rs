//! Processes: each asks, waits for its request, and asks again.
//!
//! ```text
//!   (ready) ─▶ [next] ─▶ request ─▶ …client… ─▶ complete ─▶ [record] ─▶ (ready)
//!                 ├────▶ workload ×w: (barrier) ─▶ (ready)
//!                 ├────▶ (turn) ─▶ (ready)
//!                 ├────▶ waiting ····▶ (ready)
//!                 └────▶ (finished)
//! ```

use std::collections::BTreeMap;

use headrace_net::{Barrier, Node, Page, Port, Random, Slot, Span, Store, TallyId, Time, To};
use headrace_spec::{Scenario, WorkloadKind};
use headrace_trace::Operation;

use headrace_workload::{
    Application, Ask, Directories, LeftOut, Next, RecordedFlags, TrainingReport,
};

use crate::localfs::StoredFile;
use crate::measure::Recorder;
use crate::tokens::{CallMode, Process, Request};

/// The workloads of a run, and where their processes are.
pub struct Workloads {
    parts: Vec<Part>,
    /// The group of every client.
    groups: Vec<u8>,
    /// Processes that have finished, where the run ends with them.
    finished: usize,
}

struct Part {
    application: Box<dyn Application>,
    /// The client of every process.
    clients: Vec<u32>,
    /// The number of the first file among those of all workloads.
    first_file: u32,
    /// The machine's volume that its files lie on.
    volume: u8,
    /// Slots of its waiting processes.
    waiting: BTreeMap<u32, Slot>,
}

/// A file that is there before the run.
#[derive(Clone, Copy, Debug)]
pub struct Existing {
    /// The workload.
    pub workload: usize,
    /// Its number among all files.
    pub file: u32,
    /// The client that has it; none if every one does.
    pub client: Option<u32>,
    /// The machine's volume that it lies on.
    pub volume: u8,
    /// Bytes.
    pub size: u64,
}

impl Existing {
    /// Returns the description of `size` bytes as stored on a machine.
    pub fn stored(&self, scenario: &Scenario, size: u64) -> StoredFile {
        let workload = &scenario.workload[self.workload];
        let io = &workload.io;
        let is_trace = matches!(workload.kind, WorkloadKind::TraceReplay(_));
        StoredFile {
            file: self.file,
            volume: self.volume,
            size,
            made_by: io.made_by.0,
            placed: io.cached || !is_trace,
            cached: io.cached,
            pointers_cached: io.pointers_cached,
        }
    }
}

impl Workloads {
    /// None yet, for clients of these groups.
    pub fn new(groups: Vec<u8>) -> Workloads {
        Workloads {
            parts: Vec::new(),
            groups,
            finished: 0,
        }
    }

    /// Adds a workload whose processes run on these clients in turn, with its files
    /// on a volume of the machines.
    pub fn add(&mut self, application: Box<dyn Application>, clients: &[u32], volume: u8) {
        let last = self.parts.last();
        let first_file = last.map_or(0, |part| {
            part.first_file.saturating_add(part.application.files())
        });
        let clients: Vec<u32> = clients
            .iter()
            .copied()
            .cycle()
            .take(application.processes() as usize)
            .collect();
        self.parts.push(Part {
            application,
            clients,
            first_file,
            volume,
            waiting: BTreeMap::new(),
        });
    }

    /// Returns true if the run ends with the processes, not with their last request.
    fn end_with_processes(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| part.application.ends_with_its_processes())
    }

    /// A process has finished. Returns true if it was the last one.
    fn finish(&mut self) -> bool {
        self.finished += 1;
        let processes: usize = self.parts.iter().map(|part| part.clients.len()).sum();
        self.finished >= processes
    }

    /// Number of requests in all, if that is known.
    pub fn total_requests(&self) -> Option<u64> {
        self.parts
            .iter()
            .map(|part| part.application.total_requests())
            .sum()
    }

    /// Returns operations in the workloads' sources that no process requests.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let mut all = Vec::new();
        for part in &self.parts {
            for one in part.application.left_out() {
                one.add(&mut all);
            }
        }
        all
    }

    /// Returns the numbers of workloads of which a writing phase ended before its deadline.
    pub fn stonewalls_not_reached(&self) -> impl Iterator<Item = usize> {
        let parts = self.parts.iter().enumerate();
        parts.filter_map(|(number, part)| part.application.missed_stonewall().then_some(number))
    }

    /// Figures of the workloads that are trainings.
    pub fn trainings(&self) -> Vec<TrainingReport> {
        let parts = self.parts.iter().enumerate();
        let figures = parts.filter_map(|(workload, part)| {
            let figures = part.application.training()?;
            Some(TrainingReport { workload, figures })
        });
        figures.collect()
    }

    /// Counts of the open flags that the workloads' sources record, by workload.
    pub fn recorded_flags(&self) -> BTreeMap<usize, RecordedFlags> {
        let parts = self.parts.iter().enumerate();
        parts
            .filter_map(|(number, part)| Some((number, part.application.recorded_flags()?)))
            .collect()
    }

    /// Returns the directories of their files.
    pub fn directories(&self) -> Directories {
        let mut directories = Directories::default();
        for part in &self.parts {
            let application = &part.application;
            let in_each = application.files_in_a_directory();
            let sets = application.name_sets();
            directories.add(part.first_file, application.files(), in_each, sets);
        }
        directories
    }

    /// The files that are there before the run.
    pub fn existing(&self) -> Vec<Existing> {
        let mut files = Vec::new();
        for (workload, part) in self.parts.iter().enumerate() {
            for file in part.application.existing() {
                files.push(Existing {
                    workload,
                    file: part.first_file.saturating_add(file.file),
                    client: file.rank.map(|rank| part.clients[rank as usize]),
                    volume: part.volume_of(file.file),
                    size: file.size,
                });
            }
        }
        files
    }

    /// Returns the number of processes whose phases come in turn.
    fn processes_in_turn(&self) -> u32 {
        let parts = self
            .parts
            .iter()
            .filter(|part| part.application.has_turns());
        parts.map(|part| part.clients.len() as u32).sum()
    }

    /// Returns true if any of the processes are threads that wait or compute.
    fn threads(&self) -> bool {
        self.parts.iter().any(|part| part.application.threads())
    }

    /// A process waits at a place of its bag.
    fn waits(&mut self, process: Process, slot: Slot) {
        let part = &mut self.parts[process.workload as usize];
        part.waiting.insert(process.rank, slot);
    }

    /// Returns the slot of a process that continues.
    fn woken(&mut self, workload: u32) -> Option<Slot> {
        let part = &mut self.parts[workload as usize];
        while let Some(rank) = part.application.woken() {
            if let Some(slot) = part.waiting.remove(&rank) {
                return Some(slot);
            }
        }
        None
    }

    /// Every process of a workload.
    fn of_workload(&self, workload: u32) -> Vec<Process> {
        let clients = self.parts[workload as usize].clients.iter().zip(0..);
        clients
            .map(|(&client, rank)| Process {
                client,
                workload,
                rank,
            })
            .collect()
    }

    /// Returns the requests of a workload that were due before a time and not issued: operation and
    /// due time.
    pub fn not_issued(&mut self, workload: usize, until: Time, found: &mut Vec<(Operation, Time)>) {
        let part = &mut self.parts[workload];
        let mut each = |ask: &Ask| {
            if let Some(intended) = ask.intended.filter(|time| *time < until) {
                found.push((ask.operation, intended));
            }
        };
        for rank in 0..part.application.processes() {
            // The run is over: errors of requests that are not issued do not matter.
            let _ = part.application.not_issued(rank, until, &mut each);
        }
    }

    fn next(
        &mut self,
        process: Process,
        now: Time,
        random: &mut Random<'_>,
    ) -> Result<Step, String> {
        let part = &mut self.parts[process.workload as usize];
        let group = self.groups[process.client as usize];
        let ask = match part.application.next(process.rank, now, random)? {
            Next::Barrier | Next::PhaseOver => return Ok(Step::Barrier),
            Next::Turn => return Ok(Step::Turn),
            Next::Finished => return Ok(Step::Finished),
            Next::Wait => return Ok(Step::Wait),
            Next::Compute(time) => return Ok(Step::Ask(computation(process, group, time, now))),
            Next::Pause(time) => {
                let after = computation(process, group, Span::ZERO, now + time);
                return Ok(Step::Ask(after));
            }
            Next::Ask(ask) => ask,
        };
        let issued = now + ask.after;
        Ok(Step::Ask(Request {
            process,
            file: part.first_file.saturating_add(ask.file),
            offset: ask.offset,
            size: ask.size,
            intended: ask.intended.unwrap_or(issued).min(issued),
            issued,
            phase: ask.phase,
            pending: 0,
            compute: nanoseconds(ask.compute),
            group,
            volume: part.volume_of(ask.file),
            mode: CallMode::of(ask.flags),
            operation: ask.operation,
        }))
    }
}

impl Part {
    fn volume_of(&self, file: u32) -> u8 {
        self.application.volume(file).unwrap_or(self.volume)
    }
}

/// A bufferful of library calls takes microseconds, and a computation at most four seconds: the
/// scenario and replays limit it.
fn nanoseconds(time: Span) -> u32 {
    u32::try_from(time.0 / 1000).unwrap_or(u32::MAX)
}

/// Processor time of a process, from a moment on.
fn computation(process: Process, group: u8, time: Span, from: Time) -> Request {
    Request {
        process,
        file: u32::MAX,
        offset: 0,
        size: 0,
        intended: from,
        issued: from,
        phase: 0,
        pending: 0,
        compute: nanoseconds(time),
        group,
        volume: 0,
        mode: CallMode::COMPUTATION,
        operation: Operation::Read,
    }
}

enum Step {
    Ask(Request),
    Wait,
    Barrier,
    Turn,
    Finished,
}

/// The processes' ways out and in.
pub struct ApplicationPorts {
    /// Requests for the clients.
    pub request: Port<Request>,
    /// Requests that the clients are done with.
    pub complete: Port<Request>,
    /// Requests of the processes.
    pub workloads: Store<Workloads>,
}

/// Time when the run ends.
#[derive(Clone, Copy)]
pub struct End {
    /// Number of requests, since the reset of statistics after the warm-up, that end the run.
    pub stop_after: Option<u64>,
    /// The end of the warm-up.
    pub warm_up: Time,
    /// Place notified of the last request, if the run does not end with it.
    pub over: Option<Node<()>>,
}

/// Writes the page of all processes of all workloads; requests are recorded
/// as they start and end. The run ends with the last request, or as `end` says.
/// Processor time without a request is asked of the clients if they are
/// `machines`, and passes here if not. Each request has an account, if they have `accounts`.
pub fn processes(
    page: &mut Page<'_>,
    workloads: Workloads,
    recorder: Store<Recorder>,
    latency: TallyId,
    end: End,
    machines: bool,
    accounts: bool,
) -> ApplicationPorts {
    let End {
        stop_after,
        warm_up,
        over,
    } = end;
    let (out, complete) = (page.output("request"), page.input("complete"));
    let total = workloads.total_requests();
    let threads = workloads.threads();
    let end_with_processes = workloads.end_with_processes() && total.is_some();
    let ready = page.place::<Process>("ready");
    let thinking = page.place::<Request>("asking");
    let done = page.place::<Request>("done");
    let finished = page.place::<Process>("finished");
    page.sink(finished);
    page.conserve(ready);
    page.conserve(done);

    let numbers: Vec<u32> = workloads
        .parts
        .iter()
        .map(|part| part.clients.len() as u32)
        .collect();
    let barrier = page.fold("workload", numbers.len() as u32, |page| {
        let barrier = page.stations("barrier", |copy| Barrier::new(numbers[copy as usize]));
        let open = page.output("open");
        page.connect(barrier, open);
        page.conserve(barrier);
        (barrier, open)
    });
    page.connect(barrier.1, ready);
    let barrier = barrier.0.by(|process: &Process| process.workload);
    page.connect(complete, done);
    let in_turn = workloads.processes_in_turn();
    let turn = (in_turn > 0).then(|| {
        let turn = page.station("turn", Barrier::new(in_turn));
        page.connect(turn, ready);
        page.conserve(turn);
        turn
    });

    let all: Vec<Process> = (0..numbers.len() as u32)
        .flat_map(|workload| workloads.of_workload(workload))
        .collect();
    page.tokens(ready, move |_| all.clone());
    let workloads = page.store("workloads", {
        let mut workloads = Some(workloads);
        move |_| {
            workloads
                .take()
                .unwrap_or_else(|| Workloads::new(Vec::new()))
        }
    });

    let waiting = threads.then(|| page.bag::<Process>("waiting"));
    let next = page
        .transition("next")
        .take(ready)
        .with(workloads)
        .with(recorder)
        .puts_one_of([barrier, finished.into()])
        .or_puts(thinking)
        .later();
    let next = match turn {
        Some(turn) => next.or_puts(turn),
        None => next,
    };
    let over_with_processes = over.filter(|_| end_with_processes);
    let next = match over_with_processes {
        Some(over) => next.may_put(over),
        None => next,
    };
    let next = match waiting {
        Some(waiting) => next.or_puts(waiting).may_pass(waiting, ready),
        None => next,
    };
    next.fires(move |firing, process: Process, (workloads, recorder)| {
        let now = firing.now();
        match workloads.next(process, now, &mut firing.random()) {
            Ok(Step::Ask(request)) => {
                let mut after = request.issued.since(now);
                if request.only_computes() && !machines {
                    after += Span(u64::from(request.compute) * 1000);
                }
                recorder.thinks(after);
                firing.put_after(thinking, request, after);
            }
            Ok(Step::Wait) => {
                if let Some(waiting) = waiting {
                    let slot = firing.put(waiting, process);
                    workloads.waits(process, slot);
                }
            }
            Ok(Step::Barrier) => {
                firing.put(barrier, process);
            }
            Ok(Step::Turn) => {
                if let Some(turn) = turn {
                    firing.put(turn, process);
                }
            }
            Ok(Step::Finished) => {
                firing.put(finished, process);
                if end_with_processes && workloads.finish() {
                    match over_with_processes {
                        Some(over) => {
                            firing.put(over, ());
                        }
                        None => firing.stop(),
                    }
                }
            }
            Err(message) => firing.fail(message),
        }
        // One at a time: the next process returns here at the same instant.
        if let Some(waiting) = waiting
            && let Some(slot) = workloads.woken(process.workload)
            && let Some(process) = firing.take(waiting, slot)
        {
            firing.put(ready, process);
        }
    });
    let (request, passed): (To<Request>, To<Request>) = (out.into(), done.into());
    let ask = page.transition("ask").take(thinking).with(recorder);
    if threads && !machines {
        ask.route(
            [request, passed],
            move |firing, it: &mut Request, recorder| {
                if it.only_computes() {
                    return passed;
                }
                recorder.issued(it, firing.now());
                if accounts {
                    firing.open_account();
                }
                request
            },
        );
    } else {
        ask.put(request, move |firing, request: Request, recorder| {
            if !request.only_computes() {
                recorder.issued(&request, firing.now());
                if accounts {
                    firing.open_account();
                }
            }
            request
        });
    }
    let record = page.transition("record").take(done).with(recorder);
    let record = match over {
        Some(over) => record.may_put(over),
        None => record,
    };
    record.put(ready, move |firing, request: Request, recorder| {
        let now = firing.now();
        if request.only_computes() {
            return request.process;
        }
        recorder.completed(&request, now);
        if accounts {
            firing.close_account();
        }
        firing.record(latency, now.since(request.issued).as_seconds());
        if let Some(message) = recorder.overflow() {
            firing.fail(message);
        }
        let all = total.is_some_and(|total| recorder.since_start() >= total);
        let last = all && !end_with_processes;
        let counts = now > warm_up || warm_up == Time::ZERO;
        if let Some(over) = over
            && last
        {
            firing.put(over, ());
        } else if last || counts && stop_after.is_some_and(|most| recorder.requests() >= most) {
            firing.stop();
        }
        request.process
    });
    ApplicationPorts {
        request: out,
        complete,
        workloads,
    }
}
