//! System calls of which some take far too long: what open-loop figures must show.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use headrace_net::Random;
use rustix::fs::{Mode, OFlags};

use super::{Calls, Handle, Mapping, Posix, Range, Result, Stream};

/// Fraction of the calls that stall.
pub const SHARE: f64 = 0.005;

/// Minimum duration of a stall.
pub const STALL: Duration = Duration::from_millis(20);

/// True if calls stall, one after the other: the same ones in every process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stalls {
    draws: u64,
}

impl Iterator for Stalls {
    type Item = bool;

    fn next(&mut self) -> Option<bool> {
        let mut random = Random::named(0, "stalls", &mut self.draws);
        Some(random.uniform() < SHARE)
    }
}

/// System calls, of which a drawn share begins late. Opening and closing never stalls: both are
/// mostly preparation, which is not timed.
#[derive(Debug)]
pub struct Stalling {
    calls: Posix,
    stalls: Stalls,
}

impl Stalling {
    /// Calls with paths below a directory.
    pub fn new(root: Arc<OwnedFd>) -> Stalling {
        Stalling {
            calls: Posix::new(root),
            stalls: Stalls::default(),
        }
    }

    fn stall(&mut self) {
        if self.stalls.next() == Some(true) {
            thread::sleep(STALL);
        }
    }
}

/// Calls that are passed on, after a stall if one is due.
macro_rules! stalling {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $given:ty;)*) => {
        $(fn $name(&mut self, $($argument: $type),*) -> Result<$given> {
            self.stall();
            self.calls.$name($($argument),*)
        })*
    };
}

impl Calls for Stalling {
    fn open(&mut self, path: &CStr, flags: OFlags, mode: Mode) -> Result<Handle> {
        self.calls.open(path, flags, mode)
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        self.calls.close(file)
    }

    stalling! {
        fn read(file: &Handle, buffer: &mut [u8], offset: u64) -> usize;
        fn write(file: &Handle, buffer: &[u8], offset: u64) -> usize;
        fn sync(file: &Handle) -> ();
        fn sync_all(file: &Handle) -> ();
        fn sync_data(file: &Handle) -> ();
        fn truncate(file: &Handle, length: u64) -> ();
        fn length(file: &Handle) -> u64;
        fn stream(file: &Handle, buffer: usize) -> Stream;
        fn map(file: &Handle, offset: u64, size: usize) -> Mapping;
        fn stat(path: &CStr) -> ();
        fn stat_open(file: &Handle) -> ();
        fn state(path: &CStr) -> ();
        fn state_open(file: &Handle) -> ();
        fn access(path: &CStr) -> ();
        fn attribute(file: &Handle, name: &CStr) -> ();
        fn set_attribute(file: &Handle, name: &CStr, value: &[u8]) -> ();
        fn change_mode(path: &CStr, mode: Mode) -> ();
        fn enter_directory(path: &CStr) -> ();
        fn leave_directory() -> ();
        fn make_directory(path: &CStr) -> ();
        fn remove_directory(path: &CStr) -> ();
        fn list(directory: &Handle) -> usize;
        fn rewind(directory: &Handle) -> ();
        fn symbolic_link(to: &CStr, path: &CStr) -> ();
        fn read_link(path: &CStr) -> ();
        fn link(path: &CStr, new: &CStr) -> ();
        fn unlink(path: &CStr) -> ();
        fn rename(path: &CStr, new: &CStr) -> ();
        fn lock(file: &Handle, range: Range) -> ();
        fn unlock(file: &Handle, range: Range) -> ();
    }
}
