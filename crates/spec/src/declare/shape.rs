//! Structure of a scenario as data, the source of the schema, the reference, the paths of `--set`,
//! and messages about wrong names.

use crate::names;
use crate::quantities::Quantity;
use crate::tree::{Node, Raw, Table};

/// Special treatment of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Not at all.
    Plain,
    /// It is text of any kind.
    Text,
    /// It may be a table whose keys the user chooses.
    Keys,
    /// It names a device of the catalogue, which gives what the section does not.
    Model,
    /// It names a link of the catalogue, which gives what the section does not.
    Link,
    /// It names a preset, whose machine gives what the section does not.
    MachinePreset,
    /// It names a preset of a workload, which gives what the section does not.
    WorkloadPreset,
    /// It names a file relative to the scenario's folder.
    File,
    /// It is an amount, of which `whatif` can try more or less.
    Quantity(Quantity),
}

/// Shape of a field's values.
pub(crate) enum Shape {
    Leaf {
        expected: String,
        schema: serde_json::Value,
        nature: Nature,
    },
    Section(Section),
    /// A table that is one of several kinds.
    Kinds(Kinds),
    /// An array of tables.
    Tables(Section),
}

/// A table with declared fields.
pub(crate) struct Section {
    /// The type's name: equal sections have equal names.
    pub name: &'static str,
    pub doc: String,
    pub fields: Vec<Field>,
    /// Fields of earlier versions.
    pub removed: Vec<Removed>,
    /// True if a list of such tables may stand in its place.
    pub several: bool,
}

/// A field of earlier versions.
pub(crate) struct Removed {
    pub name: &'static str,
    /// The replacement to write.
    pub instead: &'static str,
    /// Returns true if a value, in its table, had no effect.
    pub is_neutral: fn(&Node, &Table) -> bool,
}

/// Kinds of a table, and the fields of each.
pub(crate) struct Kinds {
    /// The type's name.
    pub name: &'static str,
    /// The field `kind` itself.
    pub kind: Box<Field>,
    pub default: &'static str,
    pub kinds: Vec<(&'static str, Section)>,
}

/// One declared field.
pub(crate) struct Field {
    pub name: &'static str,
    pub doc: String,
    pub aka: &'static [&'static str],
    pub presence: Presence,
    pub shape: Shape,
}

/// Meaning of an absent field.
pub(crate) enum Presence {
    Required {
        example: Raw,
    },
    Default {
        value: Raw,
        source: &'static str,
    },
    Optional {
        without: &'static str,
        /// An answer for forms.
        example: Option<Raw>,
    },
    Same {
        field: &'static str,
    },
    Supplied {
        from: &'static str,
    },
    /// The table at that path says what this one does not.
    Over {
        path: &'static str,
    },
    Section,
    Kinds,
}

impl Field {
    pub(crate) fn new(
        name: &'static str,
        doc: &str,
        aka: &'static [&'static str],
        presence: Presence,
        shape: Shape,
    ) -> Field {
        let shape = match (shape, &presence) {
            // A section that is nothing but one of several kinds.
            (Shape::Kinds(kinds), Presence::Section | Presence::Over { .. }) => {
                let doc = prose(doc);
                let name = kinds.name;
                let kinds = Field::new("kind", "", &[], Presence::Kinds, Shape::Kinds(kinds));
                Shape::Section(Section {
                    name,
                    doc,
                    fields: vec![kinds],
                    removed: Vec::new(),
                    several: false,
                })
            }
            // The section says what its kinds are about.
            (Shape::Kinds(mut kinds), _) if !doc.is_empty() => {
                kinds.kind.doc = prose(doc);
                Shape::Kinds(kinds)
            }
            (shape, _) => shape,
        };
        Field {
            name,
            doc: prose(doc),
            aka,
            presence,
            shape,
        }
    }
}

/// A doc comment as one paragraph.
pub(crate) fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Section {
    /// The kinds whose fields stand in this same table.
    pub(crate) fn kinds(&self) -> Option<&Kinds> {
        self.fields
            .iter()
            .find_map(|field| match (&field.presence, &field.shape) {
                (Presence::Kinds, Shape::Kinds(kinds)) => Some(kinds),
                _ => None,
            })
    }

    /// Returns true if it is one of several kinds and nothing else: the name of the kind then
    /// suffices, if that has no required fields.
    pub(crate) fn is_only_kinds(&self) -> bool {
        self.fields.len() == 1 && self.kinds().is_some()
    }

    /// The fields that a table of this section can have: its own, and those of
    /// its kinds, or of one of them.
    pub(crate) fn fields<'a>(&'a self, kind: Option<&str>) -> Vec<&'a Field> {
        let mut fields: Vec<&Field> = Vec::new();
        for field in &self.fields {
            match &field.shape {
                Shape::Kinds(kinds) => {
                    fields.push(kinds.kind.as_ref());
                    let chosen = kinds
                        .kinds
                        .iter()
                        .filter(|(name, _)| kind.is_none_or(|kind| kind == *name));
                    fields.extend(chosen.flat_map(|(_, section)| &section.fields));
                }
                _ => fields.push(field),
            }
        }
        fields
    }

    /// Returns a field of earlier versions, in a table of any kind, or of one.
    pub(crate) fn removed_field(&self, kind: Option<&str>, field: &str) -> Option<&Removed> {
        self.removed_fields(kind)
            .find(|removed| removed.name == field)
    }

    /// Returns all fields of earlier versions, in a table of any kind, or of one.
    pub(crate) fn removed_fields(&self, kind: Option<&str>) -> impl Iterator<Item = &Removed> {
        let kinds = self.kinds().into_iter().flat_map(|kinds| &kinds.kinds);
        let chosen = kinds.filter(move |(name, _)| kind.is_none_or(|kind| kind == *name));
        let sections = std::iter::once(self).chain(chosen.map(|(_, section)| section));
        sections.flat_map(|section| &section.removed)
    }

    /// The kind that a table of this section is of: as given, or the default.
    pub(crate) fn kind_of(&self, table: &Table) -> Option<String> {
        let kinds = self.kinds()?;
        let given = self.given_kind(table);
        Some(given.unwrap_or_else(|| kinds.default.to_owned()))
    }

    /// The kind that a table says it is of: by its field `kind`, or because it has
    /// what [`Kinds::told_by`] says.
    pub(crate) fn given_kind(&self, table: &Table) -> Option<String> {
        match table.get("kind").map(|node| &node.raw) {
            Some(Raw::Text(kind)) => Some(kind.clone()),
            Some(_) => None,
            None => self.kinds()?.told_by(table).map(str::to_owned),
        }
    }
}

impl Kinds {
    pub(crate) fn new(
        name: &'static str,
        doc: &str,
        default: &'static str,
        source: &'static str,
        kinds: Vec<(&'static str, Section)>,
    ) -> Kinds {
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        let shape = Shape::Leaf {
            expected: names::or(&names),
            schema: serde_json::json!({ "enum": names }),
            nature: Nature::Plain,
        };
        let presence = Presence::Default {
            value: default.into(),
            source,
        };
        Kinds {
            name,
            kind: Box::new(Field::new("kind", doc, &[], presence, shape)),
            default,
            kinds,
        }
    }

    /// The kind that a table is of because it has a section of the kind's name, as
    /// `[servers.machine]` makes `[servers]` one of kind "machine".
    pub(crate) fn told_by(&self, table: &Table) -> Option<&'static str> {
        let names = self.kinds.iter().filter(|(name, section)| {
            let mut own = section.fields.iter();
            own.any(|field| field.name == *name) && table.get(name).is_some()
        });
        names.map(|(name, _)| *name).next()
    }
}
