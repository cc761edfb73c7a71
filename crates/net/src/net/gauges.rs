//! Numbers of stores and disciplines, for reports and playback: hits of caches, dirty bytes.

use super::Net;
use crate::builder::StoreGauge;

/// A number of a store or a station, by copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gauge {
    /// Path of the station, or of the store's page and the part of the store.
    pub path: String,
    /// Name of the number.
    pub name: &'static str,
    /// Its values, by copy.
    pub copies: Vec<u64>,
}

impl Gauge {
    /// Returns the sum over the copies.
    pub fn sum(&self) -> u64 {
        self.copies.iter().sum()
    }
}

impl Net {
    pub(crate) fn set_gauges(&mut self, gauges: Vec<StoreGauge>) {
        self.gauges = gauges;
    }

    /// Returns the numbers of all stores and stations now: those of stores first. Numbers that
    /// count go on over [`Net::reset_statistics`].
    pub fn gauges(&self) -> Vec<Gauge> {
        let of_stores = self.gauges.iter().map(|it| {
            let mut copies = Vec::new();
            let store = &*self.stores[it.store as usize];
            (it.of)(store, None, &mut |value| copies.push(value));
            Gauge {
                path: it.path.clone(),
                name: it.name,
                copies,
            }
        });
        let mut all: Vec<Gauge> = of_stores.collect();
        for (node, path) in self.nodes.iter().zip(&self.node_paths) {
            let first = node.gauges(0);
            // Most stations have none, and there may be a million copies.
            if first.is_empty() {
                continue;
            }
            let others = (1..node.states().len()).map(|copy| node.gauges(copy));
            let others: Vec<Vec<(&str, u64)>> = others.collect();
            for (index, (name, value)) in first.into_iter().enumerate() {
                let others = others.iter().filter_map(|it| it.get(index));
                let values = others.map(|&(_, value)| value);
                all.push(Gauge {
                    path: path.clone(),
                    name,
                    copies: std::iter::once(value).chain(values).collect(),
                });
            }
        }
        all
    }
}
