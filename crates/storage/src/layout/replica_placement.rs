//! Placement of copies on targets.
//!
//! A layout spreads files over places. Without copies a place is a target. With N copies
//! it is a set of N targets, all on different servers.
//!
//! | `sets` | sets |
//! | --- | --- |
//! | `neighbours` | consecutive servers, as GlusterFS' bricks; a multiple of the copies |
//! | `random` | drawn for each file; without a multiple, each file leaves some servers out |
//! | `blocks` | drawn for each block of `layout.unit` (`replicated_blocks.rs`), as in HDFS |
//!
//! `layout.servers` counts sets, and `layout.first` chooses among them. With several targets a
//! server, targets take the place of servers.

use headrace_net::Random;
use headrace_spec::{Parallel, ReadFrom, ReplicaSets};

use super::replicated_blocks::Blocks;

/// Sets of targets.
#[derive(Clone, Debug)]
pub struct ReplicaPlacement {
    /// Targets of a set.
    count: u64,
    /// Sets.
    places: u64,
    servers: u64,
    reads: ReadFrom,
    /// Seed of per-file replica sets, if files have their own.
    seed: Option<u64>,
    /// Blocks' own sets, if they have some: then a place is a block.
    blocks: Option<Blocks>,
}

impl ReplicaPlacement {
    /// The scenario's sets; `seed` is the run's, for sets that are drawn.
    pub fn new(parallel: &Parallel, seed: u64) -> ReplicaPlacement {
        let replication = &parallel.replication;
        ReplicaPlacement {
            count: u64::from(replication.pieces()),
            places: u64::from(parallel.places()),
            servers: u64::from(parallel.servers.count),
            reads: replication.read_from,
            seed: match replication.sets {
                ReplicaSets::Random if replication.pieces() > 1 => Some(seed),
                _ => None,
            },
            blocks: parallel
                .block()
                .map(|unit| Blocks::new(parallel, unit.0, seed)),
        }
    }

    /// Number of targets that have each byte, or a piece of its stripe.
    pub fn count(&self) -> u32 {
        self.count as u32
    }

    /// The places that files are spread over, where these are no blocks.
    pub fn places(&self) -> u32 {
        self.places as u32
    }

    /// Bytes of a block, if each has a set of its own: then it is a place.
    pub fn block(&self) -> Option<u64> {
        self.blocks.as_ref().map(Blocks::size)
    }

    /// The target with one of a place's copies, or pieces, of a file's data.
    pub fn target(&self, file: u32, place: u32, copy: u32) -> u32 {
        if let Some(blocks) = &self.blocks {
            return blocks.targets(file, place)[copy as usize];
        }
        let index = u64::from(place) * self.count + u64::from(copy);
        if self.seed.is_none() {
            return index as u32;
        }
        let (device, server) = (index / self.servers, index % self.servers);
        (device * self.servers + self.shuffled(file, server, false)) as u32
    }

    /// The place of a target in the layout of a file, and its copy number for a job at an offset.
    /// None if it has none.
    pub fn place(&self, file: u32, offset: u64, target: u32) -> Option<(u32, u32)> {
        if let Some(blocks) = &self.blocks {
            let block = blocks.of(offset);
            let targets = blocks.targets(file, block);
            let copy = targets.iter().position(|it| *it == target)?;
            return Some((block, copy as u32));
        }
        let target = u64::from(target);
        let (device, server) = (target / self.servers, target % self.servers);
        let index = device * self.servers + self.shuffled(file, server, true);
        let place = index / self.count;
        (place < self.places).then_some((place as u32, (index % self.count) as u32))
    }

    /// The target that a target passes a file's data at an offset on to.
    pub fn next(&self, file: u32, offset: u64, target: u32) -> Option<u32> {
        let (place, copy) = self.place(file, offset, target)?;
        (copy + 1 < self.count()).then(|| self.target(file, place, copy + 1))
    }

    /// The copy that a client reads.
    pub fn read(&self, client: u32, mut random: Random<'_>) -> u32 {
        match self.reads {
            ReadFrom::First => 0,
            ReadFrom::ByClient => (u64::from(client) % self.count) as u32,
            ReadFrom::Random if self.count == 1 => 0,
            ReadFrom::Random => random.below(self.count) as u32,
            // Chosen for each part of a request by the client (`client/nearest_replica.rs`).
            ReadFrom::Nearest => 0,
        }
    }

    /// A permutation of the servers for each file, or back: the swap-or-not shuffle
    /// (Hoang, Morris and Rogaway, CRYPTO 2012), whose rounds are their own inverses.
    fn shuffled(&self, file: u32, server: u64, back: bool) -> u64 {
        let Some(seed) = self.seed else {
            return server;
        };
        // Enough for a public permutation: six for each bit of a server's number.
        let rounds = 6 * u64::from(64 - self.servers.leading_zeros());
        let mut keys = Keys::new(seed, file);
        (0..rounds).fold(server, |at, turn| {
            let round = if back { rounds - 1 - turn } else { turn };
            let key = keys.at(0, round) % self.servers;
            let other = (key + self.servers - at) % self.servers;
            let swaps = keys.at(1 + round, at.max(other)) & 1 == 1;
            if swaps { other } else { at }
        })
    }
}

/// Random bits by their number.
struct Keys {
    seed: u64,
    file: u64,
}

impl Keys {
    fn new(seed: u64, file: u32) -> Keys {
        let file = u64::from(file);
        Keys { seed, file }
    }

    fn at(&mut self, stream: u64, number: u64) -> u64 {
        // Streams, numbers and files have at most 32 bits each, together 64 of a counter
        // where streams have less than 10.
        let mut counter = (self.file << 32) ^ (stream << 22) ^ number;
        counter = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Random::named(self.seed, "replica sets", &mut counter).bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn copies(count: u64, servers: u64, devices: u64, seed: Option<u64>) -> ReplicaPlacement {
        ReplicaPlacement {
            count,
            places: servers * devices / count,
            servers,
            reads: ReadFrom::ByClient,
            seed,
            blocks: None,
        }
    }

    proptest! {
        #[test]
        fn each_place_has_targets_of_its_own_on_different_servers(
            count in 1_u64..6, more in 0_u64..9, devices in 1_u64..4, file in 0_u32..9,
            seed in prop::option::of(0_u64..99),
        ) {
            let copies = copies(count, count + more, devices, seed);
            let mut all = BTreeSet::new();
            for place in 0..copies.places as u32 {
                let mut servers = BTreeSet::new();
                for copy in 0..count as u32 {
                    let target = copies.target(file, place, copy);
                    prop_assert!(u64::from(target) < (count + more) * devices);
                    prop_assert!(all.insert(target));
                    prop_assert!(servers.insert(u64::from(target) % copies.servers));
                    prop_assert_eq!(copies.place(file, 0, target), Some((place, copy)));
                }
                let mut chain = vec![copies.target(file, place, 0)];
                while let Some(next) = copies.next(file, 0, chain[chain.len() - 1]) {
                    chain.push(next);
                }
                prop_assert_eq!(chain.len() as u64, count);
            }
            let without = (0..((count + more) * devices) as u32)
                .filter(|&target| copies.place(file, 0, target).is_none());
            prop_assert_eq!(without.count() as u64, (count + more) * devices % count);
        }
    }

    /// Every pair of ten servers shares the data of about as many of many files.
    #[test]
    fn drawn_sets_are_fair_to_all_pairs() {
        let copies = copies(2, 10, 1, Some(7));
        let mut pairs = std::collections::BTreeMap::new();
        for file in 0..9000 {
            let both = [0, 1].map(|copy| copies.target(file, 0, copy));
            *pairs.entry(both).or_insert(0_u32) += 1;
        }
        assert_eq!(pairs.len(), 90);
        // 100 of each expected, five standard deviations of 10.
        assert!(
            pairs.values().all(|&seen| (50..150).contains(&seen)),
            "{pairs:?}"
        );
    }
}
