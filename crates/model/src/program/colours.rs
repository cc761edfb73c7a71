//! Colours of a document.

use super::compiler::{Compiler, fault};
use crate::colour::{Enumeration, Kind, MOST_WORDS, Record};
use crate::document::{ColourText, Document, Text};
use crate::error::did_you_mean;
use crate::expression::{Call, Code, External, Typed};

impl Compiler {
    pub(super) fn colours(&mut self, document: &Document) {
        // Names first, because records can contain colours that come later.
        for (name, path, colour) in &document.colours {
            self.check_name(path, name);
            if self.program.colours.names.contains_key(name) {
                fault(
                    &mut self.faults,
                    path,
                    format!("{name} is a built-in colour"),
                );
                continue;
            }
            let colours = &mut self.program.colours;
            let kind = match colour {
                ColourText::Enum(_) => {
                    colours.enums.push(Enumeration {
                        name: name.clone(),
                        members: Vec::new(),
                    });
                    Kind::Enum(colours.enums.len() - 1)
                }
                ColourText::Record(_) => {
                    colours.records.push(Record {
                        name: name.clone(),
                        fields: Vec::new(),
                    });
                    Kind::Record(colours.records.len() - 1)
                }
            };
            colours.names.insert(name.clone(), kind);
        }
        for (name, path, colour) in &document.colours {
            match (colour, self.program.colours.names.get(name).copied()) {
                (ColourText::Enum(members), Some(Kind::Enum(index))) => {
                    for member in members {
                        self.check_name(&member.path, &member.text);
                    }
                    let members: Vec<String> = members.iter().map(|it| it.text.clone()).collect();
                    let mut sorted = members.clone();
                    sorted.sort_unstable();
                    sorted.dedup();
                    if sorted.len() != members.len() || members.is_empty() {
                        let message = "expected one or more different members";
                        fault(&mut self.faults, path, message);
                    }
                    self.program.colours.enums[index].members = members;
                }
                (ColourText::Record(fields), Some(Kind::Record(index))) => {
                    for (field, text) in fields {
                        self.check_name(&text.path, field);
                        let kind = self.colour(text);
                        let fields = &mut self.program.colours.records[index].fields;
                        fields.push((field.clone(), kind));
                    }
                }
                _ => {}
            }
        }
        self.check_records(document);
    }

    /// No record may contain itself or be too wide.
    fn check_records(&mut self, document: &Document) {
        let records = &self.program.colours.records;
        fn size(records: &[Record], index: usize, depth: usize) -> usize {
            if depth > records.len() {
                return usize::MAX;
            }
            let mut sum = 0_usize;
            for (_, kind) in &records[index].fields {
                sum = sum.saturating_add(match kind {
                    Kind::Record(inner) => size(records, *inner, depth + 1),
                    Kind::Unit => 0,
                    _ => 1,
                });
                // Enough for a message, and records of records of records would take long.
                if sum > 1000 {
                    break;
                }
            }
            sum
        }
        let mut wrong = Vec::new();
        for (index, record) in records.iter().enumerate() {
            match size(records, index, 0) {
                usize::MAX => wrong.push((&record.name, "contains itself".to_owned())),
                words if words > MOST_WORDS => wrong.push((
                    &record.name,
                    format!("has {words} numbers: expected at most {MOST_WORDS} in a token"),
                )),
                _ => {}
            }
        }
        for (name, message) in wrong {
            let of = document.colours.iter().find(|(other, _, _)| other == name);
            let path = of.map(|(_, path, _)| path.clone()).unwrap_or_default();
            fault(&mut self.faults, &path, format!("{name} {message}"));
        }
    }

    pub(super) fn colour(&mut self, text: &Text) -> Kind {
        let names = &self.program.colours.names;
        if let Some(kind) = names.get(text.text.trim()) {
            return *kind;
        }
        let near = did_you_mean(&text.text, names.keys().map(String::as_str));
        let known: Vec<&str> = names.keys().map(String::as_str).collect();
        let message = match near.is_empty() {
            true => format!(
                "no colour is called {:?}: expected one of {}",
                text.text,
                known.join(", ")
            ),
            false => format!("no colour is called {:?}{near}", text.text),
        };
        fault(&mut self.faults, &text.path, message);
        Kind::Unit
    }

    /// Functions from outside are found among the constants, as calls without arguments.
    pub(super) fn externals(&mut self, externals: &[External]) {
        for external in externals {
            let path = Vec::new();
            let text = external.colour.clone();
            let kind = self.colour(&Text { text, path });
            let words = (0..self.program.colours.words(kind)).map(|word| {
                Code::External(Box::new(Call {
                    external: external.clone(),
                    kinds: Vec::new(),
                    arguments: Vec::new(),
                    word,
                }))
            });
            let words = words.collect();
            let typed = Typed { kind, words };
            self.constants.insert(external.name.clone(), typed);
        }
    }
}
