//! Load files of dbench: the requests of one client to a file server.
//!
//! A line is `[seconds] operation arguments status`, as in
//! `NTCreateX "\clients\client1\a" 0x40 0x1 9935 NT_STATUS_OK` and `WriteX 9935 0 4096 4096
//! NT_STATUS_OK`. Load files of version 3 have no times. Operations of dbench's own file system and
//! SMB back ends are read; those of NFS, iSCSI and SCSI are counted.

use rustc_hash::FxHashMap;

use super::collected::{Collected, LineFormat, LineReader, NO_TIMES, decimal};
use crate::{Flags, Format, Kind, Level, Operation, Record, text};

pub(super) static FORMAT: Format = Format {
    name: "dbench",
    description: "load files of dbench",
    extensions: &["load"],
    level: Level::File,
    sniff,
    open: |input| Ok(LineReader::open(input, Dbench::default())),
    create: None,
};

static COMMENT: Kind = Kind::left_out("comment");
static CONTROL: Kind =
    Kind::left_out("line that controls dbench (LOOP, REPEAT, SLEEP, RANDOMSTRING …)");
static TREE: Kind = Kind::left_out("Deltree: removal of a tree of unknown content");
static UNKNOWN: Kind = Kind::left_out("operation of another back end of dbench");
static RANDOM: Kind = Kind::left_out("offset or length that dbench draws at random");
static HANDLE: Kind = Kind::not_understood("handle that no NTCreateX opened");
static FAILED: Kind = Kind::left_out("failed request on a handle");
static NO_FILE: Kind = Kind::assumed("request for the file system: as of \"/\"");

/// The process of all records.
const PROCESS: &str = "client";

/// Operations by which a load file is recognised.
const KNOWN: [&str; 17] = [
    "deltree",
    "flush",
    "close",
    "lockx",
    "rmdir",
    "mkdir",
    "rename",
    "readx",
    "writex",
    "unlink",
    "unlockx",
    "find_first",
    "set_file_information",
    "query_file_information",
    "query_path_information",
    "query_fs_information",
    "ntcreatex",
];
/// Lines that are no operations.
const CONTROLS: [&str; 8] = [
    "loop",
    "endloop",
    "repeat",
    "sleep",
    "setsp",
    "waitsp",
    "writepattern",
    "randomstring",
];

fn sniff(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| *byte == b'\n')
        .take(200)
        .filter_map(Line::of)
        .any(|line| KNOWN.contains(&line.name.as_str()))
}

struct Line {
    time_ns: Option<i64>,
    /// In lower case: dbench does not report the cases apart.
    name: String,
    arguments: Vec<String>,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Success,
    Failure(Flags),
}

impl Line {
    fn of(line: &[u8]) -> Option<Self> {
        let mut words = words(&text(line)).into_iter().peekable();
        let is_number = |it: &String| it.starts_with(|it: char| it.is_ascii_digit());
        let time_ns = match words.next_if(is_number) {
            Some(stamp) => Some(decimal(stamp.as_bytes(), 9)?),
            None => None,
        };
        let name = words.next()?.to_ascii_lowercase();
        let mut arguments: Vec<_> = words.collect();
        let outcome = match arguments.pop()?.as_str() {
            "NT_STATUS_OK" | "SUCCESS" | "*" => Outcome::Success,
            "ERROR" => Outcome::Failure(Flags::FAILED),
            status => match status.strip_prefix("0x") {
                Some(digits) => match u32::from_str_radix(digits, 16).ok()? {
                    0 => Outcome::Success,
                    code => Outcome::Failure(
                        // NFS3ERR_NOENT, NFS3ERR_EXIST
                        Flags::FAILED
                            | Flags::MISSING.when(code == 2)
                            | Flags::EXISTS.when(code == 17),
                    ),
                },
                None => {
                    let status = status.strip_prefix("NT_STATUS_")?;
                    let missing = ["NOT_FOUND", "NO_SUCH_FILE", "NO_SUCH_DEVICE"];
                    let missing = missing.iter().any(|it| status.ends_with(it));
                    let exists = status == "OBJECT_NAME_COLLISION";
                    Outcome::Failure(
                        Flags::FAILED | Flags::MISSING.when(missing) | Flags::EXISTS.when(exists),
                    )
                }
            },
        };
        Some(Self {
            time_ns,
            name,
            arguments,
            outcome,
        })
    }
}

/// Words, of which one in quotes may hold spaces; paths have `/` for `\`.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.replace('\\', "/"));
        rest = after.trim_start();
    }
    words
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if word.starts_with(|it: char| it.is_ascii_digit()) => word.parse().ok(),
        None => None,
    }
}

#[derive(Default)]
struct Dbench {
    /// Files by handle.
    open: FxHashMap<u64, u32>,
}

impl LineFormat for Dbench {
    const EXPECTED: &'static str = "lines of a load file of dbench such as \
         `0.125 WriteX 9935 0 4096 4096 NT_STATUS_OK`";

    /// No other status begins with these.
    fn is_surely_whole(line: &[u8]) -> bool {
        line.ends_with(b"NT_STATUS_OK") || line.ends_with(b"SUCCESS")
    }

    fn line(&mut self, line: &[u8], into: &mut Collected) -> Option<()> {
        if line.trim_ascii_start().starts_with(b"#") {
            into.count(&COMMENT, line);
            // Comments alone make no load file.
            return Some(());
        }
        let first = words(&text(line)).into_iter().next()?.to_ascii_lowercase();
        if CONTROLS.contains(&first.as_str()) {
            into.count(&CONTROL, line);
            return Some(());
        }
        let parts = Line::of(line)?;
        if !KNOWN.contains(&parts.name.as_str()) {
            // Such as READ3 or WRITE10, which have a status as well
            into.count(&UNKNOWN, line);
            return Some(());
        }
        self.operation(&parts, line, into)
    }
}

impl Dbench {
    fn operation(&mut self, parts: &Line, line: &[u8], into: &mut Collected) -> Option<()> {
        use Operation as O;
        let arguments = &parts.arguments;
        let word = |at: usize| arguments.get(at).map(String::as_str);
        let is_random = |it: &str| it.starts_with('*') || it.starts_with('+');
        if arguments.iter().any(|it| is_random(it)) {
            into.count(&RANDOM, line);
            return Some(());
        }
        let value = |at: usize| word(at).and_then(number);
        let failed = match parts.outcome {
            Outcome::Success => Flags::NONE,
            Outcome::Failure(flags) => flags,
        };
        let mut flags = Flags::NONE;
        let mut range = (0, 0);
        let mut other = Record::NO_FILE;
        let on_handle = match parts.name.as_str() {
            "close" => Some((O::Close, (0, 0))),
            "flush" => Some((O::Sync, (0, 0))),
            "query_file_information" => Some((O::Stat, (0, 0))),
            "set_file_information" => Some((O::Setattr, (0, 0))),
            // The fourth value is what the server returned.
            "readx" => Some((O::Read, (value(1)?, value(3).or(value(2))?))),
            "writex" => Some((O::Write, (value(1)?, value(3).or(value(2))?))),
            "lockx" => Some((O::Lock, (value(1)?, value(2)?))),
            "unlockx" => Some((O::Unlock, (value(1)?, value(2)?))),
            _ => None,
        };
        let (operation, file) = if let Some((operation, moved)) = on_handle {
            let handle = value(0)?;
            if failed != Flags::NONE {
                into.count(&FAILED, line);
                return Some(());
            }
            let Some(&file) = self.open.get(&handle) else {
                into.count(&HANDLE, line);
                return Some(());
            };
            if operation == O::Close {
                self.open.remove(&handle);
            }
            range = moved;
            (operation, file)
        } else {
            let mut path = |at: usize| word(at).map(|it| into.files.intern(it));
            match parts.name.as_str() {
                "ntcreatex" => {
                    let (options, disposition, handle) = (value(1)?, value(2)?, value(3)?);
                    let file = path(0)?;
                    // FILE_CREATE, FILE_OPEN_IF, FILE_OVERWRITE, FILE_OVERWRITE_IF, and 0,
                    // FILE_SUPERSEDE
                    let is_directory = options & 1 != 0;
                    flags = Flags::READ
                        | Flags::WRITE.when(!is_directory)
                        | Flags::DIRECTORY.when(is_directory)
                        | Flags::TRUNCATE.when(matches!(disposition, 0 | 4 | 5))
                        | Flags::EXCLUSIVE.when(disposition == 2 && !is_directory);
                    if failed == Flags::NONE {
                        self.open.insert(handle, file);
                    }
                    match disposition {
                        1 | 4 => (O::Open, file),
                        _ if is_directory => (O::Open, file),
                        _ => (O::Create, file),
                    }
                }
                "query_path_information" => (O::Stat, path(0)?),
                "unlink" => (O::Unlink, path(0)?),
                "mkdir" => (O::Mkdir, path(0)?),
                "rmdir" => (O::Rmdir, path(0)?),
                "rename" => {
                    other = path(1)?;
                    (O::Rename, path(0)?)
                }
                "find_first" => {
                    // A pattern in a directory
                    let pattern = word(0)?;
                    let directory = pattern.rsplit_once('/').map_or(pattern, |it| it.0);
                    (O::Readdir, into.files.intern(directory))
                }
                "query_fs_information" => {
                    into.count(&NO_FILE, line);
                    (O::Statfs, into.files.intern("/"))
                }
                _ => {
                    into.count(&TREE, line);
                    return Some(());
                }
            }
        };
        if parts.time_ns.is_none() {
            into.count(&NO_TIMES, line);
        }
        let record = Record {
            time_ns: parts.time_ns.unwrap_or(0),
            duration_ns: 0,
            offset: range.0,
            size: range.1,
            process: into.processes.intern(PROCESS),
            file,
            operation,
            flags: flags
                | failed
                | Flags::NO_DURATION
                | Flags::UNTIMED.when(parts.time_ns.is_none()),
            other,
        };
        into.put(record);
        Some(())
    }
}
