//! A data server that is a whole machine: daemon threads above a local file system.
//!
//! ```text
//!   received ─▶ (waiting for a thread) ─▶ [begin] ─▶ machine ─▶ [reply] ─▶ send
//!                                            ▲                     │
//!                                            └───── (threads) ◀────┘
//! ```
//!
//! A thread has its job from the first instruction to the end of its call, which may sleep in the
//! file system. Only then does the thread take the next job. The threads of nfsd serve one call
//! each in the same way (Linux, fs/nfsd/nfssvc.c: nfsd). PVFS2 lets TroveMaxConcurrentIO (16)
//! operations be in the file system at once, a thread each (alt-aio). The daemon's own work for a
//! job is processor time of the thread, on the machine's cores.
//!
//! Read-ahead is the open file's, which threads share: PVFS2 keeps descriptors by
//! file, nfsd a cache of open files. I/O schedulers see threads as processes.
//!
//! Behind a network of known latency, one such server takes the file system's time plus that
//! latency, to the picosecond. A test checks this.
//!
//! Not modelled: copies between network and daemon, except in `time_per_job`; the order in which
//! threads are woken (they take turns); the daemon's own files; removing and truncating files on
//! data servers.

use headrace_net::{Account, Page, Port, Time};
use headrace_spec::{Daemon, Machine};
use headrace_trace::Operation;

use super::{DaemonPorts, InitialFiles};
use crate::failure::{Crash, Failing};
use crate::localfs;
use crate::tokens::{CallMode, Job, Process, Request};

/// A thread of the daemon that is free.
#[derive(Clone, Copy)]
struct Thread(u32);

/// Writes what of a data server is behind its scheduler, if it is a machine.
pub(super) fn server(
    page: &mut Page<'_>,
    daemon: &Daemon,
    spec: &Machine,
    initial_files: &InitialFiles<'_>,
    jobs: DaemonPorts,
    failing: Option<Failing>,
) -> Option<Port<Crash>> {
    let (reply, count) = (jobs.reply, jobs.served);
    let number = daemon.threads;
    let waiting = page.place::<Job>("waiting for a thread");
    page.connect(jobs.received, waiting);
    let threads = page.place::<Thread>("threads");
    page.tokens(threads, move |_| (0..number).map(Thread));
    page.rest(threads);
    page.conserve(threads);
    // The job of each thread.
    let serving = page.store("jobs of threads", |_| vec![None::<Job>; number as usize]);
    let chunk = match daemon.chunk.0 {
        0 => u64::MAX,
        chunk => chunk,
    };
    let machine = page.page("machine", |page| {
        localfs::machine(
            page,
            spec,
            &initial_files.callers,
            initial_files.files,
            failing,
        )
    });
    let done = page.place::<Request>("done");
    page.connect(machine.complete, done);

    // A job takes at most four seconds: the scenario was refused otherwise.
    let compute = (daemon.time_per_job.0 * 1e9 + 0.5) as u32;
    page.transition("begin")
        .take(waiting)
        .take(threads)
        .with(serving)
        .put(
            machine.request,
            move |_, (job, thread): (Job, Thread), serving| {
                serving[thread.0 as usize] = Some(job);
                call(&job, thread, compute, chunk)
            },
        );
    page.transition("reply")
        .take(done)
        .with(serving)
        .with(count)
        .puts_one_of([threads.into()])
        .or_puts(machine.request)
        .may_put(reply.send)
        .fires(move |firing, request: Request, (serving, served)| {
            let thread = request.process.rank;
            if let Some(job) = &serving[thread as usize]
                && request.offset + request.size < job.offset + job.size
            {
                let offset = request.offset + request.size;
                let size = (job.offset + job.size - offset).min(chunk);
                let next = Request {
                    offset,
                    size,
                    compute: 0,
                    ..request
                };
                firing.put(machine.request, next);
                return;
            }
            let account = firing.account();
            firing.charge(Account::NOBODY);
            firing.put(threads, Thread(thread));
            firing.charge(account);
            if let Some(job) = serving[thread as usize].take() {
                firing.put(reply.send, reply.to(served.count(job)));
            }
        });
    machine.forget
}

/// A thread's first call for a job, after `compute` nanoseconds of processor time. Reads
/// are made in chunks.
fn call(job: &Job, thread: Thread, compute: u32, chunk: u64) -> Request {
    let size = match job.operation {
        Operation::Read => job.size.min(chunk),
        _ => job.size,
    };
    Request {
        process: Process {
            client: job.server,
            workload: u32::from(job.workload),
            rank: thread.0,
        },
        file: job.file,
        offset: job.offset,
        size,
        intended: Time::ZERO,
        issued: Time::ZERO,
        phase: 0,
        pending: 0,
        compute,
        group: job.group,
        volume: 0,
        mode: match job.synchronous {
            true => CallMode::SYNCHRONOUS,
            false => CallMode::PLAIN,
        },
        operation: job.operation,
    }
}
