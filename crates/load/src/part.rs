//! A workload of a run: its files, and its processes.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use headrace_spec::{DIRECT_UNIT, Interface, Phase, Scenario, Workload, WorkloadKind};
use headrace_workload::{Application, ExistingFile, LeftOut, ProcessTimes, clients, sequence};
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Error;
use crate::calls::Backend;
use crate::clock::in_nanoseconds;
use crate::data_journal::DataJournal;
use crate::directory::Directory;
use crate::files::Names;
use crate::operation::{self, Buffer, Content, LEADS_TO, Pool, PrivateNames};
use crate::page_cache::KnownPages;
use crate::prepared_files;
use crate::process::Progress;
use crate::process_plan::Plan;
use crate::record::Record;
use crate::rendezvous::Rendezvous;
use crate::replay::Replay;
use crate::run_options::{LiveProgress, Options, Watch};
use crate::share::Share;
use crate::source::{Common, Source};

/// With more processes they share one copy of the workload and take turns: each copy knows
/// of all processes.
const MOST_COPIES: u32 = 256;

/// Processes of a workload at the most, each a thread of this host.
const MOST_PROCESSES: usize = 10_000;

/// Bytes of the largest call by which files are made that must be there.
const LARGEST_CALL: usize = 16 << 20;

/// A workload and its files.
pub struct Part<'a> {
    workload: &'a Workload,
    number: usize,
    /// Processes of all engines.
    processes: u32,
    /// The numbers of the processes that run here.
    here: Vec<u32>,
    share: &'a Share,
    /// Bytes of a call, where those of a bufferful are asked for as one.
    short_call: Option<usize>,
    names: Names,
    application: Box<dyn Application>,
    /// The trace, of what replays one.
    replay: Option<Arc<Replay>>,
    /// Page cache state, for operation mixes only: the check costs short operations the most.
    known: Option<Arc<KnownPages>>,
}

impl<'a> Part<'a> {
    pub fn new(
        scenario: &Scenario,
        workload: &'a Workload,
        number: usize,
        share: &'a Share,
        short_call: Option<usize>,
    ) -> Result<Self, Error> {
        check_supported(workload)?;
        let processes =
            (clients(scenario, workload).len() as u32).saturating_mul(scenario.clients.processes);
        let here = share.processes(scenario, workload, processes).len();
        if here > MOST_PROCESSES {
            return Err(Error::Unsuitable(format!(
                "clients.count times clients.processes = {here}: expected at most \
                 {MOST_PROCESSES}, because each process is a thread of this host"
            )));
        }
        let application = sequence(scenario, number, processes)?;
        if share.has_peers() && matches!(workload.kind, WorkloadKind::Training(_)) {
            return Err(Error::Unsuitable(format!(
                "workload.{number}.kind = \"training\": supported on one host, because engines on \
                 several hosts do not meet after each step"
            )));
        }
        // A pipeline has a thread for each of its stages.
        let here = share.processes(scenario, workload, application.processes());
        let replay = match &workload.kind {
            WorkloadKind::TraceReplay(spec) => {
                let times = ProcessTimes::new(workload);
                Some(Arc::new(Replay::new(spec, times, &here)?))
            }
            _ => None,
        };
        Ok(Part {
            workload,
            number,
            processes,
            here,
            replay,
            share,
            short_call,
            names: Names::new(number, &*application),
            application,
            known: matches!(workload.kind, WorkloadKind::OperationMix(_))
                .then(|| Arc::new(KnownPages::new())),
        })
    }

    /// Returns the application that generates the requests.
    pub fn application(&self) -> &dyn Application {
        &*self.application
    }

    /// Returns the operations that are left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        match &self.replay {
            Some(replay) => replay.left_out(),
            None => self.application.left_out(),
        }
    }

    /// Returns the content of the files, if it matters.
    pub fn content(&self, scenario: &Scenario) -> Option<Content> {
        let io = &self.workload.io;
        let matters = io.verify || io.compressible > 0.0 || io.duplicates > 0.0;
        matters.then(|| Content::new(self.number, scenario.run.seed, io))
    }

    /// Makes the directories of files, and those that names are made in.
    pub fn make_directories(&self, directory: &Directory, watch: Watch<'_>) -> Result<(), Error> {
        if let Some(replay) = &self.replay {
            return self.make_directories_of(replay, directory, watch);
        }
        let paths = || self.names.directories(&*self.application);
        let all = paths().count() as u64;
        for (made, path) in (1..).zip(paths()) {
            make_directory(directory, &path)?;
            if watch(&LiveProgress::preparing(made, all)).is_break() {
                return Err(Error::Interrupted);
            }
        }
        for path in self.names.shared_directories() {
            empty_directory(directory, &path)?;
        }
        Ok(())
    }

    /// Makes the directories that were there before a trace, and removes what an earlier replay
    /// has left.
    fn make_directories_of(
        &self,
        replay: &Replay,
        directory: &Directory,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let top = format!("hr-w{}", self.number);
        let top = CString::new(top).unwrap_or_default();
        make_directory(directory, &top)?;
        directory
            .empty_below(&top)
            .map_err(|errno| not_prepared(&top, errno))?;
        replay.has_room(directory)?;
        self.make_existing_of(replay, directory, true, watch)
    }

    /// Makes the directories, or all else, that were there before a trace.
    fn make_existing_of(
        &self,
        replay: &Replay,
        directory: &Directory,
        directories: bool,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let call = usize::try_from(self.workload.io.made_by.0).unwrap_or(usize::MAX);
        let mut buffer = Buffer::new(call.min(LARGEST_CALL), u64::MAX, false);
        let mut pieces = DataJournal::new(directory.root());
        let root = directory.root();
        let wanted = || {
            let existing = replay.existing(self.number);
            existing.filter(|(_, it)| it.is_directory() == directories)
        };
        let all = wanted().count() as u64;
        for (made, (path, it)) in (1..).zip(wanted()) {
            it.make(
                root,
                &path,
                &mut buffer,
                call.min(LARGEST_CALL),
                &mut pieces,
            )
            .map_err(|errno| not_prepared(&path, errno))?;
            if watch(&LiveProgress::preparing(made, all)).is_break() {
                return Err(Error::Interrupted);
            }
        }
        if !directories {
            pieces
                .place()
                .map_err(|errno| not_prepared(c"all files", errno))?;
            pieces.empty();
            if !self.workload.io.cached {
                for (path, it) in replay.existing(self.number) {
                    it.cool(root, &path);
                }
            }
        }
        Ok(())
    }

    /// Makes the files that must be there, in directories that are there.
    pub fn make_files(
        &self,
        scenario: &Scenario,
        directory: &Directory,
        content: Option<Content>,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        if let Some(replay) = &self.replay {
            return match self.share.takes(0) {
                true => self.make_existing_of(replay, directory, false, watch),
                false => Ok(()),
            };
        }
        let existing = self.existing_here(scenario);
        let links = || {
            let links = self.names.symbolic_links().zip(0..);
            links.filter(|(_, number)| self.share.takes(*number))
        };
        let all = (links().count() + existing.len()) as u64;
        let mut made = 0;
        for (path, _) in links() {
            match rustix::fs::symlinkat(LEADS_TO, directory.root(), &path) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(not_prepared(&path, errno)),
            }
            made += 1;
            if watch(&LiveProgress::preparing(made, all)).is_break() {
                return Err(Error::Interrupted);
            }
        }
        if self.draws_names() && !self.names.are_shared() {
            for &rank in &self.here {
                let own = self.names.own(rank);
                make_directory(directory, &own)?;
                empty_directory(directory, &own)?;
            }
        }
        let io = &self.workload.io;
        let call = usize::try_from(io.made_by.0).unwrap_or(usize::MAX);
        let mut buffer = Buffer::new(call.min(LARGEST_CALL), u64::MAX, false);
        let mut pieces = DataJournal::new(directory.root());
        for file in &existing {
            let (root, names) = (directory.root(), &self.names);
            prepared_files::make(root, names, *file, call, &mut buffer, content, &mut pieces)
                .map_err(|errno| not_prepared(&self.names.path(file.file), errno))?;
            made += 1;
            if watch(&LiveProgress::preparing(made, all)).is_break() {
                return Err(Error::Interrupted);
            }
        }
        if !existing.is_empty() {
            // Once for all: a sync for each file takes far longer.
            pieces
                .place()
                .map_err(|errno| not_prepared(c"all files", errno))?;
        }
        pieces.empty();
        if !io.cached {
            for file in &existing {
                prepared_files::cool(directory.root(), &self.names, *file, self.known.as_deref());
            }
        }
        Ok(())
    }

    /// Loads files that must be cached into the page cache, as the last step before a run: creating
    /// other files may have taken long.
    pub fn warm_files(
        &self,
        scenario: &Scenario,
        directory: &Directory,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        if !self.workload.io.cached {
            return Ok(());
        }
        for file in self.existing_here(scenario) {
            prepared_files::warm(directory.root(), &self.names, file);
            if watch(&LiveProgress::PREPARING).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// Files that must be there and that this engine makes.
    fn existing_here(&self, scenario: &Scenario) -> Vec<ExistingFile> {
        let mut existing = self.application.existing();
        existing.retain(|file| self.share.makes(scenario, self.workload, file));
        existing
    }

    /// Returns true if its phases come in turn with those of other workloads.
    pub fn has_turns(&self) -> bool {
        self.application.has_turns()
    }

    /// Returns the number of its processes that run here.
    pub fn processes_here(&self) -> u32 {
        self.here.len() as u32
    }

    /// Returns true if names that are made and removed are the processes' own affair.
    fn draws_names(&self) -> bool {
        matches!(self.workload.kind, WorkloadKind::OperationMix(_))
    }

    pub fn processes(
        &self,
        scenario: &Scenario,
        directory: &Directory,
        options: Options,
        turns: &Arc<Rendezvous>,
    ) -> Result<Vec<Plan>, Error> {
        let meeting = Arc::new(Rendezvous::new(
            self.number,
            self.here.len() as u32,
            self.share.clone(),
        ));
        let again = || sequence(scenario, self.number, self.processes);
        let shared = self.replay.is_some()
            || self.draws_names()
            || self.application.needs_all_processes()
            || self.processes > MOST_COPIES;
        let shared = match shared {
            true => Some(Common::new(again()?, self.share, self.number, &self.here)),
            false => None,
        };
        let largest = largest_transfer(self.workload, &*self.application);
        check_memory(largest, self.here.len())?;
        let base = directory.absolute()?;
        let content = match options.calls {
            // Nothing is read that could be checked.
            Backend::Null => None,
            _ => self.content(scenario),
        };
        let pool = Pool::default();
        self.here
            .iter()
            .map(|&rank| {
                let source = match &shared {
                    Some(common) => Source::Shared(Arc::clone(common)),
                    None => Source::Own(again()?),
                };
                let own = self.draws_names().then(|| {
                    let pool = match self.names.may_be_others() {
                        true => Pool::clone(&pool),
                        false => Pool::default(),
                    };
                    match self.names.are_shared() {
                        true => PrivateNames::shared(&self.names, rank, self.processes, pool),
                        false => PrivateNames::new(&self.names, rank),
                    }
                });
                Ok(Plan {
                    workload: self.number,
                    rank,
                    source,
                    root: Arc::clone(directory.root()),
                    backend: options.calls,
                    names: self.names.clone(),
                    base: base.clone(),
                    io: self.workload.io.clone(),
                    content,
                    largest,
                    short_call: self.short_call,
                    own,
                    is_open: self.workload.kind.is_open(),
                    replay: self.replay.clone(),
                    known: match options.calls {
                        Backend::Null => None,
                        _ => self.known.clone(),
                    },
                    record: Record::new(
                        operation::ALL.len(),
                        in_nanoseconds(scenario.run.warm_up.0),
                        scenario.run.window.map(|it| in_nanoseconds(it.0)),
                    )
                    .with_each(options.each),
                    meeting: Arc::clone(&meeting),
                    turns: self.has_turns().then(|| Arc::clone(turns)),
                    progress: Arc::new(Progress::new()),
                })
            })
            .collect()
    }
}

/// Rejects workloads that cannot run on a real file system, or not yet.
fn check_supported(workload: &Workload) -> Result<(), Error> {
    if workload.collective.two_phase().is_some() {
        return Err(unsuitable("collective", "two-phase"));
    }
    let writes = |phase: &Phase| matches!(phase, Phase::Write | Phase::Mixed);
    if workload.io.interface == Interface::Mapped
        && let WorkloadKind::Ior(ior) = &workload.kind
        && ior.phases.iter().any(writes)
    {
        return Err(unsuitable("io.interface", "mapped"));
    }
    Ok(())
}

fn empty_directory(directory: &Directory, path: &CStr) -> Result<(), Error> {
    let emptied = directory.empty_below(path);
    emptied.map_err(|errno| not_prepared(path, errno))
}

fn make_directory(directory: &Directory, path: &CStr) -> Result<(), Error> {
    match rustix::fs::mkdirat(directory.root(), path, Mode::from_raw_mode(0o755)) {
        // An earlier run in this directory has made it.
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(not_prepared(path, errno)),
    }
}

fn not_prepared(path: &CStr, errno: Errno) -> Error {
    Error::Operation {
        operation: "preparing",
        path: path.to_string_lossy().into_owned(),
        errno,
    }
}

fn unsuitable(field: &str, value: &str) -> Error {
    Error::Unsuitable(format!(
        "workload.{field} = {value:?}: supported in a simulation only, not on a real file system"
    ))
}

/// Each process has its largest transfer in memory.
fn check_memory(largest: usize, processes: usize) -> Result<(), Error> {
    let system = rustix::system::sysinfo();
    let memory = system
        .totalram
        .saturating_mul(u64::from(system.mem_unit.max(1)));
    let buffers = (largest as u64).saturating_mul(processes as u64);
    if buffers > memory {
        return Err(Error::Unsuitable(format!(
            "the transfer buffers of {processes} processes need {buffers} bytes, but this \
             machine has {memory}: expected smaller transfers or fewer processes"
        )));
    }
    Ok(())
}

/// Bytes of a workload's largest transfer.
fn largest_transfer(workload: &Workload, application: &dyn Application) -> usize {
    let largest = match &workload.kind {
        WorkloadKind::Ior(ior) => ior.transfer.largest(application.processes().into()).0,
        WorkloadKind::Mdtest(mdtest) => mdtest.bytes.largest(application.processes().into()).0,
        WorkloadKind::OperationMix(mix) => {
            let sizes = mix.read_sizes.values().chain(mix.write_sizes.values());
            sizes.map(|size| size.0).max().unwrap_or(0)
        }
        WorkloadKind::Pipeline(pipeline) => {
            let buffers = pipeline.input.0.div_ceil(pipeline.request.0.max(1)).max(1);
            pipeline.request.0.max(pipeline.output.0.div_ceil(buffers))
        }
        WorkloadKind::TreeCopy(copy) => copy.largest_request().0,
        WorkloadKind::TraceReplay(_) | WorkloadKind::Training(_) => {
            application.largest_transfer().unwrap_or(0)
        }
    };
    // Some operations move whole units.
    let largest = largest.max(1).checked_next_multiple_of(DIRECT_UNIT);
    largest.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX))
}
