use serde::Serialize;

/// Why something is counted in [`Skipped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The reader could not make sense of it.
    NotUnderstood,
    /// Understood, and no file operation that a record could hold.
    LeftOut,
    /// A record was made, with a value that the trace does not tell.
    Assumed,
}

/// A kind of line that a reader skips, or of value that it assumes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// Short description.
    pub name: &'static str,
    /// Why it is counted.
    pub reason: Reason,
}

impl Kind {
    /// A kind that could not be understood.
    #[must_use]
    pub const fn not_understood(name: &'static str) -> Self {
        Self {
            name,
            reason: Reason::NotUnderstood,
        }
    }

    /// A kind that is left out.
    #[must_use]
    pub const fn left_out(name: &'static str) -> Self {
        Self {
            name,
            reason: Reason::LeftOut,
        }
    }

    /// A kind of assumed value.
    #[must_use]
    pub const fn assumed(name: &'static str) -> Self {
        Self {
            name,
            reason: Reason::Assumed,
        }
    }
}

/// A line that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The line's number; the first is 1.
    pub line: u64,
    /// Its beginning, as text.
    pub text: String,
}

/// Number of times one [`Kind`] was met, with the first few lines.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedKind {
    /// Kind of the entry.
    #[serde(flatten)]
    pub kind: &'static Kind,
    /// Number of occurrences.
    pub count: u64,
    /// The first [`Skipped::EXAMPLES`] lines.
    pub examples: Vec<Example>,
}

/// Records that a reader skipped, and assumptions that it made.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Skipped {
    kinds: Vec<SkippedKind>,
}

/// See [`Writer::skipped`](crate::Writer::skipped).
static NONE: Skipped = Skipped { kinds: Vec::new() };

impl Skipped {
    /// Nothing skipped.
    #[must_use]
    pub fn none() -> &'static Skipped {
        &NONE
    }

    /// Number of lines that are retained as examples of a kind.
    pub const EXAMPLES: usize = 3;
    /// Bytes of a line that are saved.
    pub const EXAMPLE_LENGTH: usize = 160;

    /// Counts one `kind`, met in `line`.
    pub fn count(&mut self, kind: &'static Kind, line: u64, text: &[u8]) {
        self.count_parts(kind, line, &[text]);
    }

    /// Counts one `kind`, met in `line`, whose text is in parts.
    pub(crate) fn count_parts(&mut self, kind: &'static Kind, line: u64, parts: &[&[u8]]) {
        let entry = match self.kinds.iter().position(|it| std::ptr::eq(it.kind, kind)) {
            Some(index) => &mut self.kinds[index],
            None => {
                self.kinds.push(SkippedKind {
                    kind,
                    count: 0,
                    examples: Vec::new(),
                });
                let last = self.kinds.len() - 1;
                &mut self.kinds[last]
            }
        };
        entry.count += 1;
        if entry.examples.len() < Self::EXAMPLES {
            let mut start = Vec::new();
            for part in parts {
                let left = Self::EXAMPLE_LENGTH - start.len();
                start.extend_from_slice(&part[..part.len().min(left)]);
            }
            entry.examples.push(Example {
                line,
                text: crate::text(&start).into_owned(),
            });
        }
    }

    /// The kinds met, in the order of first meeting.
    #[must_use]
    pub fn kinds(&self) -> &[SkippedKind] {
        &self.kinds
    }

    /// Number of times the kind with this name was met.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.kinds
            .iter()
            .find(|it| it.kind.name == name)
            .map_or(0, |it| it.count)
    }

    /// Number of times something was met for this reason.
    #[must_use]
    pub fn total(&self, reason: Reason) -> u64 {
        self.kinds
            .iter()
            .filter(|it| it.kind.reason == reason)
            .map(|it| it.count)
            .sum()
    }
}
