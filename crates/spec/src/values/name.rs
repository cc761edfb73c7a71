//! The name of something in a document, by which other fields refer to it.

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};

/// A name that fits into a table and into a drawing.
pub(crate) struct Name;

impl Name {
    /// Letters of the longest name.
    pub(crate) const LONGEST: usize = 80;
}

impl Leaf for Name {
    type Value = String;

    const NATURE: Nature = Nature::Text;

    fn expected() -> String {
        "a name in quotes".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "minLength": 1, "maxLength": Name::LONGEST })
    }

    fn parse(node: &Node) -> Result<String, String> {
        let Raw::Text(text) = &node.raw else {
            return Err(String::new());
        };
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        if text.trim() != text {
            return Err("it begins or ends with a space".to_owned());
        }
        if text.chars().any(char::is_control) {
            return Err("it has control characters".to_owned());
        }
        if text.chars().count() > Name::LONGEST {
            return Err(format!("it has more than {} letters", Name::LONGEST));
        }
        Ok(text.clone())
    }

    fn format(value: &String) -> Raw {
        Raw::Text(value.clone())
    }
}
