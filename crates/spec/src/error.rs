//! The one kind of error a scenario can give: place, given text, expected text.

use std::fmt;

use crate::syntax::read_set;
use crate::tree::{Node, Origin, split_once};

/// Error in a scenario, with its location.
///
/// Displayed on one line, for example
/// `my.toml:12:13: network.bandwidth = "1 furlong": expected a rate such as "1 Gbit/s" or "125 MB/s"`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Error {
    /// The file, `--set path=value`, or `preset NAME`.
    pub file: String,
    /// Line in the file, counted from 1; none if no line is to blame.
    pub line: Option<usize>,
    /// Column in the line, in characters, counted from 1.
    pub column: Option<usize>,
    /// Text at that position (`path = value`); empty if none.
    pub text: String,
    /// Expected value, and the suggested change.
    pub message: String,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if !self.text.is_empty() {
            write!(f, ": {}", self.text)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Error {
    /// An error at `origin`, with nothing quoted.
    pub(crate) fn at(origin: &Origin, message: impl Into<String>) -> Error {
        let (file, line, column) = match origin {
            Origin::File { file, line, column } => (file.to_string(), Some(*line), Some(*column)),
            Origin::Whole { file } => (file.to_string(), None, None),
            Origin::Preset { name, line, .. } => (format!("preset {name}"), Some(*line), None),
            Origin::Set { text } => (format!("--set {}", shorten(&one_line(text))), None, None),
            Origin::Default => (String::new(), None, None),
        };
        let message = message.into();
        Error {
            file,
            line,
            column,
            text: String::new(),
            message,
        }
    }

    /// An error in no line of the file: `crate::load` names the file.
    pub(crate) fn nowhere(message: impl Into<String>) -> Error {
        Error::at(&Origin::Default, message)
    }

    /// An error about the value `node` of the field `path`. The value is quoted, except for that of
    /// `--set`, whose place already shows it; values within that are quoted.
    pub(crate) fn value(node: &Node, path: &str, message: impl Into<String>) -> Error {
        let mut error = Error::at(&node.origin, message);
        if !matches!(&node.origin, Origin::Set { text } if shows(text, node, path)) {
            error.text = format!("{path} = {}", shorten(&node.raw.to_string()));
        }
        error
    }
}

/// Returns true if a `--set` gives the field's value as a whole, and not a table or list around
/// it, or a part of it.
fn shows(set: &str, node: &Node, path: &str) -> bool {
    let Some((given, value)) = split_once(set, '=') else {
        return true;
    };
    let last = |path: &str| path.trim().rsplit('.').next().map(str::to_owned);
    last(given) == last(path) || read_set(value.trim(), &node.origin).raw == node.raw
}

/// The text without line breaks and other control characters.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Keeps an error on one line, however long the text it quotes.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 80;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(LONGEST - 1).collect();
    short.push('…');
    short
}
