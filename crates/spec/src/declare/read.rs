//! Code shared by the generated readers.

use crate::error::{Error, shorten};
use crate::names;
use crate::tree::{Node, Origin, Raw, Table, join};

/// The table of a section.
pub(crate) fn table_of<'a>(node: &'a Node, path: &str) -> Result<&'a Table, Error> {
    // `structure::check` has seen to it, except for a preset's mistakes.
    node.table()
        .ok_or_else(|| Error::value(node, path, "expected a section"))
}

/// The error for a required field that is absent.
pub(crate) fn missing(section: &Node, path: &str, field: &str, example: &Raw) -> Error {
    let entry = |name: &str, value: &Raw| format!("{} = {value}", crate::tree::key(name));
    if let Raw::List(list) = example
        && let Some(Raw::Table(first)) = list.first().map(|node| &node.raw)
    {
        let lines = first
            .entries
            .iter()
            .map(|each| entry(&each.key, &each.node.raw));
        let lines = lines.collect::<Vec<_>>().join(" and ");
        let name = format!("[[{}]]", join(path, field));
        return Error::nowhere(format!(
            "missing section {name}: write {name} and below it, for example, {lines}"
        ));
    }
    let (heading, line) = (heading(path), entry(field, example));
    if path.is_empty() {
        // The top level has no heading.
        let message = format!("missing field {field:?}: write, for example, {line}");
        return match section.origin {
            Origin::File { .. } => Error::at(&section.origin, message),
            _ => Error::nowhere(message),
        };
    }
    match section.origin {
        Origin::File { .. } | Origin::Set { .. } => {
            let message =
                format!("missing field {field:?} in {heading}: write, for example, {line}");
            Error::at(&section.origin, message)
        }
        // The file has no such section: what there is of it others gave.
        _ => Error::nowhere(format!(
            "missing section {heading}: write {heading} and below it, for example, {line}"
        )),
    }
}

/// Returns the heading of a table as written in the file.
pub(crate) fn heading(path: &str) -> String {
    let names: Vec<&str> = path.split('.').collect();
    match names
        .iter()
        .position(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    {
        Some(at) if at + 1 == names.len() => format!("[[{}]]", names[..at].join(".")),
        // A section of the last entry of a list.
        Some(at) => format!("[{}.{}]", names[..at].join("."), names[at + 1..].join(".")),
        None => format!("[{path}]"),
    }
}

/// Returns the kind that a table names.
pub(crate) fn kind_of(
    table: &Table,
    path: &str,
    default: &'static str,
    names: &[&'static str],
) -> Result<&'static str, Error> {
    let Some(node) = table.get("kind") else {
        return Ok(default);
    };
    let Raw::Text(given) = &node.raw else {
        let expected = names::or(names);
        return Err(Error::value(
            node,
            &join(path, "kind"),
            format!("expected {expected}"),
        ));
    };
    names
        .iter()
        .find(|name| *name == given)
        .copied()
        .ok_or_else(|| {
            let message = format!("expected {}{}", names::or(names), names::hint(given, names));
            Error::value(node, &join(path, "kind"), message)
        })
}

/// A short quotation of a name.
pub(crate) fn quoted(name: &str) -> String {
    format!("{:?}", shorten(name))
}
