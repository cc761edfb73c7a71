//! Kinds of records that the strace reader skips, and its assumptions.

use crate::Kind;

pub(super) static NOT_A_LINE: Kind = Kind::not_understood("line that is not strace's");
pub(super) static TRUNCATED: Kind = Kind::not_understood("truncated last line");
pub(super) static MALFORMED: Kind = Kind::not_understood("call with unexpected arguments");
pub(super) static RESUMED: Kind = Kind::not_understood("end of a call whose beginning is missing");
pub(super) static UNFINISHED: Kind = Kind::not_understood("call whose end is missing");
pub(super) static UNKNOWN: Kind = Kind::not_understood("descriptor of an unknown file");
pub(super) static UNREADABLE: Kind =
    Kind::not_understood("path that strace could not read (an address)");
pub(super) static HIDDEN_LOCK: Kind =
    Kind::not_understood("lock whose range strace could not read");

pub(super) static OTHER_CALL: Kind = Kind::left_out("call that is no file operation");
pub(super) static PIPE: Kind = Kind::left_out("pipe");
pub(super) static SOCKET: Kind = Kind::left_out("socket");
pub(super) static DEVICE: Kind = Kind::left_out("terminal or device");
pub(super) static KERNEL: Kind = Kind::left_out("file made by the kernel (/proc, /sys)");
pub(super) static ANONYMOUS: Kind = Kind::left_out("anonymous descriptor");
pub(super) static FAILED: Kind = Kind::left_out("failed call on a descriptor");
pub(super) static NOT_RETURNED: Kind = Kind::left_out("call that did not return");
pub(super) static MAPPED: Kind = Kind::left_out("mmap");
pub(super) static IO_URING: Kind =
    Kind::left_out("io_uring_enter: strace does not show its requests");
pub(super) static HIDDEN_REQUEST: Kind =
    Kind::left_out("io_submit: request that strace does not show");
pub(super) static OTHER_REQUEST: Kind = Kind::left_out("io_submit: request that moves no bytes");
pub(super) static COMPLETION: Kind = Kind::left_out("io_getevents: ends of requests");
pub(super) static CLONED: Kind =
    Kind::left_out("clone of a file's blocks (FICLONE, FICLONERANGE, FIDEDUPERANGE)");
pub(super) static MEMORY_SYNC: Kind = Kind::left_out("msync");
pub(super) static LOCK_QUERY: Kind = Kind::left_out("lock query (F_GETLK)");
pub(super) static SYNCHRONOUS_WRITE: Kind =
    Kind::assumed("write with RWF_SYNC or RWF_DSYNC: as one without");
pub(super) static ADVICE: Kind = Kind::left_out("advice to the page cache (readahead, fadvise)");
pub(super) static STATE: Kind =
    Kind::left_out("call that changes descriptors, directories or processes alone");
pub(super) static EVENT: Kind = Kind::left_out("signal, or end of a process");
pub(super) static MESSAGE: Kind = Kind::left_out("message of strace itself");
pub(super) static STACK: Kind = Kind::left_out("stack of a call (-k)");
pub(super) static SUMMARY: Kind = Kind::left_out("line of strace's summary (-c, -C)");
pub(super) static WHOLE_SYSTEM: Kind = Kind::left_out("sync of a whole file system");

pub(super) static INHERITED: Kind =
    Kind::assumed("descriptor opened before the trace: offset from 0");
pub(super) static INHERITED_WRITE: Kind =
    Kind::assumed("descriptor opened before the trace: writes from the file's end");
pub(super) static APPENDED: Kind =
    Kind::assumed("append to a file of unknown length: offset from the last known end");
pub(super) static RELATIVE: Kind = Kind::assumed("relative path in an unknown directory");
pub(super) static NO_DURATION: Kind = Kind::assumed("call without a duration (no -T): 0");
pub(super) static NO_TIME: Kind = Kind::assumed("call without a time (no -t, no -r): 0");
pub(super) static SUBMITTED: Kind =
    Kind::assumed("io_submit: bytes as asked for, duration of the submission alone");
pub(super) static THREAD: Kind =
    Kind::assumed("process that no clone shows: a thread that shares descriptors");
pub(super) static SEPARATED: Kind =
    Kind::assumed("such a thread with other files behind its descriptors: a process");
pub(super) static PARENT: Kind = Kind::assumed("process of an uncertain parent");
pub(super) static UNORDERED: Kind = Kind::assumed("record out of the order of starts");
