//! Fields of earlier versions, in scenarios, results and machine files that were saved with them.
//!
//! A saved scenario has every field, so it has removed ones too. A value that has no effect is taken
//! out; all others are refused in one error.

use crate::declare::{Removed, Section, Shape, heading, quoted};
use crate::error::Error;
use crate::tree::{Entry, Node, Origin, Raw, Table, join};

/// The list of measured values of a machine file.
const CALIBRATION: &str = "calibration";

/// A removed field with a value that had an effect.
struct Found {
    path: String,
    /// The field and its section.
    place: String,
    instead: &'static str,
    origin: Origin,
}

/// Takes removed fields out of a document if their values have no effect, and the calibrations of
/// such fields.
///
/// # Errors
/// All other removed fields, in one error at the first.
pub(crate) fn take_out(tree: &mut Node, section: &Section) -> Result<(), Error> {
    let mut found = Vec::new();
    let measured = calibrated_file(tree);
    in_table(tree, section, "", &mut found);
    in_calibrations(tree, section, &mut found);
    let Some(first) = found.first() else {
        return Ok(());
    };
    let message = match &found[..] {
        [one] => format!("{} was removed: {}", one.place, one.instead),
        several => {
            let each = several.iter().map(|it| {
                let place = &it.place;
                let line = match &it.origin {
                    Origin::File { line, .. } => format!(" (line {line})"),
                    _ => String::new(),
                };
                format!("{place}{line}: {}", it.instead)
            });
            let each = each.collect::<Vec<_>>().join("; ");
            format!("{} fields were removed: {each}", several.len())
        }
    };
    let file = |origin: &Origin| match origin {
        Origin::File { file, .. } | Origin::Whole { file } => Some(file.clone()),
        _ => None,
    };
    let of_machine = measured.is_some() && measured.as_ref().and_then(file) == file(&first.origin);
    let again = if of_machine {
        "; an earlier version measured this machine: calibrate it again with headrace calibrate"
    } else {
        ""
    };
    Err(Error::at(&first.origin, format!("{message}{again}")))
}

/// The origin of the first calibration.
fn calibrated_file(tree: &Node) -> Option<Origin> {
    let node = tree.table()?.get(CALIBRATION)?;
    match &node.raw {
        Raw::List(list) => list.first().map(|it| it.origin.clone()),
        _ => None,
    }
}

fn in_table(node: &mut Node, section: &Section, path: &str, found: &mut Vec<Found>) {
    let Raw::Table(table) = &mut node.raw else {
        return;
    };
    let kind = section.kind_of(table);
    let all = table.clone();
    table.entries.retain(|entry| {
        let Some(removed) = section.removed_field(kind.as_deref(), &entry.key) else {
            return true;
        };
        if !(removed.is_neutral)(&entry.node, &all) {
            found.push(of_entry(entry, path, removed.instead));
        }
        false
    });
    for field in section.fields(kind.as_deref()) {
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        let path = join(path, field.name);
        match (&field.shape, &mut node.raw) {
            (Shape::Section(inner), _) => in_table(node, inner, &path, found),
            (Shape::Tables(inner), Raw::List(list)) => {
                for (index, node) in list.iter_mut().enumerate() {
                    in_table(node, inner, &format!("{path}.{index}"), found);
                }
            }
            _ => {}
        }
    }
}

fn of_entry(entry: &Entry, path: &str, instead: &'static str) -> Found {
    let name = quoted(&entry.key);
    let place = match path {
        "" => name,
        path => format!("{name} in {}", heading(path)),
    };
    Found {
        path: join(path, &entry.key),
        place,
        instead,
        origin: entry.key_origin.clone(),
    }
}

/// Calibrations of removed fields. A field that had an effect is named once.
fn in_calibrations(tree: &mut Node, section: &Section, found: &mut Vec<Found>) {
    let Raw::Table(table) = &mut tree.raw else {
        return;
    };
    let Some(Raw::List(list)) = table.get_mut(CALIBRATION).map(|node| &mut node.raw) else {
        return;
    };
    list.retain(|node| {
        let Some(Raw::Text(path)) = node
            .table()
            .and_then(|it| it.get("field"))
            .map(|it| &it.raw)
        else {
            return true;
        };
        let Some(removed) = at_path(section, path) else {
            return true;
        };
        if !has_no_effect(node, removed) && !found.iter().any(|it| it.path == *path) {
            found.push(Found {
                path: path.clone(),
                place: format!("{} in [[{CALIBRATION}]]", quoted(path)),
                instead: removed.instead,
                origin: node.origin.clone(),
            });
        }
        false
    });
    if list.is_empty() {
        table.entries.retain(|entry| entry.key != CALIBRATION);
    }
}

/// Returns true if no round of a calibration had an effect.
fn has_no_effect(calibration: &Node, removed: &Removed) -> bool {
    let values = calibration.table().and_then(|it| it.get("values"));
    match values.map(|it| &it.raw) {
        Some(Raw::List(values)) => values
            .iter()
            .all(|value| (removed.is_neutral)(value, &Table::default())),
        _ => false,
    }
}

/// The removed field of a path.
fn at_path<'a>(section: &'a Section, path: &str) -> Option<&'a Removed> {
    let Some((first, rest)) = path.split_once('.') else {
        return section.removed_field(None, path);
    };
    section
        .fields(None)
        .into_iter()
        .filter(|field| field.name == first)
        .find_map(|field| match &field.shape {
            Shape::Section(inner) => at_path(inner, rest),
            _ => None,
        })
}
