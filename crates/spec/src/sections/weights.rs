//! Weights of groups.

use indexmap::IndexMap;
use serde_json::json;

use crate::declare::{Leaf, Nature, quoted};
use crate::tree::{Node, Raw, Table};
use crate::values::Positive;

/// The weights of groups by name; a group that is not named has weight 1.
/// In the order of the file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Weights(pub IndexMap<String, f64>);

impl Weights {
    /// The weight of a group.
    #[must_use]
    pub fn of(&self, group: &str) -> f64 {
        self.0.get(group).copied().unwrap_or(1.0)
    }
}

impl Leaf for Weights {
    type Value = Weights;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        "a table of groups and positive numbers such as { G1 = 1, G2 = 4 }".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "object", "additionalProperties": Positive::schema() })
    }

    fn parse(node: &Node) -> Result<Weights, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        let weights = table.entries.iter().map(|entry| {
            let weight = Positive::parse(&entry.node).map_err(|_| {
                format!(
                    "the weight of {} must be a number of more than 0",
                    quoted(&entry.key)
                )
            });
            weight.map(|weight| (entry.key.clone(), weight))
        });
        weights.collect::<Result<_, _>>().map(Weights)
    }

    fn format(value: &Weights) -> Raw {
        let mut table = Table::default();
        for (group, weight) in &value.0 {
            table.push(group, Node::plain(Positive::format(weight)));
        }
        table.into()
    }
}
