//! Processes: each asks, waits for its request, and asks again.
//!
//! ```text
//!   (ready) ─▶ [next] ─▶ request ─▶ …client… ─▶ complete ─▶ [record] ─▶ (ready)
//!                 ├────▶ workload ×w: (barrier) ─▶ (ready)
//!                 └────▶ (finished)
//! ```

use headrace_net::{Barrier, Page, Port, Random, Store, TallyId, Time};

use super::{Application, Next};
use crate::measure::Recorder;
use crate::tokens::{Process, Request};

/// The workloads of a run, and where their processes are.
pub struct Workloads {
    parts: Vec<Part>,
    /// The group of every client.
    groups: Vec<u8>,
}

struct Part {
    application: Box<dyn Application>,
    /// The client of every process.
    clients: Vec<u32>,
    /// The number of the first file among those of all workloads.
    first_file: u32,
}

impl Workloads {
    /// None yet, for clients of these groups.
    pub fn new(groups: Vec<u8>) -> Workloads {
        Workloads {
            parts: Vec::new(),
            groups,
        }
    }

    /// Adds a workload whose processes run on these clients in turn.
    pub fn add(&mut self, application: Box<dyn Application>, clients: &[u32]) {
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
        });
    }

    /// How many requests there will be in all, if that is known.
    pub fn total_requests(&self) -> Option<u64> {
        self.parts
            .iter()
            .map(|part| part.application.total_requests())
            .sum()
    }

    /// The files that are there before the run: workload, number among all files,
    /// the client (none if every one has it), and size.
    pub fn existing(&self) -> Vec<(usize, u32, Option<u32>, u64)> {
        let mut files = Vec::new();
        for (workload, part) in self.parts.iter().enumerate() {
            for file in part.application.existing() {
                let client = file.rank.map(|rank| part.clients[rank as usize]);
                let number = part.first_file.saturating_add(file.file);
                files.push((workload, number, client, file.size));
            }
        }
        files
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

    fn next(
        &mut self,
        process: Process,
        now: Time,
        random: &mut Random<'_>,
    ) -> Result<Step, String> {
        let part = &mut self.parts[process.workload as usize];
        let ask = match part.application.next(process.rank, now, random)? {
            Next::Barrier => return Ok(Step::Barrier),
            Next::Finished => return Ok(Step::Finished),
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
            // A bufferful of library calls takes microseconds.
            compute: u32::try_from(ask.compute.0 / 1000).unwrap_or(u32::MAX),
            group: self.groups[process.client as usize],
            operation: ask.operation,
        }))
    }
}

enum Step {
    Ask(Request),
    Barrier,
    Finished,
}

/// The processes' ways out and in.
pub struct ApplicationPorts {
    /// Requests for the clients.
    pub request: Port<Request>,
    /// Requests that the clients are done with.
    pub complete: Port<Request>,
}

/// Writes the page of all processes of all workloads; requests are recorded
/// as they start and end. The run ends with the last request, or after
/// `stop_after` requests since statistics were reset at the end of `warm_up`.
pub fn processes(
    page: &mut Page<'_>,
    workloads: Workloads,
    recorder: Store<Recorder>,
    latency: TallyId,
    stop_after: Option<u64>,
    warm_up: Time,
) -> ApplicationPorts {
    let ports = ApplicationPorts {
        request: page.output("request"),
        complete: page.input("complete"),
    };
    let total = workloads.total_requests();
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
    page.connect(ports.complete, done);

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

    page.transition("next")
        .take(ready)
        .with(workloads)
        .with(recorder)
        .puts_one_of([barrier, finished.into()])
        .or_puts(thinking)
        .later()
        .fires(move |firing, process: Process, (workloads, recorder)| {
            let now = firing.now();
            match workloads.next(process, now, &mut firing.random()) {
                Ok(Step::Ask(request)) => {
                    let after = request.issued.since(now);
                    recorder.thinks(after);
                    firing.put_after(thinking, request, after);
                }
                Ok(Step::Barrier) => {
                    firing.put(barrier, process);
                }
                Ok(Step::Finished) => {
                    firing.put(finished, process);
                }
                Err(message) => firing.fail(message),
            }
        });
    page.transition("ask").take(thinking).with(recorder).put(
        ports.request,
        |firing, request: Request, recorder| {
            recorder.issued(&request, firing.now());
            request
        },
    );
    page.transition("record").take(done).with(recorder).put(
        ready,
        move |firing, request: Request, recorder| {
            let now = firing.now();
            recorder.completed(&request, now);
            firing.record(latency, now.since(request.issued).as_seconds());
            if let Some(message) = recorder.overflow() {
                firing.fail(message);
            }
            let last = total.is_some_and(|total| recorder.since_start() >= total);
            let counts = now > warm_up || warm_up == Time::ZERO;
            if last || counts && stop_after.is_some_and(|most| recorder.requests() >= most) {
                firing.stop();
            }
            request.process
        },
    );
    ports
}
