//! Selects the nearest copy for a client: the one reached over the fewest links between switches.
//! HDFS reads from the same host, then the same rack, then any (Shvachko et al., MSST 2010, section
//! III.A; HDFS Architecture Guide).
//!
//! Not modelled: clients on the servers' hosts; the load of servers and links.

use std::sync::Arc;

use headrace_net::Random;
use headrace_spec::{Parallel, ReadFrom, Scenario};
use smallvec::SmallVec;

use crate::network::{Fabric, Hosts};

/// Distances from clients to servers.
#[derive(Clone)]
pub(super) struct NearestReplica {
    fabric: Arc<Fabric>,
    clients: u32,
}

impl NearestReplica {
    /// The distances in the scenario's network, if reads go by them.
    pub fn new(scenario: &Scenario, parallel: &Parallel, seed: u64) -> Option<NearestReplica> {
        if parallel.replication.read_from != ReadFrom::Nearest {
            return None;
        }
        let clients = scenario.clients.count;
        let hosts = Hosts {
            clients,
            servers: parallel.servers.count,
            // No copies are there.
            metadata: 0,
        };
        let fabric = Arc::new(Fabric::new(parallel, &scenario.clients, hosts, seed));
        Some(NearestReplica { fabric, clients })
    }

    /// Returns the server with a copy nearest to a client; ties are broken arbitrarily.
    pub fn of(
        &self,
        client: u32,
        servers: impl Iterator<Item = u32>,
        mut random: Random<'_>,
    ) -> u32 {
        let far = |server| {
            let path = self.fabric.between(client, self.clients + server);
            path.links().len()
        };
        let distances: SmallVec<[usize; 8]> = servers.map(far).collect();
        let least = distances.iter().min();
        let nearest = (0_u32..).zip(&distances).filter(|it| Some(it.1) == least);
        let nearest: SmallVec<[u32; 8]> = nearest.map(|it| it.0).collect();
        match nearest[..] {
            [only] => only,
            _ => nearest[random.below(nearest.len() as u64) as usize],
        }
    }
}
