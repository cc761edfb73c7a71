//! `[machine]`: a machine with a local file system. Its parts stand in a file
//! each.

mod allocation;
mod copying;
mod cpu;
mod file_system;
mod journal;
mod main_memory;
mod read_ahead;
mod write_back;

pub use allocation::{Allocation, Mapping};
pub use copying::Copying;
pub use cpu::Cpu;
pub use file_system::FileSystem;
pub use journal::{Journal, JournalMode};
pub use main_memory::MainMemory;
pub use read_ahead::ReadAhead;
pub use write_back::WriteBack;

use crate::declare::section;
use crate::sections::{Device, IoScheduler};

section! {
    /// A machine with a local file system.
    pub struct Machine {
        /// The processor.
        cpu: Cpu = section() aka ["processor"],
        /// What it costs to copy between the page cache and a process.
        copying: Copying = section() aka ["copy"],
        /// Main memory and the page cache in it.
        memory: MainMemory = section() aka ["cache", "page_cache"],
        /// When dirty pages are written, and when their writers must wait.
        write_back: WriteBack = section() aka ["dirty"],
        /// What is read before it is asked for.
        read_ahead: ReadAhead = section(),
        /// The file system.
        file_system: FileSystem = section() aka ["fs"],
        /// The queue of requests for the device.
        io_scheduler: IoScheduler = section(),
        /// What the file system lies on.
        device: Device = section() aka ["disk", "storage"],
    }
}
