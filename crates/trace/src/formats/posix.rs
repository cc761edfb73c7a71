//! Calls of POSIX and of the C library, as tracers name them, made into records.
//!
//! The formats that print a call with its arguments share this: they differ in how they print.
//! Positions follow open, read, write and lseek by descriptor, or by file where a tracer prints the
//! file in place of the descriptor. They do not follow fork and append.

use rustc_hash::FxHashMap;

use super::collected::Collected;
use crate::operation::At;
use crate::{Flags, Kind, Operation, Record};

static OTHER_CALL: Kind = Kind::left_out("call that is no file operation");
static FAILED: Kind = Kind::left_out("failed call on a descriptor");
static STATE: Kind = Kind::left_out("call that changes or queries descriptors alone");
static MAPPED: Kind = Kind::left_out("mmap");
static IO_URING: Kind =
    Kind::left_out("io_uring_enter, io_submit: the trace does not show their requests");
static COPIED: Kind = Kind::left_out("copy between two descriptors");
static BUFFERED: Kind =
    Kind::left_out("call of the C library whose bytes the trace does not report");
static PIPE: Kind = Kind::left_out("pipe");
static SOCKET: Kind = Kind::left_out("socket");
static DEVICE: Kind = Kind::left_out("terminal or device");
static KERNEL: Kind = Kind::left_out("file made by the kernel (/proc, /sys)");
static ANONYMOUS: Kind = Kind::left_out("anonymous descriptor");
static INHERITED: Kind = Kind::assumed("descriptor opened before the trace: offset from 0");
static ASKED: Kind = Kind::assumed("bytes as asked for: the trace does not report the result");
static APPENDED: Kind = Kind::assumed("append: offset from the last known end");
static END: Kind = Kind::assumed("seek from the end: offset from the last known end");

/// How the arguments of a call make a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    /// `creat`
    Create,
    /// `opendir`
    OpenDirectory,
    Close,
    Read,
    Write,
    Seek,
    /// On a descriptor.
    OnDescriptor(Operation),
    /// On a path, or on a descriptor where there is none.
    OnPath(Operation),
    /// A sync of the data alone.
    DataSync,
    /// `sync_file_range`
    RangeSync,
    Duplicate,
    /// None of the operations.
    Other(&'static Kind),
}

/// The call with this name.
pub(super) fn call(name: &str) -> Call {
    use Operation as O;
    // __xstat64, fopen64, pread64, newfstat
    let plain = name.strip_prefix("__").unwrap_or(name);
    let plain = plain.strip_suffix("64").unwrap_or(plain);
    match plain {
        "open" | "openat" | "openat2" | "fopen" | "freopen" => Call::Open,
        "creat" => Call::Create,
        "opendir" => Call::OpenDirectory,
        "close" | "fclose" | "closedir" => Call::Close,
        "read" | "readv" | "pread" | "preadv" | "preadv2" | "fread" => Call::Read,
        "write" | "writev" | "pwrite" | "pwritev" | "pwritev2" | "fwrite" => Call::Write,
        "lseek" | "llseek" | "_llseek" | "fseek" | "fseeko" => Call::Seek,
        "fdatasync" => Call::DataSync,
        "sync_file_range" => Call::RangeSync,
        "ftruncate" => Call::OnDescriptor(O::Truncate),
        "truncate" => Call::OnPath(O::Truncate),
        "fallocate" | "posix_fallocate" => Call::OnDescriptor(O::Allocate),
        "rename" | "renameat" | "renameat2" => Call::OnPath(O::Rename),
        // Names of the C library.
        "newfstat" | "fxstat" => Call::OnDescriptor(O::Stat),
        "newstat" | "newlstat" | "fstatat" | "xstat" | "lxstat" | "fxstatat" => {
            Call::OnPath(O::Stat)
        }
        "futimens" => Call::OnDescriptor(O::Setattr),
        "fstatvfs" => Call::OnDescriptor(O::Statfs),
        "statvfs" => Call::OnPath(O::Statfs),
        "remove" => Call::OnPath(O::Unlink),
        "xmknod" | "xmknodat" => Call::OnPath(O::Create),
        "readdir" => Call::OnDescriptor(O::Readdir),
        "dup" | "dup2" | "dup3" => Call::Duplicate,
        "mmap" => Call::Other(&MAPPED),
        "io_uring_enter" | "io_submit" => Call::Other(&IO_URING),
        "sendfile" | "copy_file_range" | "splice" | "tee" => Call::Other(&COPIED),
        "fprintf" | "vfprintf" | "fscanf" | "fgets" | "fputs" | "fgetc" | "fputc" | "fflush" => {
            Call::Other(&BUFFERED)
        }
        "fcntl" | "flock" | "fdopen" | "fileno" | "ftell" | "ftello" | "rewind" | "chdir"
        | "fchdir" | "umask" | "fadvise" | "fcntl2" | "getcwd" | "rewinddir" | "tmpfile" => {
            Call::Other(&STATE)
        }
        _ => match Operation::of_call(plain.as_bytes()) {
            Some((operation, At::Descriptor(_))) => Call::OnDescriptor(operation),
            Some((operation, At::Path(_) | At::PathIn(_))) => Call::OnPath(operation),
            None => Call::Other(&OTHER_CALL),
        },
    }
}

/// Returns why the target of a descriptor is no file of a file system.
pub(super) fn not_a_file(name: &str) -> Option<&'static Kind> {
    if !name.starts_with('/') {
        return [
            ("pipe:", &PIPE),
            ("socket:", &SOCKET),
            ("anon_inode:", &ANONYMOUS),
        ]
        .into_iter()
        .find(|it| name.starts_with(it.0))
        .map(|it| it.1);
    }
    let under = |directory: &str| {
        name.strip_prefix(directory)
            .is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    if under("/proc") || under("/sys") {
        Some(&KERNEL)
    } else if under("/dev") && !under("/dev/shm") {
        Some(&DEVICE)
    } else {
        None
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) flags: Flags,
    pub(super) creates: bool,
    pub(super) appends: bool,
}

impl Opening {
    /// The flags of `open` as a number, on x86 and ARM.
    pub(super) fn of_number(number: u64) -> Self {
        let has = |bit: u64| number & bit == bit;
        let access = number & 3;
        Self {
            flags: Flags::READ.when(access != 1)
                | Flags::WRITE.when(access == 1 || access == 2)
                | Flags::TRUNCATE.when(has(0o1000))
                | Flags::EXCLUSIVE.when(has(0o200))
                | Flags::SYNCHRONOUS.when(has(0o10000))
                | Flags::DIRECT.when(has(0o40000))
                | Flags::DIRECTORY.when(has(0o200_000)),
            creates: has(0o100),
            appends: has(0o2000),
        }
    }

    /// The flags as words, such as `RDWR|CREAT`, with or without `O_`.
    pub(super) fn of_words(words: &str) -> Self {
        let has = |flag: &str| {
            words
                .split('|')
                .any(|it| it.trim().strip_prefix("O_").unwrap_or(it.trim()) == flag)
        };
        let writes = has("WRONLY") || has("RDWR");
        Self {
            flags: Flags::READ.when(!has("WRONLY"))
                | Flags::WRITE.when(writes)
                | Flags::TRUNCATE.when(has("TRUNC"))
                | Flags::EXCLUSIVE.when(has("EXCL"))
                | Flags::SYNCHRONOUS.when(has("SYNC"))
                | (Flags::SYNCHRONOUS | Flags::DATA_ONLY).when(has("DSYNC"))
                | Flags::DIRECT.when(has("DIRECT"))
                | Flags::DIRECTORY.when(has("DIRECTORY")),
            creates: has("CREAT"),
            appends: has("APPEND"),
        }
    }

    /// The mode of `fopen`, such as `r+`.
    pub(super) fn of_mode(mode: &str) -> Self {
        let first = mode.as_bytes().first().copied();
        let both = mode.contains('+');
        let reads = first == Some(b'r');
        Self {
            flags: Flags::READ.when(reads || both)
                | Flags::WRITE.when(!reads || both)
                | Flags::TRUNCATE.when(first == Some(b'w'))
                | Flags::EXCLUSIVE.when(mode.contains('x')),
            creates: matches!(first, Some(b'w' | b'a')),
            appends: first == Some(b'a'),
        }
    }
}

/// The point from which a seek counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Whence {
    #[default]
    Start,
    Position,
    End,
}

impl Whence {
    pub(super) fn of(text: &str) -> Option<Self> {
        match text {
            "0" | "SET" | "SEEK_SET" => Some(Whence::Start),
            "1" | "CUR" | "SEEK_CUR" => Some(Whence::Position),
            "2" | "END" | "SEEK_END" => Some(Whence::End),
            _ => None,
        }
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The trace does not report it.
    #[default]
    Unknown,
    Value(i64),
    /// Failed, with these flags.
    Failed(Flags),
}

impl Outcome {
    /// Failure with an error of this name, such as `ENOENT`.
    pub(super) fn failed(error: &str) -> Self {
        Outcome::Failed(
            Flags::FAILED
                | Flags::MISSING.when(error == "ENOENT")
                | Flags::EXISTS.when(error == "EEXIST"),
        )
    }
}

/// One call.
#[derive(Clone, Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) time_ns: i64,
    pub(super) duration_ns: i64,
    /// The process, as the records name it.
    pub(super) process: &'a str,
    /// Whose descriptors they are.
    pub(super) owner: u64,
    pub(super) name: &'a str,
    /// The path argument.
    pub(super) path: Option<&'a str>,
    /// The file behind the descriptor argument.
    pub(super) behind: Option<&'a str>,
    /// True if a path argument is there, but not its text.
    pub(super) path_is_hidden: bool,
    /// The other name of a rename, link or symbolic link, in the order of the arguments.
    pub(super) other: Option<&'a str>,
    pub(super) descriptor: Option<i64>,
    pub(super) outcome: Outcome,
    /// Bytes asked for, or the length of a range.
    pub(super) count: u64,
    /// Offset, or the length that a truncation gives.
    pub(super) offset: Option<i64>,
    pub(super) whence: Whence,
    pub(super) opening: Opening,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Descriptor(u64, i64),
    File(u64, u32),
}

#[derive(Clone, Copy, Debug)]
enum Target {
    File(u32),
    Other(&'static Kind),
}

#[derive(Clone, Copy, Debug)]
struct Open {
    target: Target,
    position: u64,
    appends: bool,
    /// True if the trace showed how it was opened.
    is_seen: bool,
    /// True if its name is known.
    is_named: bool,
}

/// The open files of a trace.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: FxHashMap<Key, Open>,
    /// The largest end of each file that is known.
    ends: FxHashMap<u32, u64>,
}

impl Calls {
    /// Makes a record of a call, or counts it; `line` is its text.
    pub(super) fn event(&mut self, event: &Event<'_>, line: &[u8], into: &mut Collected) {
        let call = call(event.name);
        match call {
            Call::Other(kind) => into.count(kind, line),
            Call::Open | Call::Create | Call::OpenDirectory => self.open(call, event, line, into),
            Call::Duplicate => {
                if let (Some(from), Outcome::Value(to)) = (event.descriptor, event.outcome)
                    && let Some(open) = self.open.get(&Key::Descriptor(event.owner, from)).copied()
                {
                    self.open.insert(Key::Descriptor(event.owner, to), open);
                }
                into.count(&STATE, line);
            }
            Call::OnPath(operation) => self.on_path(operation, event, line, into),
            _ => self.on_descriptor(call, event, line, into),
        }
    }

    fn record(
        event: &Event<'_>,
        operation: Operation,
        file: u32,
        range: (u64, u64),
        flags: Flags,
        into: &mut Collected,
    ) {
        let failed = match event.outcome {
            Outcome::Failed(flags) => flags,
            _ => Flags::NONE,
        };
        let record = Record {
            time_ns: event.time_ns,
            duration_ns: event.duration_ns,
            offset: range.0,
            size: range.1,
            process: into.processes.intern(event.process),
            file,
            operation,
            flags: flags | failed,
            other: Record::NO_FILE,
        };
        into.put(record);
    }

    fn open(&mut self, call: Call, event: &Event<'_>, line: &[u8], into: &mut Collected) {
        let opening = match call {
            Call::Create => Opening {
                flags: Flags::WRITE | Flags::TRUNCATE,
                creates: true,
                appends: false,
            },
            Call::OpenDirectory => Opening {
                flags: Flags::READ | Flags::DIRECTORY,
                ..Opening::default()
            },
            _ => event.opening,
        };
        let descriptor = match event.outcome {
            Outcome::Value(value) => Some(Key::Descriptor(event.owner, value)),
            _ => None,
        };
        if let Some(kind) = event.path.and_then(not_a_file) {
            if let Some(key) = descriptor {
                self.insert(key, Target::Other(kind), opening, true, false);
            }
            return into.count(kind, line);
        }
        let file = into.file(event.path, line);
        let operation = if opening.creates {
            Operation::Create
        } else {
            Operation::Open
        };
        Self::record(event, operation, file, (0, 0), opening.flags, into);
        if matches!(event.outcome, Outcome::Failed(_)) {
            return;
        }
        if opening.flags.has(Flags::TRUNCATE) {
            self.ends.insert(file, 0);
        }
        let is_named = event.path.is_some();
        if let Some(key) = descriptor {
            self.insert(key, Target::File(file), opening, is_named, true);
        }
        if is_named {
            // For calls that name the file in place of the descriptor.
            let key = Key::File(event.owner, file);
            self.insert(key, Target::File(file), opening, true, true);
        }
    }

    fn insert(
        &mut self,
        key: Key,
        target: Target,
        opening: Opening,
        is_named: bool,
        is_seen: bool,
    ) {
        self.open.insert(
            key,
            Open {
                target,
                position: 0,
                appends: opening.appends,
                is_seen,
                is_named,
            },
        );
    }

    /// The open file that a call is on. The trace's own name for it overrules an unknown one.
    fn opened(&mut self, event: &Event<'_>, line: &[u8], into: &mut Collected) -> (Key, Open) {
        let kind = event.behind.and_then(not_a_file);
        let key = match event.descriptor {
            Some(descriptor) => Key::Descriptor(event.owner, descriptor),
            None => Key::File(event.owner, into.file(event.behind, line)),
        };
        if let Some(open) = self.open.get_mut(&key) {
            let Target::File(before) = open.target else {
                if kind.is_some() || event.behind.is_none() {
                    return (key, *open);
                }
                return self.inherit(key, kind, event, line, into);
            };
            // perf looks a descriptor up late: an open that the trace shows is surer.
            if kind.is_some() && open.is_seen {
                return (key, *open);
            }
            let named = event.behind.map(|it| into.files.intern(it));
            match named {
                Some(file) if file != before => {
                    if open.is_named {
                        return self.inherit(key, kind, event, line, into);
                    }
                    open.target = Target::File(file);
                    open.is_named = true;
                }
                None if !open.is_named => {
                    into.file(None, line);
                }
                _ => {}
            }
            return (key, *open);
        }
        self.inherit(key, kind, event, line, into)
    }

    fn inherit(
        &mut self,
        key: Key,
        kind: Option<&'static Kind>,
        event: &Event<'_>,
        line: &[u8],
        into: &mut Collected,
    ) -> (Key, Open) {
        let target = match kind {
            Some(kind) => Target::Other(kind),
            None => Target::File(into.file(event.behind, line)),
        };
        let open = Open {
            target,
            position: 0,
            appends: false,
            is_seen: false,
            is_named: event.behind.is_some(),
        };
        self.open.insert(key, open);
        (key, open)
    }

    fn on_descriptor(&mut self, call: Call, event: &Event<'_>, line: &[u8], into: &mut Collected) {
        if matches!(event.outcome, Outcome::Failed(_)) {
            return into.count(&FAILED, line);
        }
        let (key, open) = self.opened(event, line, into);
        if call == Call::Close {
            self.open.remove(&key);
        }
        let file = match open.target {
            Target::File(file) => file,
            Target::Other(kind) => return into.count(kind, line),
        };
        let offset = event.offset.and_then(|it| u64::try_from(it).ok());
        let mut flags = Flags::NONE;
        let (operation, range) = match call {
            Call::Close => (Operation::Close, (0, 0)),
            Call::Read | Call::Write => {
                let operation = match call {
                    Call::Read => Operation::Read,
                    _ => Operation::Write,
                };
                (
                    operation,
                    self.moved(call, (key, open), file, event, line, into),
                )
            }
            Call::Seek => {
                let position = self.sought(open, file, event, line, into);
                if let Some(open) = self.open.get_mut(&key) {
                    open.position = position;
                    open.is_seen = true;
                }
                (Operation::Seek, (position, 0))
            }
            Call::DataSync => {
                flags = Flags::DATA_ONLY;
                (Operation::Sync, (0, 0))
            }
            Call::RangeSync => {
                flags = Flags::RANGE;
                (Operation::Sync, (offset.unwrap_or(0), event.count))
            }
            Call::OnDescriptor(Operation::Truncate) => {
                self.ends.insert(file, offset.unwrap_or(0));
                (Operation::Truncate, (offset.unwrap_or(0), 0))
            }
            Call::OnDescriptor(Operation::Allocate) => {
                (Operation::Allocate, (offset.unwrap_or(0), event.count))
            }
            Call::OnDescriptor(operation) => (operation, (0, 0)),
            _ => return into.count(&OTHER_CALL, line),
        };
        Self::record(event, operation, file, range, flags, into);
    }

    /// Offset and size of a read or write, whose position moves on.
    fn moved(
        &mut self,
        call: Call,
        (key, open): (Key, Open),
        file: u32,
        event: &Event<'_>,
        line: &[u8],
        into: &mut Collected,
    ) -> (u64, u64) {
        let size = match event.outcome {
            Outcome::Value(value) => u64::try_from(value).unwrap_or(0),
            _ => {
                into.count(&ASKED, line);
                event.count
            }
        };
        let given = event.offset.and_then(|it| u64::try_from(it).ok());
        let end = self.ends.get(&file).copied().unwrap_or(0);
        let offset = match given {
            Some(offset) => offset,
            None if open.appends && call == Call::Write => {
                into.count(&APPENDED, line);
                end
            }
            None => {
                if !open.is_seen {
                    into.count(&INHERITED, line);
                }
                open.position
            }
        };
        let after = offset.saturating_add(size);
        if given.is_none()
            && let Some(open) = self.open.get_mut(&key)
        {
            open.position = after;
        }
        if after > end {
            self.ends.insert(file, after);
        }
        (offset, size)
    }

    fn sought(
        &self,
        open: Open,
        file: u32,
        event: &Event<'_>,
        line: &[u8],
        into: &mut Collected,
    ) -> u64 {
        if let Outcome::Value(value) = event.outcome
            && !event.name.starts_with('f')
        {
            return u64::try_from(value).unwrap_or(0);
        }
        let base = match event.whence {
            Whence::Start => 0,
            Whence::Position => open.position,
            Whence::End => {
                into.count(&END, line);
                self.ends.get(&file).copied().unwrap_or(0)
            }
        };
        base.saturating_add_signed(event.offset.unwrap_or(0))
    }

    fn on_path(
        &mut self,
        operation: Operation,
        event: &Event<'_>,
        line: &[u8],
        into: &mut Collected,
    ) {
        let has_descriptor = event.descriptor.is_some() || event.behind.is_some();
        if event.path.is_none() && !event.path_is_hidden && has_descriptor {
            return self.on_descriptor(Call::OnDescriptor(operation), event, line, into);
        }
        if let Some(kind) = event.path.and_then(not_a_file) {
            return into.count(kind, line);
        }
        // A link's record names the new file, as that of a symbolic link.
        let is_link = matches!(operation, Operation::Link | Operation::Symlink);
        let (name, other) = match is_link {
            true => (event.other, event.path),
            false => (event.path, event.other),
        };
        let file = into.file(name, line);
        let second = other.map_or(Record::NO_FILE, |it| into.files.intern(it));
        let mut range = (0, 0);
        if operation == Operation::Truncate {
            range.0 = event
                .offset
                .and_then(|it| u64::try_from(it).ok())
                .unwrap_or(0);
            self.ends.insert(file, range.0);
        }
        let failed = match event.outcome {
            Outcome::Failed(flags) => flags,
            _ => Flags::NONE,
        };
        let record = Record {
            time_ns: event.time_ns,
            duration_ns: event.duration_ns,
            offset: range.0,
            size: range.1,
            process: into.processes.intern(event.process),
            file,
            operation,
            flags: failed,
            other: second,
        };
        into.put(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_are_known_in_all_their_forms() {
        assert_eq!(call("open64"), Call::Open);
        assert_eq!(call("__xstat64"), Call::OnPath(Operation::Stat));
        assert_eq!(call("__fxstat"), Call::OnDescriptor(Operation::Stat));
        assert_eq!(call("pwrite64"), Call::Write);
        assert_eq!(call("getdents64"), Call::OnDescriptor(Operation::Readdir));
        assert_eq!(call("brk"), Call::Other(&OTHER_CALL));
        assert_eq!(call(""), Call::Other(&OTHER_CALL));
    }

    #[test]
    fn flags_of_open_are_known_in_all_their_forms() {
        let written = Opening {
            flags: Flags::WRITE | Flags::TRUNCATE,
            creates: true,
            appends: false,
        };
        assert_eq!(Opening::of_number(0o1101), written);
        assert_eq!(Opening::of_words("WRONLY|O_CREAT|TRUNC|CLOEXEC"), written);
        assert_eq!(Opening::of_mode("w"), written);
        let read = Opening {
            flags: Flags::READ,
            ..Opening::default()
        };
        assert_eq!(Opening::of_number(0), read);
        assert_eq!(Opening::of_words("RDONLY"), read);
        assert_eq!(Opening::of_words(""), read);
        assert_eq!(Opening::of_mode("rb"), read);
        assert!(Opening::of_mode("a+").appends);
    }
}
