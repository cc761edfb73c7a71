//! Kinds of documents other than scenarios: loading, canonical text, schema, form and reference.

use std::path::Path;

use crate::catalogue::Catalogue;
use crate::declare::{Codec, Place, Section};
use crate::error::Error;
use crate::explain::{self, Row};
use crate::form;
use crate::load::{error_at, in_file, read_file, resolve_files, supply_name, user_layer};
use crate::reference::{self, Page};
use crate::removed;
use crate::schema;
use crate::structure;
use crate::tree::Node;
use crate::values::Name;
use crate::worksheet::Worksheet;
use crate::write::{self, Note};

/// A document whose fields are declared by `section!`.
pub(crate) trait Document: Codec<Value = Self> + serde::Serialize + Sized {
    /// Name of such a document in messages.
    const NOUN: &'static str;

    /// An example of `--set`.
    const SETTING: &'static str;

    /// Beginning of its reference page, in Markdown.
    const INTRODUCTION: &'static str;

    /// Returns its declaration.
    fn declared() -> &'static Section;

    /// Checks its fields against each other.
    fn check_fields(&self, at: &Place<'_>) -> Result<(), Error>;
}

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// Requirements of a storage system.
    Worksheet,
    /// Parts of storage systems and their prices.
    Catalogue,
}

/// A document that has been loaded, and where each of its values came from.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    /// Its values as JSON, in SI units.
    pub json: String,
    /// Its values as TOML, every default written out. It loads to an equal document.
    pub toml: String,
    /// One row per field, with its origin.
    pub rows: Vec<Row>,
    tree: Node,
}

impl LoadedDocument {
    /// The error about the value of the field at `path`, found after loading.
    #[must_use]
    pub fn error(&self, path: &str, message: impl Into<String>) -> Error {
        error_at(&self.tree, path, message)
    }
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [DocumentKind; 2] = [DocumentKind::Worksheet, DocumentKind::Catalogue];

    /// Name in messages and in file names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DocumentKind::Worksheet => Worksheet::NOUN,
            DocumentKind::Catalogue => Catalogue::NOUN,
        }
    }

    /// Returns the kind of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<DocumentKind> {
        DocumentKind::ALL.into_iter().find(|it| it.name() == name)
    }

    fn declared(self) -> &'static Section {
        match self {
            DocumentKind::Worksheet => Worksheet::declared(),
            DocumentKind::Catalogue => Catalogue::declared(),
        }
    }

    /// Loads the text of `file`, with values from the command line (`path=value`) over it. Files
    /// that it names are taken relative to the folder of `file`.
    ///
    /// # Errors
    /// The first thing that is wrong, where it stands and what to write instead.
    pub fn load(self, text: &str, file: &Path, sets: &[String]) -> Result<LoadedDocument, Error> {
        match self {
            DocumentKind::Worksheet => loaded::<Worksheet>(text, file, sets),
            DocumentKind::Catalogue => loaded::<Catalogue>(text, file, sets),
        }
    }

    /// Loads a file; see [`DocumentKind::load`].
    ///
    /// # Errors
    /// The file cannot be read, or what [`DocumentKind::load`] finds.
    pub fn load_file(self, file: &Path, sets: &[String]) -> Result<LoadedDocument, Error> {
        self.load(&read_file(file, self.name())?, file, sets)
    }

    /// Returns the JSON Schema (2020-12) of such a file, for editors.
    #[must_use]
    pub fn schema(self) -> serde_json::Value {
        schema::of_document(self.declared(), &format!("Headrace {}", self.name()))
    }

    /// Returns a form to fill in: every field with its question, unit and default as comments. It
    /// loads as it is.
    #[must_use]
    pub fn form(self) -> String {
        form::form(self.declared(), self.name())
    }

    /// Returns the reference page: every field with its type, default and source.
    #[must_use]
    pub fn reference(self) -> Page {
        let introduction = match self {
            DocumentKind::Worksheet => Worksheet::INTRODUCTION,
            DocumentKind::Catalogue => Catalogue::INTRODUCTION,
        };
        reference::of_document(self.declared(), self.name(), introduction)
    }
}

/// Reads a worksheet as its type.
///
/// # Errors
/// As [`DocumentKind::load`].
pub fn read_worksheet(text: &str, file: &Path, sets: &[String]) -> Result<Worksheet, Error> {
    read(text, file, sets).map(|(worksheet, _)| worksheet)
}

/// Reads a catalogue as its type.
///
/// # Errors
/// As [`DocumentKind::load`].
pub fn read_catalogue(text: &str, file: &Path, sets: &[String]) -> Result<Catalogue, Error> {
    read(text, file, sets).map(|(catalogue, _)| catalogue)
}

fn read<T: Document>(text: &str, file: &Path, sets: &[String]) -> Result<(T, Node), Error> {
    let mut tree = user_layer(text, file, sets, T::declared(), T::SETTING)?;
    supply_name(&mut tree, name_of(file, T::NOUN));
    removed::take_out(&mut tree, T::declared())?;
    structure::check(&tree, T::declared(), "")?;
    resolve_files(
        &mut tree,
        T::declared(),
        "",
        file.parent().unwrap_or(Path::new("")),
    )?;
    let value = T::read(&tree, "").map_err(|error| in_file(error, &tree))?;
    let at = Place {
        root: &tree,
        path: String::new(),
    };
    value
        .check_fields(&at)
        .map_err(|error| in_file(error, &tree))?;
    Ok((value, tree))
}

/// The name of a file without its ending, as far as it is fit for a name.
fn name_of(file: &Path, noun: &str) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy());
    let stem = stem.unwrap_or_default().replace(char::is_control, " ");
    let short: String = stem.trim().chars().take(Name::LONGEST).collect();
    match short.trim() {
        "" => noun.to_owned(),
        name => name.to_owned(),
    }
}

fn loaded<T: Document>(text: &str, file: &Path, sets: &[String]) -> Result<LoadedDocument, Error> {
    let (value, tree) = read::<T>(text, file, sets)?;
    let printed = T::print(&value);
    let toml = write::document(printed.as_ref(), T::declared(), &|_, _| Note::default());
    let rows = explain::rows(printed.as_ref(), T::declared(), &tree);
    // The types hold nothing that JSON cannot say: numbers are finite, keys are text.
    let json = serde_json::to_string(&value).map_err(|error| Error::nowhere(error.to_string()))?;
    Ok(LoadedDocument {
        json,
        toml,
        rows,
        tree,
    })
}
