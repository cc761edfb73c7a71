//! Text.

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};

impl Leaf for String {
    type Value = String;

    const NATURE: Nature = Nature::Text;

    fn expected() -> String {
        "text in quotes".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string" })
    }

    fn parse(node: &Node) -> Result<String, String> {
        match &node.raw {
            Raw::Text(text) => Ok(text.clone()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &String) -> Raw {
        Raw::Text(value.clone())
    }
}
