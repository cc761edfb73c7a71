//! Names out of a list, such as those of presets.

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::names;
use crate::tree::{Node, Raw};

/// A name that stands in a list.
pub(crate) trait Listed {
    /// Special treatment of such a name.
    const NATURE: Nature = Nature::Plain;

    /// The list.
    fn names() -> Vec<&'static str>;
}

impl<T: Listed> Leaf for T {
    type Value = String;

    fn expected() -> String {
        names::or(&T::names())
    }

    fn schema() -> serde_json::Value {
        json!({ "enum": T::names() })
    }

    fn parse(node: &Node) -> Result<String, String> {
        match &node.raw {
            Raw::Text(name) if T::names().contains(&name.as_str()) => Ok(name.clone()),
            Raw::Text(name) => Err(names::guess(name, &T::names())),
            _ => Err(String::new()),
        }
    }

    fn format(value: &String) -> Raw {
        Raw::Text(value.clone())
    }

    const NATURE: Nature = <T as Listed>::NATURE;
}
