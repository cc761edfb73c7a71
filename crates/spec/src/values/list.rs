//! Lists.

use serde_json::json;

use crate::declare::Leaf;
use crate::tree::{Node, Raw};

/// A list of at least one `T`.
pub(crate) struct NonEmpty<T>(std::marker::PhantomData<T>);

impl<T: Leaf> Leaf for NonEmpty<T> {
    type Value = Vec<T::Value>;

    fn expected() -> String {
        format!("a list of at least one, each {}", T::expected())
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "array", "minItems": 1, "items": T::schema() })
    }

    fn parse(node: &Node) -> Result<Vec<T::Value>, String> {
        match &node.raw {
            Raw::List(list) if !list.is_empty() => list.iter().map(T::parse).collect(),
            _ => Err(String::new()),
        }
    }

    fn format(value: &Vec<T::Value>) -> Raw {
        Raw::List(
            value
                .iter()
                .map(|item| Node::plain(T::format(item)))
                .collect(),
        )
    }
}

/// A list of any number of `T`, none among them.
pub(crate) struct AnyNumber<T>(std::marker::PhantomData<T>);

impl<T: Leaf> Leaf for AnyNumber<T> {
    type Value = Vec<T::Value>;

    fn expected() -> String {
        format!("a list, each {}", T::expected())
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "array", "items": T::schema() })
    }

    fn parse(node: &Node) -> Result<Vec<T::Value>, String> {
        match &node.raw {
            Raw::List(list) if list.is_empty() => Ok(Vec::new()),
            _ => NonEmpty::<T>::parse(node),
        }
    }

    fn format(value: &Vec<T::Value>) -> Raw {
        NonEmpty::<T>::format(value)
    }
}
