//! `[[network]]`: what connects nodes and clients.

use super::table;
use crate::declare::section;
use crate::tree::Table;
use crate::values::{
    AtLeastOne, Money, MoreThanZero, Name, PlausibleRate, RackUnits, Rate, Span, Watts,
};

section! {
    /// A network: what a port of a node and a port of a switch cost.
    pub struct NetworkModel {
        /// Name, unique in the catalogue.
        name: String as Name = required("10 GbE"),
        /// Throughput of a port.
        bandwidth: Rate as PlausibleRate = required("10 Gbit/s") aka ["rate", "speed"],
        /// Latency in one direction, switch and hosts included.
        latency: Span as MoreThanZero<Span> = required("15 us"),
        /// Price of an adapter; 0 if the node has it on board.
        adapter_price: Option<f64> as Option<Money> = optional("the cost of designs with it is unknown", 120),
        /// Price of a port of a switch, with its cable.
        port_price: Option<f64> as Option<Money> = optional("the cost of designs with it is unknown", 100),
        /// Power of a port of a switch.
        port_power: Watts = required("4 W"),
        /// Power of an adapter.
        adapter_power: Watts = default("0 W", "counted with the node"),
        /// Ports of a switch.
        switch_ports: u32 as AtLeastOne = default(32, "declared: the usual switch of one rack unit"),
        /// Rack units of a switch.
        switch_rack_units: f64 as RackUnits = default(1, "declared: the usual switch"),
        /// Source of the technical data and of the prices.
        source: String = default("", "unknown"),
    }
}

/// A network for examples.
pub(super) fn example() -> Table {
    table([
        ("name", "10 GbE".into()),
        ("bandwidth", "10 Gbit/s".into()),
        ("latency", "15 us".into()),
        ("port_power", "4 W".into()),
    ])
}
