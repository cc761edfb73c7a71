//! The calls of a step.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, PoisonError};

use headrace_net::{Random, Span};
use headrace_spec::Replay as Pace;
use headrace_trace::{Flags, Operation};
use headrace_workload::gap_ns;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Replay;
use super::plan::Step;
use super::prepare::path;
use super::source::Shared;
use super::tree::Object;
use crate::Error;
use crate::calls::{END_OF_FILES, Handle, Range, Result};
use crate::clock::Nanoseconds;
use crate::files::MODE;
use crate::operation::OpContext;
use crate::process::{self, Process};
use crate::record::Done;

/// The attribute that calls on extended attributes name.
const ATTRIBUTE: &std::ffi::CStr = c"user.headrace";

/// All bytes that a file has.
const WHOLE: Range = Range {
    start: 0,
    length: END_OF_FILES,
};

/// An open file.
#[derive(Clone, Debug)]
struct OpenFile {
    handle: Handle,
    reads: bool,
    writes: bool,
    /// O_DIRECT and O_SYNC, if it was opened so.
    flags: OFlags,
}

/// Open flags that a read or write may need.
const CALL_FLAGS: OFlags = OFlags::DIRECT.union(OFlags::SYNC);

/// Why requests of files opened with O_DIRECT go through the page cache.
const NO_DIRECT: &str = "O_DIRECT, which the file system does not have: it goes through the cache";
const MISALIGNED: &str = "O_DIRECT, for which the file system needs another offset or size: it \
                          goes through the cache";

/// Access mode that a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Reads,
    Writes,
    Any,
}

impl OpenFile {
    fn serves(&self, need: Need) -> bool {
        match need {
            Need::Reads => self.reads,
            Need::Writes => self.writes,
            Need::Any => true,
        }
    }
}

/// A process's open files, by their objects.
#[derive(Default)]
struct Descriptors {
    open: HashMap<Object, Vec<OpenFile>>,
}

/// A step ready to execute.
struct Ready {
    path: CString,
    other: CString,
    file: Option<OpenFile>,
}

impl Ready {
    /// A read or write of a file.
    fn of(file: OpenFile) -> Ready {
        Ready {
            path: CString::default(),
            other: CString::default(),
            file: Some(file),
        }
    }
}

impl Replay {
    /// Runs the steps of a process of a trace, until it or the run is over.
    ///
    /// # Errors
    /// If the trace cannot be read any more, or a call fails for a reason of the file system's
    /// own.
    pub fn run(
        &self,
        process: &mut Process,
        shared: &process::Shared,
    ) -> std::result::Result<(), Error> {
        steps(process, self, shared)
    }
}

fn steps(
    process: &mut Process,
    replay: &Replay,
    shared: &process::Shared,
) -> std::result::Result<(), Error> {
    let mut descriptors = Descriptors::default();
    let over = || shared.is_over();
    let mut pauses = 0;
    let mut random = Random::named(process.rank.into(), "delay", &mut pauses);
    let mut previous_end = None;
    while !over() {
        let Some(step) = replay.next(process.rank)? else {
            break;
        };
        let previous = previous_end.replace(step.record.time_ns + step.record.duration_ns);
        let intended = intended(replay, &step, previous)?;
        let pause = match previous {
            Some(_) => nanoseconds(replay.times.pause(&mut random)),
            None => 0,
        };
        let gap = pause
            + match replay.spec.replay {
                // In both kinds of gaps the real processor is left to others.
                Pace::Paced if previous.is_some() => {
                    (gap_ns(previous, &step.record) as f64 * replay.spec.scale) as Nanoseconds
                }
                _ => 0,
            };
        let until = intended.unwrap_or(0).max(shared.clock.now() + gap);
        if shared.stop_at.is_some_and(|stop| until >= stop) {
            process::wait_for_the_end(shared);
            break;
        }
        shared.clock.wait_until(until, &shared.ends);
        replay.wait(&step, over);
        if over() {
            break;
        }
        let began = shared.clock.now();
        let ready = descriptors.prepare(&mut process.context, replay, &step, process.workload);
        let prepared = shared.clock.now() - began;
        let mut started = shared.clock.now();
        let executed = ready.and_then(|ready| {
            let direct = ready.file.clone();
            let direct = direct.filter(|it| it.flags.contains(OFlags::DIRECT));
            match (execute(&mut process.context, replay, &step, ready), direct) {
                (Err(Errno::INVAL), Some(file)) if step.record.operation.carries_bytes() => {
                    let ready = Ready::of(through_cache(&file)?);
                    replay.leave_out(step.record.operation.name(), MISALIGNED);
                    started = shared.clock.now();
                    execute(&mut process.context, replay, &step, ready)
                }
                (executed, _) => executed,
            }
        });
        let ended = shared.clock.now();
        let name = step.record.operation.name();
        let (moved, opened) = match executed {
            Ok(done) => done,
            // As it was recorded.
            Err(errno) if step.record.failed() && is_of_state(errno) => (0, None),
            // Nothing has such an attribute, which is an answer.
            Err(Errno::NODATA | Errno::OPNOTSUPP)
                if step.record.operation == Operation::Getxattr =>
            {
                (0, None)
            }
            Err(errno) if is_of_state(errno) => {
                let why = std::io::Error::from(errno);
                replay.leave_out(
                    name,
                    &format!("it fails here and did not when recorded: {why}"),
                );
                replay.advance(process.rank);
                continue;
            }
            Err(errno) => {
                return Err(Error::Operation {
                    operation: name,
                    path: format!("w{}, {}", process.workload, step.path),
                    errno,
                });
            }
        };
        descriptors.note(replay, &step, opened)?;
        if moved < step.record.size && step.record.operation.carries_bytes() {
            replay.leave_out(
                name,
                "bytes that were there when it was recorded, and are not here",
            );
        }
        process.record.add(&Done {
            operation: step.number,
            workload: process.workload,
            phase: 0,
            bytes: moved,
            prepared,
            intended: intended.map_or(started, |it| it.min(started)),
            started,
            ended,
        });
        process.progress.add(step.number, 1, moved);
        replay.advance(process.rank);
        shared.one_more_done(ended);
    }
    Ok(())
}

fn nanoseconds(span: Span) -> Nanoseconds {
    span.0 / 1000
}

/// Returns the intended start of a step, if the trace or the scenario gives one.
fn intended(
    replay: &Replay,
    step: &Step,
    previous_end: Option<i64>,
) -> std::result::Result<Option<Nanoseconds>, Error> {
    let spec = &replay.spec;
    let is_first = previous_end.is_none();
    let start = spec.shift.0 + replay.times.start_of(step.record.process).as_seconds();
    let recorded = step.record.time_ns as f64 * 1e-9 * spec.scale;
    let seconds = match spec.replay {
        Pace::Timed => recorded + start,
        Pace::Paced if is_first => recorded + start,
        Pace::Closed if is_first && start > 0.0 => start,
        Pace::Closed | Pace::Paced => return Ok(None),
    };
    if seconds > headrace_spec::Seconds::LONGEST.0 {
        return Err(Error::Unsuitable(format!(
            "{}: a request starts at {seconds} s: expected less than 213 days; check \
             workload.scale and workload.shift",
            spec.file.display()
        )));
    }
    Ok(Some((seconds.max(0.0) * 1e9) as Nanoseconds))
}

/// Returns true if a call failed because names or files are otherwise than expected, and not
/// because the file system is full, broken or gone.
fn is_of_state(errno: Errno) -> bool {
    [
        Errno::NOENT,
        Errno::EXIST,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::NOTEMPTY,
        Errno::BADF,
        Errno::INVAL,
        Errno::LOOP,
        Errno::NODATA,
        Errno::OPNOTSUPP,
        Errno::NXIO,
        Errno::PERM,
        Errno::ACCESS,
        Errno::TXTBSY,
        Errno::BUSY,
        Errno::NAMETOOLONG,
    ]
    .contains(&errno)
}

/// Returns the descriptor that a call needs, if any.
fn needed(step: &Step) -> Option<Need> {
    // Failed steps and opens use the name.
    step.object.filter(|_| !step.record.failed())?;
    Some(match step.record.operation {
        Operation::Open | Operation::Create => return None,
        Operation::Read => Need::Reads,
        Operation::Write | Operation::Truncate | Operation::Lock | Operation::Unlock => {
            Need::Writes
        }
        _ => Need::Any,
    })
}

impl Descriptors {
    /// Prepares a step, so that it can be replayed as it was recorded.
    fn prepare(
        &mut self,
        context: &mut OpContext,
        replay: &Replay,
        step: &Step,
        workload: usize,
    ) -> Result<Ready> {
        if !context.calls.are_real() {
            return Ok(Ready {
                path: path(workload, &step.path),
                other: CString::default(),
                file: needed(step)
                    .map(|_| {
                        let handle = context.calls.open(c".", OFlags::RDONLY, Mode::empty())?;
                        Ok(OpenFile {
                            handle,
                            reads: true,
                            writes: true,
                            flags: OFlags::empty(),
                        })
                    })
                    .transpose()?,
            });
        }
        for made in &step.unseen {
            made.make_up(&context.root, &path(workload, &made.path))?;
        }
        let name = path(workload, &step.path);
        let other = match step.record.operation {
            // The target of a link lies beside it.
            Operation::Symlink => CString::new(step.other.as_str()).unwrap_or_default(),
            _ => path(workload, &step.other),
        };
        let file = match (needed(step), step.object) {
            (Some(need), Some(object)) => {
                let closes = step.record.operation == Operation::Close;
                let own = match closes {
                    true => self.open.get_mut(&object).and_then(Vec::pop),
                    false => self.own(object, need, own_flags(step)),
                };
                Some(match own {
                    Some(own) => own,
                    None => {
                        let opened = another(context, replay, step, object, need, &name)?;
                        if !closes {
                            self.open
                                .entry(object)
                                .or_default()
                                .insert(0, opened.clone());
                        }
                        opened
                    }
                })
            }
            _ => None,
        };
        if let Some(length) = step.length {
            match &file {
                Some(file) if file.writes => rustix::fs::ftruncate(&file.handle, length)?,
                _ => {
                    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let file = rustix::fs::openat(&context.root, &name, flags, Mode::empty())?;
                    rustix::fs::ftruncate(file, length)?;
                }
            }
        }
        Ok(Ready {
            path: name,
            other,
            file,
        })
    }

    fn own(&self, object: Object, need: Need, flags: OFlags) -> Option<OpenFile> {
        let open = self.open.get(&object)?;
        let serves = |it: &&OpenFile| it.serves(need) && it.flags.contains(flags);
        open.iter().rev().find(serves).cloned()
    }

    /// Takes note of a file that was opened.
    fn note(
        &mut self,
        replay: &Replay,
        step: &Step,
        opened: Option<OpenFile>,
    ) -> std::result::Result<(), Error> {
        let (Some(opened), Some(object)) = (opened, step.object) else {
            return Ok(());
        };
        if replay.shared.contains(&object) {
            let descriptor = rustix::io::fcntl_dupfd_cloexec(&opened.handle, 0);
            let descriptor = descriptor.map_err(|errno| Error::Operation {
                operation: "dup",
                path: step.path.clone(),
                errno,
            })?;
            let all = replay.descriptors.lock();
            let mut all = all.unwrap_or_else(PoisonError::into_inner);
            all.insert(
                object,
                Shared {
                    descriptor: Arc::new(descriptor),
                    reads: opened.reads,
                    writes: opened.writes,
                    flags: opened.flags,
                },
            );
        }
        self.open.entry(object).or_default().push(opened);
        Ok(())
    }
}

/// A descriptor that another process has opened, or that was open before the trace.
fn another(
    context: &mut OpContext,
    replay: &Replay,
    step: &Step,
    object: Object,
    need: Need,
    name: &CString,
) -> Result<OpenFile> {
    let shared = {
        let all = replay.descriptors.lock();
        let all = all.unwrap_or_else(PoisonError::into_inner);
        all.get(&object).cloned()
    };
    if let Some(shared) = shared {
        let handle = rustix::io::fcntl_dupfd_cloexec(&*shared.descriptor, 0)?;
        let opened = OpenFile {
            handle: Handle::new(handle),
            reads: shared.reads,
            writes: shared.writes,
            flags: shared.flags,
        };
        if opened.serves(need) && opened.flags.contains(own_flags(step)) {
            return Ok(opened);
        }
    }
    if !step.named {
        return Err(Errno::NOENT);
    }
    let writes = need == Need::Writes;
    let flags = match (step.directory, writes) {
        (true, _) => OFlags::RDONLY | OFlags::DIRECTORY,
        (false, true) => OFlags::RDWR | context.flags | own_flags(step),
        (false, false) => OFlags::RDONLY | context.flags | own_flags(step),
    };
    let (handle, flags) = open(context, replay, step, name, flags)?;
    Ok(OpenFile {
        handle,
        reads: true,
        writes,
        flags,
    })
}

/// O_DIRECT and O_SYNC or O_DSYNC of a read's or write's own record.
fn own_flags(step: &Step) -> OFlags {
    let given = step.record.flags;
    let mut flags = OFlags::empty();
    if step.record.operation.carries_bytes() {
        flags.set(OFlags::DIRECT, given.has(Flags::DIRECT));
        let writes = step.record.operation == Operation::Write;
        flags.set(synchronous(given), writes && given.has(Flags::SYNCHRONOUS));
    }
    flags
}

/// The flag of a synchronous write: O_DSYNC, which O_SYNC contains, if it is of the data alone.
fn synchronous(given: Flags) -> OFlags {
    match given.has(Flags::DATA_ONLY) {
        true => OFlags::DSYNC,
        false => OFlags::SYNC,
    }
}

/// Opens a file; without O_DIRECT if its file system lacks that, which is counted. Gives the flags
/// of `CALL_FLAGS` that it has.
fn open(
    context: &mut OpContext,
    replay: &Replay,
    step: &Step,
    path: &CString,
    flags: OFlags,
) -> Result<(Handle, OFlags)> {
    match context.calls.open(path, flags, MODE) {
        Err(Errno::INVAL) if flags.contains(OFlags::DIRECT) => {
            // The kernel has made the file before it refuses the flag.
            let flags = flags.difference(OFlags::DIRECT | OFlags::EXCL);
            let handle = context.calls.open(path, flags, MODE)?;
            replay.leave_out(step.record.operation.name(), NO_DIRECT);
            Ok((handle, flags.intersection(CALL_FLAGS)))
        }
        handle => Ok((handle?, flags.intersection(CALL_FLAGS))),
    }
}

/// Opens a file once more, for a request that O_DIRECT does not allow.
fn through_cache(file: &OpenFile) -> Result<OpenFile> {
    let mode = match (file.reads, file.writes) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    let flags = file.flags.intersection(OFlags::SYNC);
    let path = format!("/proc/self/fd/{}", file.handle.as_fd().as_raw_fd());
    let opened = rustix::fs::open(path, mode | flags | OFlags::CLOEXEC, Mode::empty())?;
    Ok(OpenFile {
        handle: Handle::new(opened),
        flags,
        ..*file
    })
}

/// Makes the call of a step; returns the bytes that it moved, and the opened file.
fn execute(
    context: &mut OpContext,
    replay: &Replay,
    step: &Step,
    ready: Ready,
) -> Result<(u64, Option<OpenFile>)> {
    let record = &step.record;
    let Ready { path, other, file } = ready;
    if let Operation::Open | Operation::Create = record.operation {
        let (flags, reads, writes) = flags(step, context.flags);
        let (handle, flags) = open(context, replay, step, &path, flags)?;
        let opened = OpenFile {
            handle,
            reads,
            writes,
            flags,
        };
        return Ok((0, Some(opened)));
    }
    let calls = &mut context.calls;
    let open = || file.as_ref().map(|it| &it.handle).ok_or(Errno::BADF);
    let size = usize::try_from(record.size).unwrap_or(usize::MAX);
    match record.operation {
        Operation::Close => {
            if let Some(file) = file {
                calls.close(file.handle)?;
            }
        }
        Operation::Read => {
            // At the end of a file one more byte is requested, and none is read.
            let buffer = context.buffer.bytes_mut(size.max(1));
            let read = calls.read(open()?, buffer, record.offset)?;
            return Ok((read.min(size) as u64, None));
        }
        Operation::Write => {
            let bytes = context.buffer.bytes(size);
            let mut done = 0;
            loop {
                let at = record.offset + done as u64;
                let written = calls.write(open()?, &bytes[done..], at)?;
                done += written;
                if written == 0 || done >= size {
                    return Ok((done as u64, None));
                }
            }
        }
        Operation::Sync if record.flags.has(Flags::DATA_ONLY) => calls.sync_data(open()?)?,
        Operation::Sync => calls.sync(open()?)?,
        Operation::Truncate => calls.truncate(open()?, record.offset)?,
        Operation::Stat => match &file {
            Some(file) => calls.stat_open(&file.handle)?,
            None if step.link => calls.read_link(&path)?,
            None => calls.stat(&path)?,
        },
        Operation::Statfs => {
            let absolute = format!("{}/{}", context.base, path.to_string_lossy());
            calls.state(&CString::new(absolute).unwrap_or_default())?;
        }
        Operation::Setattr => {
            let mode = if step.directory { 0o755 } else { 0o644 };
            calls.change_mode(&path, Mode::from_raw_mode(mode))?;
        }
        Operation::Getxattr => calls.attribute(open()?, ATTRIBUTE)?,
        Operation::Setxattr => calls.set_attribute(open()?, ATTRIBUTE, &[0; 16])?,
        Operation::Unlink => calls.unlink(&path)?,
        Operation::Rename => calls.rename(&path, &other)?,
        Operation::Link => calls.link(&other, &path)?,
        Operation::Symlink => calls.symbolic_link(&other, &path)?,
        Operation::Readlink => calls.read_link(&path)?,
        Operation::Mkdir => calls.make_directory(&path)?,
        Operation::Rmdir => calls.remove_directory(&path)?,
        Operation::Readdir => drop(calls.list(open()?)?),
        Operation::Lock | Operation::Unlock => {
            // Released at once: no process waits for another's next step.
            if record.operation == Operation::Lock {
                calls.lock(open()?, WHOLE)?;
            }
            calls.unlock(open()?, WHOLE)?;
        }
        // The plan has none, and files have been opened.
        Operation::Open | Operation::Create | Operation::Seek | Operation::Allocate => {}
        Operation::Send | Operation::Receive | Operation::Pause => {}
    }
    Ok((0, None))
}

/// Returns the open flags of a step on top of the workload's, and flags for readable and writable.
fn flags(step: &Step, of_workload: OFlags) -> (OFlags, bool, bool) {
    let given = step.record.flags;
    let (reads, writes) = (given.has(Flags::READ), given.has(Flags::WRITE));
    if step.directory || given.has(Flags::DIRECTORY) {
        return (OFlags::RDONLY | OFlags::DIRECTORY, true, false);
    }
    let (mut flags, reads, writes) = match (reads, writes) {
        (true, false) => (OFlags::RDONLY, true, false),
        (false, true) => (OFlags::WRONLY, false, true),
        // The trace does not tell.
        _ => (OFlags::RDWR, true, true),
    };
    flags.set(OFlags::CREATE, step.record.operation == Operation::Create);
    flags.set(OFlags::EXCL, given.has(Flags::EXCLUSIVE));
    flags.set(OFlags::TRUNC, given.has(Flags::TRUNCATE));
    flags |= of_workload;
    if given.has(Flags::SYNCHRONOUS) {
        flags |= synchronous(given);
    }
    if given.has(Flags::DIRECT) {
        flags |= OFlags::DIRECT;
    }
    (flags, reads, writes)
}

#[cfg(test)]
mod every {
    /// Each operation of a trace has a number, but for those that the plan leaves out.
    #[test]
    fn operation_has_a_number() {
        for it in super::Operation::ALL {
            let is_message = it.group() == headrace_trace::Group::Process;
            let planned = !is_message && !["seek", "allocate"].contains(&it.name());
            assert_eq!(crate::operation::number(it.name()).is_some(), planned);
        }
    }
}
