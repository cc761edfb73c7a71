//! A priority of I/O within the best-effort class: 0 to 7.

use serde_json::json;

use crate::declare::Leaf;
use crate::tree::{Node, Raw};

pub(super) struct Priority;

impl Leaf for Priority {
    type Value = u32;

    fn expected() -> String {
        "a whole number from 0 to 7".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 0, "maximum": 7 })
    }

    fn parse(node: &Node) -> Result<u32, String> {
        match &node.raw {
            Raw::Integer(number @ 0..=7) => u32::try_from(*number).map_err(|_| String::new()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &u32) -> Raw {
        Raw::from(*value)
    }
}
