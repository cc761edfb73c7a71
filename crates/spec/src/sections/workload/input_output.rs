//! `[workload.io]`: how files are opened and called.

use super::IoPriority;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, volume_exists};
use crate::values::{Bytes, Portion, choice};

choice! {
    /// By which calls a process reads and writes.
    pub enum Interface {
        /// read, write, pread, pwrite.
        SystemCall = "system-call",
        /// fread, fwrite, fgetc, fputc of the C library, with its buffer.
        Library = "library",
        /// Loads and stores in a mapping (mmap).
        Mapped = "mapped",
    }
}

section! {
    /// Options for opening and accessing files; only with `kind = "local"` or a
    /// `[clients.machine]`, and in part with a `[servers.machine]`. There, `existing`, `cached` and
    /// `made_by` hold for the servers' file systems, and `synchronous` for them too.
    pub struct InputOutput {
        /// By which calls it reads and writes.
        interface: Interface = default("system-call", "IOR's POSIX interface") aka ["api"],
        /// The buffer of the C library (setvbuf): smaller requests are gathered in it, larger ones
        /// bypass it.
        buffer: Bytes = default("4 KiB", "st_blksize of Linux's local file systems, which glibc takes"),
        /// If true, I/O bypasses the page cache (O_DIRECT).
        direct: bool = default(false, "files are opened without O_DIRECT"),
        /// If true, a write returns only when the device has it (O_SYNC).
        synchronous: bool = default(false, "files are opened without O_SYNC") aka ["sync"],
        /// The priority of its reads and of the writes it waits for (ionice), such as "best-effort
        /// 0", "realtime 4" or "idle". The I/O schedulers `cfq` and `bfq` go by class and level,
        /// `mq-deadline` by class; the others take no notice. Writeback by the kernel has the
        /// kernel's own priority, "best-effort 4".
        priority: IoPriority = default("best-effort 4", "IOPRIO_DEFAULT of a process of nice 0: include/linux/ioprio.h, task_nice_ioprio") aka ["io_priority", "ionice"],
        /// If true, the files are there before the run; they are in any case if they are read
        /// first.
        existing: bool = default(false, "files that are written first are new"),
        /// If true, files that are there are in the page cache when the run begins.
        cached: bool = default(false, "nothing is in the page cache when the run begins") aka ["warm"],
        /// If true, the blocks that say where the data of such files lies (ext2's and ext3's blocks
        /// of pointers) are cached when the run begins. When it is measured they are: the files
        /// were made just before.
        pointers_cached: bool = same(cached),
        /// The size of the calls that made files that are there: it decides the
        /// size of their folios.
        made_by: Bytes = default("1 MiB", "files are copied in large calls"),
        /// If true, a measurement compares read with written data, outside of the timing. A
        /// simulation moves no content, and takes no notice.
        verify: bool = default(false, "what is read is not looked at"),
        /// Part of each block of 4 KiB that a measurement writes as zeros: storage that compresses
        /// saves about as much. A simulation takes no notice.
        compressible: f64 as Portion = default(0.0, "data that does not compress") aka ["compression", "buffer_compress_percentage"],
        /// Part of the blocks of 4 KiB that a measurement writes with the same data, on which
        /// storage that removes duplicates saves. Without this, `compressible` and `verify`, a
        /// process writes the same bytes in each call. A simulation takes no notice.
        duplicates: f64 as Portion = default(0.0, "no block is written twice") aka ["dedupe", "dedupe_percentage"],
        /// If true, a measurement reads into and writes from huge pages (MADV_HUGEPAGE), if the
        /// kernel grants some. A direct transfer then is one piece of memory, otherwise up to one
        /// for each page; a virtual disk takes longer for many. A simulation takes each transfer
        /// for one piece.
        huge_pages: bool = default(false, "buffers lie where programs have them that ask for nothing"),
        /// The machine's volume that its files lie on, by its name.
        volume: Option<String> = optional("the machine's first file system"),
    }
    check some_of_it_is_for_local_file_systems;
}

fn some_of_it_is_for_local_file_systems(
    io: &InputOutput,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if io.direct && io.interface != Interface::SystemCall {
        let message = "the C library and mappings go through the page cache: leave it out or \
                       give interface = \"system-call\"";
        return Err(at.error("direct", message));
    }
    if io.synchronous && io.interface == Interface::Mapped {
        let message = "stores in a mapping do not wait: leave it out, or let phases sync";
        return Err(at.error("synchronous", message));
    }
    for (field, size) in [("buffer", io.buffer), ("made_by", io.made_by)] {
        if size.0 == 0 {
            let message = r#"expected a size of more than 0 such as "4 KiB""#;
            return Err(at.error(field, message));
        }
    }
    volume_exists(io.volume.as_ref(), "volume", all, at)?;
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let of_processes = [
        ("interface", io.interface != Interface::SystemCall),
        ("direct", io.direct),
        ("priority", io.priority != IoPriority::default()),
    ];
    let cached = all.clients.machine().is_some();
    let refused = |(field, given): &&(&str, bool)| *given && (!cached || *field == "priority");
    if let Some((field, _)) = of_processes.iter().find(refused) {
        let message = "it has an effect on local file systems only: kind = \"parallel\"; leave it \
                       out";
        return Err(at.error(field, message));
    }
    let of_files = [
        ("synchronous", io.synchronous),
        ("existing", io.existing),
        ("cached", io.cached),
    ];
    if let Some((field, _)) = of_files.iter().find(|(_, given)| *given)
        && parallel.servers.machine().is_none()
        && !(cached && *field != "cached")
    {
        let message = "it has an effect where there are local file systems only: leave it out, or \
                       give the servers a [servers.machine]";
        return Err(at.error(field, message));
    }
    Ok(())
}
