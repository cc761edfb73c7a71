//! Targets for new files by their free space (Lustre's QOS allocator).
//!
//! While all targets have about the same free space they are taken in turn, as with
//! [`FirstServer::Balance`](headrace_spec::FirstServer::Balance). Otherwise each stripe draws a
//! target with a probability in proportion to its weight: its free space less a penalty. A target
//! and its server get a penalty when they are chosen, which each later choice lowers (Lustre 2.5,
//! lustre/lod/lod_qos.c: `lod_qos_calc_ppo`, `lod_qos_calc_weight`, `lod_qos_used`,
//! `lod_alloc_qos`).
//!
//! Free space falls by what writes add to files. Lustre's metadata server learns that after
//! `qos_maxage`, 5 s; here at once.
//!
//! Not modelled: targets that fill up: a full one gets no new files, and accepts every write; space
//! that removed files free; free inodes; penalties that decay with time.

use headrace_net::Random;
use headrace_spec::FreeSpace as Spec;

/// The rule of a scenario.
#[derive(Clone, Debug)]
pub(super) struct FreeSpace {
    free: Vec<f64>,
    width: usize,
    servers: usize,
    threshold: f64,
    /// Share of free space that a penalty is of.
    spread: f64,
    seed: u64,
}

/// State of the targets.
#[derive(Clone, Default, Debug)]
pub(super) struct Targets {
    free: Vec<f64>,
    /// Penalties of targets and of servers.
    penalties: Vec<f64>,
    of_servers: Vec<f64>,
    next: usize,
    draws: u64,
}

impl FreeSpace {
    /// Rule for `servers` servers whose files have `width` stripes.
    pub fn new(spec: &Spec, width: u32, servers: u32, seed: u64) -> FreeSpace {
        FreeSpace {
            free: spec.free.iter().map(|it| it.0 as f64).collect(),
            width: width as usize,
            servers: (servers as usize).min(spec.free.len()).max(1),
            threshold: spec.threshold,
            spread: 1.0 - spec.priority,
            seed,
        }
    }

    /// The state at the start.
    pub fn start(&self) -> Targets {
        Targets {
            free: self.free.clone(),
            penalties: vec![0.0; self.free.len()],
            of_servers: vec![0.0; self.servers],
            next: 0,
            draws: 0,
        }
    }

    /// Chooses the targets of a new file.
    pub fn choose(&self, targets: &mut Targets) -> Vec<u32> {
        let most = targets.free.iter().copied().fold(0.0, f64::max);
        let least = targets.free.iter().copied().fold(f64::INFINITY, f64::min);
        let all = targets.free.len();
        if least >= most * (1.0 - self.threshold) {
            let first = targets.next;
            targets.next = (first + self.width) % all;
            return (first..first + self.width)
                .map(|it| (it % all) as u32)
                .collect();
        }
        let mut chosen: Vec<u32> = Vec::with_capacity(self.width);
        while chosen.len() < self.width {
            let weight = |target: usize| match chosen.contains(&(target as u32)) {
                true => 0.0,
                false => self.weight(targets, target),
            };
            let weights: Vec<f64> = (0..all).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            let unit = Random::named(self.seed, "free space", &mut targets.draws).uniform();
            let mut left = unit * sum;
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                *weight > 0.0 && left < 0.0
            });
            // All that is left is without weight: any.
            let other = (0..all).find(|it| !chosen.contains(&(*it as u32)));
            let Some(target) = drawn.or(other) else {
                break;
            };
            chosen.push(target as u32);
            self.use_target(targets, target);
        }
        chosen
    }

    fn weight(&self, targets: &Targets, target: usize) -> f64 {
        let penalty = targets.penalties[target] + targets.of_servers[target % self.servers];
        (targets.free[target] - penalty).max(0.0)
    }

    /// Penalty of a target for each object: `prio * available / (targets - 1) / 2`.
    fn per_object(&self, targets: &Targets, target: usize) -> f64 {
        let others = (targets.free.len().max(2) - 1) as f64;
        // One server cannot be penalised: its targets are twice as much.
        let twice = if self.servers == 1 { 2.0 } else { 1.0 };
        twice * self.spread * targets.free[target] / others / 2.0
    }

    /// The same of a server, which has several targets.
    fn per_object_of_server(&self, targets: &Targets, server: usize) -> f64 {
        let others = self.servers - 1;
        if others == 0 {
            return 0.0;
        }
        let own = targets.free.iter().skip(server).step_by(self.servers);
        let (sum, count) = own.fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
        self.spread * sum / count / others as f64 / 2.0
    }

    fn use_target(&self, targets: &mut Targets, target: usize) {
        let server = target % self.servers;
        let (all, servers) = (targets.free.len() as f64, self.servers as f64);
        targets.penalties[target] =
            targets.penalties[target] / 2.0 + self.per_object(targets, target) * all;
        targets.of_servers[server] =
            targets.of_servers[server] / 2.0 + self.per_object_of_server(targets, server) * servers;
        for server in 0..self.servers {
            let each = self.per_object_of_server(targets, server);
            targets.of_servers[server] = (targets.of_servers[server] - each).max(0.0);
        }
        for target in 0..targets.free.len() {
            let each = self.per_object(targets, target);
            targets.penalties[target] = (targets.penalties[target] - each).max(0.0);
        }
    }

    /// A file has grown on a target by some bytes.
    pub fn grows(&self, targets: &mut Targets, target: u32, bytes: u64) {
        let free = &mut targets.free[target as usize];
        *free = (*free - bytes as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::{Bytes, ServersPerFile};

    fn rule(free: &[u64], width: u32, priority: f64) -> FreeSpace {
        let spec = Spec {
            unit: Bytes(1 << 20),
            servers: ServersPerFile::Count(width),
            free: free.iter().map(|it| Bytes(*it)).collect(),
            threshold: 0.17,
            priority,
        };
        FreeSpace::new(&spec, width, free.len() as u32, 3)
    }

    #[test]
    fn targets_that_are_about_equally_full_take_turns() {
        let rule = rule(&[100, 90, 84], 2, 0.91);
        let mut targets = rule.start();
        let files = (0..4).map(|_| rule.choose(&mut targets));
        let files: Vec<_> = files.collect();
        assert_eq!(files, [[0, 1], [2, 0], [1, 2], [0, 1]]);
    }

    /// With all weight on free space there are no penalties, and files follow it.
    #[test]
    fn files_follow_free_space() {
        let rule = rule(&[100, 200, 300, 400], 1, 1.0);
        let mut targets = rule.start();
        let mut held = [0.0; 4];
        for _ in 0..10_000 {
            held[rule.choose(&mut targets)[0] as usize] += 1e-4;
        }
        for (target, share) in held.into_iter().enumerate() {
            let expected = (target as f64 + 1.0) / 10.0;
            let most: f64 = 5.0 * (expected * (1.0 - expected) * 1e-4_f64).sqrt();
            assert!((share - expected).abs() < most, "{target}: {share}");
        }
    }

    /// Files of equal size go to the emptier target until both are about equally full.
    #[test]
    fn writes_leave_the_proportion_of_free_space() {
        let rule = rule(&[10_000, 20_000], 1, 0.91);
        let mut targets = rule.start();
        for _ in 0..1_500 {
            let target = rule.choose(&mut targets)[0];
            rule.grows(&mut targets, target, 10);
        }
        let [first, second] = targets.free[..] else {
            panic!("two targets");
        };
        assert!((second / first - 2.0).abs() < 0.25, "{first} and {second}");
        assert_eq!(first + second, 15_000.0);
    }

    #[test]
    fn the_stripes_of_a_file_are_on_different_targets() {
        let rule = rule(&[0, 1, 1000, 0], 4, 0.91);
        let mut targets = rule.start();
        for _ in 0..100 {
            let mut file = rule.choose(&mut targets);
            file.sort_unstable();
            assert_eq!(file, [0, 1, 2, 3]);
        }
    }
}
