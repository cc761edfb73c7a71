//! Routing of jobs to servers; with copies of the data, or pieces of a code, several are possible.

use headrace_spec::{MetadataHosts, Parallel};
use headrace_trace::Operation;

use super::ranges::Part;
use crate::layout::{CodedStripes, PieceRange, ReplicaPlacement};
use crate::network::Wire;
use crate::tokens::{Job, Message, Role};

/// Route of a job.
#[derive(Clone, Copy, Debug)]
pub enum Route {
    /// To this server, as this job.
    To(Job),
    /// Nowhere: its server has failed, and others with copies do without.
    Without,
    /// Nowhere: its server has failed, and others give its piece of a stripe back.
    Decoded,
    /// Nowhere as long as this server has failed.
    Waits(u32),
}

/// Routing of jobs to servers.
#[derive(Clone, Debug)]
pub struct FailoverRoutes {
    copies: ReplicaPlacement,
    /// Stripes of a code, if there is one.
    coded: Option<CodedStripes>,
    servers: u32,
    /// Targets of each server.
    targets: u32,
    /// The number of the first metadata server among all.
    metadata: u32,
    /// Servers pass writes on to the next copy.
    chained: bool,
    /// Messages to data servers, and to metadata servers.
    wires: [Wire; 2],
}

impl FailoverRoutes {
    /// The scenario's.
    pub fn new(parallel: &Parallel, copies: ReplicaPlacement) -> FailoverRoutes {
        FailoverRoutes {
            copies,
            coded: CodedStripes::new(parallel),
            servers: parallel.servers.count,
            targets: parallel.servers.targets,
            metadata: match parallel.metadata.on {
                MetadataHosts::Own => parallel.servers.count,
                MetadataHosts::DataServers | MetadataHosts::EveryDataServer => 0,
            },
            chained: parallel.replication.chained(),
            wires: [
                Wire::new(&parallel.network),
                Wire::new(&parallel.metadata_network()),
            ],
        }
    }

    /// The server of a target, and which of its it is.
    pub fn server_of(&self, target: u32) -> (u32, u16) {
        (target % self.servers, (target / self.servers) as u16)
    }

    /// The targets that hold a file of some size, from which byte to which.
    pub fn parts(&self, file: u32, size: u64, part: impl Fn(u32) -> u64) -> Vec<(u32, u64, u64)> {
        let copies = &self.copies;
        let mut parts = Vec::new();
        let mut add = |place, start, end| {
            parts.extend((0..copies.count()).map(|copy| {
                let bytes = match &self.coded {
                    Some(coded) => coded.part(end - start, copy),
                    None => end - start,
                };
                (copies.target(file, place, copy), start, start + bytes)
            }));
        };
        match copies.block() {
            Some(block) => {
                for (place, start) in (0..).zip((0..size).step_by(block as usize)) {
                    add(place, start, size.min(start.saturating_add(block)));
                }
            }
            None => {
                for place in 0..copies.places() {
                    if part(place) > 0 {
                        add(place, 0, part(place));
                    }
                }
            }
        }
        parts
    }

    /// The number among all servers of the one that a job is for.
    pub fn host(&self, job: &Job) -> u32 {
        match job.role {
            Role::Data => job.server,
            Role::Metadata => self.metadata_host(job.server),
        }
    }

    /// The number among all servers of a metadata server.
    pub fn metadata_host(&self, server: u32) -> u32 {
        self.metadata + server
    }

    /// The job at the server with another copy of its data.
    fn at(&self, job: &Job, copy: u32) -> Job {
        let target = u32::from(job.target) * self.servers + job.server;
        let Some((place, _)) = self.copies.place(job.file, job.offset, target) else {
            return *job;
        };
        let target = self.copies.target(job.file, place, copy);
        Job {
            server: target % self.servers,
            target: (target / self.servers) as u16,
            ..*job
        }
    }

    /// Returns the copy that a job addresses.
    fn copy(&self, job: &Job) -> u32 {
        let target = u32::from(job.target) * self.servers + job.server;
        let place = self.copies.place(job.file, job.offset, target);
        place.map_or(0, |(_, copy)| copy)
    }

    /// The same job at every server with the data, from its own on.
    pub fn holders(&self, job: &Job) -> impl Iterator<Item = Job> + use<'_> {
        let (job, count) = (*job, self.copies.count());
        let alone = job.role == Role::Metadata || count == 1;
        let first = if alone { 0 } else { self.copy(&job) };
        let all = if alone { 1 } else { count };
        (0..all).map(move |step| match alone {
            true => job,
            false => self.at(&job, (first + step) % count),
        })
    }

    /// Returns true if a job is a write that servers pass on, or an access to stripes for a primary.
    pub fn passed_on(&self, job: &Job) -> bool {
        let writes = job.operation == Operation::Write;
        let reads = job.operation == Operation::Read && self.coded.is_some();
        self.chained && job.role == Role::Data && (writes || reads)
    }

    /// The changes of a write at the servers with its data; with a code, at those of its pieces.
    pub fn written(&self, job: &Job) -> Vec<Job> {
        let Some(coded) = self.coded.filter(|_| self.passed_on(job)) else {
            return self.holders(job).collect();
        };
        let first = self.at(job, 0);
        let ranges = coded.written(job.offset, job.size).into_iter();
        let of = |range: PieceRange| Job {
            offset: range.start,
            size: range.size(),
            ..self.at(&first, range.piece)
        };
        ranges.map(of).collect()
    }

    /// The parts of files that a server has after it answers a write.
    pub fn stored(&self, host: u32, job: &Job) -> Vec<Part> {
        if job.direction.between_servers() || self.coded.is_none() || !self.passed_on(job) {
            return vec![Part::of(job)];
        }
        let written = self.written(job).into_iter();
        let own = written.filter(|it| self.host(it) == host);
        own.map(|it| Part::of(&it)).collect()
    }

    /// The same as [`FailoverRoutes::way`] for pieces of a code.
    fn way_to_pieces(&self, job: &Job, spare: u32, failed: impl Fn(u32) -> bool) -> Route {
        let host = self.host(job);
        let lost: Vec<u32> = self
            .holders(job)
            .map(|it| self.host(&it))
            .filter(|it| failed(*it))
            .collect();
        let too_many = lost.len() > spare as usize;
        if self.passed_on(job) {
            let sound = self.holders(job).find(|it| !failed(self.host(it)));
            return match (sound, lost.first()) {
                (Some(sound), _) if !too_many => Route::To(sound),
                (_, Some(lost)) => Route::Waits(*lost),
                (_, None) => Route::To(*job),
            };
        }
        match (failed(host), job.operation) {
            (false, _) => Route::To(*job),
            (true, _) if too_many => Route::Waits(host),
            (true, Operation::Read) => Route::Decoded,
            (true, _) => Route::Without,
        }
    }

    /// Returns the route of a job for a client that considers some servers failed, if some lack the
    /// data.
    pub fn way(
        &self,
        job: &Job,
        failed: impl Fn(u32) -> bool,
        lacks: impl Fn(&Job) -> bool,
    ) -> Route {
        if let Some(coded) = self.coded.filter(|_| job.role == Role::Data) {
            return self.way_to_pieces(job, coded.spare(), failed);
        }
        let host = self.host(job);
        let reads = job.operation == Operation::Read;
        let sound = |it: &Job| !failed(self.host(it)) && !lacks(it);
        if reads && let Some(sound) = self.holders(job).find(sound) {
            return Route::To(sound);
        }
        if !failed(host) {
            return Route::To(*job);
        }
        if reads {
            return Route::Waits(host);
        }
        match self.holders(job).find(|it| !failed(self.host(it))) {
            Some(other) if self.passed_on(job) => Route::To(other),
            Some(_) => Route::Without,
            None => Route::Waits(host),
        }
    }

    /// The servers whose failure can keep a job from being answered, that which gets it
    /// first.
    pub fn needed(&self, job: &Job) -> Vec<u32> {
        match self.passed_on(job) {
            true => self.holders(job).map(|it| self.host(&it)).collect(),
            false => vec![self.host(job)],
        }
    }

    /// The message by which a job goes to its server, which is on some machine: there its
    /// targets are numbered behind the machine's own.
    pub fn at_machine(&self, job: Job, machine: u32) -> Job {
        if job.role == Role::Metadata || machine == job.server {
            return job;
        }
        Job {
            server: machine,
            target: job.target + self.targets as u16,
            ..job
        }
    }

    /// A message from a machine as one of the server that is on it.
    pub fn of_server(&self, message: Job) -> Job {
        match u32::from(message.target) < self.targets {
            true => message,
            false => Job {
                server: message.server ^ 1,
                target: message.target - self.targets as u16,
                ..message
            },
        }
    }

    /// A message that asks a server whether it is there.
    pub fn ping(&self, host: u32, client: u32) -> Job {
        let (role, server) = match host < self.servers {
            true => (Role::Data, host),
            false => (Role::Metadata, host - self.servers),
        };
        Job {
            server,
            wire: self.wires[usize::from(role == Role::Metadata)].bytes(0),
            message: Message::Ping,
            ..Job::new(u32::MAX, client, 0, Operation::Stat, role)
        }
    }
}
