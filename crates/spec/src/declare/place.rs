//! Location of a check between fields.

use crate::error::Error;
use crate::tree::{Node, join};

/// The most sections of one name in a worksheet or a catalogue.
const MOST_TABLES: usize = 1000;

/// Location of a check.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub root: &'a Node,
    pub path: String,
}

impl Place<'_> {
    /// The same for a field of this table.
    pub(crate) fn field(&self, name: &str) -> Place<'_> {
        Place {
            root: self.root,
            path: join(&self.path, name),
        }
    }

    /// The same for an entry of a list of tables of this table.
    pub(crate) fn entry(&self, list: &str, number: usize) -> Place<'_> {
        Place {
            root: self.root,
            path: format!("{}.{number}", join(&self.path, list)),
        }
    }

    /// An error about the value of a field of this table.
    pub(crate) fn error(&self, field: &str, message: impl Into<String>) -> Error {
        let path = join(&self.path, field);
        match self.root.find(&path) {
            Some(node) => Error::value(node, &path, message),
            None => {
                let origin = self
                    .root
                    .find(&self.path)
                    .unwrap_or(self.root)
                    .origin
                    .clone();
                let mut error = Error::at(&origin, message);
                error.text = path;
                error
            }
        }
    }

    /// Refuses a list of more tables than a person writes.
    pub(crate) fn at_most(&self, section: &str, count: usize) -> Result<(), Error> {
        if count <= MOST_TABLES {
            return Ok(());
        }
        let message = format!("these are {count} sections: expected at most {MOST_TABLES}");
        Err(self.error(section, message))
    }

    /// Refuses a name that two entries of a list of tables have, and too long a list.
    pub(crate) fn names_once(&self, section: &str, names: &[&str]) -> Result<(), Error> {
        self.at_most(section, names.len())?;
        let again = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
        let Some(again) = again else {
            return Ok(());
        };
        let name = super::quoted(names[again]);
        let message = format!("another [[{section}]] is called {name} too: give each its own name");
        Err(self.entry(section, again).error("name", message))
    }
}
