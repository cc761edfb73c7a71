//! The system calls that the reader understands, beside those of [`Operation::of_call`]. To add
//! one, add a line.

use super::kinds;
use crate::Kind;
use crate::Operation::{self, *};
pub(super) use crate::operation::At;

/// Kind of a call with respect to file operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Opens a path with flags; `creat` has none.
    Open {
        at: At,
        flags: Option<usize>,
    },
    /// Opens a file that only its result names.
    OpenHandle,
    /// Makes a descriptor that is no file.
    NewDescriptor(&'static Kind),
    /// Makes two of them, whose numbers are in a list argument.
    NewPair {
        kind: &'static Kind,
        list: usize,
    },
    /// recvmsg: may bring descriptors.
    Receive,
    Close,
    CloseRange,
    /// Reads or writes at the file's position, or at that of an argument.
    Transfer {
        operation: Operation,
        position: Option<usize>,
    },
    /// Moves bytes between descriptors; each with the argument that holds its
    /// position, if it has one.
    Copy {
        from: (usize, Option<usize>),
        to: (usize, Option<usize>),
    },
    Seek {
        whence: usize,
    },
    /// Makes the result (or the second argument) share the first's position.
    Duplicate,
    Control,
    /// flock
    Lock,
    /// ioctl, for close-on-exec and clones.
    Device,
    /// Looks at or changes a name, a directory or attributes.
    Metadata {
        operation: Operation,
        at: At,
    },
    /// A range: offset and length are the arguments at and after a position.
    Range {
        operation: Operation,
        offset: usize,
    },
    Truncate {
        at: At,
        length: usize,
    },
    Rename {
        old: At,
        new: At,
    },
    ChangeDirectory {
        at: At,
    },
    CurrentDirectory,
    Fork,
    Execute,
    /// unshare
    Unshare,
    Map,
    /// io_submit
    Submit,
    /// Known, and nothing that a record can hold.
    LeftOut(&'static Kind),
    /// fdatasync
    SyncData,
    /// Passes something between processes, or waits.
    Message(Message),
}

/// Kind of a call that passes something between processes, or waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Moves bytes through a socket.
    Socket(Operation),
    /// Waits for the end of a child.
    Child,
    Futex,
    /// Waits until descriptors have something to read.
    Poll,
    Sleep,
}

/// Classifies a call; none if it is no file operation.
pub(super) fn call(name: &[u8]) -> Option<Call> {
    use At::{Descriptor, Path, PathIn};
    use Call::*;
    Some(match name {
        b"open" => Open {
            at: Path(0),
            flags: Some(1),
        },
        b"creat" => Open {
            at: Path(0),
            flags: None,
        },
        b"openat" | b"openat2" => Open {
            at: PathIn(1),
            flags: Some(2),
        },
        b"open_by_handle_at" => OpenHandle,
        b"socket" | b"accept" | b"accept4" => NewDescriptor(&kinds::SOCKET),
        b"memfd_create"
        | b"memfd_secret"
        | b"eventfd"
        | b"eventfd2"
        | b"epoll_create"
        | b"epoll_create1"
        | b"timerfd_create"
        | b"signalfd"
        | b"signalfd4"
        | b"inotify_init"
        | b"inotify_init1"
        | b"fanotify_init"
        | b"userfaultfd"
        | b"perf_event_open"
        | b"io_uring_setup"
        | b"pidfd_open"
        | b"pidfd_getfd"
        | b"landlock_create_ruleset"
        | b"fsopen"
        | b"fsmount"
        | b"fspick"
        | b"open_tree"
        | b"mq_open"
        | b"bpf" => NewDescriptor(&kinds::ANONYMOUS),
        b"pipe" | b"pipe2" => NewPair {
            kind: &kinds::PIPE,
            list: 0,
        },
        b"socketpair" => NewPair {
            kind: &kinds::SOCKET,
            list: 3,
        },
        b"recvmsg" | b"recvmmsg" | b"recvmmsg_time64" => Call::Receive,
        b"close" => Close,
        b"close_range" => CloseRange,

        b"read" | b"readv" => Transfer {
            operation: Read,
            position: None,
        },
        b"write" | b"writev" => Transfer {
            operation: Write,
            position: None,
        },
        b"pread64" | b"pread" | b"preadv" | b"preadv2" => Transfer {
            operation: Read,
            position: Some(3),
        },
        b"pwrite64" | b"pwrite" | b"pwritev" | b"pwritev2" => Transfer {
            operation: Write,
            position: Some(3),
        },
        b"sendfile" | b"sendfile64" => Copy {
            from: (1, Some(2)),
            to: (0, None),
        },
        b"copy_file_range" | b"splice" => Copy {
            from: (0, Some(1)),
            to: (2, Some(3)),
        },
        b"lseek" => Seek { whence: 2 },
        b"_llseek" => Seek { whence: 3 },

        b"dup" | b"dup2" | b"dup3" => Duplicate,
        b"fcntl" | b"fcntl64" => Control,
        b"flock" => Lock,
        b"ioctl" => Device,

        b"fdatasync" => SyncData,
        b"sync_file_range" => Range {
            operation: Sync,
            offset: 1,
        },
        b"sync_file_range2" => Range {
            operation: Sync,
            offset: 2,
        },
        b"fallocate" => Range {
            operation: Allocate,
            offset: 2,
        },
        b"sync" | b"syncfs" => LeftOut(&kinds::WHOLE_SYSTEM),
        b"msync" => LeftOut(&kinds::MEMORY_SYNC),
        b"readahead" | b"fadvise64" | b"fadvise64_64" | b"arm_fadvise64_64" => {
            LeftOut(&kinds::ADVICE)
        }
        b"ftruncate" | b"ftruncate64" => Truncate {
            at: Descriptor(0),
            length: 1,
        },
        b"truncate" | b"truncate64" => Truncate {
            at: Path(0),
            length: 1,
        },

        b"rename" => Rename {
            old: Path(0),
            new: Path(1),
        },
        b"renameat" | b"renameat2" => Rename {
            old: PathIn(1),
            new: PathIn(3),
        },

        b"chdir" => ChangeDirectory { at: Path(0) },
        b"fchdir" => ChangeDirectory { at: Descriptor(0) },
        b"getcwd" => CurrentDirectory,
        b"fork" | b"vfork" | b"clone" | b"clone2" | b"clone3" => Fork,
        b"execve" | b"execveat" => Execute,
        b"unshare" => Unshare,
        b"mmap" | b"mmap2" => Map,
        b"io_submit" => Submit,
        b"io_getevents" | b"io_pgetevents" | b"io_pgetevents_time64" => LeftOut(&kinds::COMPLETION),
        b"io_uring_enter" => LeftOut(&kinds::IO_URING),

        b"recvfrom" | b"recv" => Message(self::Message::Socket(Read)),
        b"sendto" | b"send" | b"sendmsg" => Message(self::Message::Socket(Write)),
        b"wait4" | b"waitpid" | b"waitid" => Message(self::Message::Child),
        b"futex" | b"futex_time64" => Message(self::Message::Futex),
        b"poll" | b"ppoll" | b"ppoll_time64" | b"select" | b"_newselect" | b"pselect6"
        | b"epoll_wait" | b"epoll_pwait" | b"epoll_pwait2" => Message(self::Message::Poll),
        b"nanosleep" | b"clock_nanosleep" | b"pause" | b"rt_sigsuspend" | b"rt_sigtimedwait" => {
            Message(self::Message::Sleep)
        }
        // unlinkat removes a directory with AT_REMOVEDIR; the reader looks.
        _ => {
            let (operation, at) = Operation::of_call(name)?;
            Metadata { operation, at }
        }
    })
}

impl Call {
    /// Returns true if the call may give records: then those that begin after it have to wait until
    /// it ends.
    pub(super) fn gives_records(self) -> bool {
        use Call::*;
        matches!(
            self,
            Open { .. }
                | OpenHandle
                | Close
                | CloseRange
                | Transfer { .. }
                | Copy { .. }
                | Seek { .. }
                | Metadata { .. }
                | Range { .. }
                | Truncate { .. }
                | Rename { .. }
                | Lock
                | Control
                | Submit
                | SyncData
        )
    }

    /// Returns true if the call concerns open descriptors alone, not paths.
    pub(super) fn is_on_descriptor(self) -> bool {
        use Call::*;
        match self {
            Close | CloseRange | Transfer { .. } | Copy { .. } | Seek { .. } | Range { .. } => true,
            Duplicate | Control | Lock | Device | SyncData => true,
            Metadata { at, .. } | Truncate { at, .. } => matches!(at, At::Descriptor(_)),
            _ => false,
        }
    }
}
