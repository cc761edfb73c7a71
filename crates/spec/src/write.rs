//! A document as TOML text.

use crate::declare::{Codec, Field, Section, Shape, heading};
use crate::error::one_line;
use crate::load::DECLARED;
use crate::sections::Scenario;
use crate::tree::{Raw, Table, join, key};

impl Scenario {
    /// The full scenario as TOML, every default written out. It loads to an
    /// equal scenario, wherever it is put: results embed it to be run again.
    #[must_use]
    pub fn to_canonical_toml(&self) -> String {
        let printed = Scenario::print(self);
        document(printed.as_ref(), &DECLARED, &|_, _| Note::default())
    }
}

/// Note on a field.
#[derive(Default)]
pub(crate) struct Note {
    /// Lines above it.
    pub above: Vec<String>,
    /// A comment behind its value.
    pub behind: Option<String>,
    /// A comment in its place if it has no value.
    pub instead: Option<String>,
}

/// A printed document with notes on its fields, by path.
pub(crate) fn document(
    printed: Option<&Raw>,
    declared: &Section,
    note: &dyn Fn(&str, &Field) -> Note,
) -> String {
    let mut text = String::new();
    if let Some(Raw::Table(table)) = printed {
        section(table, declared, "", "", note, &mut text);
    }
    text
}

/// Writes one section: its values below its heading, then the sections in it.
/// `name` is what the heading says, `path` is the path of the fields.
fn section(
    table: &Table,
    section: &Section,
    name: &str,
    path: &str,
    note: &dyn Fn(&str, &Field) -> Note,
    into: &mut String,
) {
    let kind = section.kind_of(table);
    let fields = section.fields(kind.as_deref());
    let mut lines: Vec<String> = Vec::new();
    for field in fields
        .iter()
        .filter(|field| matches!(field.shape, Shape::Leaf { .. }))
    {
        let note = note(&join(path, field.name), field);
        let line = match table.get(field.name) {
            Some(node) => {
                let comment = note
                    .behind
                    .map_or_else(String::new, |text| format!("  # {}", one_line(&text)));
                Some(format!("{} = {}{comment}", key(field.name), node.raw))
            }
            None => note.instead.map(|text| format!("# {}: {text}", field.name)),
        };
        if let Some(line) = line {
            lines.extend(
                note.above
                    .iter()
                    .map(|text| format!("# {}", one_line(text))),
            );
            lines.push(line);
        }
    }
    if !lines.is_empty() {
        if !name.is_empty() {
            into.push_str(&format!("\n{name}\n"));
        }
        into.push_str(&lines.join("\n"));
        into.push('\n');
    }
    for field in fields {
        let path = join(path, field.name);
        match (&field.shape, table.get(field.name).map(|node| &node.raw)) {
            (Shape::Section(inner), Some(Raw::Table(table))) => {
                self::section(table, inner, &heading(&path), &path, note, into);
            }
            (Shape::Tables(inner) | Shape::Section(inner), Some(Raw::List(list))) => {
                for (index, node) in list.iter().enumerate() {
                    if let Raw::Table(table) = &node.raw {
                        let path = format!("{path}.{index}");
                        self::section(table, inner, &heading(&path), &path, note, into);
                    }
                }
            }
            _ => {}
        }
    }
}
