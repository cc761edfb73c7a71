//! `[[workload]]`: what the clients do.

mod collective;
mod device_capacity;
mod input_output;
mod io_priority;
mod ior;
mod mdtest;
mod mix_file_sets;
mod mix_files;
mod mix_groups;
mod mix_locality;
mod mix_names;
mod mix_order;
mod mix_sharing;
mod operation_mix;
mod pipeline;
mod trace;
mod training;
mod tree_copy;

pub use collective::{Collective, NoCollective, TwoPhase};
pub use input_output::{InputOutput, Interface};
pub use io_priority::{IoClass, IoPriority};
pub use ior::{Access, Ior, Order, Phase, Repeat, ThinkDistribution};
pub use mdtest::{Directory, Mdtest, NamePhase};
pub use mix_file_sets::{FileSet, FileSets};
pub use mix_groups::OperationGroup;
pub use mix_locality::Locality;
pub use mix_names::{MadeIn, NameSets, Taken};
pub use mix_order::{Bursts, Followers};
pub use mix_sharing::Sharing;
pub use operation_mix::{Amount, DIRECT_UNIT, MixedOperation, OperationMix};
pub use pipeline::{Pipeline, Threads};
pub use trace::{Gaps, RecordFlags, Replay, TraceReplay};
pub use training::{Loading, Training};
pub use tree_copy::{TreeCopy, Trees};

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::names;
use crate::sections::{Layout, Parallel, Scenario};
use crate::values::{AtLeastOne, NonEmpty, Seconds};
use crate::workloads::WorkloadPreset;

section! {
    /// One workload; several run side by side.
    pub struct Workload {
        /// The known program or benchmark that gives omitted values.
        preset: Option<String> as Option<WorkloadPreset> = optional("nothing is assumed"),
        /// Operations.
        #[serde(flatten)]
        kind: WorkloadKind = kinds(),
        /// Time of its first request; the times of an open workload (`rate`, or `replay =
        /// "timed"`) all come as much later.
        start: Seconds = default("0 s", "the workload begins with the run") aka ["start_time", "begin", "initial_delay"],
        /// Additional start of each process: that of rank n is `start` plus n times this. In an
        /// open workload only a timed trace has it.
        stagger: Seconds = default("0 s", "all processes begin together") aka ["start_step"],
        /// Pause of a process between a request and the next one, in addition to think times,
        /// intervals and recorded gaps of the kind.
        delay: Seconds = default("0 s", "a process asks again at once") aka ["pause_between_requests"],
        /// Distribution of the pauses around `delay`.
        delay_distribution: ThinkDistribution = default("constant", "nothing is assumed"),
        /// The turn of each of its phases, of the kinds "ior" and "mdtest"; of the kind "trace", one
        /// for the whole trace. The phases of all workloads come in the order of their turns, as in
        /// IO500: a turn begins when the last one is over. Phases of one turn run side by side;
        /// those of one workload, one after the other. Times of a workload count from its first
        /// turn.
        turns: Option<Vec<u32>> as Option<NonEmpty<AtLeastOne>> = optional("its phases wait for no other workload") aka ["turn"],
        /// Options for opening and accessing files on a local file system.
        io: InputOutput = section(),
        /// Layout of its files, if it differs from the scenario's: the layout of their directory
        /// (Lustre: `lfs setstripe` on a directory).
        layout: Option<Layout> = over("layout") aka ["striping", "distribution"],
        /// Collective I/O of its processes.
        collective: Collective = section() aka ["collective_buffering"],
        /// The group of clients that does it.
        group: Option<String> = optional("every client"),
    }
    check fits_the_scenario;
}

kinds! {
    /// The kinds of workloads.
    pub enum WorkloadKind default "ior", "the pattern most benchmarks of parallel file systems use" {
        Ior = "ior",
        Mdtest = "mdtest",
        TraceReplay = "trace",
        Pipeline = "pipeline",
        OperationMix = "operation-mix",
        TreeCopy = "tree-copy",
        Training = "training",
    }
}

impl WorkloadKind {
    /// Returns true if requests come at times of their own, whatever the system does.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            WorkloadKind::OperationMix(mix) => mix.rate.is_some(),
            WorkloadKind::TraceReplay(trace) => trace.replay == Replay::Timed,
            WorkloadKind::Ior(_)
            | WorkloadKind::Mdtest(_)
            | WorkloadKind::Pipeline(_)
            | WorkloadKind::TreeCopy(_)
            | WorkloadKind::Training(_) => false,
        }
    }
}

fn fits_the_scenario(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    times_are_its_own(workload, all, at)?;
    turns_fit_its_phases(workload, at)?;
    existing_files_are_known(workload, at)?;
    if let WorkloadKind::Ior(ior) = &workload.kind {
        ior.suits(&workload.io, at)?;
    }
    if let WorkloadKind::Training(training) = &workload.kind {
        training.suits(&workload.io, at)?;
    }
    if workload.layout.is_some() && all.parallel().is_none() {
        let message = "files of a local file system lie on one machine: leave it out";
        return Err(at.error("layout", message));
    }
    Collective::suits(workload, all, at)?;
    group_exists(workload, all, at)?;
    device_capacity::files_fit(workload, all, at)
}

/// Rejects times that no kind of the workload uses.
fn times_are_its_own(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if workload.kind.is_open() && workload.delay.0 > 0.0 {
        let message = "requests come at times of their own, whatever processes do: leave it out";
        return Err(at.error("delay", message));
    }
    if let WorkloadKind::OperationMix(mix) = &workload.kind
        && mix.rate.is_some()
        && workload.stagger.0 > 0.0
    {
        let message = "processes take what comes at the rate in turn: leave it out";
        return Err(at.error("stagger", message));
    }
    if workload.delay_distribution != ThinkDistribution::Constant && workload.delay.0 == 0.0 {
        let path = at.field("delay").path;
        let message = format!("there is no pause: give {path}, or leave it out");
        return Err(at.error("delay_distribution", message));
    }
    let processes = u64::from(all.clients.count) * u64::from(all.clients.processes);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let last = workload.start.0 + workload.stagger.0 * processes as f64;
    if last > Seconds::LONGEST.0 {
        let message = format!(
            "the last of {processes} processes would begin after the 213 days that simulated time \
             can hold"
        );
        return Err(at.error("stagger", message));
    }
    Ok(())
}

/// Rejects turns that do not say when each phase begins.
fn turns_fit_its_phases(workload: &Workload, at: &Place<'_>) -> Result<(), Error> {
    let Some(turns) = &workload.turns else {
        return Ok(());
    };
    let phases = match &workload.kind {
        WorkloadKind::Ior(ior) if ior.repeat != Repeat::Times(1) => {
            let message = "phases that are repeated have no turns: leave it out";
            return Err(at.error("repeat", message));
        }
        WorkloadKind::Ior(ior) => ior.phases.len(),
        WorkloadKind::Mdtest(mdtest) => mdtest.phases.len(),
        WorkloadKind::TraceReplay(_) => 1,
        kind => {
            let message = format!(
                "kind = {:?} has no phases of all its processes: leave it out",
                kind.kind()
            );
            return Err(at.error("turns", message));
        }
    };
    if turns.len() != phases || !turns.is_sorted() {
        let path = at.field("phases").path;
        let message = format!(
            "expected {phases} numbers that do not decrease, one for each of {path}, not {}",
            turns.len()
        );
        return Err(at.error("turns", message));
    }
    let most = 1000;
    if turns.last().is_some_and(|&last| last > most) {
        let message = format!("expected turns from 1 to {most}");
        return Err(at.error("turns", message));
    }
    Ok(())
}

/// Rejects existing or cached files where the names of the files are unknown.
fn existing_files_are_known(workload: &Workload, at: &Place<'_>) -> Result<(), Error> {
    use WorkloadKind::{Ior, Pipeline, TraceReplay, Training, TreeCopy};
    let kind = &workload.kind;
    let both = matches!(kind, Ior(_) | Pipeline(_));
    for (field, given, known) in [
        ("existing", workload.io.existing, both),
        (
            "cached",
            workload.io.cached,
            both || matches!(kind, TreeCopy(_) | TraceReplay(_) | Training(_)),
        ),
    ] {
        if given && !known {
            let message = format!(
                "kind = {:?} does not say which files there are: leave it out",
                kind.kind()
            );
            return Err(at.field("io").error(field, message));
        }
    }
    Ok(())
}

impl Workload {
    /// Returns the layout of its files on a parallel file system.
    #[must_use]
    pub fn layout<'a>(&'a self, parallel: &'a Parallel) -> &'a Layout {
        self.layout.as_ref().unwrap_or(&parallel.layout)
    }
}

fn group_exists(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let groups: Vec<&str> = all.clients.groups.names().collect();
    match &workload.group {
        Some(name) if !groups.contains(&name.as_str()) => {
            let known = names::or(&groups);
            let hint = names::hint(name, &groups);
            let message = format!("expected a group of clients.groups, {known}{hint}");
            Err(at.error("group", message))
        }
        _ => Ok(()),
    }
}
