//! Files have to fit on the device that they lie on.

use crate::Error;
use crate::declare::Place;
use crate::sections::{
    Ior, Journal, JournalMode, Phase, Scenario, UniformServers, Workload, WorkloadKind,
};
use crate::values::Bytes;

/// Rejects files of a client that exceed the device of its machine, where the
/// device's size is known.
pub(super) fn files_fit(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(local) = all.local() else {
        return servers_have_room(workload, all, at);
    };
    let machine = &local.machine;
    let room = |name: Option<&String>| {
        let number = name.and_then(|name| machine.volume_number(name));
        let other = number.and_then(|number| machine.volumes().get(usize::from(number) - 1));
        let (device, file_system) = match other {
            Some(volume) => (&volume.device, &volume.file_system),
            None => (&machine.device, &machine.file_system),
        };
        Some(
            device
                .capacity()?
                .0
                .saturating_sub(of_journal(&file_system.journal)),
        )
    };
    let processes = u64::from(all.clients.processes);
    let volume = workload.io.volume.as_ref();
    let parts = match &workload.kind {
        WorkloadKind::Ior(ior) => vec![(
            "block",
            ior.bytes_of_processes(workload.io.existing, processes) / processes.max(1),
            volume,
        )],
        WorkloadKind::Pipeline(pipeline) => {
            let to = pipeline.output_volume.as_ref().or(volume);
            let output = if pipeline.in_place {
                0
            } else {
                pipeline.output.0
            };
            let together = match to == volume {
                true => pipeline.input.0.saturating_add(output),
                false => pipeline.input.0,
            };
            vec![("input", together, volume), ("output", output, to)]
        }
        WorkloadKind::Mdtest(mdtest) => {
            let bytes = mdtest.bytes.sum(processes) / processes.max(1);
            let bytes = bytes.saturating_mul(u64::from(mdtest.files));
            vec![("bytes", bytes, volume)]
        }
        // All clients' files, but each client has them on a machine of its own.
        WorkloadKind::OperationMix(mix) => {
            vec![("file_sizes", mix.bytes() / processes.max(1), volume)]
        }
        WorkloadKind::TreeCopy(copy) => {
            let trees = copy.trees(processes);
            let bytes = copy.bytes().saturating_mul(2 * trees) / processes.max(1);
            vec![("files", bytes, volume)]
        }
        WorkloadKind::Training(training) => {
            vec![("files", training.dataset_bytes() / processes.max(1), volume)]
        }
        WorkloadKind::TraceReplay(_) => Vec::new(),
    };
    for (field, bytes, volume) in parts {
        let bytes = bytes.saturating_mul(processes);
        if let Some(room) = room(volume).filter(|room| bytes > *room) {
            let message = format!(
                "a client's files take \"{}\": expected no more than \"{}\", what its device has room for",
                Bytes(bytes),
                Bytes(room)
            );
            return Err(at.error(field, message));
        }
    }
    Ok(())
}

/// Rejects files that exceed the devices of all servers together, where their size is known.
fn servers_have_room(workload: &Workload, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let room = |alike: &UniformServers| {
        let machine = alike.servers.machine()?;
        let capacity = machine.device.capacity()?.0;
        let room = capacity.saturating_sub(of_journal(&machine.file_system.journal));
        Some(room.saturating_mul(alike.numbers.len() as u64))
    };
    let rooms: Option<Vec<u64>> = parallel.servers.alike().iter().map(room).collect();
    let Some(rooms) = rooms else {
        return Ok(());
    };
    let clients = match &workload.group {
        None => all.clients.count,
        Some(group) => {
            let sizes = all.clients.group_sizes();
            let of_group = sizes.iter().find(|(name, _)| name == group);
            of_group.map_or(0, |(_, size)| *size)
        }
    };
    let processes = u64::from(all.clients.processes) * u64::from(clients);
    let (field, bytes) = match &workload.kind {
        WorkloadKind::Ior(ior) => (
            "block",
            ior.bytes_of_processes(workload.io.existing, processes),
        ),
        WorkloadKind::Training(training) => ("files", training.dataset_bytes()),
        _ => return Ok(()),
    };
    let room = rooms.into_iter().fold(0, u64::saturating_add);
    if bytes <= room {
        return Ok(());
    }
    let message = format!(
        "the files of all clients take \"{}\": expected no more than \"{}\", what the devices of \
         the servers have room for",
        Bytes(bytes),
        Bytes(room)
    );
    Err(at.error(field, message))
}

impl Ior {
    /// Bytes of the files of this many processes; of all processes' parts of shared files. Those
    /// that are there before the run are whole.
    #[must_use]
    pub fn bytes_of_processes(&self, existing: bool, processes: u64) -> u64 {
        let bytes = (self.block.sum(processes)).saturating_mul(u64::from(self.segments));
        let new = !existing && self.phases.first() != Some(&Phase::Read);
        // A new file occupies only the bytes that are written.
        let written = self.requests.filter(|_| new).map_or(u64::MAX, |requests| {
            self.transfer.sum(processes).saturating_mul(requests)
        });
        bytes.saturating_mul(u64::from(self.files)).min(written)
    }
}

/// Bytes of a journal, if there is one.
fn of_journal(journal: &Journal) -> u64 {
    match journal.mode {
        JournalMode::None => 0,
        _ => journal.size.0,
    }
}
