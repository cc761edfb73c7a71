//! Sets of numbers, written as numbers and ranges.

use serde_json::json;

use super::Count;
use crate::declare::{Leaf, quoted};
use crate::tree::{Node, Raw};

/// Numbers from 0 on, each once: a list of numbers and of ranges such as `"0-3"`.
pub(crate) struct Numbers;

/// The most numbers of a list: a slip of the pen should not fill memory.
const MOST: usize = 1_000_000;

impl Numbers {
    /// The first and last number of a part of the list.
    fn range(node: &Node) -> Option<(u32, u32)> {
        match &node.raw {
            Raw::Text(text) => {
                let (first, last) = text.split_once('-')?;
                Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
            }
            _ => Count::parse(node).ok().map(|number| (number, number)),
        }
    }
}

impl Leaf for Numbers {
    type Value = Vec<u32>;

    fn expected() -> String {
        r#"a list of whole numbers and ranges such as [0, 1, "4-7"]"#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "array", "minItems": 1, "items": { "anyOf": [
            Count::schema(),
            { "type": "string", "pattern": "^[0-9]+-[0-9]+$" },
        ] } })
    }

    fn parse(node: &Node) -> Result<Vec<u32>, String> {
        let Raw::List(list) = &node.raw else {
            return Err(String::new());
        };
        let mut numbers: Vec<u32> = Vec::new();
        for node in list {
            let Some((first, last)) = Numbers::range(node) else {
                return Err(String::new());
            };
            if last < first {
                return Err(format!("{last} comes before {first}"));
            }
            if (last - first) as usize >= MOST - numbers.len().min(MOST) {
                return Err(format!("at most {MOST} numbers"));
            }
            numbers.extend(first..=last);
        }
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{} is in it twice", quoted(&pair[0].to_string())));
        }
        match numbers.is_empty() {
            true => Err(String::new()),
            false => Ok(numbers),
        }
    }

    fn format(value: &Vec<u32>) -> Raw {
        Raw::List(value.iter().map(|it| Node::plain((*it).into())).collect())
    }
}
