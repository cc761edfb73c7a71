//! Checks that sections are sections and that every name exists, before any
//! value is read.

use crate::declare::{Field, Section, Shape, heading, quoted};
use crate::error::Error;
use crate::names;
use crate::tree::{Entry, Node, Origin, Raw, Table, join};

/// Checks the structure of a table of `section`.
///
/// # Errors
/// The first section that is none, or field that does not exist, with the name
/// that was meant.
pub(crate) fn check(node: &Node, section: &Section, path: &str) -> Result<(), Error> {
    let Some(table) = node.table() else {
        return Err(no_section(node, path));
    };
    let kind = section.kind_of(table);
    if let (Some(kind), Some(kinds)) = (&kind, section.kinds())
        && !kinds.kinds.iter().any(|(name, _)| name == kind)
    {
        return Ok(());
    }
    let fields = section.fields(kind.as_deref());
    for entry in &table.entries {
        let Some(field) = fields.iter().find(|field| field.name == entry.key) else {
            return Err(unknown(entry, table, section, &fields, path));
        };
        let path = join(path, field.name);
        match (&field.shape, &entry.node.raw) {
            (Shape::Section(inner), _) if !listed(inner, &entry.node) => {
                check(&entry.node, inner, &path)?;
            }
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                for (index, node) in list.iter().enumerate() {
                    check(node, inner, &format!("{path}.{index}"))?;
                }
            }
            (Shape::Tables(_), Raw::Table(_)) => {
                let message = format!("expected [[{path}]], in two brackets: there may be several");
                return Err(Error::at(&entry.node.origin, message));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true if a list stands where there may be one section or several.
fn listed(section: &Section, node: &Node) -> bool {
    section.several && matches!(node.raw, Raw::List(_))
}

fn no_section(node: &Node, path: &str) -> Error {
    let heading = heading(path);
    match &node.raw {
        Raw::List(list) if list.iter().any(|node| node.table().is_some()) => {
            let message = format!("expected {heading}, in one bracket: there is only one");
            Error::at(&node.origin, message)
        }
        _ => Error::value(node, path, format!("expected a section {heading}")),
    }
}

fn unknown(
    entry: &Entry,
    table: &Table,
    section: &Section,
    fields: &[&Field],
    path: &str,
) -> Error {
    let name = quoted(&entry.key);
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" in {}", heading(path))
    };
    let at = |message: String| Error::at(&entry.key_origin, message);

    if let Some(field) = fields
        .iter()
        .find(|field| field.aka.contains(&entry.key.as_str()))
    {
        let right = field.name;
        if let Some(given) = table.get(right) {
            let line = match &given.origin {
                Origin::File { line, .. } => format!(" (line {line})"),
                Origin::Set { .. } => " (--set)".to_owned(),
                _ => {
                    return at(format!(
                        "unknown field {name}{place}: it is called {right:?}"
                    ));
                }
            };
            let message = format!(
                "{right:?} is given twice{place}, as {right:?}{line} and as {name}: keep {right:?}"
            );
            return at(message);
        }
        return at(format!(
            "unknown field {name}{place}: it is called {right:?}"
        ));
    }
    if let (Some(kinds), Some(kind)) = (section.kinds(), section.kind_of(table)) {
        let has = |section: &Section| section.fields.iter().any(|field| field.name == entry.key);
        let others: Vec<&str> = kinds
            .kinds
            .iter()
            .filter(|(_, section)| has(section))
            .map(|(name, _)| *name)
            .collect();
        if !others.is_empty() {
            if let Some(told) = kinds.told_by(table)
                && table.get("kind").is_none()
            {
                let section = heading(&join(path, told));
                let line = match table.get(told).map(|node| &node.origin) {
                    Some(Origin::File { line, .. }) => format!(" (line {line})"),
                    _ => String::new(),
                };
                return at(format!(
                    "{name}{place} has no effect beside {section}{line}, which has one of its own: \
                     take {name} out"
                ));
            }
            let belongs = names::or(&others);
            let message = format!(
                "unknown field {name}{place} of kind {kind:?}: it belongs to kind {belongs}"
            );
            return at(message);
        }
    }
    let all: Vec<&str> = fields.iter().map(|field| field.name).collect();
    if path.is_empty() && entry.node.table().is_some() {
        let sections = fields
            .iter()
            .filter(|field| matches!(field.shape, Shape::Section(_)));
        let sections: Vec<&str> = sections.map(|field| field.name).collect();
        if let Some(near) = names::nearest(&entry.key, &sections) {
            let key = crate::error::shorten(&crate::tree::key(&entry.key));
            return at(format!("unknown section [{key}]: did you mean [{near}]?"));
        }
    }
    let hint = match names::nearest(&entry.key, &all) {
        Some(near) => format!("did you mean {near:?}?"),
        None if all.is_empty() => "it has no fields".to_owned(),
        None => format!("expected {}", names::or(&all)),
    };
    at(format!("unknown field {name}{place}: {hint}"))
}
