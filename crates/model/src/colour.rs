//! Colours of tokens: numbers, enumerations, texts, and records of these. A token is a few words
//! of 64 bits; a record is the words of its fields in order.

use std::collections::BTreeMap;

/// The most words a token may have.
pub const MOST_WORDS: usize = 8;

/// Type of a token or of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One value only: a token without data.
    Unit,
    /// False or true.
    Bool,
    /// A whole number of 64 bits.
    Int,
    /// A floating-point number of 64 bits.
    Real,
    /// A time in whole picoseconds.
    Time,
    /// A text that occurs in the document.
    Text,
    /// An enumeration, by number.
    Enum(usize),
    /// A record, by number.
    Record(usize),
}

/// An enumeration: its name and members.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Name.
    pub name: String,
    /// Members in order; a token's word is the position.
    pub members: Vec<String>,
}

/// A record: its name and fields.
#[derive(Clone, Debug)]
pub struct Record {
    /// Name.
    pub name: String,
    /// Fields in order.
    pub fields: Vec<(String, Kind)>,
}

/// The colours of a net, with the texts that occur in it.
#[derive(Clone, Default, Debug)]
pub struct Colours {
    /// Enumerations.
    pub enums: Vec<Enumeration>,
    /// Records.
    pub records: Vec<Record>,
    /// Kinds by name, built-in ones included.
    pub names: BTreeMap<String, Kind>,
    /// Texts by number.
    pub texts: Vec<String>,
}

impl Colours {
    /// The built-in colours.
    pub fn new() -> Colours {
        let builtin = [
            ("unit", Kind::Unit),
            ("bool", Kind::Bool),
            ("int", Kind::Int),
            ("real", Kind::Real),
            ("time", Kind::Time),
            ("text", Kind::Text),
        ];
        Colours {
            names: builtin.map(|(name, kind)| (name.to_owned(), kind)).into(),
            ..Colours::default()
        }
    }

    /// Number of words of a token.
    pub fn words(&self, kind: Kind) -> usize {
        match kind {
            Kind::Unit => 0,
            Kind::Record(record) => {
                let fields = self.records[record].fields.iter();
                fields.map(|(_, kind)| self.words(*kind)).sum()
            }
            _ => 1,
        }
    }

    /// Name of a kind.
    pub fn name(&self, kind: Kind) -> &str {
        match kind {
            Kind::Unit => "unit",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Real => "real",
            Kind::Time => "time",
            Kind::Text => "text",
            Kind::Enum(index) => &self.enums[index].name,
            Kind::Record(index) => &self.records[index].name,
        }
    }

    /// The enumeration's member of this name: its kind and word. None if no enumeration has it,
    /// or more than one.
    pub fn member(&self, name: &str) -> Option<(Kind, i64)> {
        let mut found = self.enums.iter().enumerate().filter_map(|(index, of)| {
            let position = of.members.iter().position(|member| member == name)?;
            Some((Kind::Enum(index), position as i64))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// The number of a text.
    pub fn text(&mut self, text: &str) -> i64 {
        let known = self.texts.iter().position(|other| other == text);
        known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        }) as i64
    }

    /// A token as text, in the notation of expressions.
    pub fn show(&self, kind: Kind, words: &[i64]) -> String {
        let word = words.first().copied().unwrap_or(0);
        match kind {
            Kind::Unit => "()".to_owned(),
            Kind::Bool => (word != 0).to_string(),
            Kind::Int => word.to_string(),
            Kind::Real => f64::from_bits(word as u64).to_string(),
            Kind::Time => format!("{} s", word as f64 / 1e12),
            Kind::Text => match self.texts.get(word as usize) {
                Some(text) => format!("{text:?}"),
                None => word.to_string(),
            },
            Kind::Enum(index) => match self.enums[index].members.get(word as usize) {
                Some(member) => member.clone(),
                None => word.to_string(),
            },
            Kind::Record(index) => {
                let record = &self.records[index];
                let mut at = 0;
                let fields = record.fields.iter().map(|(_, kind)| {
                    let own = &words[at..at + self.words(*kind)];
                    at += own.len();
                    self.show(*kind, own)
                });
                let fields: Vec<String> = fields.collect();
                format!("{}({})", record.name, fields.join(", "))
            }
        }
    }
}
