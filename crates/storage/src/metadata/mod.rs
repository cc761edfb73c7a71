//! A metadata server: answers where files are, and executes operations on names.
//!
//! ```text
//!   receive ─▶ (processor) ─▶ [look up] ─ known, changes nothing ─▶ [answer] ─▶ send
//!                                │ not in memory, or a change           ▲
//!                                └─▶ (waiting) ─▶ (device) ─▶ [stored] ─┘
//! ```
//!
//! An operation is one message to a metadata server and one back. `metadata.threads` threads serve
//! operations first come, first served, each for its time in `metadata.times`. Without a database
//! all is in memory, and processed operations are answered. Data of files that lies here
//! (`layout.component.on`) is read and written in the same way, and the answer to an open brings
//! it.
//!
//! | `metadata.distribution` | server of a file |
//! | --- | --- |
//! | `file` | by a hash of its name: directories and load are spread over all, as in Lustre's DNE |
//! | `directory` | by its directory; directories are assigned to servers in turn |
//! | `subtree` | by the longest path that `metadata.subtree` names, as in Ceph's `ceph.dir.pin` |
//!
//! There is no tree of names. A directory stands for its whole subtree, and a workload in one
//! directory uses one server only. With `metadata.lookups`, other servers are asked too. An
//! operation then waits for the slowest one, so small files cost more with more servers.
//!
//! On data servers (`metadata.on`), names and data share the card and the processor for messages.
//! On simple ones they also share the daemon, on machines the threads of names are separate.
//!
//! With `metadata.directory_locks`, operations wait for the lock of a directory
//! (`directory_locks.rs`).
//!
//! Not modelled: locks of files; the tree of names, and the cost
//! of a path's length; messages between metadata servers: an operation on two of them costs as much
//! as on one.

mod database;
mod directory_locks;

use headrace_net::{Fcfs, Page, Port, Random, Span};
use headrace_spec::{DirectoryLocks, Metadata, MetadataHosts, Parallel};
use headrace_trace::Operation;
use headrace_workload::Directories;

use crate::duplex::Duplex;
use crate::failure::{Crash, Failing};
use crate::network::Wire;
use crate::tokens::{Direction, Job};
use directory_locks::LockingThreads;

/// Processor time of each operation.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    of: [Span; 8],
    other: Span,
}

impl Times {
    /// The scenario's.
    pub fn new(spec: &Metadata) -> Times {
        let times = &spec.times;
        let other = Span::from_seconds(spec.time_per_operation.0);
        let own = [
            times.open,
            times.create,
            times.stat,
            times.unlink,
            times.rename,
            times.mkdir,
            times.rmdir,
            times.readdir,
        ];
        Times {
            of: own.map(|own| own.map_or(other, |own| Span::from_seconds(own.0))),
            other,
        }
    }

    /// Returns true if nothing takes time.
    pub fn all_zero(&self) -> bool {
        self.other == Span::ZERO && self.of.iter().all(|time| *time == Span::ZERO)
    }

    /// Returns the entry of an operation.
    pub fn of(&self, operation: Operation) -> Span {
        let index = match operation {
            Operation::Open => 0,
            Operation::Create => 1,
            Operation::Stat => 2,
            Operation::Unlink => 3,
            Operation::Rename => 4,
            Operation::Mkdir => 5,
            Operation::Rmdir => 6,
            Operation::Readdir => 7,
            _ => return self.other,
        };
        self.of[index]
    }
}

/// Writes the page of a metadata server that takes and
/// answers jobs. On simple data servers the daemon has taken the time. Gives
/// where it loses its memory when it fails, if it has any.
pub fn server(
    page: &mut Page<'_>,
    scenario: &Parallel,
    directories: &Directories,
    outside: Duplex,
    failing: Option<Failing>,
) -> Option<Port<Crash>> {
    let Duplex { send, received } = outside;
    let spec = &scenario.metadata;
    let wire = Wire::new(&scenario.metadata_network());
    let by_daemon = spec.on != MetadataHosts::Own && scenario.servers.machine().is_none();
    let times = Times::new(spec);
    let processed = if by_daemon || times.all_zero() {
        received
    } else {
        let time = move |job: &Job, _: &mut Random<'_>| times.of(job.operation);
        let processor = match spec.directory_locks {
            DirectoryLocks::None => page.station("processor", Fcfs::new(spec.threads, time)),
            locks => {
                let directories = directories.clone();
                let threads = LockingThreads::new(spec.threads, times, locks, directories);
                page.station("processor", threads)
            }
        };
        page.connect(received, processor);
        processor
    };
    let (done, forget) = match spec.database() {
        None => (processed, None),
        Some(spec) => database::stored(page, spec, processed, failing),
    };
    page.transition("answer")
        .take(done)
        .put(send, move |_, job: Job, ()| {
            let mut answer = Job {
                direction: Direction::Back,
                ..job
            };
            answer.wire = wire.bytes(answer.payload());
            answer
        });
    forget
}
