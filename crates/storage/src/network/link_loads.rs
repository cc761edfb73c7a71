//! Traffic of links, if the network is modelled as a whole.

use std::sync::Arc;

use headrace_net::{Net, Store};

use super::Fabric;
use super::packet::PacketCounts;

/// Bytes that have passed each link, counted when a message has passed all of its
/// path.
#[derive(Clone, Debug)]
pub struct Carried {
    pub(crate) links: Vec<Load>,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Load {
    pub bytes: u64,
    pub messages: u64,
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

    /// Resets the counts.
    pub fn reset(&mut self) {
        self.links.fill(Load::default());
    }
}

/// A network's links, and the place of their byte counts.
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
    /// Resets the counts.
    pub fn reset(&self, net: &mut Net) {
        self.fabric.reset(net.now());
        net.store_mut(self.carried, 0).reset();
        if let Some(packets) = &self.packets {
            packets.reset();
        }
    }
}
