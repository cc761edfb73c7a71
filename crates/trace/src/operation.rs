/// Group of an [`Operation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Concerns a file's content.
    Data,
    /// Concerns names, attributes and directories.
    Metadata,
    /// Changes the state of the calling process alone.
    Local,
    /// Passes between processes, or lets time pass; concerns no file.
    Process,
}

impl Group {
    /// Returns its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Group::Data => "data",
            Group::Metadata => "metadata",
            Group::Local => "local",
            Group::Process => "process",
        }
    }
}

/// Position of the file among a system call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// An open descriptor.
    Descriptor(usize),
    /// A path, relative to the current directory.
    Path(usize),
    /// A path, relative to the directory in the argument before; if it is
    /// empty or NULL, that descriptor itself.
    PathIn(usize),
}

/// Declares the operations: variant, name in files and tables, group, whether it carries bytes, and
/// its system calls. Each of these calls is this operation on one file and no more. To add an
/// operation, add a line.
macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $group:ident, $bytes:literal
        $({ $($at:ident($argument:literal): $($call:literal),+;)+ })?;)*) => {
        /// A file operation, in the words of the POSIX calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        #[repr(u8)]
        pub enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// All operations; an operation's position is its [`code`](Self::code).
            pub const ALL: &[Operation] = &[$(Operation::$variant,)*];

            /// The name used in files, tables and messages.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name,)* }
            }

            /// Returns its operation group.
            #[must_use]
            pub fn group(self) -> Group {
                match self { $(Operation::$variant => Group::$group,)* }
            }

            /// Returns true if its size is a number of bytes moved to or from the file.
            #[must_use]
            pub fn carries_bytes(self) -> bool {
                match self { $(Operation::$variant => $bytes,)* }
            }

            /// System calls that are an operation on one file, by their names.
            pub const CALLS: &[&[u8]] = &[$($($($($call,)+)+)?)*];

            /// Returns the operation of a system call on one file, and the file's position among
            /// its arguments; None for every call but `CALLS`.
            pub(crate) fn of_call(name: &[u8]) -> Option<(Operation, At)> {
                match name {
                    $($($($($call)|+ => Some((Operation::$variant, At::$at($argument))),)+)?)*
                    _ => None,
                }
            }
        }
    };
}

operations! {
    /// Open an existing file.
    Open, "open", Metadata, false;
    /// Open a file, creating it if it is not there; also make a special file.
    Create, "create", Metadata, false { Path(0): b"mknod"; PathIn(1): b"mknodat"; };
    /// Close a descriptor.
    Close, "close", Metadata, false;
    /// Read bytes.
    Read, "read", Data, true;
    /// Write bytes.
    Write, "write", Data, true;
    /// Move the position within an open file.
    Seek, "seek", Local, false;
    /// Bring written data to stable storage.
    Sync, "sync", Data, false { Descriptor(0): b"fsync"; };
    /// Set a file's length, which is the record's offset.
    Truncate, "truncate", Data, false;
    /// Reserve or release space in a range.
    Allocate, "allocate", Data, false;
    /// Look up a file's attributes or permissions.
    Stat, "stat", Metadata, false {
        Path(0): b"stat", b"lstat", b"stat64", b"lstat64", b"access";
        Descriptor(0): b"fstat", b"fstat64";
        PathIn(1): b"newfstatat", b"fstatat64", b"statx", b"faccessat", b"faccessat2";
    };
    /// Change a file's attributes: mode, owner, times.
    Setattr, "setattr", Metadata, false {
        Path(0): b"chmod", b"chown", b"lchown", b"utime", b"utimes";
        Descriptor(0): b"fchmod", b"fchown";
        PathIn(1): b"fchmodat", b"fchmodat2", b"fchownat", b"futimesat", b"utimensat";
    };
    /// Look up or list extended attributes.
    Getxattr, "getxattr", Metadata, false {
        Path(0): b"getxattr", b"lgetxattr", b"listxattr", b"llistxattr";
        Descriptor(0): b"fgetxattr", b"flistxattr";
    };
    /// Set or remove an extended attribute.
    Setxattr, "setxattr", Metadata, false {
        Path(0): b"setxattr", b"lsetxattr", b"removexattr", b"lremovexattr";
        Descriptor(0): b"fsetxattr", b"fremovexattr";
    };
    /// Look up the state of a file system.
    Statfs, "statfs", Metadata, false { Path(0): b"statfs", b"statfs64"; Descriptor(0): b"fstatfs", b"fstatfs64"; };
    /// Remove a file's name.
    Unlink, "unlink", Metadata, false { Path(0): b"unlink"; PathIn(1): b"unlinkat"; };
    /// Change a file's name; the record holds the old one.
    Rename, "rename", Metadata, false;
    /// Give a file another name; the record holds the new one.
    Link, "link", Metadata, false { Path(1): b"link"; PathIn(3): b"linkat"; };
    /// Make a symbolic link; the record holds the link's name.
    Symlink, "symlink", Metadata, false { Path(1): b"symlink"; PathIn(2): b"symlinkat"; };
    /// Read a symbolic link's target.
    Readlink, "readlink", Metadata, false { Path(0): b"readlink"; PathIn(1): b"readlinkat"; };
    /// Make a directory.
    Mkdir, "mkdir", Metadata, false { Path(0): b"mkdir"; PathIn(1): b"mkdirat"; };
    /// Remove a directory.
    Rmdir, "rmdir", Metadata, false { Path(0): b"rmdir"; };
    /// List a part of a directory.
    Readdir, "readdir", Metadata, false { Descriptor(0): b"getdents", b"getdents64"; };
    /// Lock a range of an open file.
    Lock, "lock", Metadata, false;
    /// Unlock a range of an open file.
    Unlock, "unlock", Metadata, false;
    /// Send to another process. The record's file names a pipe, a socket, a futex, or the start or
    /// end of a process. Its size is the number of bytes or wake-ups.
    Send, "send", Process, false;
    /// Receive bytes or wake-ups from another process; blocks until they are sent.
    Receive, "receive", Process, false;
    /// Let time pass: a sleep, or a wait for something outside the trace.
    Pause, "pause", Process, false;
}

impl Operation {
    /// The operation's position in [`Operation::ALL`].
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The operation with this code, if there is one.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Operation> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The operation with this name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Operation> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// All names, as a list for messages.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<_> = Self::ALL.iter().map(|it| it.name()).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back_to_the_operation() {
        for &operation in Operation::ALL {
            assert_eq!(Operation::from_code(operation.code()), Some(operation));
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
        }
        assert_eq!(Operation::from_code(u8::MAX), None);
        assert_eq!(Operation::from_name("reed"), None);
    }

    #[test]
    fn only_reads_and_writes_carry_bytes() {
        let carrying: Vec<_> = Operation::ALL
            .iter()
            .filter(|it| it.carries_bytes())
            .collect();
        assert_eq!(carrying, [&Operation::Read, &Operation::Write]);
    }
}
