//! Checks between the answers of a worksheet.

use super::{Application, Facility, Flow, Recovery, Worksheet, Zone};
use crate::Error;
use crate::declare::{Place, quoted};
use crate::names;
use crate::values::{Volts, amount};

/// Zones whose shares add up to no more than all, rounding aside.
const ALL: f64 = 1.0 + 1e-9;

/// Seconds of a month: 365 days / 12.
const MONTH_S: f64 = 730.0 * 3600.0;

/// The most names that a message lists.
const MOST_NAMED: usize = 12;

/// Checks that names exist and stand once, and that answers go together.
pub(super) fn check(worksheet: &Worksheet, at: &Place<'_>) -> Result<(), Error> {
    let clients = named(&worksheet.client, |it| &it.name);
    let zones = named(&worksheet.zone, |it| &it.name);
    let outside: Vec<&str> = worksheet.outside.iter().map(String::as_str).collect();
    for (section, list) in [
        ("client", &clients),
        ("zone", &zones),
        ("data", &named(&worksheet.data, |it| &it.name)),
        ("application", &named(&worksheet.application, |it| &it.name)),
    ] {
        at.names_once(section, list)?;
    }
    at.at_most("flow", worksheet.flow.iter().flatten().count())?;
    at.at_most("outside", worksheet.outside.len())?;
    one_meaning(&clients, &zones, &outside, at)?;
    for (number, data) in entries(&worksheet.data) {
        let at = at.entry("data", number);
        exists(&data.zone, &zones, "zone", "zone", &at)?;
    }
    of_zones(entries(&worksheet.zone), at)?;
    for (number, flow) in entries(&worksheet.flow) {
        ends_exist(flow, &outside, &clients, &zones, &at.entry("flow", number))?;
    }
    for (number, application) in entries(&worksheet.application) {
        let at = at.entry("application", number);
        of_application(application, &clients, &zones, &at)?;
    }
    of_facility(&worksheet.facility, &at.field("facility"))?;
    of_recovery(&worksheet.recovery, &at.field("recovery"))
}

/// The entries of a list that may be absent, with their numbers.
fn entries<T>(list: &Option<Vec<T>>) -> impl Iterator<Item = (usize, &T)> {
    list.iter().flatten().enumerate()
}

fn named<'a, T>(list: &'a Option<Vec<T>>, name: impl Fn(&'a T) -> &'a String) -> Vec<&'a str> {
    list.iter().flatten().map(|it| name(it).as_str()).collect()
}

/// Refuses one name for clients and a zone, or for an outside place too: flows name them all.
fn one_meaning(
    clients: &[&str],
    zones: &[&str],
    outside: &[&str],
    at: &Place<'_>,
) -> Result<(), Error> {
    for (number, name) in zones.iter().enumerate() {
        if clients.contains(name) {
            let message = format!(
                "a [[client]] is called {} too: flows could mean either",
                quoted(name)
            );
            return Err(at.entry("zone", number).error("name", message));
        }
    }
    for name in outside {
        for (section, names) in [("client", clients), ("zone", zones)] {
            if names.contains(name) {
                let message = format!(
                    "a [[{section}]] is called {} too: an outside place is neither client nor zone",
                    quoted(name)
                );
                return Err(at.error("outside", message));
            }
        }
    }
    Ok(())
}

/// Refuses a name that no section has.
fn exists(
    name: &str,
    known: &[&str],
    what: &str,
    field: &str,
    at: &Place<'_>,
) -> Result<(), Error> {
    if known.contains(&name) {
        return Ok(());
    }
    let quoted = quoted(name);
    let message = if known.is_empty() {
        format!("there is no [[{what}]]: write one with name = {quoted}")
    } else {
        let hint = names::hint(name, known);
        let hint = if hint.is_empty() && known.len() <= MOST_NAMED {
            format!(": expected {}", names::or(known))
        } else {
            hint
        };
        format!("no [[{what}]] is called {quoted}{hint}")
    };
    Err(at.error(field, message))
}

/// Refuses shares that add up to more than all, and more copies than anyone keeps.
fn of_zones<'a>(
    zones: impl Iterator<Item = (usize, &'a Zone)>,
    at: &Place<'_>,
) -> Result<(), Error> {
    let mut total = 0.0;
    for (number, zone) in zones {
        total += zone.share.unwrap_or(0.0);
        if total > ALL {
            let percent = amount::digits(amount::trimmed(100.0 * total));
            let message = format!(
                "with it the shares of the zones add up to {percent} %: expected at most 100 %"
            );
            return Err(at.entry("zone", number).error("share", message));
        }
        if zone.copies.is_some_and(|copies| copies > 10) {
            let message = "more than 10 copies are a slip: expected a few, such as 2";
            return Err(at.entry("zone", number).error("copies", message));
        }
    }
    Ok(())
}

fn ends_exist(
    flow: &Flow,
    outside: &[&str],
    clients: &[&str],
    zones: &[&str],
    at: &Place<'_>,
) -> Result<(), Error> {
    let known = [zones, clients, outside].concat();
    for (field, name) in [("from", &flow.from), ("to", &flow.to)] {
        if !known.contains(&name.as_str()) {
            let quoted = quoted(name);
            let hint = names::guess(name, &known);
            let hint = if hint.is_empty() {
                format!("if it is outside the system, add it: outside = [{quoted}]")
            } else {
                hint
            };
            let message =
                format!("no [[zone]], [[client]] or outside place is called {quoted}: {hint}");
            return Err(at.error(field, message));
        }
    }
    if flow.from == flow.to {
        return Err(at.error("to", "a flow leads from one place to another"));
    }
    if [&flow.from, &flow.to]
        .iter()
        .all(|name| outside.contains(&name.as_str()))
    {
        let message = "both ends are outside: expected a [[zone]] or a [[client]] at one end";
        return Err(at.error("to", message));
    }
    Ok(())
}

fn of_application(
    application: &Application,
    clients: &[&str],
    zones: &[&str],
    at: &Place<'_>,
) -> Result<(), Error> {
    for name in &application.clients {
        exists(name, clients, "client", "clients", at)?;
    }
    for name in &application.zones {
        exists(name, zones, "zone", "zones", at)?;
    }
    for (field, list) in [
        ("clients", &application.clients),
        ("zones", &application.zones),
    ] {
        let again = (1..list.len()).find(|&at| list[..at].contains(&list[at]));
        if let Some(again) = again {
            let message = format!("{} stands there twice", quoted(&list[again]));
            return Err(at.error(field, message));
        }
    }
    if application.profile.is_some() && application.preset.is_some() {
        let message = "it has a profile too, which says what it does: keep one of them";
        return Err(at.error("preset", message));
    }
    if let (Some(transfer), Some(size)) = (application.transfer, application.file_size)
        && transfer > size
    {
        let message = format!("a call cannot transfer more than a file: file_size = \"{size}\"");
        return Err(at.error("transfer", message));
    }
    Ok(())
}

fn of_facility(facility: &Facility, at: &Place<'_>) -> Result<(), Error> {
    if !(Volts(24.0)..=Volts(1000.0)).contains(&facility.voltage) {
        return Err(at.error("voltage", "expected 24 V to 1000 V, such as \"230 V\""));
    }
    if facility.rack_units > 100 {
        let message = "a rack has 100 units at most: expected its height, such as 42";
        return Err(at.error("rack_units", message));
    }
    Ok(())
}

fn of_recovery(recovery: &Recovery, at: &Place<'_>) -> Result<(), Error> {
    if recovery
        .downtime
        .is_some_and(|downtime| downtime.0 > MONTH_S)
    {
        let message = "a month has 730 h: expected less downtime a month, such as \"4 h\"";
        return Err(at.error("downtime", message));
    }
    Ok(())
}
