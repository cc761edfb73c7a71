//! `[[machine.volume]]`: further file systems of a machine.

use super::file_system::journal_fits;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Device, FileSystem, IoScheduler, Scenario};

section! {
    /// A file system besides the machine's first, on a device of its own. The
    /// volumes share processor, main memory and the limits of dirty data; each has
    /// an equal part of the page cache. A workload says by name on which its files
    /// lie.
    pub struct Volume {
        /// Name for use in workloads.
        name: String = required("data"),
        /// The file system; what a preset says holds for the machine's first.
        file_system: FileSystem = section() aka ["fs"],
        /// The queue of requests for the device; of an array that the operating
        /// system makes, one for each member.
        io_scheduler: IoScheduler = section(),
        /// Device of the file system.
        device: Device = section() aka ["disk", "storage"],
    }
    check name_is_its_own_and_journal_fits;
}

fn name_is_its_own_and_journal_fits(
    volume: &Volume,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if volume.name.is_empty() {
        return Err(at.error("name", r#"expected a name such as "data""#));
    }
    let volumes = all.local().map_or(&[][..], |local| local.machine.volumes());
    let same = volumes.iter().filter(|other| other.name == volume.name);
    if same.count() > 1 {
        return Err(at.error("name", "expected a name that no other volume has"));
    }
    journal_fits(&volume.file_system, &volume.device, at)
}
