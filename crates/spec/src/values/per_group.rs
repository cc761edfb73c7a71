//! Values of groups, by name.

use std::marker::PhantomData;

use indexmap::IndexMap;
use serde_json::json;

use crate::declare::{Leaf, Nature, quoted};
use crate::tree::{Node, Raw, Table};

/// A value for each group that is named. In the order of the file.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct PerGroup<V>(pub IndexMap<String, V>);

impl<V> Default for PerGroup<V> {
    fn default() -> PerGroup<V> {
        PerGroup(IndexMap::new())
    }
}

impl<V: Copy> PerGroup<V> {
    /// The value of a group; none if it is not named.
    #[must_use]
    pub fn of(&self, group: &str) -> Option<V> {
        self.0.get(group).copied()
    }
}

/// Reads a [`PerGroup`] with values as `T` reads them.
pub(crate) struct ByGroup<T>(PhantomData<T>);

impl<T: Leaf> Leaf for ByGroup<T> {
    type Value = PerGroup<T::Value>;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        format!("a table of groups, each with {}", T::expected())
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }

    fn parse(node: &Node) -> Result<PerGroup<T::Value>, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        let values = table.entries.iter().map(|entry| {
            let value = T::parse(&entry.node).map_err(|why| {
                let why = if why.is_empty() {
                    why
                } else {
                    format!(" ({why})")
                };
                let given = &entry.node.raw;
                format!("that of {} is {given}{why}", quoted(&entry.key))
            });
            value.map(|value| (entry.key.clone(), value))
        });
        values.collect::<Result<_, _>>().map(PerGroup)
    }

    fn format(value: &PerGroup<T::Value>) -> Raw {
        let mut table = Table::default();
        for (group, value) in &value.0 {
            table.push(group, Node::plain(T::format(value)));
        }
        table.into()
    }
}
