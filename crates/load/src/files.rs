//! The files of a workload: their names, and those that a process has open.

use std::collections::HashMap;
use std::ffi::CString;

use headrace_spec::InputOutput;
use headrace_workload::{Application, NameSets, Named};
use rustix::fs::{Mode, OFlags};

use crate::calls::{Calls, Handle, Result};

/// Most files that a process holds open; with more, one is closed before another is opened, outside
/// of the timing.
pub const MOST_OPEN: usize = 64;

/// File names and open flags shared by all processes of a workload.
#[derive(Clone, Debug)]
pub struct Names {
    workload: usize,
    files: u32,
    in_each: u32,
    sets: NameSets,
    /// True if the workload makes directories of numbered files itself, and closes files that it
    /// makes.
    pub makes_directories: bool,
    pub closes: bool,
}

impl Names {
    /// The names of a workload's files.
    pub fn new(workload: usize, application: &dyn Application) -> Names {
        let files = application.files().max(1);
        let in_each = application.files_in_a_directory().unwrap_or(files).max(1);
        let mut firsts = (0..files).step_by(in_each as usize);
        Names {
            workload,
            files,
            in_each,
            sets: application.name_sets(),
            makes_directories: firsts.any(|first| application.makes_directory_of(first)),
            closes: application.closes_what_it_makes(),
        }
    }

    /// A file's path in the benchmark's directory.
    pub fn path(&self, file: u32) -> CString {
        let directory = file / self.in_each;
        text(format!("hr-w{}/hr-d{directory}/hr-f{file}", self.workload))
    }

    /// The path of what belongs to a file: its name and a word.
    pub fn beside(&self, file: u32, word: &str) -> CString {
        let directory = file / self.in_each;
        text(format!(
            "hr-w{}/hr-d{directory}/hr-f{file}.{word}",
            self.workload
        ))
    }

    /// The path of the directory that a file lies in, or of the one that a number stands for.
    pub fn directory(&self, file: u32) -> CString {
        match self.sets.named(file) {
            Named::Directory(number) | Named::Made(number) => text(self.in_a_set(number)),
            _ => text(format!("hr-w{}/hr-d{}", self.workload, file / self.in_each)),
        }
    }

    /// The first file of the directory that a file lies in, or the number of a directory.
    pub fn first_beside(&self, file: u32) -> u32 {
        match self.sets.named(file) {
            Named::Directory(_) => file,
            _ => file / self.in_each * self.in_each,
        }
    }

    /// The path of the symbolic link that a number stands for, if it was there before the run.
    pub fn symbolic_link(&self, file: u32) -> Option<CString> {
        let Named::SymbolicLink(number) = self.sets.named(file) else {
            return None;
        };
        let directory = match self.sets.directory_of(number) {
            Some(directory) => self.in_a_set(directory),
            None => format!("hr-w{}/hr-d0", self.workload),
        };
        Some(text(format!("{directory}/hr-l{number}")))
    }

    /// Meaning of a number.
    pub fn named(&self, file: u32) -> Named {
        self.sets.named(file)
    }

    /// The directories that processes make names in together.
    pub fn shared_directories(&self) -> impl Iterator<Item = CString> {
        let all = 0..if self.sets.made > 0 {
            self.sets.directories
        } else {
            0
        };
        all.map(|directory| text(self.in_a_set(directory)))
    }

    /// Returns true if processes make names in the same directories.
    pub fn are_shared(&self) -> bool {
        self.sets.made > 0
    }

    /// Returns true if a process uses names that others have made.
    pub fn may_be_others(&self) -> bool {
        self.sets.any
    }

    fn in_a_set(&self, directory: u32) -> String {
        let set = self.sets.set_of(directory);
        format!("hr-w{}/hr-s{set}/hr-d{directory}", self.workload)
    }

    /// A directory of a process's own, for names that it makes and removes.
    pub fn own(&self, rank: u32) -> CString {
        text(format!("hr-w{}/hr-o{rank}", self.workload))
    }

    /// The workload's directory and those in it that it does not make itself, each behind the
    /// one that it is in.
    pub fn directories(&self, application: &dyn Application) -> impl Iterator<Item = CString> {
        let of = self.workload;
        let firsts = (0..self.files).step_by(self.in_each as usize);
        let inner = firsts.filter(|first| !application.makes_directory_of(*first));
        let inner = inner.map(|first| self.directory(first));
        let sets = 0..self.sets.sets.min(self.sets.directories);
        let sets = sets.map(move |set| text(format!("hr-w{of}/hr-s{set}")));
        let in_sets = 0..self.sets.directories;
        let in_sets = in_sets.map(|directory| text(self.in_a_set(directory)));
        std::iter::once(text(format!("hr-w{of}")))
            .chain(inner)
            .chain(sets)
            .chain(in_sets)
    }

    /// The symbolic links that are there before the run.
    pub fn symbolic_links(&self) -> impl Iterator<Item = CString> {
        let all = 0..self.sets.symbolic_links;
        all.filter_map(|number| self.symbolic_link(self.sets.symbolic_link(number)))
    }
}

/// A path of letters, digits and slashes.
fn text(path: String) -> CString {
    CString::new(path).unwrap_or_default()
}

/// The files that a process has open.
#[derive(Debug, Default)]
pub struct OpenFiles {
    open: HashMap<(u32, OFlags), Handle>,
}

impl OpenFiles {
    /// A file that is open so.
    pub fn open(&self, file: u32, flags: OFlags) -> Option<Handle> {
        self.open.get(&(file, flags)).map(Handle::clone)
    }

    /// An opened file stays open.
    ///
    /// # Errors
    /// If another could not be closed for it.
    pub fn keep(
        &mut self,
        calls: &mut dyn Calls,
        file: u32,
        flags: OFlags,
        handle: Handle,
    ) -> Result<()> {
        if self.open.len() >= MOST_OPEN
            && let Some(&other) = self.open.keys().next()
            && let Some(handle) = self.open.remove(&other)
        {
            calls.close(handle)?;
        }
        self.open.insert((file, flags), handle);
        Ok(())
    }

    /// A handle of a file, however it was opened, which is open no more for others; not that
    /// of its directory.
    pub fn take(&mut self, file: u32) -> Option<Handle> {
        let opened = |key: &&(u32, OFlags)| key.0 == file && key.1 != DIRECTORY;
        let key = *self.open.keys().find(opened)?;
        self.open.remove(&key)
    }

    /// Closes a file, as its name is about to go.
    pub fn forget(&mut self, file: u32) {
        while self.take(file).is_some() {}
    }
}

/// Files are made for their owner and readable by all, as with `umask 022`.
pub const MODE: Mode = Mode::from_raw_mode(0o644);

/// Open flags of files to be written and read.
pub const WRITING: OFlags = OFlags::RDWR.union(OFlags::CREATE);

/// Open flags of directories to be listed.
pub const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Returns the open flags of a workload beyond reading or writing.
pub fn flags(io: &InputOutput) -> OFlags {
    let mut flags = OFlags::empty();
    flags.set(OFlags::DIRECT, io.direct);
    flags.set(OFlags::SYNC, io.synchronous);
    flags
}
