//! Callers of a machine's file systems, and the files that exist before the run.

use headrace_spec::{Interface, IoPriority, Machine, Scenario, Workload, WorkloadKind};

use crate::tokens::Process;

/// Open flags of a workload's files.
#[derive(Clone, Copy, Default, Debug)]
pub struct OpenFlags {
    /// Past the page cache (O_DIRECT).
    pub direct: bool,
    /// Writes return when the device has them (O_SYNC).
    pub synchronous: bool,
    /// Through a mapping: no system call, no copy.
    pub mapped: bool,
    /// The priority of what its processes wait for.
    pub priority: IoPriority,
}

/// Callers of a machine's file systems.
#[derive(Clone, Debug)]
pub struct Callers {
    /// Open flags of each workload's files.
    pub opened: Vec<OpenFlags>,
    /// The volumes on which they lie, a bit each.
    pub volumes: u64,
    /// Callers are the threads of one daemon, by rank: they share their open files.
    pub one_daemon: bool,
}

impl Callers {
    /// The processes of a scenario's workloads, on a machine like this.
    pub fn processes(scenario: &Scenario, spec: &Machine) -> Callers {
        let volumes = scenario.workload.iter();
        Callers {
            opened: opened(scenario),
            volumes: volumes.fold(0, |used, workload| used | volumes_of(spec, workload)),
            one_daemon: false,
        }
    }

    /// The processes of a scenario's workloads on clients of a parallel file system.
    pub fn clients(scenario: &Scenario) -> Callers {
        Callers {
            opened: opened(scenario),
            volumes: 1,
            one_daemon: false,
        }
    }

    /// The daemon of a server, which writes synchronously if it or the workload that
    /// it writes for is asked to.
    pub fn daemon(scenario: &Scenario, synchronous: bool) -> Callers {
        let opened = scenario.workload.iter().map(|workload| OpenFlags {
            // A client with a cache asks for it itself.
            synchronous: synchronous
                || workload.io.synchronous && scenario.clients.machine().is_none(),
            ..OpenFlags::default()
        });
        Callers {
            opened: opened.collect(),
            volumes: 1,
            one_daemon: true,
        }
    }

    /// The number of a process on the machine, without gaps: schedulers keep tables
    /// by them.
    pub(super) fn number(&self, process: Process) -> u32 {
        if self.one_daemon {
            return process.rank;
        }
        (process.rank.wrapping_mul(self.opened.len() as u32)).wrapping_add(process.workload)
    }
}

/// Open flags of each workload's files.
fn opened(scenario: &Scenario) -> Vec<OpenFlags> {
    let opened = scenario.workload.iter().map(|workload| OpenFlags {
        direct: workload.io.direct,
        synchronous: workload.io.synchronous,
        mapped: workload.io.interface == Interface::Mapped,
        priority: workload.io.priority,
    });
    opened.collect()
}

/// A file that lies on a machine before the run.
#[derive(Clone, Copy, Debug)]
pub struct StoredFile {
    /// Its number.
    pub file: u32,
    /// The volume that it lies on.
    pub volume: u8,
    /// Bytes.
    pub size: u64,
    /// The size of the calls that made it.
    pub made_by: u64,
    /// True if its place on the device is known; else it lies where other unknown files do.
    pub placed: bool,
    /// True if the file is in the page cache.
    pub cached: bool,
    /// True if its indirect blocks are in the page cache.
    pub pointers_cached: bool,
}

/// The volumes of a workload's files, a bit each.
fn volumes_of(spec: &Machine, workload: &Workload) -> u64 {
    let bit = |name: &Option<String>| {
        let number = name.as_deref().and_then(|name| spec.volume_number(name));
        1_u64 << number.unwrap_or(0)
    };
    let output = match &workload.kind {
        WorkloadKind::Pipeline(pipeline) if pipeline.output_volume.is_some() => {
            bit(&pipeline.output_volume)
        }
        WorkloadKind::TraceReplay(replay) if replay.output_volume.is_some() => {
            bit(&replay.output_volume)
        }
        _ => 0,
    };
    bit(&workload.io.volume) | output
}
