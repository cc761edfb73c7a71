//! Location of a check between fields.

use crate::error::Error;
use crate::tree::{Node, join};

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

    /// Refuses a name that two entries of a list of tables have.
    pub(crate) fn names_once(&self, section: &str, names: &[&str]) -> Result<(), Error> {
        let again = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
        let Some(again) = again else {
            return Ok(());
        };
        let name = super::quoted(names[again]);
        let message = format!("another [[{section}]] is called {name} too: give each its own name");
        let list = self.field(section);
        Err(list.field(&again.to_string()).error("name", message))
    }
}
