//! `--set path=value`: one value given on the command line.

use crate::declare::{Nature, Section, Shape};
use crate::error::Error;
use crate::merge;
use crate::names;
use crate::syntax;
use crate::tree::{Node, Origin, Raw, Table, join, split_once};

/// Why a value cannot be put at a path.
enum Wrong {
    NoSuchPath,
    Because(String),
}

/// Puts the value of `--set text` over the file's values; `example` is such a text.
///
/// # Errors
/// The text is not `path=value`, or there is no such path; then the nearest one
/// is named.
pub(crate) fn apply(
    root: &mut Node,
    section: &Section,
    text: &str,
    example: &str,
) -> Result<(), Error> {
    let origin = Origin::Set { text: text.into() };
    let Some((path, value)) = split_once(text, '=') else {
        let message = format!("expected path=value, for example {example:?}");
        return Err(Error::at(&origin, message));
    };
    let put = match toml_edit::Key::parse(path) {
        Ok(keys) => {
            let parts: Vec<&str> = keys.iter().map(toml_edit::Key::get).collect();
            put(
                root,
                section,
                "",
                &parts,
                &Value {
                    text: value.trim(),
                    origin: &origin,
                },
            )
        }
        Err(_) => Err(Wrong::NoSuchPath),
    };
    put.map_err(|wrong| match wrong {
        Wrong::Because(message) => Error::at(&origin, message),
        Wrong::NoSuchPath => Error::at(&origin, no_such_path(root, section, path.trim())),
    })
}

/// The value as it was typed.
struct Value<'a> {
    text: &'a str,
    origin: &'a Origin,
}

impl Value<'_> {
    fn read(&self, nature: Nature) -> Node {
        let node = syntax::read_set(self.text, self.origin);
        match (nature, &node.raw) {
            (Nature::Text | Nature::File, Raw::Text(_)) | (Nature::File, Raw::List(_)) => node,
            // A name may look like a number.
            (Nature::Text | Nature::File, _) => Node {
                raw: self.text.into(),
                origin: self.origin.clone(),
            },
            _ => node,
        }
    }
}

/// Puts the value at `parts` below the table of a section, which is at `path`.
fn put(
    node: &mut Node,
    section: &Section,
    path: &str,
    parts: &[&str],
    value: &Value<'_>,
) -> Result<(), Wrong> {
    let (first, rest) = parts.split_first().ok_or(Wrong::NoSuchPath)?;
    let fields = section.fields(None);
    let Some(field) = fields.iter().find(|field| field.name == *first) else {
        return Err(match section.removed_field(None, first) {
            Some(removed) => Wrong::Because(format!("{first:?} was removed: {}", removed.instead)),
            None => Wrong::NoSuchPath,
        });
    };
    let Raw::Table(table) = &mut node.raw else {
        return Err(Wrong::Because(
            "the file gives a single value for this section".to_owned(),
        ));
    };
    if rest.is_empty() {
        let nature = match &field.shape {
            Shape::Leaf { nature, .. } => *nature,
            _ => Nature::Plain,
        };
        let mut upper = Table::default();
        upper.push(*first, value.read(nature));
        let mut upper = Node::plain(upper.into());
        merge::kinds_by_name(&mut upper, section);
        if let Raw::Table(upper) = upper.raw {
            merge::tables(table, upper, section);
        }
        return Ok(());
    }
    match &field.shape {
        Shape::Section(inner) if !is_list(table.get(first)) => {
            let path = join(path, first);
            put(below(table, first, value.origin), inner, &path, rest, value)
        }
        Shape::Tables(inner) | Shape::Section(inner) => {
            let path = join(path, first);
            let Some(list) = table.get_mut(first) else {
                return Err(Wrong::Because(format!(
                    "the file has no [[{path}]]: add it there, or give all of them, \
                     {path}=[{{ … }}]"
                )));
            };
            let own;
            // The only one needs no number, and one with a name may go by it.
            let only = matches!(&list.raw, Raw::List(list) if list.len() == 1);
            let (index, rest) = match rest[0].parse::<usize>() {
                Err(_) => match numbered(list, rest[0]) {
                    Some(number) => {
                        own = number.to_string();
                        (own.as_str(), &rest[1..])
                    }
                    None if only => ("0", rest),
                    None => (rest[0], &rest[1..]),
                },
                Ok(_) => (rest[0], &rest[1..]),
            };
            let length = match &list.raw {
                Raw::List(list) => list.len(),
                _ => 0,
            };
            let Some(node) = entry(list, index) else {
                return Err(match index.parse::<usize>() {
                    Ok(_) => {
                        Wrong::Because(format!("the file has {length} [[{path}]], numbered from 0"))
                    }
                    Err(_) => Wrong::NoSuchPath,
                });
            };
            if rest.is_empty() {
                let mut above = value.read(Nature::Plain);
                merge::kinds_by_name(&mut above, inner);
                merge::over(node, above, inner);
                return Ok(());
            }
            put(node, inner, &path, rest, value)
        }
        Shape::Leaf { nature, .. } => {
            let [key] = rest else {
                return Err(Wrong::NoSuchPath);
            };
            if let Some(list) = table.get_mut(first)
                && let Some(node) = entry(list, key)
            {
                *node = value.read(Nature::Plain);
                list.origin = value.origin.clone();
                return Ok(());
            }
            if *nature != Nature::Keys {
                return Err(Wrong::NoSuchPath);
            }
            let Raw::Table(table) = &mut below(table, first, value.origin).raw else {
                let message = format!("{first} is not a table in the file: give it as a whole");
                return Err(Wrong::Because(message));
            };
            let node = value.read(Nature::Plain);
            match table.get_mut(key) {
                Some(old) => *old = node,
                None => table.push(*key, node),
            }
            Ok(())
        }
        Shape::Kinds(_) => Err(Wrong::NoSuchPath),
    }
}

/// The table's field, an empty table if it was not there.
fn below<'a>(table: &'a mut Table, key: &str, origin: &Origin) -> &'a mut Node {
    let at = table
        .entries
        .iter()
        .position(|entry| entry.key == key)
        .unwrap_or_else(|| {
            table.push(
                key,
                Node {
                    raw: Table::default().into(),
                    origin: origin.clone(),
                },
            );
            table.entries.len() - 1
        });
    &mut table.entries[at].node
}

fn is_list(node: Option<&Node>) -> bool {
    node.is_some_and(|node| matches!(node.raw, Raw::List(_)))
}

/// The number of the table that has this name.
fn numbered(list: &Node, name: &str) -> Option<usize> {
    let Raw::List(list) = &list.raw else {
        return None;
    };
    list.iter().position(|node| name_of(node) == Some(name))
}

/// The name that a table has.
fn name_of(node: &Node) -> Option<&str> {
    match &node.table()?.get("name")?.raw {
        Raw::Text(name) => Some(name),
        _ => None,
    }
}

fn entry<'a>(node: &'a mut Node, index: &str) -> Option<&'a mut Node> {
    match &mut node.raw {
        Raw::List(list) => list.get_mut(index.parse::<usize>().ok()?),
        _ => None,
    }
}

fn no_such_path(root: &Node, section: &Section, path: &str) -> String {
    let mut all = Vec::new();
    paths(Some(root), section, "", &mut all);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    format!(
        "there is no field {}{}",
        crate::declare::quoted(path),
        names::hint(path, &all)
    )
}

/// Every path that can be set.
fn paths(node: Option<&Node>, section: &Section, path: &str, into: &mut Vec<String>) {
    for field in section.fields(None) {
        let path = join(path, field.name);
        let node = node
            .and_then(Node::table)
            .and_then(|table| table.get(field.name));
        match &field.shape {
            Shape::Section(inner) if !is_list(node) => paths(node, inner, &path, into),
            Shape::Tables(inner) | Shape::Section(inner) => {
                if let Some(Node {
                    raw: Raw::List(list),
                    ..
                }) = node
                {
                    for (index, node) in list.iter().enumerate() {
                        let at = |part: &str| join(&path, part);
                        paths(Some(node), inner, &at(&index.to_string()), into);
                        if let Some(name) = name_of(node) {
                            paths(Some(node), inner, &at(name), into);
                        }
                    }
                    if let [only] = &list[..] {
                        paths(Some(only), inner, &path, into);
                    }
                }
            }
            _ => {}
        }
        into.push(path);
    }
}
