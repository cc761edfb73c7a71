//! Checks between the fields of a catalogue.

use super::{Catalogue, DiskModel};
use crate::Error;
use crate::declare::Place;
use crate::values::{Bytes, Span, Watts};

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
        of_disk(disk, &at.entry("disk", number))?;
    }
    for (number, node) in catalogue.node.iter().enumerate() {
        let at = at.entry("node", number);
        if node.power > node.max_power {
            let message = "the label says less: expected at most the value of max_power";
            return Err(at.error("power", message));
        }
        if node.shelves > 0 && catalogue.shelf.is_none() {
            let message = "the catalogue has no [[shelf]]: write one, or leave shelves out";
            return Err(at.error("shelves", message));
        }
    }
    every_disk_fits(catalogue, at)
}

/// Refuses values that no disk has: they are slips, such as a wrong unit.
fn of_disk(disk: &DiskModel, at: &Place<'_>) -> Result<(), Error> {
    if !(Bytes(1 << 30)..=Bytes(1 << 50)).contains(&disk.capacity) {
        let message = "expected a capacity from 1 GiB to 1 PiB, such as \"16 TB\"";
        return Err(at.error("capacity", message));
    }
    if !(Span(3.6e6)..=Span(3.6e12)).contains(&disk.mttf) {
        let message = "expected a time from 1000 h to 1000000000 h, such as \"2500000 h\"";
        return Err(at.error("mttf", message));
    }
    if disk.access_time > Span(1.0) {
        return Err(at.error("access_time", "expected at most 1 s, such as \"12.7 ms\""));
    }
    if disk.power > Watts(100.0) {
        return Err(at.error("power", "expected at most 100 W, such as \"9 W\""));
    }
    if disk.idle_power.is_some_and(|idle| idle > disk.power) {
        let message = "it takes less power at work: expected at most the value of power";
        return Err(at.error("idle_power", message));
    }
    Ok(())
}

/// Refuses a disk that no slot takes: it could never be bought.
fn every_disk_fits(catalogue: &Catalogue, at: &Place<'_>) -> Result<(), Error> {
    let nodes = catalogue.node.iter().map(|it| &it.form_factors);
    let shelves = catalogue.shelf.iter().flatten();
    let slots: Vec<_> = nodes.chain(shelves.map(|it| &it.form_factors)).collect();
    for (number, disk) in catalogue.disk.iter().enumerate() {
        if let Some(form) = disk.form_factor
            && !slots
                .iter()
                .any(|all| all.is_empty() || all.contains(&form))
        {
            let message = "no slot takes it: add it to form_factors of a node or a shelf";
            return Err(at.entry("disk", number).error("form_factor", message));
        }
    }
    Ok(())
}
