//! Layout of files: the target and server of each byte.

mod balance;
mod layouts;
mod metadata_placement;
mod pattern;
mod replica_placement;
mod replicated_blocks;
mod stripes;

pub use layouts::Layouts;
pub use metadata_placement::MetadataPlacement;
pub(crate) use metadata_placement::file_hash;
pub use replica_placement::ReplicaPlacement;

use std::sync::Arc;

use headrace_net::Random;
use headrace_spec::{FirstServer, LayoutKind, Parallel, ReplicaSets, Scenario};

use smallvec::SmallVec;

use self::balance::Balance;
use self::pattern::Pattern;
use self::stripes::Stripes;

/// A part of a request for one target: contiguous bytes of what that target
/// holds of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The target: the server, where every server has one.
    pub target: u32,
    /// The first byte, within the target's part of the file.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// A layout of files over targets, the devices of all servers.
#[derive(Clone, Debug)]
pub struct Layout {
    distribution: Distribution,
    /// Number of targets for it.
    targets: u64,
    /// Targets of the pool, if not all.
    pool: Option<Arc<[u32]>>,
    first: FirstServer,
    /// The first targets of the first files, where they are known.
    known: Arc<[u32]>,
    /// Balancer of new files, with [`FirstServer::Balance`].
    balance: Balance,
    seed: u64,
    packet: u64,
}

/// Blocks of a file have numbers of 32 bits.
pub const BLOCKS: u64 = 1 << 32;

/// Distribution of a file's bytes over its targets, numbered from the first byte's target. To add
/// one, write a module and name it here.
#[derive(Clone, Debug)]
enum Distribution {
    Stripes(Stripes),
    Pattern(Pattern),
    /// Blocks of a number of bytes. Each counts as a target of its own and keeps its offset
    /// in the file; the placement of copies decides where it is stored.
    Blocks(u64),
}

impl Distribution {
    fn new(kind: &LayoutKind, targets: u32) -> Distribution {
        match kind {
            LayoutKind::Striped(striped) => Distribution::Stripes(Stripes {
                unit: striped.unit.0,
                width: u64::from(striped.servers.of(targets)),
            }),
            LayoutKind::Basic(_) => Distribution::Stripes(Stripes {
                unit: u64::MAX,
                width: 1,
            }),
            LayoutKind::TwoDimensional(spec) => {
                Distribution::Pattern(Pattern::two_dimensional(spec, targets))
            }
            LayoutKind::VariableStrip(spec) => Distribution::Pattern(Pattern::variable(spec)),
        }
    }

    /// Targets over which one file is spread.
    fn width(&self) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.width,
            Distribution::Pattern(pattern) => pattern.width(),
            Distribution::Blocks(_) => BLOCKS,
        }
    }

    fn at(&self, offset: u64) -> (u64, u64) {
        match self {
            Distribution::Stripes(stripes) => stripes.at(offset),
            Distribution::Pattern(pattern) => pattern.at(offset),
            Distribution::Blocks(unit) => {
                let block = offset / unit;
                (block, block.saturating_add(1).saturating_mul(*unit))
            }
        }
    }

    fn part(&self, size: u64, turn: u64) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.part(size, turn),
            Distribution::Pattern(pattern) => pattern.part(size, turn),
            Distribution::Blocks(unit) => {
                let first = turn.saturating_mul(*unit);
                size.clamp(first, first.saturating_add(*unit))
            }
        }
    }

    /// Returns the number of consecutive targets, from the first byte's on, that may hold part of a
    /// range.
    fn spread(&self, offset: u64, end: u64) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.spread(offset, end),
            Distribution::Pattern(pattern) => pattern.width(),
            Distribution::Blocks(unit) => (end - 1) / unit - offset / unit + 1,
        }
    }

    /// Bytes of the smallest strip.
    fn unit(&self) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.unit,
            Distribution::Pattern(pattern) => pattern.smallest(),
            Distribution::Blocks(unit) => *unit,
        }
    }
}

impl Layout {
    /// A layout of the scenario; `seed` is the run's, for servers drawn at random.
    pub fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        spec: &headrace_spec::Layout,
        seed: u64,
    ) -> Layout {
        if let (ReplicaSets::Blocks, LayoutKind::Striped(striped)) =
            (parallel.replication.sets, &spec.kind)
        {
            return Layout {
                distribution: Distribution::Blocks(striped.unit.0),
                targets: BLOCKS,
                pool: None,
                first: FirstServer::Zero,
                known: Arc::default(),
                balance: Balance::default(),
                seed,
                packet: scenario.largest_job(spec).unwrap_or(u64::MAX),
            };
        }
        let targets = spec.places(parallel);
        let servers = parallel.servers.count;
        let pool = spec.pool(parallel).map(|pool| {
            // As all targets are numbered: the first of every server, then the second.
            let devices = (0..parallel.servers.targets).map(|device| device * servers);
            let of_device = |device| pool.servers.iter().map(move |server| device + server);
            devices.flat_map(of_device).collect()
        });
        Layout {
            distribution: Distribution::new(&spec.kind, targets),
            targets: u64::from(targets),
            pool,
            first: spec.kind.first(),
            known: spec.first_servers.clone().unwrap_or_default().into(),
            balance: Balance::default(),
            seed,
            packet: scenario.largest_job(spec).unwrap_or(u64::MAX),
        }
    }

    /// The number among the layout's targets of the one that holds a file's first byte.
    fn first_target(&self, file: u32) -> u64 {
        if let Some(known) = self.known.get(file as usize) {
            return u64::from(*known);
        }
        match self.first {
            FirstServer::Zero => 0,
            FirstServer::RoundRobin => u64::from(file) % self.targets,
            FirstServer::Balance => {
                let width = self.distribution.width();
                self.balance.first_of(file, width, self.targets)
            }
            FirstServer::Random => {
                let mut draws = u64::from(file);
                Random::named(self.seed, "first server", &mut draws).below(self.targets)
            }
        }
    }

    /// The target with this number among the layout's, counted round and round.
    fn target(&self, number: u64) -> u32 {
        let number = number % self.targets;
        match &self.pool {
            Some(pool) => pool[number as usize],
            None => number as u32,
        }
    }

    /// The number of a target among the layout's, if it is one of them.
    fn number_of(&self, target: u32) -> Option<u64> {
        match &self.pool {
            Some(pool) => {
                let found = pool.iter().position(|member| *member == target);
                found.map(|number| number as u64)
            }
            None => Some(u64::from(target)),
        }
    }

    /// Bytes of a block, if each is a target of its own.
    pub fn block(&self) -> Option<u64> {
        match self.distribution {
            Distribution::Blocks(unit) => Some(unit),
            _ => None,
        }
    }

    /// The targets that hold parts of a file, where they are no blocks.
    pub fn targets_of(&self, file: u32) -> impl Iterator<Item = u32> {
        let first = self.first_target(file);
        (0..self.distribution.width()).map(move |turn| self.target(first + turn))
    }

    /// Returns the bytes of a file of `size` bytes that a target holds.
    pub fn part(&self, file: u32, size: u64, target: u32) -> u64 {
        let Some(number) = self.number_of(target) else {
            return 0;
        };
        let turn = (number + self.targets - self.first_target(file)) % self.targets;
        if turn >= self.distribution.width() {
            return 0;
        }
        self.distribution.part(size, turn)
    }

    /// The target that holds a byte of a file, and the byte after the strip.
    pub fn target_at(&self, file: u32, offset: u64) -> (u32, u64) {
        let (turn, end) = self.distribution.at(offset);
        (self.target(self.first_target(file) + turn), end)
    }

    /// Bytes of a file, from a multiple of them on, that make requests of `request`
    /// bytes to every target they concern; 0 if `request` is 0.
    pub fn filling(&self, request: u64) -> u64 {
        let width = self.distribution.width();
        let whole_stripes = request > 0 && self.distribution.unit().is_multiple_of(request);
        let of_one = width == 1 || width == BLOCKS || whole_stripes;
        request.saturating_mul(if of_one { 1 } else { width })
    }

    /// Bytes of the largest job.
    pub fn largest(&self) -> u64 {
        self.packet
    }

    /// About how many jobs a request of this size makes.
    pub fn jobs(&self, size: u64) -> u64 {
        let strips = size / self.distribution.unit() + 2;
        size / self.packet + self.distribution.width().min(strips)
    }

    /// Returns the extents of a file's range on each target, by target number: target, first byte
    /// within its part, and end.
    pub fn extents(&self, file: u32, offset: u64, size: u64) -> SmallVec<[(u32, u64, u64); 4]> {
        let mut extents = SmallVec::new();
        self.parts(file, offset, size, |target, start, end| {
            extents.push((target, start, end));
        });
        extents.sort_unstable();
        extents
    }

    /// Gives the pieces of a request, target by target, from that of the first byte on: a
    /// target holds the bytes of a range one after the other, so they are one piece,
    /// cut at the packet limit. A request of no bytes is one empty piece.
    pub fn pieces(&self, file: u32, offset: u64, size: u64, mut give: impl FnMut(Piece)) {
        self.parts(file, offset, size, |target, mut at, stop| {
            loop {
                let size = (stop - at).min(self.packet);
                give(Piece {
                    target,
                    offset: at,
                    size,
                });
                at += size;
                if at == stop {
                    break;
                }
            }
        });
    }

    /// Gives what of a request each target holds, from that of the first byte on.
    fn parts(&self, file: u32, offset: u64, size: u64, mut give: impl FnMut(u32, u64, u64)) {
        let first = self.first_target(file);
        let width = self.distribution.width();
        // Sizes come from traces too: past the end of 64 bits there is nothing.
        let end = offset.saturating_add(size);
        let (first_turn, _) = self.distribution.at(offset);
        let turns = match end == offset {
            true => 1,
            false => self.distribution.spread(offset, end),
        };
        for turn in first_turn..first_turn + turns {
            let turn = turn % width;
            let at = self.distribution.part(offset, turn);
            let stop = self.distribution.part(end, turn);
            if at < stop || end == offset {
                give(self.target(first + turn), at, stop);
            }
        }
    }
}

#[cfg(test)]
mod tests;
