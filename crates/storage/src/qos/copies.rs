//! The servers that may serve a job instead of its own.
//!
//! Only a read can go to another server, one with a copy of its data. A write goes to every server
//! with a copy already, and data without copies is on one server alone.
//!
//! A choice of servers for writes would need a record of where each part of a file went.
//!
//! Not modelled: writes of new data to a server that the layout does not name.

use headrace_spec::{Parallel, Position};
use headrace_trace::Operation;

use crate::layout::ReplicaPlacement;
use crate::tokens::{Job, Role};

/// Why a server cannot serve a job.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CannotServe {
    /// Schedulers do not choose servers there.
    #[error(
        "a scheduler at position = {0:?} stands before one server: only those at \"client\" and \
         \"gateway\" send jobs to others"
    )]
    Position(&'static str),
    /// Clients know where their jobs are.
    #[error(
        "with [[failure]] clients must know where their jobs are: only schedulers at \"client\" \
         send jobs to other servers, not those at \"gateway\""
    )]
    Failures,
    /// Each piece is on one server.
    #[error("with an erasure code each piece is on one server: leave the job where it is")]
    Code,
    /// There is no such server.
    #[error("there is no server {server}: expected a number from 0 to {}", .servers - 1)]
    NoSuchServer {
        /// The number given.
        server: u32,
        /// Number of data servers.
        servers: u32,
    },
    /// Only reads have a choice.
    #[error(
        "a {} goes to every server that holds the data: only reads can be sent to another server",
        .0.name()
    )]
    NotARead(Operation),
    /// The server does not have the data.
    #[error(
        "server {server} has no copy of what the job reads of file {file}: expected one of servers \
         {holders:?} (replication.copies = {})",
        .holders.len()
    )]
    NoCopy {
        /// The server.
        server: u32,
        /// The job's file.
        file: u32,
        /// Servers with a copy.
        holders: Vec<u32>,
    },
}

/// The copies of all data.
#[derive(Clone)]
pub struct Copies {
    /// Where they are, or why that is no use.
    placement: Result<ReplicaPlacement, CannotServe>,
    servers: u32,
}

impl Copies {
    /// The scenario's, as far as schedulers at a position can choose among them.
    pub fn new(parallel: &Parallel, position: Position, seed: u64) -> Copies {
        let placement = match position {
            _ if parallel.replication.reed_solomon().is_some() => Err(CannotServe::Code),
            Position::Gateway if !parallel.failures().is_empty() => Err(CannotServe::Failures),
            Position::Client | Position::Gateway => Ok(ReplicaPlacement::new(parallel, seed)),
            Position::Server | Position::Proxy | Position::Metadata => {
                Err(CannotServe::Position(position.word()))
            }
        };
        Copies {
            placement,
            servers: parallel.servers.count,
        }
    }

    /// None to choose among.
    pub(super) fn none() -> Copies {
        Copies {
            placement: Err(CannotServe::Position("client")),
            servers: 0,
        }
    }

    /// Returns true if there is data on more than one server that schedulers can choose.
    pub(super) fn are_elsewhere(&self) -> bool {
        self.placement.as_ref().is_ok_and(|it| it.count() > 1)
    }

    fn choice(&self, job: &Job) -> Result<&ReplicaPlacement, CannotServe> {
        let placement = self.placement.as_ref().map_err(Clone::clone)?;
        match (job.role, job.operation) {
            (Role::Data, Operation::Read) => Ok(placement),
            (_, operation) => Err(CannotServe::NotARead(operation)),
        }
    }

    /// The place of a job's data, and which of its copies the job is for.
    fn place(&self, placement: &ReplicaPlacement, job: &Job) -> Option<(u32, u32)> {
        let target = u32::from(job.target) * self.servers + job.server;
        placement.place(job.file, job.offset, target)
    }

    /// The servers with a copy of what a job reads.
    ///
    /// # Errors
    /// Why there is no choice.
    pub fn servers(&self, job: &Job) -> Result<impl Iterator<Item = u32> + use<>, CannotServe> {
        let placement = self.choice(job)?;
        let place = self.place(placement, job).map(|(place, _)| place);
        let copies = (0..placement.count()).filter_map(|copy| {
            place.map(|place| placement.target(job.file, place, copy) % self.servers)
        });
        // Few: the copies of one part of a file.
        Ok(copies.collect::<Vec<u32>>().into_iter())
    }

    /// The job at a server; none if it is for that one. Until it leaves the scheduler,
    /// [`Job::pending`] says which copy it came for.
    ///
    /// # Errors
    /// Why it cannot go there.
    pub fn at(&self, job: &Job, server: u32) -> Result<Option<Job>, CannotServe> {
        let servers = self.servers;
        if server >= servers && servers > 0 {
            return Err(CannotServe::NoSuchServer { server, servers });
        }
        if server == job.server && self.placement.is_ok() {
            return Ok(None);
        }
        let placement = self.choice(job)?;
        let place = self.place(placement, job);
        let there = place.and_then(|(place, copy)| {
            let mut targets =
                (0..placement.count()).map(|copy| placement.target(job.file, place, copy));
            let target = targets.find(|target| target % servers == server)?;
            Some(Job {
                server,
                target: (target / servers) as u16,
                pending: copy + 1,
                ..*job
            })
        });
        there.map(Some).ok_or_else(|| CannotServe::NoCopy {
            server,
            file: job.file,
            holders: self
                .servers(job)
                .map_or_else(|_| Vec::new(), Iterator::collect),
        })
    }

    /// Removes the original destination from a leaving job: the server and target, if it was
    /// redirected.
    pub(super) fn came_as(&self, job: &mut Job) -> Option<(u32, u16)> {
        let copy = std::mem::take(&mut job.pending).checked_sub(1)?;
        let placement = self.placement.as_ref().ok()?;
        let (place, _) = self.place(placement, job)?;
        let target = placement.target(job.file, place, copy);
        Some((target % self.servers, (target / self.servers) as u16))
    }
}
