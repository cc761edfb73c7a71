//! A class in a Python file.

use std::fmt;
use std::path::PathBuf;

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::names;
use crate::tree::{Node, Raw};

/// A class in a Python file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonFile {
    /// The file, whose name ends in `.py`.
    pub file: PathBuf,
    /// The class's name.
    pub class: String,
}

impl fmt::Display for PythonFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file.display(), self.class)
    }
}

impl serde::Serialize for PythonFile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Leaf for PythonFile {
    type Value = PythonFile;

    /// The scenario's folder is put before the file.
    const NATURE: Nature = Nature::File;

    fn expected() -> String {
        r#"a Python file and a class in it such as "my_policy.py:MyPolicy""#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "pattern": r"\.py:[^\W\d]\w*$" })
    }

    fn parse(node: &Node) -> Result<PythonFile, String> {
        let Raw::Text(text) = &node.raw else {
            return Err(String::new());
        };
        match text.rsplit_once(':') {
            Some((file, class)) if file.ends_with(".py") && names::is_python_name(class) => {
                Ok(PythonFile {
                    file: PathBuf::from(file),
                    class: class.to_owned(),
                })
            }
            _ => Err(String::new()),
        }
    }

    fn format(value: &PythonFile) -> Raw {
        Raw::Text(value.to_string())
    }
}
