//! Values and how often each is drawn.

use std::marker::PhantomData;

use serde_json::json;

use super::{Bytes, Positive};
use crate::declare::{Leaf, Nature, quoted};
use crate::tree::{Node, Raw, Table};

/// Values with weights of more than 0, at least one, in the order of the file. Each is drawn with a
/// probability of its weight over the sum of all.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Weighted<V>(pub Vec<(V, f64)>);

impl<V: Copy> Weighted<V> {
    /// The value at this part, from 0 to 1, of all weights in order.
    #[must_use]
    pub fn at(&self, part: f64) -> V {
        let total: f64 = self.0.iter().map(|(_, weight)| weight).sum();
        let mut left = part * total;
        for &(value, weight) in &self.0 {
            if left < weight {
                return value;
            }
            left -= weight;
        }
        self.0[self.0.len() - 1].0
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = V> {
        self.0.iter().map(|&(value, _)| value)
    }
}

impl Weighted<Bytes> {
    /// Bytes on average.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let total: f64 = self.0.iter().map(|(_, weight)| weight).sum();
        let sizes = self.0.iter();
        sizes
            .map(|(size, weight)| size.0 as f64 * weight / total)
            .sum()
    }
}

/// Reads a [`Weighted`] whose values are keys that `T` reads.
pub(crate) struct ByWeight<T>(PhantomData<T>);

/// A table of keys and weights as it is written.
pub(crate) fn table_of_weights<const N: usize>(entries: [(&str, f64); N]) -> Raw {
    let mut table = Table::default();
    for (key, weight) in entries {
        table.push(key, Node::plain(weight.into()));
    }
    table.into()
}

impl<T: Leaf> Leaf for ByWeight<T>
where
    T::Value: PartialEq,
{
    type Value = Weighted<T::Value>;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        format!(
            "a table of weights of more than 0, each for {}",
            T::expected()
        )
    }

    fn schema() -> serde_json::Value {
        let key = T::schema();
        let names = match key.get("anyOf").and_then(|any| any.get(0)) {
            Some(text) => text.clone(),
            None => key,
        };
        json!({
            "type": "object", "minProperties": 1,
            "propertyNames": names,
            "additionalProperties": Positive::schema(),
        })
    }

    fn parse(node: &Node) -> Result<Weighted<T::Value>, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        let mut all: Vec<(T::Value, f64)> = Vec::new();
        for entry in &table.entries {
            let key = quoted(&entry.key);
            let value = T::parse(&Node::plain(Raw::Text(entry.key.clone())))
                .map_err(|why| format!("{key} is none{}", because(&why)))?;
            let weight = Positive::parse(&entry.node)
                .map_err(|_| format!("the weight of {key} must be a number of more than 0"))?;
            if all.iter().any(|(other, _)| *other == value) {
                return Err(format!("{key} occurs twice"));
            }
            all.push((value, weight));
        }
        if all.is_empty() {
            return Err("it is empty".to_owned());
        }
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        if !total.is_finite() {
            return Err("the sum of the weights is too large".to_owned());
        }
        Ok(Weighted(all))
    }

    fn format(value: &Weighted<T::Value>) -> Raw {
        let mut table = Table::default();
        for (value, weight) in &value.0 {
            if let Raw::Text(key) = T::format(value) {
                table.push(key, Node::plain(Positive::format(weight)));
            }
        }
        table.into()
    }
}

fn because(why: &str) -> String {
    match why {
        "" => String::new(),
        why => format!(" ({why})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_its_part() {
        let weighted = Weighted(vec![("a", 1.0), ("b", 3.0)]);
        let got = [0.0, 0.24, 0.26, 0.99, 1.0].map(|part| weighted.at(part));
        assert_eq!(got, ["a", "a", "b", "b", "b"]);
    }
}
