//! Origins of a scenario's values.

use crate::declare::{Codec, Field, Nature, Presence, Section, Shape, heading};
use crate::load::{DECLARED, Loaded};
use crate::sections::Scenario;
use crate::tree::{Node, Origin, Raw, Table, join};
use crate::write::{self, Note};

/// The full scenario and the origin of each value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// One row per field, in the order of the reference.
    pub rows: Vec<Row>,
    #[serde(skip)]
    text: String,
}

/// One field of a loaded scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Row {
    /// The field, as `--set` names it.
    pub path: String,
    /// Its value as TOML; none for an optional field that is not given.
    pub value: Option<String>,
    /// Origin: `FILE:LINE:COLUMN`, `preset NAME`, `--set …`, `default` or `not given`.
    pub origin: String,
    /// Why it has that value: the source of a preset's value or of a default, or
    /// what holds without the field. Empty if the user gave it.
    pub source: String,
    /// Documentation of the field.
    pub doc: String,
}

/// Explains a loaded scenario.
#[must_use]
pub fn explain(loaded: &Loaded) -> Explanation {
    let printed = Scenario::print(&loaded.scenario);
    let rows = rows(printed.as_ref(), &DECLARED, &loaded.tree);
    let note = |path: &str, field: &Field| {
        let (origin, source) = match origins_of_keys(path, field, &loaded.tree) {
            Some(origins) => (origins, String::new()),
            None => origin_of(path, field, &loaded.tree),
        };
        let why = if source.is_empty() {
            origin
        } else {
            format!("{origin}: {source}")
        };
        let without = match field.presence {
            Presence::Optional { without, .. } => without,
            _ => "",
        };
        let above = vec![field.doc.clone()];
        Note {
            above,
            behind: Some(why),
            instead: Some(format!("not given: {without}")),
        }
    };
    let text = write::document(printed.as_ref(), &DECLARED, &note);
    Explanation { rows, text }
}

/// Explains each field of a printed document, which was read from a tree.
pub(crate) fn rows(printed: Option<&Raw>, declared: &Section, tree: &Node) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(Raw::Table(table)) = printed {
        section(table, declared, "", tree, &mut rows);
    }
    rows
}

impl Explanation {
    /// The full scenario as TOML, with the meaning and the origin of each value
    /// as comments. It loads to an equal scenario.
    #[must_use]
    pub fn to_toml(&self) -> &str {
        &self.text
    }
}

fn section(table: &Table, section: &Section, path: &str, tree: &Node, rows: &mut Vec<Row>) {
    let kind = section.kind_of(table);
    for field in section.fields(kind.as_deref()) {
        let path = join(path, field.name);
        let node = table.get(field.name);
        match (&field.shape, node.map(|node| &node.raw)) {
            (Shape::Section(inner), Some(Raw::Table(table))) => {
                self::section(table, inner, &path, tree, rows);
            }
            (Shape::Tables(inner) | Shape::Section(inner), Some(Raw::List(list))) => {
                for (index, node) in list.iter().enumerate() {
                    if let Raw::Table(table) = &node.raw {
                        self::section(table, inner, &format!("{path}.{index}"), tree, rows);
                    }
                }
            }
            (
                Shape::Leaf {
                    nature: Nature::Keys,
                    ..
                },
                Some(Raw::Table(table)),
            ) if !table.entries.is_empty() => {
                for entry in &table.entries {
                    rows.push(row(join(&path, &entry.key), Some(&entry.node), field, tree));
                }
            }
            _ => rows.push(row(path, node, field, tree)),
        }
    }
}

fn row(path: String, node: Option<&Node>, field: &Field, tree: &Node) -> Row {
    let (origin, source) = origin_of(&path, field, tree);
    let value = node.map(|node| node.raw.to_string());
    Row {
        path,
        value,
        origin,
        source,
        doc: field.doc.clone(),
    }
}

/// Returns the origins of the entries of a table with user-defined keys, if they differ.
fn origins_of_keys(path: &str, field: &Field, tree: &Node) -> Option<String> {
    let Shape::Leaf {
        nature: Nature::Keys,
        ..
    } = field.shape
    else {
        return None;
    };
    let table = tree.find(path)?.table()?;
    if table
        .entries
        .iter()
        .all(|entry| !matches!(entry.node.origin, Origin::Set { .. }))
    {
        return None;
    }
    let each = table.entries.iter().map(|entry| {
        let (origin, _) = origin_of(&join(path, &entry.key), field, tree);
        format!("{}: {origin}", entry.key)
    });
    Some(each.collect::<Vec<_>>().join(", "))
}

/// Returns the origin of a field, and the reason for its value.
fn origin_of(path: &str, field: &Field, tree: &Node) -> (String, String) {
    let nothing = String::new();
    match tree.find(path).map(|node| &node.origin) {
        Some(Origin::File { file, line, column }) => (format!("{file}:{line}:{column}"), nothing),
        Some(Origin::Whole { file }) => (file.to_string(), nothing),
        Some(Origin::Preset { name, source, .. }) => (format!("preset {name}"), source.to_string()),
        Some(Origin::Set { text }) => (format!("--set {text}"), nothing),
        Some(Origin::Default) | None => {
            let (origin, source) = match field.presence {
                Presence::Default { source, .. } => ("default", source.to_owned()),
                Presence::Optional { without, .. } => ("not given", without.to_owned()),
                Presence::Same { field } => ("default", format!("the value of {field}")),
                Presence::Supplied { from } => ("default", from.to_owned()),
                Presence::Over { path } => ("not given", format!("as {}", heading(path))),
                Presence::Required { .. } | Presence::Section | Presence::Kinds => {
                    ("default", nothing)
                }
            };
            (origin.to_owned(), source)
        }
    }
}
