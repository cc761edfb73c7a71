//! Placement of blocks by CRUSH or by the rules of HDFS.
//!
//! A block's servers are drawn for each block, and stay the same.
//!
//! By the rules of HDFS, the first server is drawn from all, since the writer is on none of them.
//! The second is drawn from other racks, the third from the rack of the second. Further ones are
//! drawn from the rest, at most (copies - 1) / racks + 2 per rack (Hadoop 0.20,
//! ReplicationTargetChooser.java; Shvachko et al., MSST 2010, section III.B). One of three copies
//! thus crosses racks, and a lost rack leaves one copy.
//!
//! Not modelled: clients on data nodes, which store the first copy; space and load of servers.

use headrace_net::Random;
use headrace_spec::Parallel;

use super::crush::Crush;

/// Locations of blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    unit: u64,
    copies: usize,
    servers: u32,
    devices: u32,
    per_rack: u32,
    seed: u64,
    /// The hash that chooses servers, if it is not HDFS's rule.
    crush: Option<Crush>,
}

impl Blocks {
    /// The scenario's blocks of `unit` bytes; `seed` is the run's.
    pub fn new(parallel: &Parallel, unit: u64, seed: u64) -> Blocks {
        Blocks {
            unit,
            copies: parallel.replication.pieces() as usize,
            servers: parallel.servers.count,
            devices: parallel.servers.targets,
            per_rack: parallel.servers_per_rack().min(parallel.servers.count),
            seed,
            crush: parallel.crush().map(|it| Crush::new(it, parallel, seed)),
        }
    }

    /// Bytes of a block.
    pub fn size(&self) -> u64 {
        self.unit
    }

    /// The number of the block at an offset.
    pub fn of(&self, offset: u64) -> u32 {
        (offset / self.unit) as u32
    }

    /// The targets of a block of a file, in the order in which they pass it on.
    pub fn targets(&self, file: u32, block: u32) -> Vec<u32> {
        let mut counter = (u64::from(file) << 32) | u64::from(block);
        // Numbers that follow each other have nothing in common.
        counter = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = Random::named(self.seed, "blocks", &mut counter);
        let servers = match &self.crush {
            Some(crush) => crush.servers(file, block, self.copies),
            None => self.servers_of(&mut random),
        };
        let targets = servers.into_iter().map(|server| {
            let device = random.below(u64::from(self.devices)) as u32;
            device * self.servers + server
        });
        targets.collect()
    }

    fn servers_of(&self, random: &mut Random<'_>) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::with_capacity(self.copies);
        while chosen.len() < self.copies {
            let next = match chosen[..] {
                [first] => self.draw(random, &chosen, |rack| rack != self.rack(first)),
                [first, second] if self.rack(first) == self.rack(second) => {
                    self.draw(random, &chosen, |rack| rack != self.rack(first))
                }
                [_, second] => self.draw(random, &chosen, |rack| rack == self.rack(second)),
                _ => None,
            };
            let next = next.or_else(|| self.draw(random, &chosen, |_| true));
            // Where racks are of unequal size, one may have to take more than its part.
            let Some(next) = next.or_else(|| self.any_left(random, &chosen)) else {
                break;
            };
            chosen.push(next);
        }
        chosen
    }

    fn rack(&self, server: u32) -> u32 {
        server / self.per_rack
    }

    /// One of the servers in such racks that is not chosen and whose rack has room, if there
    /// is one.
    fn draw(
        &self,
        random: &mut Random<'_>,
        chosen: &[u32],
        suits: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let racks = self.servers.div_ceil(self.per_rack);
        let most = (self.copies - 1) / racks as usize + 2;
        let has_room = |rack: u32| {
            let there = chosen.iter().filter(|it| self.rack(**it) == rack);
            suits(rack) && there.count() < most
        };
        self.pick(random, |server| {
            has_room(self.rack(server)) && !chosen.contains(&server)
        })
    }

    fn any_left(&self, random: &mut Random<'_>, chosen: &[u32]) -> Option<u32> {
        self.pick(random, |server| !chosen.contains(&server))
    }

    /// One of the servers that suit, each as likely as any other.
    fn pick(&self, random: &mut Random<'_>, suits: impl Fn(u32) -> bool) -> Option<u32> {
        // Most draws suit, but for small racks among many: then they are counted.
        for _ in 0..8 {
            let server = random.below(u64::from(self.servers)) as u32;
            if suits(server) {
                return Some(server);
            }
        }
        let all: Vec<u32> = (0..self.servers).filter(|it| suits(*it)).collect();
        let number = random.below(all.len().max(1) as u64);
        all.get(number as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn blocks(copies: usize, servers: u32, per_rack: u32) -> Blocks {
        Blocks {
            unit: 64,
            copies,
            servers,
            devices: 2,
            per_rack,
            seed: 7,
            crush: None,
        }
    }

    proptest! {
        #[test]
        fn copies_are_on_different_servers_in_two_racks(
            copies in 1_usize..6, more in 0_u32..20, per_rack in 1_u32..9, file: u32, block: u32,
        ) {
            let servers = copies as u32 + more;
            let blocks = blocks(copies, servers, per_rack.min(servers));
            let targets = blocks.targets(file, block);
            prop_assert_eq!(&targets, &blocks.targets(file, block));
            prop_assert_eq!(targets.len(), copies);
            prop_assert!(targets.iter().all(|target| *target < 2 * servers));
            let chosen: Vec<u32> = targets.iter().map(|target| target % servers).collect();
            prop_assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), copies);
            let racks: Vec<u32> = chosen.iter().map(|it| blocks.rack(*it)).collect();
            if let [first, second, ..] = racks[..] && blocks.per_rack < servers {
                prop_assert_ne!(first, second);
            }
            if let [first, second, third, ..] = racks[..] && first != second {
                let other = (0..servers).filter(|it| blocks.rack(*it) == second).count() > 1;
                prop_assert!(third == second || !other);
            }
        }
    }

    /// Blocks of one file are all over the servers, each as often as any other.
    #[test]
    fn every_server_has_its_part_of_the_blocks() {
        let blocks = blocks(3, 20, 5);
        let mut held = BTreeMap::new();
        for block in 0..10_000 {
            for target in blocks.targets(3, block) {
                *held.entry(target % 20).or_insert(0_u32) += 1;
            }
        }
        // 1,500 of each expected, with a standard deviation of about 36.
        assert_eq!(held.len(), 20);
        assert!(
            held.values().all(|it| (1300..1700).contains(it)),
            "{held:?}"
        );
    }
}
