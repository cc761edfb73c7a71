//! The steps of a trace, as its processes come to them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headrace_spec::{RecordFlags, TraceReplay};
use headrace_trace::{Flags, Reader, Record};
use headrace_workload::{LeftOut, OffsetSpace, ProcessTimes, TraceError};
use rustix::fs::OFlags;

use super::plan::{Planner, Step};
use super::tree::{Initial, Object};
use crate::Error;

/// Records that are read at a time.
const BATCH: usize = 4096;

/// Duration for which a process that waits for another sleeps before it looks whether the run is
/// over.
const LOOK: Duration = Duration::from_millis(10);

/// A trace that is replayed, for all its processes.
pub struct Replay {
    pub(super) spec: TraceReplay,
    pub(super) times: ProcessTimes,
    /// Files that exist before the run.
    pub(super) initial: Vec<Initial>,
    /// Files that a process uses which another has opened.
    pub(super) shared: HashSet<Object>,
    /// The processes that run here: none waits for processes elsewhere.
    here: HashSet<u32>,
    state: Mutex<State>,
    advanced: Condvar,
    /// Descriptors of shared files.
    pub(super) descriptors: Mutex<HashMap<Object, Shared>>,
    left_out: Mutex<Vec<LeftOut>>,
}

/// A descriptor that other processes may have duplicates of.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub descriptor: Arc<OwnedFd>,
    pub reads: bool,
    pub writes: bool,
    pub flags: OFlags,
}

struct State {
    reader: Box<dyn Reader>,
    planner: Planner,
    steps: HashMap<u32, VecDeque<Step>>,
    done: HashMap<u32, u64>,
    batch: Vec<Record>,
    flags: RecordFlags,
    read_all: bool,
}

/// A record without its open flags O_DIRECT and O_SYNC if they are ignored, and those that are.
fn with_flags(record: &Record, flags: RecordFlags) -> (Record, Flags) {
    let ignored = Flags::DIRECT | Flags::SYNCHRONOUS;
    match flags {
        RecordFlags::Kept => (*record, Flags::NONE),
        RecordFlags::Ignored => {
            let kept = record.flags.without(ignored);
            let record_without = Record {
                flags: kept,
                ..*record
            };
            (record_without, record.flags.without(kept))
        }
    }
}

impl Replay {
    /// Reads a trace to its end to learn which files existed before it, and starts over.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn new(spec: &TraceReplay, times: ProcessTimes, here: &[u32]) -> Result<Replay, Error> {
        let open = || headrace_trace::open(&spec.file, None).map_err(TraceError::from);
        let mut reader = open()?;
        let mut planner = Planner::new();
        let mut batch = Vec::with_capacity(BATCH);
        let mut space = OffsetSpace::new(spec);
        loop {
            batch.clear();
            if reader
                .next_batch(BATCH, &mut batch)
                .map_err(TraceError::from)?
                == 0
            {
                break;
            }
            for record in &mut batch {
                space.map(spec, record)?;
                let (record, ignored) = with_flags(record, spec.flags);
                if ignored != Flags::NONE {
                    let reason = format!("{}, as workload.flags = \"ignored\"", ignored.text());
                    let name = record.operation.name();
                    LeftOut::new("engine", name, &reason, 1).add(&mut planner.left_out);
                }
                planner.step(&record, reader.files());
            }
        }
        let mut left_out = planner.left_out;
        left_out.extend(LeftOut::by_reader(reader.skipped()));
        left_out.extend(space.mapped());
        Ok(Replay {
            spec: spec.clone(),
            times,
            initial: planner.tree.initial,
            shared: planner.shared,
            here: here.iter().copied().collect(),
            state: Mutex::new(State {
                reader: open()?,
                planner: Planner::new(),
                steps: HashMap::new(),
                done: HashMap::new(),
                batch,
                flags: spec.flags,
                read_all: false,
            }),
            advanced: Condvar::new(),
            descriptors: Mutex::new(HashMap::new()),
            left_out: Mutex::new(left_out),
        })
    }

    /// Returns the next step of a process; none if it is done.
    pub(super) fn next(&self, process: u32) -> Result<Option<Step>, Error> {
        let mut state = self.locked();
        loop {
            let steps = state.steps.get_mut(&process);
            if let Some(step) = steps.and_then(VecDeque::pop_front) {
                return Ok(Some(step));
            }
            if state.read_all {
                return Ok(None);
            }
            state.read(&self.spec, &self.here)?;
        }
    }

    /// Waits until the steps before this one are done, or the run is `over`.
    pub(super) fn wait(&self, step: &Step, over: impl Fn() -> bool) {
        let mut state = self.locked();
        loop {
            let undone = step.waits.iter().any(|(process, count)| {
                self.here.contains(process) && state.done.get(process).unwrap_or(&0) < count
            });
            if !undone || over() {
                return;
            }
            let waited = self.advanced.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A process is done with its next step.
    pub(super) fn advance(&self, process: u32) {
        *self.locked().done.entry(process).or_default() += 1;
        self.advanced.notify_all();
    }

    /// Counts an operation that could not be replayed.
    pub(super) fn leave_out(&self, operation: &str, reason: &str) {
        LeftOut::new("engine", operation, reason, 1).add(&mut self.all_left_out());
    }

    /// Returns the operations that were left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.all_left_out().clone()
    }

    fn all_left_out(&self) -> MutexGuard<'_, Vec<LeftOut>> {
        let all = self.left_out.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn read(&mut self, spec: &TraceReplay, here: &HashSet<u32>) -> Result<(), Error> {
        self.batch.clear();
        let read = self.reader.next_batch(BATCH, &mut self.batch);
        self.read_all = read.map_err(TraceError::from)? == 0;
        // The mapped records were counted before the run.
        let mut space = OffsetSpace::new(spec);
        for record in &mut self.batch {
            space.map(spec, record)?;
            let (record, _) = with_flags(record, self.flags);
            let step = self.planner.step(&record, self.reader.files());
            if let Some(step) = step.filter(|it| here.contains(&it.record.process)) {
                self.steps
                    .entry(record.process)
                    .or_default()
                    .push_back(step);
            }
        }
        Ok(())
    }
}
