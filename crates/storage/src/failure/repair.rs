//! Copies that failures have cost, and the servers that restore them.
//!
//! Data that a server missed, and all its data once it counts as dead, is split into pieces. Each
//! piece has a source server, the least loaded of those with a sound copy, and one that gets it. A
//! server sends a limited number of pieces at a time, as messages, some of each in progress.
//!
//! Sources: GlusterFS 3.x, cluster/replicate (data self-heal); Hadoop 0.20,
//! FSNamesystem.java (ReplicationMonitor, chooseSourceDatanode); Shvachko et al., MSST
//! 2010, section III.C.
//!
//! `self-heal` copies the data that a server missed, after its return. With `re-replication` a
//! server that is down for `after` counts as dead. All its data is then copied to servers without
//! it, each block to a server drawn by a hash. Until a part has been copied, it is read from
//! servers that have it. The run continues after its last request until the repair is complete, as
//! far as possible. Lost data is not restored.
//!
//! A piece of an erasure code has as many sources as the code has data pieces. Each sends a message
//! of the same positions to the server that gets the piece, which stores it when all have come.
//!
//! Not modelled: checksums that are compared before copying; the crawl by which a self-heal daemon
//! finds files; the limit of blocks in a heartbeat; reads from copies on new servers, and their
//! removal after the server's return; a part that is written while it is copied: it is copied once;
//! parts that a server held, other than IOR's files and written data.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use headrace_net::{Span, Time};
use headrace_spec::{Parallel, RepairKind};
use headrace_trace::Operation;

use super::failover_routing::FailoverRoutes;
use super::hosts::HostStates;
use super::ranges::{Part, Parts};
use crate::splitmix::finalise;
use crate::time_conversion::span;
use crate::tokens::{Job, Message, Role};

/// Something that may call for copies.
#[derive(Clone, Copy, Debug)]
pub enum RepairEvent {
    /// The time to repair what a failure has cost has come.
    Starts {
        /// The failure.
        outage: u32,
    },
    /// A server has gone or come.
    Changed {
        /// The server.
        host: u32,
    },
    /// A client has left out a server that is being repaired.
    Missed,
    /// A message has been stored.
    Copied {
        /// Its number.
        number: u32,
    },
}

/// Rules of the repair.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// A server counts as dead some time after its failure.
    replaces: bool,
    after: Span,
    streams: usize,
    window: u32,
    message: u64,
    block: u64,
}

/// Data that a server lacks.
#[derive(Clone, Default, Debug)]
struct LostData {
    /// Data that it holds, written in the run or existing before.
    held: Parts,
    /// Data written in its absence.
    missed: Parts,
    /// Data to copy.
    wanted: Parts,
    /// Copying has begun.
    active: bool,
}

/// A piece to be copied.
#[derive(Clone, Debug)]
struct Piece {
    outage: usize,
    /// The server that lost it, and what of its.
    lost: u32,
    part: Part,
    /// Server and target that have it.
    from: (u32, u16),
    /// The others that a piece of a code needs besides.
    others: Arc<[(u32, u16)]>,
    /// Server and target that get it.
    to: (u32, u16),
}

impl Piece {
    fn size(&self) -> u64 {
        self.part.end - self.part.start
    }

    /// Servers and targets that are read for it.
    fn sources(&self) -> impl Iterator<Item = (u32, u16)> + '_ {
        std::iter::once(self.from).chain(self.others.iter().copied())
    }
}

/// One of the pieces that a server sends at a time.
#[derive(Clone, Default, Debug)]
struct Stream {
    rest: Option<Piece>,
    under_way: u32,
}

impl Stream {
    /// Returns true if it has nothing to send.
    fn is_idle(&self) -> bool {
        self.rest.is_none() && self.under_way == 0
    }
}

/// A server that sends copies.
#[derive(Clone, Debug)]
struct Source {
    queue: VecDeque<Piece>,
    streams: Vec<Stream>,
    /// Bytes that it was given to send in all.
    laden: u64,
}

/// A message in progress.
#[derive(Clone, Debug)]
struct Copying {
    piece: Piece,
    stream: usize,
    /// Messages that have come where it is stored.
    arrived: u32,
}

/// Numbers that distinguish repair messages from those of jobs.
const FIRST: u32 = 1 << 31;

/// Pending and running copies.
#[derive(Clone, Debug)]
pub struct Repair {
    rules: Rules,
    seed: u64,
    /// Servers that are read for a piece: as many as a code needs, or one.
    needed: u32,
    lost: Vec<LostData>,
    sources: Vec<Source>,
    under_way: BTreeMap<u32, Copying>,
    next: u32,
    /// Pieces without a source or a destination.
    stranded: Vec<Piece>,
    /// Writes missed since the last event.
    fresh: Vec<(u32, Part)>,
    /// Bytes that are still to be copied, by failure.
    open: BTreeMap<usize, u64>,
    /// The workload is over, and the run waits.
    over: bool,
}

impl Repair {
    /// The scenario's, if it has any.
    pub fn new(parallel: &Parallel, block: Option<u64>, seed: u64) -> Option<Repair> {
        // Blocks have holders of their own.
        let of_layout = block;
        let rules = match &parallel.replication.repair.kind {
            RepairKind::SelfHeal(heal) if parallel.repairs() => Rules {
                replaces: false,
                after: span(heal.after),
                streams: heal.streams as usize,
                window: heal.window,
                message: heal.message.0,
                block: of_layout.unwrap_or(u64::MAX),
            },
            RepairKind::ReReplication(copy) if parallel.repairs() => Rules {
                replaces: true,
                after: span(copy.after),
                streams: copy.streams as usize,
                window: copy.window,
                message: copy.message.0,
                block: of_layout.unwrap_or(copy.block.0),
            },
            _ => return None,
        };
        let servers = parallel.servers.count as usize;
        let source = Source {
            queue: VecDeque::new(),
            streams: Vec::new(),
            laden: 0,
        };
        Some(Repair {
            rules,
            seed,
            needed: parallel.replication.reed_solomon().map_or(1, |it| it.data),
            lost: vec![LostData::default(); servers],
            sources: vec![source; servers],
            under_way: BTreeMap::new(),
            next: FIRST,
            stranded: Vec::new(),
            fresh: Vec::new(),
            open: BTreeMap::new(),
            over: false,
        })
    }

    /// Delay between a failure, or its end, and the start of copying.
    pub fn begins(&self, fails: bool) -> Option<Span> {
        (self.rules.replaces == fails).then_some(self.rules.after)
    }

    /// A server has something, if that is ever of use.
    pub fn holds(&mut self, server: u32, part: Part) {
        if self.rules.replaces {
            self.lost[server as usize].held.add(part);
        }
    }

    /// A write has gone past a server.
    pub fn misses(&mut self, job: &Job) {
        let lost = &mut self.lost[job.server as usize];
        let new = lost.missed.add(Part::of(job));
        for part in new {
            lost.wanted.add(part);
            if lost.active {
                self.fresh.push((job.server, part));
            }
        }
    }

    /// Returns true if a server lacks some of what a job reads.
    pub fn lacks(&self, job: &Job) -> bool {
        let lost = &self.lost[job.server as usize];
        lost.missed.overlap(Part::of(job))
    }

    /// Returns true if something has been missed that is to be copied at once.
    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Servers that are read for a piece.
    pub fn needed(&self) -> u32 {
        self.needed
    }

    /// A message comes where its piece is stored; gives whether it can be.
    pub fn arrives(&mut self, number: u32) -> bool {
        let Some(copying) = self.under_way.get_mut(&number) else {
            // It belongs to an aborted piece.
            return self.needed == 1;
        };
        copying.arrived += 1;
        copying.arrived == self.needed
    }

    /// Returns the next hop of a message after a server has read it.
    pub fn onward(&self, number: u32) -> Option<(u32, u16)> {
        self.under_way.get(&number).map(|it| it.piece.to)
    }

    /// The workload is over; gives whether the run is.
    pub fn workload_is_over(&mut self, hosts: &HostStates) -> bool {
        self.over = true;
        self.run_is_over(hosts)
    }

    /// Returns true if all processes have ended, and no event is to come.
    pub fn run_is_over(&self, hosts: &HostStates) -> bool {
        self.over && !self.copies() && !hosts.last_outages().any(|it| self.waits(it, hosts))
    }

    /// Returns true if anything is being copied.
    fn copies(&self) -> bool {
        let mut sources = self.sources.iter();
        !self.under_way.is_empty() || sources.any(|source| !source.queue.is_empty())
    }

    /// Returns true if copying for a failure that has begun is still to begin.
    fn waits(&self, outage: usize, hosts: &HostStates) -> bool {
        let host = hosts.outages()[outage].host;
        let Some(lost) = self.lost.get(host as usize) else {
            return false;
        };
        let there = hosts.is_there(host);
        let back = there || hosts.outages()[outage].until.is_some();
        let held = self.rules.replaces && !there && !lost.held.is_empty();
        !lost.active && (held || !lost.wanted.is_empty()) && (self.rules.replaces || back)
    }

    /// Something has happened; gives what servers are to read and send.
    pub fn event(
        &mut self,
        due: RepairEvent,
        now: Time,
        hosts: &mut HostStates,
        ways: &FailoverRoutes,
    ) -> Vec<Job> {
        let mut touched = BTreeSet::new();
        let mut pieces: Vec<(usize, u32, Part)> = Vec::new();
        match due {
            RepairEvent::Starts { outage } => self.starts(outage as usize, now, hosts, &mut pieces),
            RepairEvent::Missed => {
                for (server, part) in std::mem::take(&mut self.fresh) {
                    pieces.extend(hosts.outage_of(server).map(|it| (it, server, part)));
                }
            }
            RepairEvent::Changed { host } if hosts.is_there(host) => {
                for piece in std::mem::take(&mut self.stranded) {
                    self.closes(&piece);
                    pieces.push((piece.outage, piece.lost, piece.part));
                }
            }
            RepairEvent::Changed { host } => {
                for piece in self.drop_all_of(host) {
                    self.closes(&piece);
                    if piece.lost != host || piece.to.0 != host {
                        pieces.push((piece.outage, piece.lost, piece.part));
                    }
                }
                touched.extend(0..self.sources.len() as u32);
            }
            RepairEvent::Copied { number } => touched.extend(self.copied(number, now, hosts)),
        }
        for (outage, lost, part) in pieces {
            for part in self.in_blocks(part) {
                touched.extend(self.assign(outage, lost, part, hosts, ways));
            }
        }
        let mut jobs = Vec::new();
        for source in touched {
            self.fill(source, hosts, &mut jobs);
        }
        jobs
    }

    fn starts(
        &mut self,
        outage: usize,
        now: Time,
        hosts: &mut HostStates,
        pieces: &mut Vec<(usize, u32, Part)>,
    ) {
        let host = hosts.outages()[outage].host;
        // It may have failed again since.
        if hosts.outage_of(host) != Some(outage) || host as usize >= self.lost.len() {
            return;
        }
        let there = hosts.is_there(host);
        let lost = &mut self.lost[host as usize];
        if !there && !self.rules.replaces {
            return;
        }
        lost.active = true;
        if !there {
            for part in lost.held.all() {
                lost.wanted.add(part);
            }
        }
        hosts.begins_repair(outage, now);
        pieces.extend(lost.wanted.all().into_iter().map(|it| (outage, host, it)));
    }

    fn in_blocks(&self, part: Part) -> Vec<Part> {
        let block = self.rules.block;
        let mut blocks = Vec::new();
        let mut start = part.start;
        while start < part.end {
            let end = (start - start % block).saturating_add(block).min(part.end);
            blocks.push(Part { start, end, ..part });
            start = end;
        }
        blocks
    }

    /// Gives a piece to a server that sends it, and says to which.
    fn assign(
        &mut self,
        outage: usize,
        lost: u32,
        part: Part,
        hosts: &HostStates,
        ways: &FailoverRoutes,
    ) -> Option<u32> {
        let job = Job {
            server: lost,
            target: part.target,
            offset: part.start,
            size: part.end - part.start,
            ..Job::new(0, 0, part.file, Operation::Read, Role::Data)
        };
        let holders: Vec<Job> = ways.holders(&job).collect();
        let others = holders.iter().filter(|it| it.server != lost);
        let sound = others.filter(|it| hosts.is_there(it.server) && !self.lacks(it));
        let mut sources: Vec<(u32, u16)> = sound.map(|it| (it.server, it.target)).collect();
        sources.sort_by_key(|it| self.sources[it.0 as usize].laden);
        sources.truncate(self.needed as usize);
        let enough = sources.len() == self.needed as usize;
        let free =
            |server: &u32| hosts.is_there(*server) && holders.iter().all(|it| it.server != *server);
        let to = match hosts.is_there(lost) {
            true => Some(lost),
            false => {
                let free: Vec<u32> = (0..self.lost.len() as u32).filter(free).collect();
                let draw = self.draw(part, free.len());
                free.get(draw).copied()
            }
        };
        let mut piece = Piece {
            outage,
            lost,
            part,
            from: (lost, part.target),
            others: Arc::default(),
            to: (to.unwrap_or(lost), part.target),
        };
        *self.open.entry(outage).or_insert(0) += piece.size();
        let ([from, others @ ..], true, Some(_)) = (&sources[..], enough, to) else {
            self.stranded.push(piece);
            return None;
        };
        (piece.from, piece.others) = (*from, others.into());
        for (server, _) in piece.sources() {
            self.sources[server as usize].laden += piece.size();
        }
        let server = piece.from.0;
        self.sources[server as usize].queue.push_back(piece);
        Some(server)
    }

    /// A number below another that goes by where a piece begins.
    fn draw(&self, part: Part, below: usize) -> usize {
        let block = part.start / self.rules.block;
        let drawn = finalise(finalise(self.seed ^ u64::from(part.file)) ^ block);
        (drawn % below.max(1) as u64) as usize
    }

    /// Sends as much as streams and windows allow.
    fn fill(&mut self, server: u32, hosts: &HostStates, jobs: &mut Vec<Job>) {
        if !hosts.is_there(server) {
            return;
        }
        let Rules {
            streams,
            window,
            message,
            ..
        } = self.rules;
        let source = &mut self.sources[server as usize];
        // As many as there is work for.
        let idle = source.streams.iter().filter(|it| it.is_idle()).count();
        let wanted = source.streams.len() + source.queue.len().saturating_sub(idle);
        source
            .streams
            .resize_with(wanted.min(streams), Stream::default);
        for (index, stream) in source.streams.iter_mut().enumerate() {
            while stream.under_way < window {
                if stream.is_idle() {
                    stream.rest = source.queue.pop_front();
                }
                let Some(rest) = &mut stream.rest else {
                    break;
                };
                let mut piece = rest.clone();
                piece.part.end = piece.part.start.saturating_add(message).min(rest.part.end);
                rest.part.start = piece.part.end;
                if rest.part.start == rest.part.end {
                    stream.rest = None;
                }
                stream.under_way += 1;
                let number = self.next;
                self.next = self.next.wrapping_add(1).max(FIRST);
                jobs.extend(piece.sources().map(|(server, target)| Job {
                    server,
                    target,
                    offset: piece.part.start,
                    size: piece.size(),
                    message: Message::Repair,
                    ..Job::new(number, server, piece.part.file, Operation::Read, Role::Data)
                }));
                let copying = Copying {
                    piece,
                    stream: index,
                    arrived: 0,
                };
                self.under_way.insert(number, copying);
            }
        }
    }

    /// A message has been stored; gives the server that has sent it.
    fn copied(&mut self, number: u32, now: Time, hosts: &mut HostStates) -> Option<u32> {
        let Copying { piece, stream, .. } = self.under_way.remove(&number)?;
        let server = piece.from.0;
        self.sources[server as usize].streams[stream].under_way -= 1;
        let lost = &mut self.lost[piece.lost as usize];
        lost.wanted.remove(piece.part);
        if piece.to.0 == piece.lost {
            lost.missed.remove(piece.part);
        }
        let whole = self.closes(&piece);
        hosts.repaired(piece.outage, piece.size(), whole.then_some(now));
        Some(server)
    }

    /// A piece is no longer to be copied; gives whether it was the last of its failure.
    fn closes(&mut self, piece: &Piece) -> bool {
        let open = self.open.entry(piece.outage).or_insert(0);
        *open -= piece.size();
        *open == 0
    }

    /// Takes back everything that a server was to send or to get.
    fn drop_all_of(&mut self, host: u32) -> Vec<Piece> {
        if let Some(lost) = self.lost.get_mut(host as usize) {
            lost.active = false;
        }
        let concerns =
            |piece: &Piece| piece.to.0 == host || piece.sources().any(|(server, _)| server == host);
        let mut dropped = Vec::new();
        let sources = &mut self.sources;
        self.under_way.retain(|_, copying| {
            let piece = &copying.piece;
            let concerned = concerns(piece);
            if concerned {
                sources[piece.from.0 as usize].streams[copying.stream].under_way -= 1;
                dropped.push(piece.clone());
            }
            !concerned
        });
        for source in sources {
            for stream in &mut source.streams {
                dropped.extend(stream.rest.take_if(|piece| concerns(piece)));
            }
            source.queue.retain(|piece| {
                dropped.extend(concerns(piece).then(|| piece.clone()));
                !concerns(piece)
            });
        }
        dropped
    }
}
