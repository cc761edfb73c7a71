//! From a request to jobs: one for each target that is concerned, or several where
//! they would be too large.

use std::collections::BTreeSet;

use headrace_net::{Firing, To};
use headrace_spec::{MOST_JOBS, Parallel, Scenario};
use headrace_trace::Operation;

use super::ClientContext;
use super::nearest_replica::NearestReplica;
use crate::layout::{
    BLOCKS, FileLayout, FirstTargets, Layouts, MetadataPlacement, Piece, ReplicaPlacement,
};
use crate::localfs::Sizes;
use crate::network::Wire;
use crate::tokens::{Job, Role};

/// Splits requests to the servers.
#[derive(Clone)]
pub(super) struct Split {
    layouts: Layouts,
    copies: ReplicaPlacement,
    /// Nearest copy, if it is chosen separately for each part of a request.
    nearest: Option<NearestReplica>,
    /// The number of them to which the client sends its writes.
    written: u32,
    /// A code's stripes are accessed as a set, through its first server.
    coded: bool,
    wire: Wire,
    servers: u32,
    /// Requests to metadata servers, if some data lies there.
    on_metadata: Option<OnMetadata>,
}

/// Data on metadata servers.
#[derive(Clone)]
struct OnMetadata {
    placement: MetadataPlacement,
    wire: Wire,
    ask: To<Job>,
}

impl Split {
    pub fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        context: &ClientContext,
        ask: Option<To<Job>>,
        seed: u64,
    ) -> Split {
        let layouts = &context.layouts;
        Split {
            layouts: layouts.clone(),
            copies: ReplicaPlacement::new(parallel, seed),
            nearest: NearestReplica::new(scenario, parallel, seed),
            written: match parallel.replication.chained() {
                true => 1,
                false => parallel.replication.copies,
            },
            coded: parallel.replication.reed_solomon().is_some(),
            wire: Wire::new(&parallel.network),
            servers: parallel.servers.count,
            on_metadata: ask.map(|ask| OnMetadata {
                placement: MetadataPlacement::new(parallel, &context.directories),
                wire: Wire::new(&parallel.metadata_network()),
                ask,
            }),
        }
    }

    /// Sends jobs like this one; gives their number, and none if they are too many.
    pub fn send(
        &self,
        firing: &mut Firing<'_>,
        (sizes, first_targets): (&mut Sizes, &mut FirstTargets),
        like: Job,
        send: To<Job>,
    ) -> Option<u32> {
        let mut jobs = 0;
        let copies = match like.operation {
            Operation::Write => 0..self.written,
            Operation::Read if self.coded => 0..1,
            Operation::Read => {
                let copy = self.copies.read(like.client, firing.random());
                copy..copy + 1
            }
            _ => 0..self.copies.count(),
        };
        let file = self.layouts.file(like.file, first_targets);
        if file.layout.places_files() {
            if let Some(wrong) = first_targets.take_failure() {
                firing.fail(wrong);
                return None;
            }
            if like.operation == Operation::Write {
                let end = like.offset.saturating_add(like.size);
                file.layout.is_written(like.file, end, first_targets);
            }
        }
        let layout = file.layout;
        if (layout.jobs(like.size)).saturating_mul(copies.len() as u64) > MOST_JOBS {
            firing.fail(format!(
                "a request of {} bytes makes more than {MOST_JOBS} jobs: raise layout.packet",
                like.size
            ));
            return None;
        }
        if like.operation == Operation::Write && layout.grows() {
            // An fsync asks for all targets up to here.
            sizes.grow(like.file, like.offset.saturating_add(like.size));
        }
        if let Some(on_metadata) = &self.on_metadata
            && let Some(job) = on_metadata.job(&file, like)
        {
            firing.put(on_metadata.ask, job);
            jobs += 1;
        }
        let mut asked = BTreeSet::new();
        let ask = |piece: Piece| {
            let target = |copy| self.copies.target(like.file, piece.target, copy);
            let copies = match &self.nearest {
                Some(nearest) if like.operation == Operation::Read && !self.coded => {
                    let servers = (0..self.copies.count()).map(|copy| target(copy) % self.servers);
                    let copy = nearest.of(like.client, servers, firing.random());
                    copy..copy + 1
                }
                _ => copies.clone(),
            };
            for copy in copies {
                let target = target(copy);
                if like.operation == Operation::Sync && !asked.insert(target) {
                    continue;
                }
                let mut job = Job {
                    server: target % self.servers,
                    target: (target / self.servers) as u16,
                    offset: piece.offset,
                    size: piece.size,
                    ..like
                };
                job.wire = self.wire.bytes(job.payload());
                firing.put(send, job);
                jobs += 1;
            }
        };
        if like.operation == Operation::Sync {
            parts_of(file, sizes.get(like.file)).for_each(ask);
        } else {
            file.pieces(like.offset, like.size, ask);
        }
        Some(jobs)
    }
}

impl OnMetadata {
    /// The job for what a metadata server holds of a request. An fsync is for all of it.
    fn job(&self, file: &FileLayout<'_>, like: Job) -> Option<Job> {
        let (offset, size) = match like.operation {
            Operation::Sync => (file.layout.on_metadata() > 0).then_some((0, 0))?,
            _ => file.on_metadata(like.offset, like.size)?,
        };
        let mut job = Job {
            server: self.placement.server_of(like.file),
            role: Role::Metadata,
            offset,
            size,
            ..like
        };
        job.wire = self.wire.bytes(job.payload());
        Some(job)
    }
}

/// Returns the pieces of an fsync: an empty one for each target or block.
fn parts_of(file: FileLayout<'_>, size: Option<u64>) -> Box<dyn Iterator<Item = Piece> + '_> {
    let piece = |target, offset| Piece {
        target,
        offset,
        size: 0,
    };
    match file.layout.block() {
        None => {
            let targets: Vec<u32> = file.targets(size.unwrap_or(u64::MAX)).collect();
            Box::new(targets.into_iter().map(move |target| piece(target, 0)))
        }
        Some(unit) => {
            let blocks = size.unwrap_or(0).div_ceil(unit).clamp(1, BLOCKS - 1) as u32;
            Box::new((0..blocks).map(move |it| piece(it, u64::from(it) * unit)))
        }
    }
}
