//! CRUSH: the servers of an object by a hash (Weil, Brandt, Miller, Maltzahn: SC 2006). Every
//! client computes them, and few objects move when servers come or go.
//!
//! The tree is a root, racks, servers and their devices. Each bucket is of type straw2. Every item
//! draws a straw of ln(u) / weight, where u is a hash of the object and the item, and the longest
//! wins. An item thus wins in proportion to its weight, with any other items. A new server among n
//! of equal weight gets 1/(n + 1) of the objects, and no others move. With as many copies as
//! domains, each domain has one of every object, and weights act within domains only. A copy whose
//! domain is taken already draws again, at most 50 times (Ceph: `choose_total_tries`).
//!
//! Objects need simple servers.
//!
//! Not modelled: Ceph's hash function and its table of logarithms: shares are Ceph's, and single
//! objects are elsewhere; weights of devices; buckets of other types; servers that are out.

use headrace_net::Random;
use headrace_spec::{Crush as Spec, FailureDomain, Parallel};

/// Draws of a copy before it takes any server that is left.
const MOST_TRIES: u64 = 50;

/// Servers of objects by hash.
#[derive(Clone, Debug)]
pub(super) struct Crush {
    seed: u64,
    /// Weight of each server.
    weights: Vec<f64>,
    per_rack: usize,
    by_rack: bool,
    groups: Option<u32>,
}

impl Crush {
    pub fn new(spec: &Spec, parallel: &Parallel, seed: u64) -> Crush {
        let servers = parallel.servers.count as usize;
        Crush {
            seed,
            weights: spec.weights.clone().unwrap_or_else(|| vec![1.0; servers]),
            per_rack: parallel.servers_per_rack().min(parallel.servers.count) as usize,
            by_rack: spec.domain == FailureDomain::Rack,
            groups: spec.placement_groups,
        }
    }

    /// The servers of an object's copies, in order.
    pub fn servers(&self, file: u32, block: u32, copies: usize) -> Vec<u32> {
        let mut object = (u64::from(file) << 32) | u64::from(block);
        if let Some(groups) = self.groups {
            object = self.hash(object, u64::MAX, 0) % u64::from(groups);
        }
        let mut chosen: Vec<usize> = Vec::with_capacity(copies);
        let mut draw = 0;
        while chosen.len() < copies && draw < copies as u64 * MOST_TRIES {
            let rack = self.rack(object, draw);
            let taken = self.by_rack && chosen.iter().any(|it| it / self.per_rack == rack);
            if !taken {
                let server = self.server(object, draw, rack);
                if !chosen.contains(&server) {
                    chosen.push(server);
                }
            }
            draw += 1;
        }
        // So seldom that it does not matter in which order.
        let left = (0..self.weights.len()).filter(|it| !chosen.contains(it));
        let left: Vec<usize> = left.take(copies - chosen.len()).collect();
        chosen.extend(left);
        chosen.into_iter().map(|it| it as u32).collect()
    }

    fn rack(&self, object: u64, draw: u64) -> usize {
        let racks = self.weights.chunks(self.per_rack);
        if racks.len() == 1 {
            return 0;
        }
        let straws = racks.enumerate().map(|(rack, weights)| {
            let weight = weights.iter().sum();
            (
                rack,
                self.straw(object, (1 << 32) | rack as u64, draw, weight),
            )
        });
        longest(straws)
    }

    fn server(&self, object: u64, draw: u64, rack: usize) -> usize {
        let first = rack * self.per_rack;
        let last = (first + self.per_rack).min(self.weights.len());
        let straws = (first..last).map(|server| {
            (
                server,
                self.straw(object, server as u64, draw, self.weights[server]),
            )
        });
        longest(straws)
    }

    /// Less than 0: the more weight, the nearer to it.
    fn straw(&self, object: u64, item: u64, draw: u64, weight: f64) -> f64 {
        // 53 bits, none of which make 0.
        let unit = ((self.hash(object, item, draw) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        unit.ln() / weight
    }

    fn hash(&self, object: u64, item: u64, draw: u64) -> u64 {
        let mut counter = object.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        counter = (counter ^ item).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        counter = (counter ^ draw).wrapping_mul(0x94D0_49BB_1331_11EB);
        Random::named(self.seed, "crush", &mut counter).bits()
    }
}

fn longest(straws: impl Iterator<Item = (usize, f64)>) -> usize {
    let longest = straws.max_by(|(_, a), (_, b)| a.total_cmp(b));
    longest.map_or(0, |(item, _)| item)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTS: u32 = 40_000;

    fn crush(weights: &[f64], per_rack: usize, by_rack: bool) -> Crush {
        Crush {
            seed: 7,
            weights: weights.to_vec(),
            per_rack,
            by_rack,
            groups: None,
        }
    }

    fn held(crush: &Crush, copies: usize) -> Vec<f64> {
        let mut held = vec![0.0; crush.weights.len()];
        for object in 0..OBJECTS {
            for server in crush.servers(object / 100, object % 100, copies) {
                held[server as usize] += 1.0 / f64::from(OBJECTS);
            }
        }
        held
    }

    /// Straws of ln(u) / weight: an item is the first in proportion to its weight.
    #[test]
    fn shares_follow_weights() {
        for (per_rack, by_rack) in [(4, false), (2, false), (2, true)] {
            let held = held(&crush(&[1.0, 2.0, 3.0, 4.0], per_rack, by_rack), 1);
            for (server, share) in held.into_iter().enumerate() {
                let expected = (server as f64 + 1.0) / 10.0;
                // Five standard deviations.
                let most = 5.0 * (expected * (1.0 - expected) / f64::from(OBJECTS)).sqrt();
                assert!((share - expected).abs() < most, "{server}: {share}");
            }
        }
    }

    /// After adding one server to n equal ones, 1 / (n + 1) of the objects move, all to the new
    /// one.
    #[test]
    fn a_new_server_gets_its_share_and_nothing_else_moves() {
        for servers in [4, 9, 19] {
            let before = crush(&vec![1.0; servers], servers, false);
            let after = crush(&vec![1.0; servers + 1], servers + 1, false);
            let mut moved = 0.0;
            for object in 0..OBJECTS {
                let (old, new) = (before.servers(object, 0, 1), after.servers(object, 0, 1));
                if old != new {
                    assert_eq!(new, [servers as u32]);
                    moved += 1.0 / f64::from(OBJECTS);
                }
            }
            let expected = 1.0 / (servers as f64 + 1.0);
            let most = 5.0 * (expected * (1.0 - expected) / f64::from(OBJECTS)).sqrt();
            assert!((moved - expected).abs() < most, "{servers}: {moved}");
        }
    }

    #[test]
    fn copies_have_domains_of_their_own() {
        let crush = crush(&[1.0; 9], 3, true);
        for object in 0..1000 {
            let servers = crush.servers(object, 0, 3);
            let mut racks: Vec<u32> = servers.iter().map(|it| it / 3).collect();
            racks.sort_unstable();
            assert_eq!(racks, [0, 1, 2], "{servers:?}");
        }
    }

    #[test]
    fn objects_of_a_group_have_the_same_servers() {
        let mut crush = crush(&[1.0; 16], 16, false);
        crush.groups = Some(3);
        let sets = (0..1000).map(|object| crush.servers(object, object, 2));
        let sets: std::collections::BTreeSet<_> = sets.collect();
        assert_eq!(sets.len(), 3);
    }
}
