//! Errors of a document: each has its place there.

use std::fmt;

/// One reason why a document is no net.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Keys and positions from the root of the document to the value, such as
    /// `["transitions", "send", "take", "0", "token"]`.
    pub path: Vec<String>,
    /// Characters before the place within a text that is the value.
    pub column: usize,
    /// The fault, and the expected text.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return out.write_str(&self.message);
        }
        write!(out, "{}: {}", self.path.join("."), self.message)
    }
}

/// All faults found in one stage of reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        out.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Faults {}

/// The nearest of some names, as the end of a message.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = names
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .filter(|(distance, other)| *distance <= 1 + other.len() / 4)
        .min();
    near.map_or_else(String::new, |(_, other)| {
        format!("; did you mean {other:?}?")
    })
}
