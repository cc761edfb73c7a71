//! Checks that a benchmark can run in a directory.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::failure;
use crate::Error;

/// Expected value in the message for a directory that cannot be opened.
pub(super) const EXPECTED: &str = "expected a directory that exists and can be read";

/// File systems that show the kernel's own things: the numbers of linux/magic.h.
const OF_THE_KERNEL: &[(u64, &str)] = &[
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xcafe_4a11, "bpf"),
    (0x1cd1, "devpts"),
    (0x6265_6570, "configfs"),
    (0x5346_4846, "fusectl"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
];

/// Refuses a directory that cannot have files.
///
/// # Errors
/// If it is on a file system of the kernel's own.
pub(super) fn check(path: &Path, directory: &OwnedFd) -> Result<(), Error> {
    let found = rustix::fs::fstatfs(directory).map_err(failure(path, "it cannot be looked at"))?;
    // The type has 32 bits, and is signed on some machines.
    let number = found.f_type as u64 & 0xffff_ffff;
    match OF_THE_KERNEL.iter().find(|(magic, _)| *magic == number) {
        None => Ok(()),
        Some((_, name)) => Err(Error::Unsuitable(format!(
            "{}: {name} is a virtual file system without stored files: expected a directory on \
             the file system to be measured",
            path.display()
        ))),
    }
}
