//! A scenario as raw TOML values, each of which knows where it came from.

use std::fmt;
use std::sync::Arc;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Written in the scenario file.
    File {
        file: Arc<str>,
        line: usize,
        column: usize,
    },
    /// The scenario file, no particular line.
    Whole { file: Arc<str> },
    /// Given by a preset; `source` is the comment beside it.
    Preset {
        name: &'static str,
        line: usize,
        source: Arc<str>,
    },
    /// Given on the command line as `--set text`.
    Set { text: Arc<str> },
    /// Not given: the field's own default.
    Default,
}

/// A raw value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub raw: Raw,
    pub origin: Origin,
}

/// A raw TOML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Raw {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date or time, which no field takes.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// A table's entries in the order they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    /// Position of the key, at which unknown keys are reported.
    pub key_origin: Origin,
    pub node: Node,
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.node)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|entry| entry.key == key)
            .map(|entry| &mut entry.node)
    }

    pub(crate) fn push(&mut self, key: impl Into<String>, node: Node) {
        let key_origin = node.origin.clone();
        self.entries.push(Entry {
            key: key.into(),
            key_origin,
            node,
        });
    }
}

impl Node {
    /// A value without an origin: a default or a printed value.
    pub(crate) fn plain(raw: Raw) -> Node {
        Node {
            raw,
            origin: Origin::Default,
        }
    }

    /// The node at a dotted path, list entries by their number.
    pub(crate) fn find(&self, path: &str) -> Option<&Node> {
        if path.is_empty() {
            return Some(self);
        }
        split(path).try_fold(self, |node, part| match &node.raw {
            Raw::Table(table) => table.get(&unquote(part)),
            Raw::List(list) => part.parse::<usize>().ok().and_then(|index| list.get(index)),
            _ => None,
        })
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.raw {
            Raw::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// One step of a path, quoted where TOML would quote it, so that a path can be
/// pasted into `--set`.
pub(crate) fn key(name: &str) -> String {
    toml_edit::Key::new(name).display_repr().into_owned()
}

/// `path.name`.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        key(name)
    } else {
        format!("{path}.{}", key(name))
    }
}

fn unquote(part: &str) -> String {
    match toml_edit::Key::parse(part) {
        Ok(keys) if keys.len() == 1 => keys[0].get().to_owned(),
        _ => part.to_owned(),
    }
}

/// Splits a path at the dots outside quotes.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let (part, after) =
            split_once(text, '.').map_or((text, None), |(part, after)| (part, Some(after)));
        rest = after;
        Some(part)
    })
}

/// Splits a path at the first `separator` outside quotes.
pub(crate) fn split_once(path: &str, separator: char) -> Option<(&str, &str)> {
    let (mut quote, mut escaped) = (None, false);
    for (index, letter) in path.char_indices() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, _) if letter == separator => {
                return Some((&path[..index], &path[index + separator.len_utf8()..]));
            }
            _ => {}
        }
    }
    None
}

/// As TOML on one line.
impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Text(text) => write!(f, "{}", quote(text)),
            Raw::Integer(number) => write!(f, "{number}"),
            Raw::Float(number) => write!(f, "{}", float(*number)),
            Raw::Boolean(truth) => write!(f, "{truth}"),
            Raw::Date(date) => write!(f, "{date}"),
            Raw::List(list) => {
                write!(f, "[")?;
                for (index, node) in list.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { ", " }, node.raw)?;
                }
                write!(f, "]")
            }
            Raw::Table(table) if table.entries.is_empty() => write!(f, "{{}}"),
            Raw::Table(table) => {
                write!(f, "{{ ")?;
                for (index, entry) in table.entries.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{} = {}", key(&entry.key), entry.node.raw)?;
                }
                write!(f, " }}")
            }
        }
    }
}

/// A basic string on one line, whatever is in it.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A TOML float: always with a point or an exponent, so that it stays one.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    let text = format!("{number:?}");
    if text.ends_with("inf") || text.contains(['.', 'e']) {
        text
    } else {
        format!("{text}.0")
    }
}

impl From<&str> for Raw {
    fn from(text: &str) -> Raw {
        Raw::Text(text.to_owned())
    }
}

impl From<i64> for Raw {
    fn from(number: i64) -> Raw {
        Raw::Integer(number)
    }
}

impl From<i32> for Raw {
    fn from(number: i32) -> Raw {
        Raw::Integer(number.into())
    }
}

impl From<u32> for Raw {
    fn from(number: u32) -> Raw {
        Raw::Integer(number.into())
    }
}

impl From<f64> for Raw {
    fn from(number: f64) -> Raw {
        Raw::Float(number)
    }
}

impl From<bool> for Raw {
    fn from(truth: bool) -> Raw {
        Raw::Boolean(truth)
    }
}

impl<T: Into<Raw>, const N: usize> From<[T; N]> for Raw {
    fn from(list: [T; N]) -> Raw {
        Raw::List(
            list.into_iter()
                .map(|item| Node::plain(item.into()))
                .collect(),
        )
    }
}

impl From<Table> for Raw {
    fn from(table: Table) -> Raw {
        Raw::Table(table)
    }
}
