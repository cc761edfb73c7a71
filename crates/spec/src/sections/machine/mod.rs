//! `[machine]`: a machine with a local file system. Its parts stand in a file
//! each.

mod allocation;
mod copying;
mod cpu;
mod file_system;
mod journal;
mod main_memory;
mod read_ahead;
mod volume;
mod write_back;

pub use allocation::{Allocation, Mapping};
pub use copying::Copying;
pub use cpu::Cpu;
pub use file_system::FileSystem;
pub use journal::{Journal, JournalMode};
pub use main_memory::MainMemory;
pub use read_ahead::ReadAhead;
pub use volume::Volume;
pub use write_back::WriteBack;

use crate::Error;
use crate::declare::{Place, Tables, section};
use crate::names;
use crate::presets::MachinePreset;
use crate::sections::{Device, IoScheduler, Scenario};

section! {
    /// A machine with a local file system.
    pub struct Machine {
        /// The preset whose machine gives omitted values: for machines below
        /// servers. On a local file system the scenario's own `system` says it.
        system: Option<String> as Option<MachinePreset> = optional("nothing is assumed") aka ["preset"],
        /// The processor.
        cpu: Cpu = section() aka ["processor"],
        /// Cost of copies between the page cache and a process.
        copying: Copying = section() aka ["copy"],
        /// Main memory and the page cache in it.
        memory: MainMemory = section() aka ["cache", "page_cache"],
        /// Writeback of dirty pages, and throttling of writers.
        write_back: WriteBack = section() aka ["dirty"],
        /// Read-ahead of the file system.
        read_ahead: ReadAhead = section(),
        /// The file system.
        file_system: FileSystem = section() aka ["fs"],
        /// The queue of requests for the device; of an array that the operating
        /// system makes, one for each member.
        io_scheduler: IoScheduler = section(),
        /// Device of the file system.
        device: Device = section() aka ["disk", "storage"],
        /// Further file systems, each on a device of its own.
        volume: Option<Vec<Volume>> as Option<Tables<Volume>> = optional("there is one file system") aka ["volumes"],
    }
    check of_machines;
}

/// The most further volumes of a machine: each has an equal part of its memory.
const MOST_VOLUMES: usize = 32;

fn of_machines(machine: &Machine, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if let (Some(system), Some(_)) = (&machine.system, all.local()) {
        let message = format!(
            "on a local file system, system = {system:?} at the top says that: put it there"
        );
        return Err(at.error("system", message));
    }
    volumes_have_numbers(machine, at)?;
    file_system::journal_fits(&machine.file_system, &machine.device, at)
}

fn volumes_have_numbers(machine: &Machine, at: &Place<'_>) -> Result<(), Error> {
    let volumes = machine.volumes().len();
    if volumes > MOST_VOLUMES {
        let message = format!("these are {volumes}: expected at most {MOST_VOLUMES}");
        return Err(at.error("volume", message));
    }
    let memory = &machine.memory;
    let part = memory.page_cache() / (volumes as u64 + 1);
    if volumes > 0 && part < 16 * memory.page.0 {
        let message = "with an equal part of the page cache for each volume, expected room for at \
                       least 16 pages in each";
        return Err(at.field("memory").error("size", message));
    }
    Ok(())
}

impl Machine {
    /// The volumes besides the first.
    #[must_use]
    pub fn volumes(&self) -> &[Volume] {
        self.volume.as_deref().unwrap_or_default()
    }

    /// The number of a volume by its name, counted from 1; the first file system is
    /// number 0 and has no name.
    #[must_use]
    pub fn volume_number(&self, name: &str) -> Option<u8> {
        let found = self.volumes().iter().position(|volume| volume.name == name);
        found.and_then(|index| u8::try_from(index + 1).ok())
    }
}

/// Rejects the name of a volume that no machine has.
pub(crate) fn volume_exists(
    name: Option<&String>,
    field: &str,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let Some(name) = name else {
        return Ok(());
    };
    let Some(local) = all.local() else {
        let message = "it has an effect on local file systems only: kind = \"parallel\"; leave it \
                       out";
        return Err(at.error(field, message));
    };
    let known: Vec<&str> = local
        .machine
        .volumes()
        .iter()
        .map(|volume| volume.name.as_str())
        .collect();
    match known.as_slice() {
        [] => Err(at.error(
            field,
            "the machine has one file system: leave it out, or give a [[machine.volume]] of that \
             name",
        )),
        known if known.contains(&name.as_str()) => Ok(()),
        known => {
            let message = format!(
                "expected a volume of machine.volume, {}{}",
                names::or(known),
                names::hint(name, known)
            );
            Err(at.error(field, message))
        }
    }
}
