//! A rate that a storage system can have.

use super::Rate;
use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};

/// A rate from 1 B/s to 1 PB/s: any other is a slip.
pub(crate) struct PlausibleRate;

/// Bytes a second.
const MOST: f64 = 1e15;

impl Leaf for PlausibleRate {
    type Value = Rate;

    const NATURE: Nature = <Rate as Leaf>::NATURE;

    fn expected() -> String {
        Rate::expected()
    }

    fn schema() -> serde_json::Value {
        Rate::schema()
    }

    fn parse(node: &Node) -> Result<Rate, String> {
        let rate = Rate::parse(node)?;
        if rate.0 < 1.0 {
            return Err("it is less than 1 B/s".to_owned());
        }
        if rate.0 > MOST {
            return Err("it is more than 1000 TB/s".to_owned());
        }
        Ok(rate)
    }

    fn format(value: &Rate) -> Raw {
        Rate::format(value)
    }
}
