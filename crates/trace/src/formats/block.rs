//! Requests of the block layer, from the events of blktrace.
//!
//! A record begins when the driver got the request (D), and lasts until its completion (C). A
//! request without a D, as a stacked device has them, begins when it was queued (Q). A record's
//! file is the device, its process the one of the Q, else of the D.
//!
//! A request that completes in parts has a C for each, whose sector is that of the part. It lasts
//! until the last part, and has the bytes that were issued. A part that is issued again (R, D) is
//! the same request. The one that is issued of merged requests (M, F) counts for all. Each piece of
//! a split one (X) is issued, and counts, by itself.
//!
//! Not in the records: remaps and plugging; discards and passthrough requests.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::collected::Collected;
use crate::{Flags, Kind, Operation, Record};

static OTHER_EVENT: Kind =
    Kind::left_out("event that is not a queue (Q), issue (D) or completion (C)");
static PART: Kind = Kind::left_out("event whose request gives the record when it completes");
static PART_EVENT: Kind = Kind::left_out("completion of a part of a request, before the last one");
static DISCARD: Kind = Kind::left_out("discard");
static OTHER_REQUEST: Kind = Kind::left_out("request that neither reads, writes nor flushes");
static NOT_ISSUED: Kind =
    Kind::left_out("queued request that was never issued (merged, split or remapped)");
static NO_START: Kind = Kind::not_understood("completion of a request whose start is missing");
static NO_END: Kind = Kind::assumed("request whose completion is missing: without a duration");
static PART_END: Kind =
    Kind::assumed("request of which only parts completed: as long as they took");
static QUEUED: Kind = Kind::assumed("request without an issue (D): from its queueing (Q)");

/// Bytes in a sector.
pub(super) const SECTOR: u64 = 512;

/// One event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time_ns: i64,
    pub(super) device: (u32, u32),
    /// The letter that blkparse prints for it.
    pub(super) action: u8,
    pub(super) request: Request,
    pub(super) sector: u64,
    pub(super) bytes: u64,
    pub(super) failed: bool,
    /// The process's number among the names.
    pub(super) process: u32,
}

/// Content of the field RWBS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) class: Class,
    /// Done only when the medium has it (FUA), as a write to a file opened with O_DSYNC is. S means
    /// only that a process waits.
    pub(super) synchronous: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Read,
    Write,
    /// A flush of the device's cache without data.
    Flush,
    Discard,
    #[default]
    Other,
}

impl Request {
    /// The request that `RWBS` and the size describe. F is an optional flush before it; R, W, D, N
    /// or F follow, then modifiers such as F (FUA), A, S, M.
    pub(super) fn of(rwbs: &[u8], bytes: u64) -> Option<Self> {
        let known = |it: &u8| b"RWDENFASMZPIVOCG".contains(it);
        if rwbs.is_empty() || rwbs.len() > 10 || !rwbs.iter().all(known) {
            return None;
        }
        let has_flush = rwbs[0] == b'F';
        let rest = if has_flush { &rwbs[1..] } else { rwbs };
        let class = match rest.first() {
            Some(b'D') => Class::Discard,
            _ if bytes == 0 && has_flush => Class::Flush,
            Some(b'R') if bytes > 0 => Class::Read,
            Some(b'W') if bytes > 0 => Class::Write,
            _ => Class::Other,
        };
        let synchronous = rest.iter().skip(1).any(|it| *it == b'F');
        Some(Self { class, synchronous })
    }
}

#[derive(Debug)]
struct Pending {
    /// Its event's number, which tells the older one.
    number: u64,
    start_ns: i64,
    is_issued: bool,
    /// Where it begins.
    sector: u64,
    bytes: u64,
    /// Parts that have completed.
    parts: Parts,
    synchronous: bool,
    process: u32,
    line: u64,
}

/// The completed parts of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    bytes: u64,
    /// End of the last one; none if none has completed.
    end_ns: Option<i64>,
    failed: bool,
}

/// Device, sector that completes next, and direction.
type Key = ((u32, u32), u64, Class);

/// Requests in progress.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pending: FxHashMap<Key, VecDeque<Pending>>,
    /// The keys in the order of their first events, some of them done.
    order: VecDeque<(u64, Key)>,
    count: usize,
    number: u64,
    /// True once a request was issued: then one without an issue was merged.
    has_issues: bool,
}

impl Requests {
    /// The most requests in progress. The oldest is given up beyond.
    const LIMIT: usize = 1 << 16;
    /// The most of them for one place and direction.
    const SAME_LIMIT: usize = 64;

    /// Takes in an event; `line` is its text.
    pub(super) fn event(&mut self, event: Event, line: &[u8], into: &mut Collected) {
        if matches!(event.action, b'Q' | b'D' | b'C' | b'M' | b'F' | b'R') {
            match event.request.class {
                Class::Discard => return into.count(&DISCARD, line),
                Class::Other => return into.count(&OTHER_REQUEST, line),
                _ => {}
            }
        }
        let key = (event.device, event.sector, event.request.class);
        match event.action {
            b'Q' => {
                into.count(&PART, line);
                self.add(key, event, false, into);
            }
            b'D' => {
                into.count(&PART, line);
                self.has_issues = true;
                let waiting = self.pending.get_mut(&key);
                let queued = waiting.and_then(|it| it.iter_mut().find(|it| !it.is_issued));
                match queued {
                    // The rest of it is issued again.
                    Some(request) if request.parts.bytes > 0 => request.is_issued = true,
                    Some(request) => {
                        request.is_issued = true;
                        request.start_ns = event.time_ns;
                        request.bytes = event.bytes;
                        request.line = into.line;
                        request.synchronous |= event.request.synchronous;
                    }
                    None => self.add(key, event, true, into),
                }
            }
            b'C' => self.complete(key, &event, line, into),
            // Merged into another request, whose issue and completion count for both.
            b'M' => {
                self.take(key, |it| !it.is_issued);
                into.count(&OTHER_EVENT, line);
            }
            // Merged in front of another, which begins here from now on.
            b'F' => {
                self.take(key, |it| !it.is_issued);
                let behind = event.sector.saturating_add(event.bytes / SECTOR);
                let merged = self.take((key.0, behind, key.2), |it| !it.is_issued);
                if let Some(mut request) = merged {
                    request.sector = event.sector;
                    request.bytes = request.bytes.saturating_add(event.bytes);
                    self.put_back(key, request);
                }
                into.count(&OTHER_EVENT, line);
            }
            b'X' => {
                self.split(key, &event, into);
                into.count(&OTHER_EVENT, line);
            }
            b'R' => {
                let waiting = self.pending.get_mut(&key);
                if let Some(request) = waiting.and_then(|it| it.iter_mut().find(|it| it.is_issued))
                {
                    request.is_issued = false;
                }
                into.count(&OTHER_EVENT, line);
            }
            _ => into.count(&OTHER_EVENT, line),
        }
    }

    fn add(&mut self, key: Key, event: Event, is_issued: bool, into: &mut Collected) {
        self.number += 1;
        self.count += 1;
        self.pending.entry(key).or_default().push_back(Pending {
            number: self.number,
            start_ns: event.time_ns,
            is_issued,
            sector: event.sector,
            bytes: event.bytes,
            parts: Parts::default(),
            synchronous: event.request.synchronous,
            process: event.process,
            line: into.line,
        });
        self.order.push_back((self.number, key));
        let waiting = self.pending.get(&key).map_or(0, VecDeque::len);
        if waiting > Self::SAME_LIMIT
            && let Some(request) = self.take(key, |_| true)
        {
            self.give_up(key, &request, into);
        }
        if self.count > Self::LIMIT {
            self.drop_first(into);
        }
        if self.order.len() > 2 * self.count + 1024 {
            let pending = &self.pending;
            self.order.retain(|(number, key)| {
                let waiting = pending.get(key).into_iter().flatten();
                waiting.into_iter().any(|it| it.number == *number)
            });
        }
    }

    /// A queued request is split into two, the event's and the rest, which are issued each. On
    /// devices without issues both complete as parts of the whole.
    fn split(&mut self, key: Key, event: &Event, into: &mut Collected) {
        if !self.has_issues || event.bytes == 0 {
            return;
        }
        let waiting = self.pending.get_mut(&key);
        let queued = waiting.and_then(|it| it.iter_mut().find(|it| !it.is_issued));
        let Some(request) = queued.filter(|it| it.bytes > event.bytes) else {
            return;
        };
        let rest = Event {
            time_ns: request.start_ns,
            sector: event.sector.saturating_add(event.bytes / SECTOR),
            bytes: request.bytes - event.bytes,
            process: request.process,
            ..*event
        };
        request.bytes = event.bytes;
        self.add((key.0, rest.sector, key.2), rest, false, into);
    }

    /// Has a request wait under another key.
    fn put_back(&mut self, key: Key, request: Pending) {
        self.count += 1;
        self.order.push_back((request.number, key));
        self.pending.entry(key).or_default().push_back(request);
    }

    fn take(&mut self, key: Key, which: impl Fn(&Pending) -> bool) -> Option<Pending> {
        let waiting = self.pending.get_mut(&key)?;
        let at = waiting.iter().position(which)?;
        let request = waiting.remove(at);
        if waiting.is_empty() {
            self.pending.remove(&key);
        }
        self.count -= 1;
        request
    }

    fn complete(&mut self, key: Key, event: &Event, line: &[u8], into: &mut Collected) {
        let request = self
            .take(key, |it| it.is_issued)
            .or_else(|| self.take(key, |_| true));
        let Some(mut request) = request else {
            return into.count(&NO_START, line);
        };
        let parts = &mut request.parts;
        parts.bytes = parts.bytes.saturating_add(event.bytes);
        parts.end_ns = Some(event.time_ns);
        parts.failed |= event.failed;
        if event.bytes > 0 && parts.bytes < request.bytes {
            into.count(&PART_EVENT, line);
            let next = event.sector.saturating_add(event.bytes / SECTOR);
            return self.put_back((key.0, next, key.2), request);
        }
        if !request.is_issued {
            into.count(&QUEUED, line);
        }
        put(key, &request, into);
    }

    /// Drops the oldest request.
    fn drop_first(&mut self, into: &mut Collected) {
        while let Some((number, key)) = self.order.pop_front() {
            if let Some(request) = self.take(key, |it| it.number == number) {
                return self.give_up(key, &request, into);
            }
        }
    }

    fn give_up(&self, key: Key, request: &Pending, into: &mut Collected) {
        let line = std::mem::replace(&mut into.line, request.line);
        let text = format!("{},{} {}", key.0.0, key.0.1, key.1);
        if request.parts.bytes > 0 {
            into.count(&PART_END, text.as_bytes());
            put(key, request, into);
        } else if request.is_issued {
            into.count(&NO_END, text.as_bytes());
            put(key, request, into);
        } else if self.has_issues {
            into.count(&NOT_ISSUED, text.as_bytes());
        } else {
            into.count(&QUEUED, text.as_bytes());
            put(key, request, into);
        }
        into.line = line;
    }

    /// Drops the requests that are left at the end of the trace.
    pub(super) fn finish(&mut self, into: &mut Collected) {
        while !self.order.is_empty() {
            self.drop_first(into);
        }
    }
}

fn put(key: Key, request: &Pending, into: &mut Collected) {
    let ((major, minor), _, class) = key;
    let operation = match class {
        Class::Read => Operation::Read,
        Class::Write => Operation::Write,
        _ => Operation::Sync,
    };
    let is_sync = operation == Operation::Sync;
    let parts = request.parts;
    let duration_ns = parts
        .end_ns
        .map(|end| end.saturating_sub(request.start_ns).max(0));
    let record = Record {
        time_ns: request.start_ns,
        duration_ns: duration_ns.unwrap_or(0),
        offset: if is_sync {
            0
        } else {
            request.sector.saturating_mul(SECTOR)
        },
        size: request.bytes,
        process: request.process,
        file: into.files.intern(&format!("{major},{minor}")),
        operation,
        flags: Flags::FAILED.when(parts.failed)
            | Flags::SYNCHRONOUS.when(request.synchronous && operation == Operation::Write)
            | Flags::NO_DURATION.when(duration_ns.is_none()),
        other: Record::NO_FILE,
    };
    into.put_from(record, request.line);
}

/// The name of a process in records: that of its program and its number.
pub(super) fn process_name(name: &str, number: u32) -> String {
    match name {
        "" => number.to_string(),
        name => format!("{name}/{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_rwbs_tells_the_request() {
        let of = |rwbs: &str, bytes| Request::of(rwbs.as_bytes(), bytes);
        let is = |class, synchronous| Some(Request { class, synchronous });
        assert_eq!(of("R", 512), is(Class::Read, false));
        assert_eq!(of("RA", 512), is(Class::Read, false));
        assert_eq!(of("RSM", 512), is(Class::Read, false));
        assert_eq!(of("WS", 512), is(Class::Write, false));
        assert_eq!(of("FWFS", 512), is(Class::Write, true));
        assert_eq!(of("WFS", 512), is(Class::Write, true));
        assert_eq!(of("FN", 0), is(Class::Flush, false));
        assert_eq!(of("FWS", 0), is(Class::Flush, false));
        assert_eq!(of("FF", 0), is(Class::Flush, false));
        assert_eq!(of("D", 512), is(Class::Discard, false));
        assert_eq!(of("DS", 0), is(Class::Discard, false));
        assert_eq!(of("N", 0), is(Class::Other, false));
        assert_eq!(of("", 0), None);
        assert_eq!(of("12", 0), None);
    }
}
