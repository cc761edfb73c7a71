//! Traffic of links, if the network is modelled as a whole.

use std::sync::Arc;

use headrace_net::{Net, Store};

use super::packets::PacketCounts;
use super::report::StationReport;
use crate::network::Fabric;

/// Bytes that have passed each link, counted when a message has passed all of its
/// path.
#[derive(Clone, Debug)]
pub struct Carried {
    links: Vec<Load>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Load {
    bytes: u64,
    messages: u64,
}

impl Carried {
    /// Loads of 0 for `links` links.
    pub fn new(links: usize) -> Carried {
        Carried {
            links: vec![Load::default(); links],
        }
    }

    /// A message has passed these links.
    pub fn add(&mut self, links: &[u32], bytes: u64) {
        for &link in links {
            let load = &mut self.links[link as usize];
            load.bytes = load.bytes.saturating_add(bytes);
            load.messages += 1;
        }
    }

    /// Forgets what was.
    pub fn reset(&mut self) {
        self.links.fill(Load::default());
    }
}

/// A network's links, and where to find what they carried.
#[derive(Clone)]
pub struct LinkLoads {
    /// Carried traffic.
    pub carried: Store<Carried>,
    /// The links.
    pub fabric: Arc<Fabric>,
    /// The page of the network.
    pub page: &'static str,
    /// The station in which messages are while they pass the links.
    pub station: &'static str,
    /// Packet counts, if the network is modelled by packets.
    pub packets: Option<PacketCounts>,
}

impl LinkLoads {
    /// Forgets what was.
    pub fn reset(&self, net: &mut Net) {
        net.store_mut(self.carried, 0).reset();
        if let Some(packets) = &self.packets {
            packets.reset();
        }
    }

    /// Every kind of link as a station of its own: its utilisation is the bytes that
    /// it carried over those that it could have. Messages still on their way are not
    /// counted.
    pub(super) fn stations(&self, net: &Net) -> Vec<StationReport> {
        let carried = net.store(self.carried, 0);
        let seconds = net.measured().as_seconds();
        let rates = self.fabric.rates();
        let busy = |link: u32| {
            let bytes = carried.links[link as usize].bytes as f64;
            // What ended in the time may have begun before it.
            (bytes / (rates[link as usize] * seconds)).min(1.0)
        };
        let groups = self.fabric.groups().iter();
        let groups = groups.filter(|_| seconds > 0.0);
        groups
            .filter_map(|group| {
                let all = group.links.clone().map(|link| (link, busy(link)));
                let (busiest, most) = all.clone().max_by(|a, b| a.1.total_cmp(&b.1))?;
                let loads = group.links.clone().map(|link| carried.links[link as usize]);
                let messages: u64 = loads.map(|load| load.messages).sum();
                let copies = group.links.len() as u32;
                let worked = all.clone().map(|(_, busy)| busy).sum::<f64>() * seconds;
                Some(StationReport {
                    station: format!("{}/{}", self.page, group.name),
                    discipline: "link".to_owned(),
                    copies,
                    servers: Some(1),
                    utilisation: worked / seconds / f64::from(copies),
                    most_utilisation: most,
                    busiest: (copies > 1).then(|| group.name_of(busiest)),
                    queue: 0.0,
                    service: worked / messages.max(1) as f64,
                    residence: 0.0,
                    visits: messages,
                    lost: self
                        .packets
                        .as_ref()
                        .map(|packets| packets.lost_at(group.links.clone())),
                    within: Some(self.station),
                })
            })
            .collect()
    }
}
