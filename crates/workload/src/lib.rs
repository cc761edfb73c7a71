//! Workloads of a scenario as timed sequences of requests, which a simulation or a real file system
//! serves.
//!
//! To add a kind of workload, write a file with a type that implements [`Application`].

mod channels;
mod directories;
mod io500;
mod ior;
mod mdtest;
mod name_sets;
mod offset_space;
mod omissions;
mod operation_mix;
mod permutation;
mod phase_report;
mod pipeline;
mod replay;
mod round;
mod start_and_delay;
mod stonewall;
mod training;
mod tree_copy;
mod turns;

pub use directories::Directories;
pub use io500::{Io500Phase, Io500Report, io500};
pub use ior::{Calls, IorApplication};
pub use mdtest::MdtestApplication;
pub use name_sets::{NameSets, Named};
pub use offset_space::OffsetSpace;
pub use omissions::{LeftOut, RecordedFlags};
pub use operation_mix::OperationMixApplication;
pub use phase_report::PhaseReport;
pub use pipeline::{Calling, PipelineApplication};
pub use replay::{TraceError, TraceReplayApplication, gap_ns};
pub use round::{RoundCounts, RoundKeeper, RoundMessage, RoundNews, RoundReaction};
pub use start_and_delay::{ProcessTimes, StartAndDelay};
pub use stonewall::Stonewall;
pub use training::{
    AcceleratorShares, Durations, LoaderShares, TrainingApplication, TrainingFigures,
    TrainingReport,
};
pub use tree_copy::{CommonTreeCopy, TreeCopyApplication};

use headrace_net::{Random, Span, Time};
use headrace_spec::{MixedOperation, Scenario, Workload, WorkloadKind};
use headrace_trace::{Flags, Operation};

/// The processes of one workload.
pub trait Application: Send {
    /// Number of processes.
    fn processes(&self) -> u32;

    /// Number of files in use, numbered from 0.
    fn files(&self) -> u32;

    /// Number of files that lie in each directory, in order; none if all lie in one.
    fn files_in_a_directory(&self) -> Option<u32> {
        None
    }

    /// Returns true if it makes the directory that a file lies in itself.
    fn makes_directory_of(&self, _file: u32) -> bool {
        false
    }

    /// Returns true if it goes on with a file that it has made until it closes it.
    fn closes_what_it_makes(&self) -> bool {
        false
    }

    /// Returns the next action of a process. Called once at the start and after each completed
    /// request.
    ///
    /// # Errors
    /// An error in the workload's source, such as a trace.
    fn next(&mut self, rank: u32, now: Time, random: &mut Random<'_>) -> Result<Next, String>;

    /// Gives every request that was due before a time and that [`Application::next`] has not given.
    /// The request is of a process, or of any that takes its requests in turn with it. Called for
    /// each process when the run is over, where requests have times of their own; no other method
    /// is called after it.
    ///
    /// # Errors
    /// As of [`Application::next`].
    fn not_issued(
        &mut self,
        rank: u32,
        until: Time,
        each: &mut dyn FnMut(&Ask),
    ) -> Result<(), String> {
        let mut draws = 0;
        let mut random = Random::named(0, "not issued", &mut draws);
        while let Next::Ask(ask) = self.next(rank, until, &mut random)? {
            if ask.intended.is_none_or(|time| time >= until) {
                break;
            }
            each(&ask);
        }
        Ok(())
    }

    /// The rank whose start a process has: threads start with their process.
    fn starts_with(&self, rank: u32) -> u32 {
        rank
    }

    /// Returns true if processes may wait for each other's requests, or compute without asking for
    /// anything.
    fn threads(&self) -> bool {
        false
    }

    /// Returns true if a writing phase ended before its deadline, with all of its work done.
    fn missed_stonewall(&self) -> bool {
        false
    }

    /// Takes over how far processes elsewhere have come in a writing phase that has a deadline.
    /// Returns how far any has, in steps of the phase.
    fn farthest(&mut self, _elsewhere: u64) -> u64 {
        0
    }

    /// Returns true if its phases come in turn with those of other workloads.
    fn has_turns(&self) -> bool {
        false
    }

    /// Returns true if a process's requests depend on how far others have come.
    fn needs_all_processes(&self) -> bool {
        self.threads()
    }

    /// Returns true if the workload ends with its processes: they may compute or wait behind its last
    /// request.
    fn ends_with_its_processes(&self) -> bool {
        false
    }

    /// A process that waits and may go on, because of what another has done: asked
    /// after each [`Application::next`] until there is none.
    fn woken(&mut self) -> Option<u32> {
        None
    }

    /// The machine's volume that a file lies on, if it is not the workload's.
    fn volume(&self, _file: u32) -> Option<u8> {
        None
    }

    /// The files that are there before the run, as far as that is known.
    fn existing(&self) -> Vec<ExistingFile> {
        Vec::new()
    }

    /// Directories and symbolic links that are there before the run.
    fn name_sets(&self) -> NameSets {
        NameSets::default()
    }

    /// Declares that only the processes `_here` run here, and the others elsewhere. Returns true if
    /// the parts then exchange messages, because processes begin operations at the same moment.
    fn is_carried_out_by(&mut self, _here: &[u32]) -> bool {
        false
    }

    /// Returns the next message for all places, this one included. Called after each
    /// [`Application::next`] and [`Application::hear`] until it returns none.
    fn message(&mut self) -> Option<RoundMessage> {
        None
    }

    /// Handles a reaction to a message; the caller checks [`Application::woken`] afterwards.
    fn hear(&mut self, _news: RoundNews) {}

    /// Counts of operations that several processes began at the same moment; None if the
    /// workload has no such operations.
    fn rounds(&self) -> Option<RoundCounts> {
        None
    }

    /// Utilisation, steps and waits until now; None if it is no training.
    fn training(&self) -> Option<TrainingFigures> {
        None
    }

    /// Returns the operations in the source that no process executes.
    fn left_out(&self) -> Vec<LeftOut> {
        Vec::new()
    }

    /// Counts of the open flags that a source records for its reads and writes; None if it is no
    /// record of them.
    fn recorded_flags(&self) -> Option<RecordedFlags> {
        None
    }

    /// Number of requests in all, if that is known.
    fn total_requests(&self) -> Option<u64>;

    /// Bytes of the largest read or write, where the scenario does not say it.
    fn largest_transfer(&self) -> Option<u64> {
        None
    }
}

/// A file that is there before the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExistingFile {
    /// The file, among the application's own.
    pub file: u32,
    /// The process that it belongs to; none if all share it.
    pub rank: Option<u32>,
    /// Bytes.
    pub size: u64,
}

/// Next action of a process.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// Asks for something.
    Ask(Ask),
    /// Computes for so long, and asks for nothing.
    Compute(Span),
    /// Lets so much time pass.
    Pause(Span),
    /// Waits until [`Application::woken`] names it.
    Wait,
    /// Waits until all processes of the workload have come as far.
    Barrier,
    /// The same behind its last request of a phase, if another phase follows.
    PhaseOver,
    /// Waits until all processes of all workloads that come in turn have come as far.
    Turn,
    /// Nothing more.
    Finished,
}

/// A request to be made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ask {
    /// Operation.
    pub operation: Operation,
    /// The call, of several that a simulation does not distinguish; none if nothing is said.
    pub call: Option<MixedOperation>,
    /// The file, among the application's own.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// Bytes to read or write.
    pub size: u64,
    /// Time to let pass first.
    pub after: Span,
    /// Processor time of the process's own for this request, where the machine
    /// is modelled.
    pub compute: Span,
    /// Time when it should have been asked; now plus `after` if not earlier.
    pub intended: Option<Time>,
    /// The phase, counted from 0.
    pub phase: u32,
    /// [`Flags::DIRECT`] and [`Flags::SYNCHRONOUS`] of this read or write, besides those of its
    /// workload's files. [`Flags::DATA_ONLY`] of this sync or synchronous write.
    pub flags: Flags,
}

/// The clients that a workload runs on, in order.
#[must_use]
pub fn clients(scenario: &Scenario, workload: &Workload) -> Vec<u32> {
    let sizes = scenario.clients.group_sizes();
    let groups = scenario.clients.group_of_each();
    let group = workload.group.as_ref();
    let of_group = |client: &u32| {
        group.is_none_or(|name| sizes[usize::from(groups[*client as usize])].0 == name)
    };
    (0..scenario.clients.count).filter(of_group).collect()
}

/// Seed of the random offsets of the n-th workload, so that identical workloads differ.
#[must_use]
pub fn seed_of_places(scenario: &Scenario, number: usize) -> u64 {
    scenario.run.seed ^ ((number as u64) << 48)
}

/// Creates the request sequence of the n-th workload for a number of processes, independent of the
/// machine.
///
/// # Errors
/// An error in the workload's source, such as a trace.
pub fn sequence(
    scenario: &Scenario,
    number: usize,
    processes: u32,
) -> Result<Box<dyn Application>, TraceError> {
    let (workload, seed) = (&scenario.workload[number], scenario.run.seed);
    let existing = workload.io.existing;
    let application: Box<dyn Application> = match &workload.kind {
        WorkloadKind::Ior(ior) => Box::new(IorApplication::calling(
            &ior.on_clients_of(scenario),
            processes,
            seed_of_places(scenario, number),
            Span::ZERO,
            existing,
        )),
        WorkloadKind::Mdtest(mdtest) => Box::new(MdtestApplication::new(mdtest, processes, seed)),
        WorkloadKind::OperationMix(mix) => {
            let per_client = scenario.clients.processes;
            Box::new(OperationMixApplication::new(
                mix, processes, per_client, seed,
            ))
        }
        WorkloadKind::Pipeline(pipeline) => {
            Box::new(PipelineApplication::new(pipeline, processes, existing))
        }
        WorkloadKind::TreeCopy(copy) => tree_copy::application(copy, processes),
        WorkloadKind::TraceReplay(replay) => Box::new(TraceReplayApplication::new(replay)?),
        WorkloadKind::Training(training) => {
            let seed = seed_of_places(scenario, number);
            Box::new(TrainingApplication::new(training, processes, seed))
        }
    };
    Ok(StartAndDelay::around(application, workload, scenario))
}
