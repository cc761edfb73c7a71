//! Where a file's bytes are: which target of which server holds which of them.

use headrace_net::Random;
use headrace_spec::{FirstServer, LayoutKind, Parallel, Scenario, Striped};

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
    unit: u64,
    /// Targets over which one file is spread.
    width: u64,
    targets: u64,
    first: FirstServer,
    seed: u64,
    packet: u64,
}

impl Layout {
    /// The scenario's layout; `seed` is the run's, for servers drawn at random.
    pub fn new(scenario: &Scenario, parallel: &Parallel, seed: u64) -> Layout {
        let LayoutKind::Striped(Striped {
            unit,
            servers,
            first,
        }) = &parallel.layout.kind;
        Layout {
            unit: unit.0,
            width: u64::from(servers.of(parallel.servers.all_targets())),
            targets: u64::from(parallel.servers.all_targets()),
            first: *first,
            seed,
            packet: scenario.largest_job().unwrap_or(u64::MAX),
        }
    }

    /// The target that holds a file's first stripe.
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
        (0..self.width).map(move |turn| ((first + turn) % targets) as u32)
    }

    /// How many bytes of a file of `size` bytes a target holds.
    pub fn part(&self, file: u32, size: u64, target: u32) -> u64 {
        let first = self.first_target(file);
        let turn = (u64::from(target) + self.targets - first) % self.targets;
        if turn >= self.width {
            return 0;
        }
        let (stripes, rest) = (size / self.unit, size % self.unit);
        let whole = stripes / self.width + u64::from(stripes % self.width > turn);
        let last = if stripes % self.width == turn {
            rest
        } else {
            0
        };
        whole * self.unit + last
    }

    /// The target that holds a byte of a file, and the byte after the stripe.
    pub fn target_at(&self, file: u32, offset: u64) -> (u32, u64) {
        let stripe = offset / self.unit;
        let target = (self.first_target(file) + stripe % self.width) % self.targets;
        (target as u32, (stripe + 1).saturating_mul(self.unit))
    }

    /// Bytes of a file, from a multiple of them on, that make requests of so many
    /// bytes to every target they concern; 0 if that is 0.
    pub fn filling(&self, request: u64) -> u64 {
        let whole_stripes = request > 0 && self.unit.is_multiple_of(request);
        let of_one = self.width == 1 || whole_stripes;
        request.saturating_mul(if of_one { 1 } else { self.width })
    }

    /// Bytes of the largest job.
    pub fn largest(&self) -> u64 {
        self.packet
    }

    /// About how many jobs a request of this size makes.
    pub fn jobs(&self, size: u64) -> u64 {
        size / self.packet + self.width.min(size / self.unit + 2)
    }

    /// Gives the pieces of a request, target by target: contiguous stripes on
    /// one target are one piece, cut at the packet limit. A request of no bytes
    /// is one empty piece.
    pub fn pieces(&self, file: u32, offset: u64, size: u64, mut give: impl FnMut(Piece)) {
        let first = self.first_target(file);
        let (unit, width) = (self.unit, self.width);
        // Sizes come from traces too: past the end of 64 bits there is nothing.
        let end = offset.saturating_add(size);
        let first_stripe = offset / unit;
        let last_stripe = if end == offset {
            first_stripe
        } else {
            (end - 1) / unit
        };
        for turn in 0..width.min(last_stripe - first_stripe + 1) {
            // The first and last stripes of the request on this target.
            let from = first_stripe + turn;
            let to = from + (last_stripe - from) / width * width;
            let within = |stripe: u64, byte: u64| stripe / width * unit + (byte - stripe * unit);
            let start = within(from, offset.max(from * unit));
            let stripe_end = to.saturating_mul(unit).saturating_add(unit);
            let stop = within(to, end.min(stripe_end));
            let target = ((first + from % width) % self.targets) as u32;
            let mut at = start;
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn layout(unit: u64, width: u64, servers: u64, packet: u64) -> Layout {
        Layout {
            unit,
            width,
            targets: servers,
            first: FirstServer::RoundRobin,
            seed: 1,
            packet,
        }
    }

    fn pieces(layout: &Layout, file: u32, offset: u64, size: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        layout.pieces(file, offset, size, |piece| pieces.push(piece));
        pieces
    }

    #[test]
    fn a_mebibyte_over_four_servers() {
        let got = pieces(&layout(256 << 10, 4, 4, u64::MAX), 0, 0, 1 << 20);
        let expected: Vec<Piece> = (0..4)
            .map(|target| Piece {
                target,
                offset: 0,
                size: 256 << 10,
            })
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn the_end_of_64_bits_does_not_overflow() {
        let got = pieces(&layout(65536, 4, 4, u64::MAX), 3, u64::MAX - 10, 100);
        assert_eq!(got.iter().map(|piece| piece.size).sum::<u64>(), 10);
    }

    proptest! {
        #[test]
        fn parts_are_what_the_pieces_of_a_whole_file_add_up_to(
            unit in 1_u64..9, width in 1_u64..5, more in 0_u64..3,
            file in 0_u32..7, size in 1_u64..100,
        ) {
            let layout = layout(unit, width, width + more, u64::MAX);
            let mut parts = BTreeMap::new();
            for piece in pieces(&layout, file, 0, size) {
                *parts.entry(piece.target).or_insert(0) += piece.size;
            }
            let holders: Vec<u32> = layout.targets_of(file).collect();
            for server in 0..(width + more) as u32 {
                let part = layout.part(file, size, server);
                prop_assert_eq!(part, parts.get(&server).copied().unwrap_or(0));
                prop_assert!(part == 0 || holders.contains(&server));
            }
        }

        /// Byte by byte, against the definition of striping.
        #[test]
        fn every_byte_is_on_its_server_once(
            unit in 1_u64..9, width in 1_u64..5, more in 0_u64..3, packet in 1_u64..20,
            file in 0_u32..7, offset in 0_u64..100, size in 1_u64..100,
        ) {
            let servers = width + more;
            let mut expected = BTreeMap::new();
            for byte in offset..offset + size {
                let stripe = byte / unit;
                let server = (u64::from(file) % servers + stripe % width) % servers;
                let local = stripe / width * unit + byte % unit;
                *expected.entry((server as u32, local)).or_insert(0) += 1;
            }
            let mut got = BTreeMap::new();
            for piece in pieces(&layout(unit, width, servers, packet), file, offset, size) {
                prop_assert!(piece.size <= packet);
                for byte in piece.offset..piece.offset + piece.size {
                    *got.entry((piece.target, byte)).or_insert(0) += 1;
                }
            }
            prop_assert_eq!(got, expected);
        }
    }
}
