//! The groups of clients.

use std::collections::HashSet;

use serde_json::json;

use crate::declare::{Leaf, Nature, quoted};
use crate::tree::{Node, Raw, Table};
use crate::values::Positive;

/// Groups of clients in the order of the clients; never empty, names distinct.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Groups(pub Vec<Group>);

/// One group of clients.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// Its part of the clients, relative to the other groups' shares.
    pub share: f64,
}

impl Groups {
    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|group| group.name.as_str())
    }
}

impl Leaf for Groups {
    type Value = Groups;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        r#"a list of names such as ["G1", "G2"] or shares such as { G1 = 1, G2 = 3 }"#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [
            {
                "type": "array", "minItems": 1, "uniqueItems": true,
                "items": { "type": "string", "minLength": 1 },
            },
            {
                "type": "object", "minProperties": 1,
                "propertyNames": { "minLength": 1 },
                "additionalProperties": Positive::schema(),
            },
        ] })
    }

    fn parse(node: &Node) -> Result<Groups, String> {
        let mut groups: Vec<Group> = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        let mut add = |name: &str, share: f64| {
            if name.is_empty() {
                return Err("a group needs a name".to_owned());
            }
            if !names.insert(name.to_owned()) {
                return Err(format!("group {} is named twice", quoted(name)));
            }
            groups.push(Group {
                name: name.to_owned(),
                share,
            });
            Ok(())
        };
        match &node.raw {
            Raw::List(list) => {
                for node in list {
                    let Raw::Text(name) = &node.raw else {
                        return Err(String::new());
                    };
                    add(name, 1.0)?;
                }
            }
            Raw::Table(table) => {
                for entry in &table.entries {
                    let share = Positive::parse(&entry.node).map_err(|_| {
                        format!(
                            "the share of {} must be a number of more than 0",
                            quoted(&entry.key)
                        )
                    })?;
                    add(&entry.key, share)?;
                }
            }
            _ => return Err(String::new()),
        }
        let total: f64 = groups.iter().map(|group| group.share).sum();
        if groups.is_empty() || !total.is_finite() {
            return Err(String::new());
        }
        Ok(Groups(groups))
    }

    #[expect(
        clippy::float_cmp,
        reason = "a share of exactly 1 is what a list of names means"
    )]
    fn format(value: &Groups) -> Raw {
        if value.0.iter().all(|group| group.share == 1.0) {
            let names = value.names().map(|name| Node::plain(name.into()));
            return Raw::List(names.collect());
        }
        let mut table = Table::default();
        for group in &value.0 {
            table.push(&group.name, Node::plain(Positive::format(&group.share)));
        }
        table.into()
    }
}
