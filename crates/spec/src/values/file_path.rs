//! A file, named relative to the scenario file's folder.

use std::path::PathBuf;

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};

/// A file's path. The scenario's folder is put before it when the scenario is
/// loaded (`crate::load`), so that here it is final.
pub(crate) struct FilePath;

impl Leaf for FilePath {
    type Value = PathBuf;

    const NATURE: Nature = Nature::File;

    fn expected() -> String {
        "a file's path in quotes".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn parse(node: &Node) -> Result<PathBuf, String> {
        match &node.raw {
            Raw::Text(text) if !text.is_empty() => Ok(PathBuf::from(text)),
            _ => Err(String::new()),
        }
    }

    fn format(value: &PathBuf) -> Raw {
        Raw::Text(value.to_string_lossy().into_owned())
    }
}
