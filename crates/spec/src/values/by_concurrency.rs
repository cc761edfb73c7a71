//! Rates by the number of requests in progress.

use std::collections::BTreeMap;

use serde_json::json;

use super::{PlausibleRate, Rate};
use crate::declare::{Leaf, Nature, quoted};
use crate::tree::{Node, Raw, Table};

/// Total rates by concurrency; there is one for 1.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct RatesByConcurrency(pub BTreeMap<u32, Rate>);

/// The largest concurrency: models keep a rate for each.
const MOST: u32 = 65_536;

impl RatesByConcurrency {
    /// Bytes per second with 1, 2, … requests in progress, up to the largest number given.
    #[must_use]
    pub fn each(&self) -> Vec<f64> {
        let mut rates = Vec::new();
        let mut before = None;
        for (&at, rate) in &self.0 {
            let (from, first) = before.unwrap_or((0, rate.0));
            for number in from + 1..=at {
                let part = f64::from(number - from) / f64::from(at - from);
                rates.push(first + (rate.0 - first) * part);
            }
            before = Some((at, rate.0));
        }
        rates
    }

    /// The lowest rate.
    #[must_use]
    pub fn slowest(&self) -> Rate {
        let rates = self.0.values().map(|rate| rate.0);
        Rate(rates.fold(f64::INFINITY, f64::min))
    }
}

/// Reads [`RatesByConcurrency`].
pub(crate) struct ByConcurrency;

/// Such a table as it is written.
pub(crate) fn table_of_rates<const N: usize>(entries: [(u32, &str); N]) -> Raw {
    let mut table = Table::default();
    for (number, rate) in entries {
        table.push(number.to_string(), Node::plain(rate.into()));
    }
    table.into()
}

impl Leaf for ByConcurrency {
    type Value = RatesByConcurrency;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        "a table of rates by the number of requests in progress, one of them for 1, such as \
         { 1 = \"100 MB/s\", 8 = \"500 MB/s\" }"
            .to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({
            "type": "object", "required": ["1"],
            "propertyNames": { "pattern": "^[1-9][0-9]{0,4}$" },
            "additionalProperties": PlausibleRate::schema(),
        })
    }

    fn parse(node: &Node) -> Result<RatesByConcurrency, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        let mut rates = BTreeMap::new();
        for entry in &table.entries {
            let key = quoted(&entry.key);
            let number: Option<u32> = entry.key.parse().ok();
            let number = number.filter(|number| (1..=MOST).contains(number));
            let Some(number) = number else {
                return Err(format!("{key} is no whole number from 1 to {MOST}"));
            };
            let rate = PlausibleRate::parse(&entry.node).map_err(|why| {
                let why = if why.is_empty() {
                    String::new()
                } else {
                    format!(" ({why})")
                };
                format!(
                    "the rate of {key} must be {}{why}",
                    PlausibleRate::expected()
                )
            })?;
            if rates.insert(number, rate).is_some() {
                return Err(format!("{key} occurs twice"));
            }
        }
        match rates.contains_key(&1) {
            true => Ok(RatesByConcurrency(rates)),
            false => Err("the rate of a single request is missing".to_owned()),
        }
    }

    fn format(value: &RatesByConcurrency) -> Raw {
        let mut table = Table::default();
        for (number, rate) in &value.0 {
            table.push(number.to_string(), Node::plain(PlausibleRate::format(rate)));
        }
        table.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_two_numbers_are_interpolated() {
        let rates = [(1, 100.0), (3, 300.0), (4, 250.0)];
        let rates = RatesByConcurrency(rates.map(|(at, rate)| (at, Rate(rate))).into());
        assert_eq!(rates.each(), [100.0, 200.0, 300.0, 250.0]);
        assert_eq!(rates.slowest(), Rate(100.0));
    }
}
