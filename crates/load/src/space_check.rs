//! Checks that the file system has enough free space for a run.
//!
//! Not checked: quotas, which only a failing write reveals; writes until a time limit, unless they
//! come at a rate; writes of a trace. Rounding and metadata count as one block for each name.

use std::path::Path;

use headrace_spec::{
    Amount, MixedOperation, NamePhase, OperationMix, Phase, Scenario, Stop, Workload, WorkloadKind,
};
use headrace_workload::{Application, clients, sequence};
use rustix::fs::StatVfsMountFlags;

use crate::Error;
use crate::directory::Directory;

/// Space that a run's files may take.
#[derive(Clone, Copy, Debug)]
pub enum SpaceLimit {
    /// Part of the free bytes and inodes.
    Share(f64),
    /// Bytes.
    Bytes(u64),
}

impl Default for SpaceLimit {
    /// All that is free.
    fn default() -> SpaceLimit {
        SpaceLimit::Share(1.0)
    }
}

/// Space that files need.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Need {
    /// Bytes in them.
    pub bytes: u64,
    /// Files, directories and links.
    pub names: u64,
}

impl Need {
    fn and(self, other: Need) -> Need {
        Need {
            bytes: self.bytes.saturating_add(other.bytes),
            names: self.names.saturating_add(other.names),
        }
    }

    /// Estimates the space that all processes of a workload use before and during the run.
    pub fn of(scenario: &Scenario, workload: &Workload, application: &dyn Application) -> Need {
        let clients = clients(scenario, workload).len() as u64;
        let processes = clients * u64::from(scenario.clients.processes);
        let stop = &scenario.run.stop;
        // A run that is stopped earlier has written less, by an unknown amount.
        let whole = stop.time.is_none() && stop.requests.is_none();
        let written = |bytes: u64, names: u64| match whole {
            true => Need {
                bytes,
                names: names.saturating_mul(processes),
            },
            false => Need::default(),
        };
        match &workload.kind {
            WorkloadKind::Ior(ior) => match Need::existing(application) {
                none if none == Need::default() && ior.phases.contains(&Phase::Write) => written(
                    ior.bytes_of_processes(workload.io.existing, processes),
                    u64::from(ior.files),
                ),
                there => there,
            },
            WorkloadKind::Mdtest(mdtest) if mdtest.phases.contains(&NamePhase::Create) => {
                let files = u64::from(mdtest.files);
                written(mdtest.bytes.sum(processes).saturating_mul(files), files)
            }
            WorkloadKind::OperationMix(mix) => of_mix(mix, clients, stop),
            WorkloadKind::Pipeline(pipeline) => {
                let there = Need::existing(application);
                match workload.io.existing || pipeline.in_place {
                    true => there,
                    false => there.and(written(pipeline.output.0.saturating_mul(processes), 1)),
                }
            }
            WorkloadKind::TreeCopy(copy) => {
                let files = u64::from(copy.in_tree());
                let there = Need::existing(application);
                let names = files + 2 * u64::from(copy.directories);
                there.and(Need {
                    bytes: there.bytes,
                    names: names.saturating_mul(copy.trees(processes)),
                })
            }
            WorkloadKind::Training(training) => {
                let there = Need::existing(application);
                let checkpoints =
                    u64::from(application.files() - training.files) / processes.max(1);
                let bytes = training.checkpoint.0.saturating_mul(checkpoints);
                there.and(written(bytes, checkpoints))
            }
            WorkloadKind::Mdtest(_) | WorkloadKind::TraceReplay(_) => Need::existing(application),
        }
    }

    fn existing(application: &dyn Application) -> Need {
        let files = application.existing();
        Need {
            bytes: files
                .iter()
                .fold(0, |sum, file| sum.saturating_add(file.size)),
            names: files.len() as u64,
        }
    }
}

/// Estimates the space of an operation mix: initial files and expected appends.
fn of_mix(mix: &OperationMix, clients: u64, stop: &Stop) -> Need {
    let names = [
        mix.file_count(),
        mix.names
            .common_directories(mix.rate, u32::try_from(clients).unwrap_or(u32::MAX)),
        mix.names.symbolic_link_count(mix.rate),
    ];
    Need {
        bytes: mix.bytes().saturating_add(appended(mix, clients, stop)),
        names: names.map(u64::from).iter().sum(),
    }
}

/// Approximate growth of a mix's files in bytes; none if the number of operations is unknown, or
/// files are truncated again.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, which saturates"
)]
fn appended(mix: &OperationMix, clients: u64, stop: &Stop) -> u64 {
    use MixedOperation::{DirectWrite, Fwrite, ReadWrite, Truncate, Write};
    let operations = match (mix.amount, mix.rate, stop.time, stop.requests) {
        (Amount::Count(each), _, None, None) => f64::from(each) * clients as f64,
        (Amount::Forever, Some(rate), Some(time), None) => rate * time.0,
        _ => return 0,
    };
    let weights = &mix.weights.0;
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let appending = weights.iter().map(|(operation, weight)| match operation {
        Write | Fwrite | DirectWrite => *weight,
        ReadWrite => weight / 2.0,
        _ => 0.0,
    });
    if mix.weights.values().any(|it| it == Truncate) {
        return 0;
    }
    let share = appending.sum::<f64>() / total * mix.append_share;
    let bytes = (operations * share * mix.write_sizes.mean()) as u64;
    let limit = mix.append_limit.map_or(u64::MAX, |limit| limit.0);
    bytes.min(limit.saturating_mul(u64::from(mix.file_count())))
}

/// Free space and inodes for the user; none where the file system sets or reports no limit.
#[derive(Clone, Copy, Debug)]
struct Free {
    bytes: Option<u64>,
    names: Option<u64>,
    block: u64,
}

impl Free {
    fn of(room: &rustix::fs::StatVfs) -> Free {
        // For a read-only file system, the creation of the first directory fails.
        let writable = !room.f_flag.contains(StatVfsMountFlags::RDONLY);
        let bytes = room.f_bavail.saturating_mul(room.f_frsize);
        Free {
            bytes: (writable && room.f_blocks > 0).then_some(bytes),
            names: (writable && room.f_files > 0).then_some(room.f_favail),
            block: room.f_frsize,
        }
    }

    /// Refuses more than a limit of the free space.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a number of bytes"
    )]
    fn holds(self, need: Need, limit: SpaceLimit, below: &Path) -> Result<(), Error> {
        let whole = Need {
            bytes: need
                .bytes
                .saturating_add(need.names.saturating_mul(self.block)),
            ..need
        };
        let part = |free: u64| match limit {
            SpaceLimit::Share(share) => (free as f64 * share) as u64,
            SpaceLimit::Bytes(_) => free,
        };
        let most = match limit {
            SpaceLimit::Share(_) => self.bytes.map(part),
            SpaceLimit::Bytes(bytes) => Some(self.bytes.map_or(bytes, |free| bytes.min(free))),
        };
        self.fits(need, below)?;
        let refuse = |what: &str, most: &str| {
            Err(Error::Unsuitable(format!(
                "{}: the benchmark needs {what}, and its files may take {most} (--space): use \
                 fewer or smaller files, allow more space, or use another file system",
                below.display()
            )))
        };
        if let Some(most) = most.filter(|most| whole.bytes > *most) {
            return refuse(&told(whole.bytes), &told(most));
        }
        match self.names.map(part).filter(|most| need.names > *most) {
            Some(most) => refuse(
                &format!("{} files, directories and links", need.names),
                &format!("{most} of them"),
            ),
            None => Ok(()),
        }
    }

    /// Refuses more than is free.
    fn fits(self, need: Need, below: &Path) -> Result<(), Error> {
        let tell = |what: &str, free: &str| {
            Err(Error::Unsuitable(format!(
                "{}: the benchmark needs {what}, but {free} (quotas are not checked): use fewer \
                 or smaller files, or another file system",
                below.display()
            )))
        };
        if let Some(free) = self.bytes.filter(|free| need.bytes > *free) {
            return tell(&told(need.bytes), &format!("{} are free", told(free)));
        }
        match self.names.filter(|free| need.names > *free) {
            Some(free) => tell(
                &format!("{} files, directories and links", need.names),
                &format!("there is room for {free} (df -i)"),
            ),
            None => Ok(()),
        }
    }
}

/// Bytes to three digits.
fn told(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 999.5 && unit + 1 < units.len() {
        amount /= 1000.0;
        unit += 1;
    }
    let digits = match amount {
        _ if unit == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{amount:.digits$} {}", units[unit])
}

/// Estimates the space that a scenario needs.
///
/// # Errors
/// If a workload's source cannot be read.
pub fn needed(scenario: &Scenario) -> Result<Need, Error> {
    let mut need = Need::default();
    for (number, workload) in scenario.workload.iter().enumerate() {
        let of_each = scenario.clients.processes;
        let processes = (clients(scenario, workload).len() as u32).saturating_mul(of_each);
        let application = sequence(scenario, number, processes)?;
        need = need.and(Need::of(scenario, workload, &*application));
    }
    Ok(need)
}

/// Rejects a run that would fill the file system, before any file is made.
///
/// # Errors
/// If it takes more than is free, or a workload's source cannot be read.
pub fn check_room(scenario: &Scenario, below: &Path, limit: SpaceLimit) -> Result<(), Error> {
    // Where a file system does not tell, the first file that does not fit does.
    let Ok(room) = rustix::fs::statvfs(below) else {
        return Ok(());
    };
    Free::of(&room).holds(needed(scenario)?, limit, below)
}

/// As [`check_room`], in a run's own directory: what an earlier run in it has made is used
/// again.
pub(crate) fn check_room_in<'a>(
    scenario: &Scenario,
    applications: impl Iterator<Item = &'a dyn Application>,
    directory: &Directory,
    limit: SpaceLimit,
) -> Result<(), Error> {
    let Ok(room) = rustix::fs::fstatvfs(directory.root()) else {
        return Ok(());
    };
    let needs = scenario
        .workload
        .iter()
        .zip(applications)
        .map(|(workload, application)| Need::of(scenario, workload, application));
    let need = needs.fold(Need::default(), Need::and);
    let free = Free::of(&room);
    let below = directory.path().parent().unwrap_or(directory.path());
    if free.holds(need, limit, below).is_ok() {
        return Ok(());
    }
    let (names, bytes) = directory.usage()?;
    let with_its_own = Free {
        bytes: free.bytes.map(|free| free.saturating_add(bytes)),
        names: free.names.map(|free| free.saturating_add(names)),
        ..free
    };
    with_its_own.holds(need, limit, below)
}

#[cfg(test)]
mod tests;
