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
}
