//! A process's plan: the parts from which its thread builds the process.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use headrace_spec::InputOutput;

use crate::Error;
use crate::calls::{Backend, END_OF_FILES, Range};
use crate::files::{self, Names, OpenFiles};
use crate::operation::{Buffer, Content, OpContext, PendingState, PrivateNames};
use crate::page_cache::KnownPages;
use crate::process::{Process, Progress, Shared};
use crate::record::Record;
use crate::rendezvous::Rendezvous;
use crate::replay::Replay;
use crate::source::Source;

/// A process that is still to be made, in the thread that runs it.
pub struct Plan {
    /// The workload, and the process's number in it.
    pub workload: usize,
    pub rank: u32,
    pub source: Source,
    /// The benchmark's directory.
    pub root: Arc<OwnedFd>,
    /// Backend that makes the calls.
    pub backend: Backend,
    pub names: Names,
    /// The directory, from the file system's root on.
    pub base: String,
    /// Options of opening and accessing files.
    pub io: InputOutput,
    /// Content of the files, if it matters.
    pub content: Option<Content>,
    /// Bytes of its largest transfer.
    pub largest: usize,
    /// Bytes of a call, where those of a bufferful are asked for as one.
    pub short_call: Option<usize>,
    pub own: Option<PrivateNames>,
    /// True if requests come at times of their own.
    pub is_open: bool,
    /// The trace that it replays, if it does.
    pub replay: Option<Arc<Replay>>,
    /// Page cache state, if cache hits are counted.
    pub known: Option<Arc<KnownPages>>,
    pub record: Record,
    pub meeting: Arc<Rendezvous>,
    /// Where processes of all workloads that come in turn meet.
    pub turns: Option<Arc<Rendezvous>>,
    pub progress: Arc<Progress>,
}

impl Plan {
    /// Runs the workload until it, or the run, is over; returns the record, and the first error.
    /// The run is over then for all.
    pub fn run(self, shared: &Shared) -> (Record, Result<(), Error>) {
        let calls = match self.backend.calls(&self.root) {
            Ok(calls) => calls,
            Err(error) => return (self.record, Err(error)),
        };
        let own_range = Range {
            start: END_OF_FILES + u64::from(self.rank),
            length: 1,
        };
        let replay = self.replay;
        let mut process = Process {
            workload: self.workload,
            rank: self.rank,
            source: self.source,
            context: OpContext {
                calls,
                root: self.root,
                names: self.names,
                base: self.base,
                files: OpenFiles::default(),
                flags: files::flags(&self.io),
                interface: self.io.interface,
                stream_buffer: usize::try_from(self.io.buffer.0).unwrap_or(usize::MAX),
                buffer: Buffer::new(self.largest, u64::from(self.rank), self.io.huge_pages),
                content: self.content,
                short_call: self.short_call,
                own_range,
                own: self.own,
                kept: PendingState::default(),
            },
            known: self.known,
            record: self.record,
            meeting: self.meeting,
            turns: self.turns,
            progress: self.progress,
            dropped: Vec::new(),
        };
        // All begin together.
        shared.clock.wait_until(1, &shared.ends);
        let is_replayed = replay.is_some();
        let ended = match replay {
            Some(replay) => replay.run(&mut process, shared),
            None => process.run(shared),
        };
        if ended.is_err() {
            shared.end(shared.clock.now());
        }
        if self.is_open && !is_replayed {
            process.count_unfinished(shared);
        }
        (process.record, ended)
    }
}
