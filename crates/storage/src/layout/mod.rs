//! Layout of files: the target and server of each byte.
//!
//! Stripe k of a file, `unit` bytes, is on the file's first target plus k modulo the number of its
//! targets. The parts of a request on one server are one job, unless `packet` divides them. Targets
//! are numbered in turn: the first of every server, then the second. Each kind is a file:
//!
//! | `layout.kind` | file | after |
//! | --- | --- | --- |
//! | `striped`, `basic` | `stripes.rs` | OrangeFS, simple_stripe and basic_dist |
//! | `two-dimensional`, `variable-strip` | `pattern.rs` | OrangeFS, twod_stripe and varstrip_dist |
//! | `progressive` | `progressive.rs` | Lustre, `lfs setstripe -E` |
//! | `free-space` | `free_space.rs` | Lustre, lod_qos.c |
//! | `crush` | `crush.rs`, `replicated_blocks.rs` | Ceph |
//! | `python` | `file_placement.rs` | the user's own class |
//!
//! The files of a workload are in one directory, and `workload.layout` is the layout of that
//! directory (`layouts.rs`). A pool is a named set of servers with all their targets; the numbers
//! of a layout then count within the pool. Files are numbered by process. With several files per
//! process, `first = "round-robin"` may start all processes on one server, and `"balance"` depends
//! on time instead.
//!
//! With `overstripe_count`, a file has several objects on a target, and each has locks of its own
//! (Lustre's overstriping). Stripe k is of object k modulo their number. All else sees the objects
//! on one target as one piece. A request has one job there, and cache and device hold the bytes in
//! the order of the file.
//!
//! With copies or a code, the layout spreads files over sets of targets, all on different servers
//! (`replica_placement.rs`, `coded_stripes.rs`).
//!
//! Not modelled: overstriping with layouts other than `striped`; layouts of single files; targets
//! that fill up; growth of a file's layout; servers that join or leave during a run, and the data
//! that moves then; locks on data on a metadata server, its limit of RPCs in flight, and failures of the
//! server that holds it; pools together with replication.

mod coded_stripes;
mod crush;
mod file_placement;
mod first_targets;
mod free_space;
mod layouts;
mod metadata_placement;
mod pattern;
mod progressive;
mod replica_placement;
mod replicated_blocks;
mod stripes;

pub use coded_stripes::{CodedStripes, PieceRange, Ranges};
pub use file_placement::{Placement, Strip};
pub use first_targets::FirstTargets;
pub use layouts::{Layouts, Placements};
pub use metadata_placement::MetadataPlacement;
pub(crate) use metadata_placement::file_hash;
pub use replica_placement::ReplicaPlacement;

use std::sync::Arc;

use headrace_net::Random;
use headrace_spec::{FirstServer, LayoutKind, Parallel, Scenario};

use smallvec::SmallVec;

use crate::tokens::ObjectId;

use self::file_placement::{FilePlacement, Placer};
use self::free_space::FreeSpace;
use self::pattern::Pattern;
use self::progressive::Progressive;
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
    /// Stripes over a file's objects, if a target has several of them: object n is on the target
    /// with turn n, counted round and round.
    objects: Option<Distribution>,
    /// Number of targets for it.
    targets: u64,
    /// Targets of the pool, if not all.
    pool: Option<Arc<[u32]>>,
    first: FirstServer,
    /// The first targets of the first files, where they are known.
    known: Arc<[u32]>,
    /// Number of its pool in [`FirstTargets`], with [`FirstServer::Balance`].
    assigned_in: usize,
    /// Rule by which each file gets its servers, if they are not in turn.
    placer: Option<Placer>,
    seed: u64,
    packet: u64,
    /// Stripes of a code, if there is one: jobs end where one ends.
    coded: Option<CodedStripes>,
}

/// The target of bytes that are on the metadata server.
pub const ON_METADATA: u32 = u32::MAX;

/// Blocks of a file have numbers of 32 bits.
pub const BLOCKS: u64 = 1 << 32;

/// Distribution of a file's bytes over its targets, numbered from the first byte's target. To add
/// one, write a module and name it here.
#[derive(Clone, Debug)]
enum Distribution {
    Stripes(Stripes),
    Pattern(Pattern),
    Progressive(Progressive),
    /// Blocks of a number of bytes. Each counts as a target of its own and keeps its offset
    /// in the file; the placement of copies decides where it is stored.
    Blocks(u64),
}

impl Distribution {
    fn new(kind: &LayoutKind, targets: u32) -> Distribution {
        match kind {
            LayoutKind::Striped(striped) => {
                let (unit, width) = (striped.unit.0, u64::from(striped.width(targets)));
                match striped.objects(targets).map(u64::from) {
                    // The last round of objects leaves some targets out.
                    Some(objects) if !objects.is_multiple_of(width) => {
                        let strips = (0..objects).map(|turn| (turn % width, unit));
                        Distribution::Pattern(Pattern::new(strips, width))
                    }
                    _ => Distribution::Stripes(Stripes { unit, width }),
                }
            }
            LayoutKind::Basic(_) => Distribution::Stripes(Stripes {
                unit: u64::MAX,
                width: 1,
            }),
            LayoutKind::TwoDimensional(spec) => {
                Distribution::Pattern(Pattern::two_dimensional(spec, targets))
            }
            LayoutKind::VariableStrip(spec) => Distribution::Pattern(Pattern::variable(spec)),
            LayoutKind::FreeSpace(spec) => Distribution::Stripes(Stripes {
                unit: spec.unit.0,
                width: u64::from(spec.servers.of(targets)),
            }),
            LayoutKind::Crush(spec) => Distribution::Blocks(spec.unit.0),
            // For the number of jobs: each file has strips of its own.
            LayoutKind::PythonLayout(spec) => Distribution::Stripes(Stripes {
                unit: spec.unit.0,
                width: u64::from(targets),
            }),
            LayoutKind::Progressive(spec) => {
                Distribution::Progressive(Progressive::new(spec, targets))
            }
        }
    }

    /// Targets over which one file is spread.
    fn width(&self) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.width,
            Distribution::Pattern(pattern) => pattern.width(),
            Distribution::Progressive(it) => it.width(),
            Distribution::Blocks(_) => BLOCKS,
        }
    }

    /// Targets that a new file is given.
    fn assigned(&self) -> u64 {
        match self {
            Distribution::Progressive(it) => it.first_width(),
            _ => self.width(),
        }
    }

    fn at(&self, offset: u64) -> (u64, u64) {
        match self {
            Distribution::Stripes(stripes) => stripes.at(offset),
            Distribution::Pattern(pattern) => pattern.at(offset),
            Distribution::Progressive(it) => it.at(offset),
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
            Distribution::Progressive(it) => it.part(size, turn),
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
            Distribution::Progressive(it) => it.spread(offset, end),
            Distribution::Blocks(unit) => (end - 1) / unit - offset / unit + 1,
        }
    }

    /// Bytes of the smallest strip.
    fn unit(&self) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.unit,
            Distribution::Pattern(pattern) => pattern.smallest(),
            Distribution::Progressive(it) => it.smallest(),
            Distribution::Blocks(unit) => *unit,
        }
    }
}

/// Stripes over a file's objects, if some target has several of them.
fn objects_of(kind: &LayoutKind, targets: u32) -> Option<Distribution> {
    let LayoutKind::Striped(striped) = kind else {
        return None;
    };
    let objects = striped.objects(targets)?;
    Some(Distribution::Stripes(Stripes {
        unit: striped.unit.0,
        width: u64::from(objects),
    }))
}

impl Layout {
    /// A layout of the scenario; `seed` is the run's, for servers drawn at random.
    pub fn new(
        scenario: &Scenario,
        parallel: &Parallel,
        spec: &headrace_spec::Layout,
        seed: u64,
        own: Option<&Arc<dyn Placement>>,
    ) -> Layout {
        let coded = CodedStripes::new(parallel);
        let packet = scenario.largest_job(spec).unwrap_or(u64::MAX);
        let packet = coded.map_or(packet, |it| it.largest(parallel, packet));
        if let Some(block) = parallel.block() {
            return Layout {
                distribution: Distribution::Blocks(block.0),
                objects: None,
                targets: BLOCKS,
                pool: None,
                first: FirstServer::Zero,
                known: Arc::default(),
                assigned_in: 0,
                placer: None,
                seed,
                packet,
                coded,
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
        let distribution = Distribution::new(&spec.kind, targets);
        let placer = match &spec.kind {
            LayoutKind::FreeSpace(it) => {
                let on = spec
                    .pool(parallel)
                    .map_or(servers, |it| it.servers.len() as u32);
                let rule = FreeSpace::new(it, it.servers.of(targets), on, seed);
                Some(Placer::FreeSpace(Arc::new(rule), distribution.clone()))
            }
            LayoutKind::PythonLayout(_) => own.map(|it| Placer::Own {
                placement: Arc::clone(it),
                targets,
            }),
            _ => None,
        };
        Layout {
            distribution,
            objects: objects_of(&spec.kind, targets),
            targets: u64::from(targets),
            pool,
            first: spec.kind.first(),
            known: spec.first_servers.clone().unwrap_or_default().into(),
            assigned_in: 0,
            placer,
            seed,
            packet,
            coded,
        }
    }

    /// A file on its targets; a new file is assigned its first one.
    pub fn file(&self, file: u32, first_targets: &mut FirstTargets) -> FileLayout<'_> {
        if let Some(placer) = &self.placer {
            let placed = first_targets.placed(self.assigned_in).place(file, placer);
            return FileLayout {
                layout: self,
                first: 0,
                placed: Some(placed),
            };
        }
        let first = self.fixed_first_target(file).unwrap_or_else(|| {
            let width = self.distribution.assigned();
            first_targets.assign(self.assigned_in, file, width, self.targets)
        });
        FileLayout {
            layout: self,
            first,
            placed: None,
        }
    }

    /// A file is written up to a byte, which takes free space where targets are chosen by it.
    pub fn is_written(&self, file: u32, end: u64, first_targets: &mut FirstTargets) {
        if let Some(placer) = &self.placer {
            first_targets
                .placed(self.assigned_in)
                .grows(file, end, placer);
        }
    }

    /// Returns true if each file is placed by itself.
    pub fn places_files(&self) -> bool {
        self.placer.is_some()
    }

    /// The same, if the file's first target has been assigned.
    pub fn known_file(&self, file: u32, first_targets: &FirstTargets) -> Option<FileLayout<'_>> {
        if self.placer.is_some() {
            let placed = first_targets.get_placed(self.assigned_in, file)?;
            return Some(FileLayout {
                layout: self,
                first: 0,
                placed: Some(Arc::clone(placed)),
            });
        }
        let first = self.fixed_first_target(file);
        let first = first.or_else(|| first_targets.get(self.assigned_in, file))?;
        Some(FileLayout {
            layout: self,
            first,
            placed: None,
        })
    }

    /// The number among the layout's targets of the one that holds a file's first byte. None if it
    /// depends on the order in which files are first used.
    fn fixed_first_target(&self, file: u32) -> Option<u64> {
        if let Some(known) = self.known.get(file as usize) {
            return Some(u64::from(*known));
        }
        match self.first {
            FirstServer::Zero => Some(0),
            FirstServer::RoundRobin => Some(u64::from(file) % self.targets),
            FirstServer::Balance => None,
            FirstServer::Random => {
                let mut draws = u64::from(file);
                let mut random = Random::named(self.seed, "first server", &mut draws);
                Some(random.below(self.targets))
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

    /// The first byte of a file that is on data servers: those before it are on the metadata
    /// server.
    pub fn on_metadata(&self) -> u64 {
        match &self.distribution {
            Distribution::Progressive(it) => it.on_metadata,
            _ => 0,
        }
    }

    /// Returns true if the targets of a file depend on its size.
    pub fn grows(&self) -> bool {
        matches!(
            self.distribution,
            Distribution::Progressive(_) | Distribution::Blocks(_)
        )
    }

    /// Bytes of a block, if each is a target of its own.
    pub fn block(&self) -> Option<u64> {
        match self.distribution {
            Distribution::Blocks(unit) => Some(unit),
            _ => None,
        }
    }

    /// Bytes of a file, from a multiple of them on, that make requests of `request` bytes to every
    /// target concerned; 0 if `request` is 0.
    pub fn filling(&self, request: u64) -> u64 {
        let width = self.distribution.width();
        let whole_stripes = request > 0
            && match &self.distribution {
                Distribution::Progressive(it) => it.is_filled_by(request),
                other => other.unit().is_multiple_of(request),
            };
        let of_one = width == 1 || width == BLOCKS || whole_stripes;
        request.saturating_mul(if of_one { 1 } else { width })
    }

    /// Bytes from a position to the latest end of a job.
    fn to_end_of_job(&self, at: u64) -> u64 {
        match &self.coded {
            Some(coded) => self.packet - (at - coded.origin(at)) % self.packet,
            None => self.packet,
        }
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
}

/// A file on its targets.
#[derive(Clone, Debug)]
pub struct FileLayout<'a> {
    /// Layout that it has.
    pub layout: &'a Layout,
    /// The number among the layout's targets of the one that holds the first byte.
    first: u64,
    /// Where its strips are, if it has servers of its own.
    placed: Option<Arc<FilePlacement>>,
}

impl FileLayout<'_> {
    fn distribution(&self) -> &Distribution {
        match &self.placed {
            Some(placed) => &placed.distribution,
            None => &self.layout.distribution,
        }
    }

    /// The target with a turn.
    fn target(&self, turn: u64) -> u32 {
        match &self.placed {
            Some(placed) => self.layout.target(u64::from(placed.targets[turn as usize])),
            None => self.layout.target(self.first + turn),
        }
    }

    /// The turn of a target among the layout's, if it has one.
    fn turn(&self, number: u64) -> Option<u64> {
        if let Some(placed) = &self.placed {
            let mut targets = placed.targets.iter();
            return targets
                .position(|it| u64::from(*it) == number)
                .map(|it| it as u64);
        }
        let turn = (number + self.layout.targets - self.first) % self.layout.targets;
        (turn < self.layout.distribution.width()).then_some(turn)
    }

    /// The targets that hold parts of it, where they are no blocks. For a file that grows over its
    /// targets, they are the first one and those that hold some of its first `size` bytes.
    pub fn targets(&self, size: u64) -> impl Iterator<Item = u32> {
        let distribution = self.distribution();
        let grows = matches!(distribution, Distribution::Progressive(_));
        let turns = 0..distribution.width();
        let holding =
            turns.filter(move |turn| !grows || *turn == 0 || distribution.part(size, *turn) > 0);
        holding.map(|turn| self.target(turn))
    }

    /// The part of a range on the metadata server: its first byte and its bytes.
    pub fn on_metadata(&self, offset: u64, size: u64) -> Option<(u64, u64)> {
        let end = offset.saturating_add(size).min(self.layout.on_metadata());
        (offset < end).then(|| (offset, end - offset))
    }

    /// Returns the bytes of it that a target holds if it has `size` bytes.
    pub fn part(&self, size: u64, target: u32) -> u64 {
        let turn = self.layout.number_of(target);
        let turn = turn.and_then(|number| self.turn(number));
        turn.map_or(0, |turn| self.distribution().part(size, turn))
    }

    /// The target that holds a byte, [`ON_METADATA`] if the metadata server does, and the byte after
    /// the strip.
    pub fn target_at(&self, offset: u64) -> (u32, u64) {
        let (turn, end) = self.distribution().at(offset);
        if offset < self.layout.on_metadata() {
            return (ON_METADATA, end);
        }
        (self.target(turn), end)
    }

    /// The file over its objects.
    fn objects(&self) -> &Distribution {
        self.layout.objects.as_ref().unwrap_or(self.distribution())
    }

    /// The object with a turn.
    fn object(&self, turn: u64) -> ObjectId {
        let width = self.distribution().width();
        ObjectId {
            target: self.target(turn % width),
            index: (turn / width) as u32,
        }
    }

    /// The object that holds a byte, on the target [`ON_METADATA`] if the metadata server does, and
    /// the byte after the strip.
    pub fn object_at(&self, offset: u64) -> (ObjectId, u64) {
        let (turn, end) = self.objects().at(offset);
        let object = self.object(turn);
        match offset < self.layout.on_metadata() {
            true => {
                let target = ON_METADATA;
                (ObjectId { target, ..object }, end)
            }
            false => (object, end),
        }
    }

    /// The place of a byte within its object.
    pub fn offset_in_object(&self, offset: u64) -> u64 {
        let objects = self.objects();
        objects.part(offset, objects.at(offset).0)
    }

    /// Returns the extents of a range on each object, by object: object, first byte within it, and
    /// end.
    pub fn extents(&self, offset: u64, size: u64) -> SmallVec<[(ObjectId, u64, u64); 4]> {
        let mut extents = SmallVec::new();
        parts(self.objects(), offset, size, |turn, start, end| {
            extents.push((self.object(turn), start, end));
        });
        extents.sort_unstable();
        extents
    }

    /// Gives the pieces of a request, target by target, from that of the first byte on. A target
    /// holds the bytes of a range one after the other, so they are one piece, cut at the packet
    /// limit. A request of no bytes is one empty piece.
    pub fn pieces(&self, offset: u64, size: u64, mut give: impl FnMut(Piece)) {
        parts(self.distribution(), offset, size, |turn, mut at, stop| {
            loop {
                let size = (stop - at).min(self.layout.to_end_of_job(at));
                give(Piece {
                    target: self.target(turn),
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
}

/// Gives the turns that hold a range, from that of the first byte on, and which bytes of their
/// parts.
fn parts(distribution: &Distribution, offset: u64, size: u64, mut give: impl FnMut(u64, u64, u64)) {
    let width = distribution.width();
    // Sizes come from traces too: past the end of 64 bits there is nothing.
    let end = offset.saturating_add(size);
    let (first_turn, _) = distribution.at(offset);
    let turns = match end == offset {
        true => 1,
        false => distribution.spread(offset, end),
    };
    for turn in first_turn..first_turn + turns {
        let turn = turn % width;
        let at = distribution.part(offset, turn);
        let stop = distribution.part(end, turn);
        if at < stop || end == offset {
            give(turn, at, stop);
        }
    }
}

#[cfg(test)]
mod tests;
