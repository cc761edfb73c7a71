//! TOML text to a tree of raw values with their places.

use std::sync::Arc;

use crate::error::Error;
use crate::tree::{Entry, Node, Origin, Raw, Table};

/// Source text, which determines the origins of its values.
pub(crate) enum Layer {
    File(Arc<str>),
    Preset(&'static str),
}

/// Reads TOML text.
///
/// # Errors
/// The first violation of TOML's grammar, duplicate keys among them, with its
/// place.
pub(crate) fn read(text: &str, layer: &Layer) -> Result<Node, Error> {
    // Editors on Windows put a byte order mark in front; TOML forbids it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let reader = Reader {
        text,
        layer,
        lines: line_starts(text),
        letters: Letters::of(text),
    };
    match toml_edit::Document::parse(text) {
        Ok(document) => Ok(reader.item(document.as_item(), 0)),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let mut message = error.message().trim().replace('\n', ", ");
            if message == "duplicate key" {
                let name = text.get(span.clone()).unwrap_or("").trim();
                message = format!("{name} is given twice");
            }
            if message.contains("recurs") {
                "the values are nested too deeply".clone_into(&mut message);
            }
            if let Some(better) = reader.bare_value(span.start, &message) {
                message = better;
            }
            let origin = reader.origin(span.start, "");
            Err(Error::at(&origin, format!("not valid TOML: {message}")))
        }
    }
}

/// Reads the value of `--set path=value`: TOML if it is, else plain text, so
/// that `network.bandwidth=10 Gbit/s` needs no quotes.
pub(crate) fn read_set(value: &str, origin: &Origin) -> Node {
    match value.parse::<toml_edit::Value>() {
        Ok(value) => strip(&value, origin),
        Err(_) => Node {
            raw: Raw::Text(value.to_owned()),
            origin: origin.clone(),
        },
    }
}

fn strip(value: &toml_edit::Value, origin: &Origin) -> Node {
    let raw = match value {
        toml_edit::Value::Array(array) => {
            Raw::List(array.iter().map(|value| strip(value, origin)).collect())
        }
        toml_edit::Value::InlineTable(inline) => {
            let mut table = Table::default();
            for (key, value) in inline {
                table.push(key, strip(value, origin));
            }
            Raw::Table(table)
        }
        scalar => scalar_of(scalar),
    };
    Node {
        raw,
        origin: origin.clone(),
    }
}

fn scalar_of(value: &toml_edit::Value) -> Raw {
    match value {
        toml_edit::Value::String(text) => Raw::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Raw::Integer(*number.value()),
        toml_edit::Value::Float(number) => Raw::Float(*number.value()),
        toml_edit::Value::Boolean(truth) => Raw::Boolean(*truth.value()),
        other => Raw::Date(other.to_string().trim().to_owned()),
    }
}

struct Reader<'a> {
    text: &'a str,
    layer: &'a Layer,
    lines: Vec<usize>,
    letters: Letters,
}

/// Number of characters of a text before any byte: a list on one line may have millions of values,
/// each with a column.
struct Letters {
    /// Letters before each block of bytes.
    before: Vec<usize>,
}

/// Bytes of a block.
const BLOCK: usize = 256;

impl Letters {
    fn of(text: &str) -> Letters {
        let blocks = text.as_bytes().chunks(BLOCK);
        let before = blocks.scan(0, |letters, block| {
            let before = *letters;
            *letters += Letters::within(block);
            Some(before)
        });
        Letters {
            before: before.collect(),
        }
    }

    /// Letters that begin in some bytes.
    fn within(bytes: &[u8]) -> usize {
        bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
    }

    /// Letters before a byte.
    fn up_to(&self, text: &str, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.before.len().saturating_sub(1));
        let before = self.before.get(block).copied().unwrap_or(0);
        before + Letters::within(&text.as_bytes()[block * BLOCK..offset.min(text.len())])
    }
}

impl Reader<'_> {
    fn item(&self, item: &toml_edit::Item, near: usize) -> Node {
        let at = item.span().map_or(near, |span| span.start);
        match item {
            toml_edit::Item::Value(value) => self.value(value, near),
            toml_edit::Item::Table(table) => {
                let mut entries = Vec::new();
                for (key, item) in table {
                    let key_at = table.key(key).and_then(toml_edit::Key::span);
                    entries.push(self.entry(key, key_at, at, |near| self.item(item, near)));
                }
                self.node(Raw::Table(Table { entries }), at, "")
            }
            toml_edit::Item::ArrayOfTables(tables) => {
                let list = tables.iter().map(|table| {
                    let at = table.span().map_or(at, |span| span.start);
                    self.item(&toml_edit::Item::Table(table.clone()), at)
                });
                self.node(Raw::List(list.collect()), at, "")
            }
            toml_edit::Item::None => self.node(Raw::Table(Table::default()), at, ""),
        }
    }

    fn value(&self, value: &toml_edit::Value, near: usize) -> Node {
        let at = value.span().map_or(near, |span| span.start);
        let raw = match value {
            toml_edit::Value::Array(array) => {
                Raw::List(array.iter().map(|value| self.value(value, at)).collect())
            }
            toml_edit::Value::InlineTable(inline) => {
                let mut entries = Vec::new();
                for (key, value) in inline {
                    let key_at = inline.key(key).and_then(toml_edit::Key::span);
                    entries.push(self.entry(key, key_at, at, |near| self.value(value, near)));
                }
                Raw::Table(Table { entries })
            }
            scalar => scalar_of(scalar),
        };
        self.node(raw, at, self.comment(at))
    }

    fn entry(
        &self,
        key: &str,
        key_at: Option<std::ops::Range<usize>>,
        near: usize,
        node: impl FnOnce(usize) -> Node,
    ) -> Entry {
        let at = key_at.map_or(near, |span| span.start);
        Entry {
            key: key.to_owned(),
            key_origin: self.origin(at, ""),
            node: node(at),
        }
    }

    fn node(&self, raw: Raw, at: usize, comment: &str) -> Node {
        Node {
            raw,
            origin: self.origin(at, comment),
        }
    }

    fn origin(&self, offset: usize, comment: &str) -> Origin {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines[line - 1];
        match self.layer {
            Layer::File(file) => {
                let up_to = |offset| self.letters.up_to(self.text, offset);
                let column = up_to(offset).saturating_sub(up_to(start)) + 1;
                Origin::File {
                    file: file.clone(),
                    line,
                    column,
                }
            }
            Layer::Preset(name) => Origin::Preset {
                name,
                line,
                source: comment.into(),
            },
        }
    }

    /// Returns the error of a line whose value is absent, unquoted, or too large a number, as a
    /// parser's message says.
    fn bare_value(&self, offset: usize, message: &str) -> Option<String> {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        let (key, value) = self.text.get(self.lines[line - 1]..end)?.split_once('=')?;
        let (key, value) = (key.trim(), value.split('#').next()?.trim());
        if value.is_empty() {
            return Some(format!("{key} has no value"));
        }
        let digits = value.trim_start_matches(['+', '-']);
        let is_whole =
            value.parse::<i64>().is_err() && digits.bytes().all(|it| it.is_ascii_digit());
        let expected = match message {
            "floating-point number overflowed" => Some("a number of at most 1.8e308"),
            "integer number overflowed" => Some("a whole number from -2^63 to 2^63 - 1"),
            _ if is_whole => Some("a whole number from -2^63 to 2^63 - 1"),
            _ => None,
        };
        if let Some(expected) = expected {
            let number = crate::error::shorten(value);
            return Some(format!("{key} = {number}: expected {expected}"));
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || " ./+-µ%".contains(letter);
        let is_text = value.parse::<toml_edit::Value>().is_err() && value.chars().all(plain);
        is_text.then(|| {
            format!(
                "text needs quotes: {key} = {:?}",
                crate::error::shorten(value)
            )
        })
    }

    /// The comment that stands above the value's line: a preset's source.
    fn comment(&self, offset: usize) -> &str {
        if matches!(self.layer, Layer::File(_)) {
            return "";
        }
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        match line
            .checked_sub(2)
            .map(|above| &self.text[self.lines[above]..self.lines[line - 1]])
        {
            Some(above) => above.trim().strip_prefix('#').unwrap_or("").trim(),
            None => "",
        }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let after = text
        .char_indices()
        .filter(|(_, letter)| *letter == '\n')
        .map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_letters() {
        let text = format!("a = [{}]\nß = 1 # é\n", "\"äöü\", 7, ".repeat(300));
        let letters = Letters::of(&text);
        for (offset, _) in text.char_indices() {
            let counted = text[..offset].chars().count();
            assert_eq!(letters.up_to(&text, offset), counted, "{offset}");
        }
        assert_eq!(letters.up_to(&text, text.len()), text.chars().count());
        assert_eq!(Letters::of("").up_to("", 0), 0);
    }

    /// It took minutes when each value's column was counted from the start of its line.
    #[test]
    fn a_list_of_a_million_values_on_one_line_is_read() -> Result<(), Error> {
        let text = format!("a = [{}]", "[1], ".repeat(500_000));
        let node = read(&text, &Layer::File("long.toml".into()))?;
        let Some(Raw::List(list)) = node.find("a").map(|node| &node.raw) else {
            panic!("a is a list");
        };
        assert_eq!(list.len(), 500_000);
        let Origin::File { line, column, .. } = list[499_999].origin else {
            panic!("it is in the file");
        };
        assert_eq!((line, column), (1, 6 + 5 * 499_999));
        Ok(())
    }
}
