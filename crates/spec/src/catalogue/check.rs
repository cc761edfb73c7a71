//! Checks between the fields of a catalogue.

use super::Catalogue;
use crate::Error;
use crate::declare::Place;

/// Checks that names stand once and that powers go together.
pub(super) fn check(catalogue: &Catalogue, at: &Place<'_>) -> Result<(), Error> {
    let shelves = catalogue.shelf.iter().flatten();
    let names: [(&str, Vec<&str>); 4] = [
        ("disk", catalogue.disk.iter().map(|it| &*it.name).collect()),
        ("node", catalogue.node.iter().map(|it| &*it.name).collect()),
        ("shelf", shelves.map(|it| &*it.name).collect()),
        (
            "network",
            catalogue.network.iter().map(|it| &*it.name).collect(),
        ),
    ];
    for (section, list) in &names {
        at.names_once(section, list)?;
    }
    for (number, disk) in catalogue.disk.iter().enumerate() {
        if let Some(idle) = disk.idle_power
            && idle > disk.power
        {
            let at = at.field("disk");
            let message = "it takes less power at work: expected at most the value of power";
            return Err(at.field(&number.to_string()).error("idle_power", message));
        }
    }
    for (number, node) in catalogue.node.iter().enumerate() {
        let at = at.field("node");
        let at = at.field(&number.to_string());
        if node.power > node.max_power {
            let message = "the label says less: expected at most the value of max_power";
            return Err(at.error("power", message));
        }
        if node.shelves > 0 && catalogue.shelf.is_none() {
            let message = "the catalogue has no [[shelf]]: write one, or leave shelves out";
            return Err(at.error("shelves", message));
        }
    }
    Ok(())
}
