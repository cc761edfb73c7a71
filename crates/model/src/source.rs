//! The text of a document, TOML or JSON: its values in order, and the line and column of each.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use toml_edit::{Document, Item};

use crate::error::Fault;

/// A value of a document, its tables in the order in which they were written.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A truth.
    Bool(bool),
    /// A list.
    List(Vec<Value>),
    /// A table.
    Table(Vec<(String, Value)>),
}

impl Value {
    /// A description for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("{text:?}"),
            Value::Int(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The value of a key of a table.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Table(entries) => {
                let mut entries = entries.iter();
                entries.find(|(name, _)| name == key).map(|(_, it)| it)
            }
            _ => None,
        }
    }
}

/// Languages of documents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// <https://toml.io>
    Toml,
    /// RFC 8259.
    Json,
}

/// Reads the text of a document.
///
/// # Errors
/// Line, column and reason, if it is not of this language.
pub fn parse(text: &str, language: Language) -> Result<Value, (usize, usize, String)> {
    match language {
        Language::Json => serde_json::from_str(text)
            .map_err(|error| (error.line(), error.column(), of_json(&error.to_string()))),
        Language::Toml => match Document::parse(text) {
            Ok(document) => of_toml(document.as_item()).ok_or_else(|| {
                let message = "dates are not part of a net: write texts or numbers";
                (1, 1, message.to_owned())
            }),
            Err(error) => {
                let (line, column) = line_column(text, error.span().map_or(0, |span| span.start));
                let message = error.message().trim().replace('\n', ", ");
                Err((line, column, in_words(message)))
            }
        },
    }
}

/// A message of serde_json without its place.
fn of_json(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    in_words(message[..end].to_owned())
}

/// A parser's message in the words of this program.
fn in_words(message: String) -> String {
    if message.contains("recurs") {
        return "expected at most 80 tables and lists within each other; write pages beside each \
                other"
            .to_owned();
    }
    let is_too_large = ["out of range", "too large", "overflowed"];
    if is_too_large.iter().any(|words| message.contains(words)) {
        return format!("{message}: expected a whole number of at most 64 bits, or a real number");
    }
    message
}

fn of_toml(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        let entries = table.iter();
        let entries = entries.map(|(key, item)| Some((key.to_owned(), of_toml(item)?)));
        return entries.collect::<Option<_>>().map(Value::Table);
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables.iter().map(|table| {
            let entries = table.iter();
            let entries = entries.map(|(key, item)| Some((key.to_owned(), of_toml(item)?)));
            entries.collect::<Option<_>>().map(Value::Table)
        });
        return tables.collect::<Option<_>>().map(Value::List);
    }
    of_value(item.as_value()?)
}

fn of_value(value: &toml_edit::Value) -> Option<Value> {
    use toml_edit::Value as Toml;
    Some(match value {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Integer(number) => Value::Int(*number.value()),
        Toml::Float(number) => Value::Real(*number.value()),
        Toml::Boolean(truth) => Value::Bool(*truth.value()),
        Toml::Array(list) => Value::List(list.iter().map(of_value).collect::<Option<_>>()?),
        Toml::InlineTable(table) => {
            let entries = table.iter();
            let entries = entries.map(|(key, value)| Some((key.to_owned(), of_value(value)?)));
            Value::Table(entries.collect::<Option<_>>()?)
        }
        Toml::Datetime(_) => return None,
    })
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text, a number, a truth, a list or a table")
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Real(number as f64), Value::Int))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Real(number))
    }
    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = table.next_entry::<String, Value>()? {
            if entries.iter().any(|(other, _)| *other == key) {
                return Err(serde::de::Error::custom(format!("{key:?} is given twice")));
            }
            entries.push((key, value));
        }
        Ok(Value::Table(entries))
    }
}

/// Line and column, both from 1, of a fault in the text of its document.
pub fn position(text: &str, language: Language, fault: &Fault) -> (usize, usize) {
    // A missing value has the place of the table that lacks it.
    for length in (0..=fault.path.len()).rev() {
        let path = &fault.path[..length];
        let found = match language {
            Language::Toml => toml_offset(text, path),
            Language::Json => json_offset(text, path),
        };
        if let Some(offset) = found {
            let (line, column) = line_column(text, offset);
            let within = length == fault.path.len() && fault.column > 0;
            let quoted = matches!(text.as_bytes().get(offset), Some(b'"' | b'\''));
            let long = text[offset..].starts_with("\"\"\"") || text[offset..].starts_with("'''");
            return match within && quoted && !long {
                true => (line, column + 1 + fault.column),
                false => (line, column),
            };
        }
    }
    (1, 1)
}

fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[start..].chars().count() + 1)
}

fn toml_offset(text: &str, path: &[String]) -> Option<usize> {
    let document = Document::parse(text).ok()?;
    let mut item = document.as_item().clone();
    let mut span = Some(0..0);
    for key in path {
        let next = if let Some(table) = item.as_table_like() {
            let (named, next) = table.get_key_value(key)?;
            // A table is found by its name, a value by itself.
            let own = next.as_value().and_then(toml_edit::Value::span);
            span = own.or(named.span()).or(next.span());
            next.clone()
        } else if let Some(tables) = item.as_array_of_tables() {
            let table = tables.get(key.parse().ok()?)?;
            span = table.span();
            Item::Table(table.clone())
        } else {
            let value = item.as_array()?.get(key.parse().ok()?)?;
            span = value.span();
            Item::Value(value.clone())
        };
        item = next;
    }
    span.map(|span| span.start)
}

/// The place of a value in a text that is JSON.
fn json_offset(text: &str, path: &[String]) -> Option<usize> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
    };
    scan.blank();
    for key in path {
        scan.enter(key)?;
    }
    Some(scan.at)
}

/// Walks through a text that is known to be JSON.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips blanks, commas and colons.
    fn blank(&mut self) {
        while self.peek().is_ascii_whitespace() || matches!(self.peek(), b',' | b':') {
            self.at += 1;
        }
    }

    /// Skips a value; gives its text.
    fn value(&mut self) -> &[u8] {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    while !matches!(self.peek(), b'"' | 0) {
                        self.at += 1 + usize::from(self.peek() == b'\\');
                    }
                    self.at += 1;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                0 => break,
                _ if depth > 0 => self.at += 1,
                _ => {
                    while !matches!(self.peek(), b',' | b'}' | b']' | 0)
                        && !self.peek().is_ascii_whitespace()
                    {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                break;
            }
        }
        &self.bytes[start..self.at.min(self.bytes.len())]
    }

    /// Goes to a value of the table or list here.
    fn enter(&mut self, key: &str) -> Option<()> {
        let table = match self.peek() {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        self.at += 1;
        let mut position = 0;
        loop {
            self.blank();
            if matches!(self.peek(), b'}' | b']' | 0) {
                return None;
            }
            let found = if table {
                let name = serde_json::from_slice::<String>(self.value());
                self.blank();
                name.is_ok_and(|name| name == key)
            } else {
                position += 1;
                key.parse() == Ok(position - 1)
            };
            if found {
                return Some(());
            }
            self.value();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, language: Language, path: &[&str], column: usize) -> (usize, usize) {
        let fault = Fault {
            path: path.iter().map(|&key| key.to_owned()).collect(),
            column,
            message: String::new(),
        };
        position(text, language, &fault)
    }

    #[test]
    fn values_of_both_languages_are_found() {
        let toml = "name = \"n\"\n[places.a]\ncolour = \"int\"\n[transitions.t]\ntake = [\n  { place = \"a\", token = \"x + \" },\n]\n";
        let path = ["transitions", "t", "take", "0", "token"];
        assert_eq!(at(toml, Language::Toml, &path, 0), (6, 26));
        assert_eq!(at(toml, Language::Toml, &path, 4), (6, 31));
        assert_eq!(at(toml, Language::Toml, &["places", "a"], 0), (2, 9));
        assert_eq!(
            at(toml, Language::Toml, &["places", "a", "order"], 0),
            (2, 9)
        );
        let json = "{\"places\": {\"a\": {}},\n \"transitions\": {\"t\": {\"take\": [{\"x\": 1}, {\"place\": \"a\"}]}}}";
        let path = ["transitions", "t", "take", "1", "place"];
        assert_eq!(at(json, Language::Json, &path, 0), (2, 53));
    }

    #[test]
    fn both_languages_give_one_value() {
        let toml = parse("b = 1\na = [true, 1.5, 'x', { c = 2 }]", Language::Toml);
        let json = parse(
            "{\"b\": 1, \"a\": [true, 1.5, \"x\", {\"c\": 2}]}",
            Language::Json,
        );
        assert_eq!(toml, json);
        assert_eq!(parse("{\"b\": }", Language::Json).unwrap_err().0, 1);
        assert_eq!(parse("a = 1\nb = ", Language::Toml).unwrap_err().0, 2);
    }

    #[test]
    fn too_large_numbers_are_told_with_what_is_expected() {
        let digits = "9".repeat(400);
        let texts = [
            (format!("[a]\nb = {digits}"), Language::Toml, 2),
            (format!("[a]\nb = 0x{digits}"), Language::Toml, 2),
            ("[a]\nb = 1e400".to_owned(), Language::Toml, 2),
            (format!("{{\"b\": {digits}}}"), Language::Json, 1),
        ];
        for (text, language, line) in texts {
            let (at, _, message) = parse(&text, language).unwrap_err();
            assert_eq!(at, line);
            assert!(
                message.ends_with(": expected a whole number of at most 64 bits, or a real number"),
                "{message}"
            );
        }
    }
}
