//! A catalogue of what can be bought: disks, nodes, shelves, networks and their prices.
//!
//! `python/headrace/design/catalogue.py` has the same types.

mod check;
mod disk;
mod network;
mod node;

use std::sync::LazyLock;

use crate::Error;
use crate::declare::{Place, Section, Tables, section};
use crate::document::Document;
use crate::tree::{Node, Table};
use crate::values::{Date, Name, Part};

pub use disk::{DiskClass, DiskModel, FormFactor};
pub use network::NetworkModel;
pub use node::{NodeModel, ShelfModel};

section! {
    /// Disks, nodes, shelves and networks, at the prices of a day.
    pub struct Catalogue {
        /// Name of the catalogue in reports.
        name: String as Name = supplied("the file's name without its ending") aka ["title"],
        /// Day of the prices.
        date: String as Date = required("2026-11-20"),
        /// Currency of all prices, as ISO 4217 has it.
        currency: String as Name = required("EUR"),
        /// Fall of the price of a byte in a year.
        price_decline: f64 as Part = default("15 %", "declared: a cautious rate, to be replaced by one's own offers"),
        /// Maintenance a year, as a part of the purchase, of an entry that gives none.
        maintenance_share: f64 as Part = default("10 %", "declared: the usual order of agreements with next-day service"),
        /// Disks and solid-state drives.
        #[serde(rename = "disks")]
        disk: Vec<DiskModel> as Tables<DiskModel> = required([disk::example()]) aka ["disks", "drive"],
        /// Storage servers, without data disks.
        #[serde(rename = "nodes")]
        node: Vec<NodeModel> as Tables<NodeModel> = required([node::example()]) aka ["nodes", "server"],
        /// Shelves of disks (JBOD) that a node drives.
        #[serde(rename = "shelves", skip_serializing_if = "Option::is_none")]
        shelf: Option<Vec<ShelfModel>> as Option<Tables<ShelfModel>>
            = optional("designs have no shelves") aka ["shelves", "jbod"],
        /// Networks.
        #[serde(rename = "networks")]
        network: Vec<NetworkModel> as Tables<NetworkModel> = required([network::example()]) aka ["networks"],
    }
}

/// A table of an example.
fn table<const N: usize>(entries: [(&str, crate::tree::Raw); N]) -> Table {
    let mut table = Table::default();
    for (key, raw) in entries {
        table.push(key, Node::plain(raw));
    }
    table
}

static DECLARED: LazyLock<Section> = LazyLock::new(Catalogue::section);

impl Document for Catalogue {
    const NOUN: &'static str = "catalogue";

    const SETTING: &'static str = "disk.0.price=300";

    const INTRODUCTION: &'static str = "\
A catalogue is a TOML file with what can be bought, at the prices of a day. `headrace design
catalogue` shows the catalogues that ship with Headrace. Their prices are examples: copy one and put
your own offers in.

A price may be left out. The cost of designs with that entry is then unknown.";

    fn declared() -> &'static Section {
        &DECLARED
    }

    fn check_fields(&self, at: &Place<'_>) -> Result<(), Error> {
        check::check(self, at)
    }
}
