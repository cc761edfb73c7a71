//! What the strace reader skips or assumes.

use crate::Kind;

pub(super) static NOT_A_LINE: Kind = Kind::not_understood("line that is not strace's");
pub(super) static TRUNCATED: Kind = Kind::not_understood("truncated last line");
pub(super) static MALFORMED: Kind = Kind::not_understood("call with unexpected arguments");
pub(super) static RESUMED: Kind = Kind::not_understood("end of a call whose beginning is missing");
pub(super) static UNFINISHED: Kind = Kind::not_understood("call whose end is missing");
pub(super) static UNKNOWN: Kind = Kind::not_understood("descriptor of an unknown file");

pub(super) static OTHER_CALL: Kind = Kind::left_out("call that is no file operation");
pub(super) static PIPE: Kind = Kind::left_out("pipe");
pub(super) static SOCKET: Kind = Kind::left_out("socket");
pub(super) static DEVICE: Kind = Kind::left_out("terminal or device");
pub(super) static KERNEL: Kind = Kind::left_out("file made by the kernel (/proc, /sys)");
pub(super) static ANONYMOUS: Kind = Kind::left_out("anonymous descriptor");
pub(super) static FAILED: Kind = Kind::left_out("failed call on a descriptor");
pub(super) static NOT_RETURNED: Kind = Kind::left_out("call that did not return");
pub(super) static MAPPED: Kind = Kind::left_out("mmap");
pub(super) static ASYNCHRONOUS: Kind = Kind::left_out("asynchronous call");
pub(super) static WHOLE_SYSTEM: Kind = Kind::left_out("sync of a whole file system");

pub(super) static INHERITED: Kind =
    Kind::assumed("descriptor opened before the trace: offset from 0");
pub(super) static APPENDED: Kind =
    Kind::assumed("append to a file of unknown length: offset from the last known end");
pub(super) static RELATIVE: Kind = Kind::assumed("relative path in an unknown directory");
pub(super) static NO_DURATION: Kind = Kind::assumed("call without a duration (no -T): 0");
pub(super) static PARENT: Kind = Kind::assumed("process of an uncertain parent");
pub(super) static UNORDERED: Kind = Kind::assumed("record out of the order of starts");
