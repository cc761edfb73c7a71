//! One layer of values over another: the last wins.

use crate::declare::{Presence, Section, Shape};
use crate::models;
use crate::tree::{Node, Raw, Table};

/// Puts `above` over `below`. Sections are merged field by field; anything else
/// is replaced as a whole. Where `above` names a kind, what only other kinds
/// have is dropped from `below`.
pub(crate) fn over(below: &mut Node, above: Node, section: &Section) {
    match (&mut below.raw, above.raw) {
        (Raw::Table(lower), Raw::Table(upper)) => {
            below.origin = above.origin;
            tables(lower, upper, section);
        }
        (_, raw) => {
            *below = Node {
                raw,
                origin: above.origin,
            }
        }
    }
}

/// Makes tables of sections that are given by the name of their kind alone, as in
/// `topology = "pairs"`.
pub(crate) fn kinds_by_name(node: &mut Node, section: &Section) {
    let Raw::Table(table) = &mut node.raw else {
        return;
    };
    for field in section.fields(None) {
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        match (&field.shape, &mut node.raw) {
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                list.iter_mut().for_each(|node| kinds_by_name(node, inner));
            }
            (Shape::Section(inner), _) => {
                kind_by_name(node, inner);
                kinds_by_name(node, inner);
            }
            _ => {}
        }
    }
}

/// Makes a table of a section that is nothing but one of several kinds, if it is given
/// by the name of its kind alone.
fn kind_by_name(node: &mut Node, section: &Section) {
    if section.is_only_kinds() && matches!(node.raw, Raw::Text(_)) {
        let mut table = Table::default();
        table.push("kind", node.clone());
        node.raw = Raw::Table(table);
    }
}

/// The same for the entries of a section.
pub(crate) fn tables(lower: &mut Table, upper: Table, section: &Section) {
    if let Some(kind) = section.given_kind(&upper) {
        let kept = field_names(section, Some(&kind));
        let known = field_names(section, None);
        let told = upper.get("kind").is_none();
        lower.entries.retain(|entry| {
            let key = entry.key.as_str();
            // A kind stated by a field precedes one that is named below.
            let replaced = told && key == "kind";
            !replaced && (kept.contains(&key) || !known.contains(&key))
        });
    }
    let fields = section.fields(None);
    for entry in upper.entries {
        // A key that is no field is in no other layer; it is reported later.
        let Some(field) = fields.iter().find(|field| field.name == entry.key) else {
            lower.entries.push(entry);
            continue;
        };
        let old = lower.entries.iter_mut().find(|old| old.key == entry.key);
        match (old, &field.shape) {
            (Some(old), Shape::Section(inner)) => {
                old.key_origin = entry.key_origin;
                over(&mut old.node, entry.node, inner);
            }
            (Some(old), _) => *old = entry,
            (None, _) => lower.entries.push(entry),
        }
    }
}

/// Names of the fields of a section, of one kind or of all, with those of earlier versions.
fn field_names(section: &Section, kind: Option<&str>) -> Vec<&'static str> {
    let fields = section.fields(kind).into_iter().map(|field| field.name);
    fields
        .chain(section.removed_fields(kind).map(|removed| removed.name))
        .collect()
}

/// Completes every table that another says the rest of, as a workload's layout is
/// completed by the scenario's.
pub(crate) fn complete(tree: &mut Node, section: &Section) {
    let whole = tree.clone();
    complete_in(tree, section, &whole);
}

/// Drops what a table says of a device if the one above it names a model of the catalogue, which
/// gives all of it.
fn give_way_to_model(below: &mut Node, above: &Node, section: &Section) {
    let (Raw::Table(lower), Raw::Table(upper)) = (&mut below.raw, &above.raw) else {
        return;
    };
    for field in section.fields(None) {
        let Some(above) = upper.get(field.name) else {
            continue;
        };
        if models::is_model(&field.shape) {
            lower.entries.clear();
            return;
        }
        if let (Shape::Section(inner), Some(below)) = (&field.shape, lower.get_mut(field.name)) {
            give_way_to_model(below, above, inner);
        }
    }
}

fn complete_in(node: &mut Node, section: &Section, whole: &Node) {
    let Raw::Table(table) = &mut node.raw else {
        return;
    };
    for field in section.fields(None) {
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        match (&field.shape, &mut node.raw) {
            (Shape::Section(inner), Raw::Table(_)) => {
                if let Presence::Over { path } = field.presence
                    && let Some(below) = whole.find(path)
                {
                    let mut below = below.clone();
                    let above = std::mem::replace(node, Node::plain(Raw::Boolean(false)));
                    give_way_to_model(&mut below, &above, inner);
                    over(&mut below, above, inner);
                    *node = below;
                }
                complete_in(node, inner, whole);
            }
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                (list.iter_mut()).for_each(|node| complete_in(node, inner, whole));
            }
            _ => {}
        }
    }
}
