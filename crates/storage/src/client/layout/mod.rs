//! Where a file's bytes are: which target of which server holds which of them.

mod pattern;
mod stripes;

use headrace_net::Random;
use headrace_spec::{FirstServer, LayoutKind, Parallel, Scenario};

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
    targets: u64,
    first: FirstServer,
    seed: u64,
    packet: u64,
}

/// How the bytes of a file are dealt out to its targets, which are counted from the one
/// of its first byte. To add a way, write a file and name it here.
#[derive(Clone, Debug)]
enum Distribution {
    Stripes(Stripes),
    Pattern(Pattern),
}

impl Distribution {
    fn new(parallel: &Parallel) -> Distribution {
        let targets = parallel.places();
        match &parallel.layout.kind {
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
        }
    }

    fn at(&self, offset: u64) -> (u64, u64) {
        match self {
            Distribution::Stripes(stripes) => stripes.at(offset),
            Distribution::Pattern(pattern) => pattern.at(offset),
        }
    }

    fn part(&self, size: u64, turn: u64) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.part(size, turn),
            Distribution::Pattern(pattern) => pattern.part(size, turn),
        }
    }

    /// How many targets in turn, from the first byte's on, may hold some of a range.
    fn spread(&self, offset: u64, end: u64) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.spread(offset, end),
            Distribution::Pattern(pattern) => pattern.width(),
        }
    }

    /// Bytes of the smallest strip.
    fn unit(&self) -> u64 {
        match self {
            Distribution::Stripes(stripes) => stripes.unit,
            Distribution::Pattern(pattern) => pattern.smallest(),
        }
    }
}

impl Layout {
    /// The scenario's layout; `seed` is the run's, for servers drawn at random.
    pub fn new(scenario: &Scenario, parallel: &Parallel, seed: u64) -> Layout {
        Layout {
            distribution: Distribution::new(parallel),
            targets: u64::from(parallel.places()),
            first: parallel.layout.kind.first(),
            seed,
            packet: scenario.largest_job().unwrap_or(u64::MAX),
        }
    }

    /// The target that holds a file's first byte.
    fn first_target(&self, file: u32) -> u64 {
        match self.first {
            FirstServer::Zero => 0,
            FirstServer::RoundRobin => u64::from(file) % self.targets,
            FirstServer::Random => {
                let mut draws = u64::from(file);
                Random::named(self.seed, "first server", &mut draws).below(self.targets)
            }
        }
    }

    /// The targets that hold parts of a file.
    pub fn targets_of(&self, file: u32) -> impl Iterator<Item = u32> {
        let (first, targets) = (self.first_target(file), self.targets);
        (0..self.distribution.width()).map(move |turn| ((first + turn) % targets) as u32)
    }

    /// How many bytes of a file of `size` bytes a target holds.
    pub fn part(&self, file: u32, size: u64, target: u32) -> u64 {
        let first = self.first_target(file);
        let turn = (u64::from(target) + self.targets - first) % self.targets;
        if turn >= self.distribution.width() {
            return 0;
        }
        self.distribution.part(size, turn)
    }

    /// The target that holds a byte of a file, and the byte after the strip.
    pub fn target_at(&self, file: u32, offset: u64) -> (u32, u64) {
        let (turn, end) = self.distribution.at(offset);
        let target = (self.first_target(file) + turn) % self.targets;
        (target as u32, end)
    }

    /// Bytes of a file, from a multiple of them on, that make requests of so many
    /// bytes to every target they concern; 0 if that is 0.
    pub fn filling(&self, request: u64) -> u64 {
        let width = self.distribution.width();
        let whole_stripes = request > 0 && self.distribution.unit().is_multiple_of(request);
        let of_one = width == 1 || whole_stripes;
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

    /// Gives the pieces of a request, target by target, from that of the first byte on: a
    /// target holds the bytes of a range one after the other, so they are one piece,
    /// cut at the packet limit. A request of no bytes is one empty piece.
    pub fn pieces(&self, file: u32, offset: u64, size: u64, mut give: impl FnMut(Piece)) {
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
            let mut at = self.distribution.part(offset, turn);
            let stop = self.distribution.part(end, turn);
            if at == stop && end > offset {
                continue;
            }
            let target = ((first + turn) % self.targets) as u32;
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
        }
    }
}

#[cfg(test)]
mod tests;
