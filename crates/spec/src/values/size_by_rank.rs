//! Sizes that depend on the rank of a process.

use serde::Serialize;
use serde_json::json;

use super::Bytes;
use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw, Table};

/// A number of bytes of each process of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeByRank {
    /// The same for every process.
    Same(Bytes),
    /// A list that repeats over the ranks.
    Cycled(Vec<Bytes>),
    /// Rank n has `first` plus n times `step`.
    Stepped {
        /// Bytes of rank 0.
        first: Bytes,
        /// Bytes more for each rank.
        step: Bytes,
    },
}

impl SizeByRank {
    /// Bytes of a process.
    #[must_use]
    pub fn of(&self, rank: u64) -> Bytes {
        match self {
            SizeByRank::Same(size) => *size,
            #[expect(
                clippy::cast_possible_truncation,
                reason = "less than the list's length"
            )]
            SizeByRank::Cycled(sizes) => sizes[(rank % sizes.len() as u64) as usize],
            SizeByRank::Stepped { first, step } => {
                Bytes(first.0.saturating_add(step.0.saturating_mul(rank)))
            }
        }
    }

    /// The size, if all processes have the same.
    #[must_use]
    pub fn same(&self) -> Option<Bytes> {
        match self {
            SizeByRank::Same(size) => Some(*size),
            SizeByRank::Cycled(_) | SizeByRank::Stepped { .. } => None,
        }
    }

    /// Sizes of which every other is a sum.
    pub(crate) fn every(&self) -> Vec<Bytes> {
        match self {
            SizeByRank::Same(size) => vec![*size],
            SizeByRank::Cycled(sizes) => sizes.clone(),
            SizeByRank::Stepped { first, step } => vec![*first, *step],
        }
    }

    /// The largest size of this many processes.
    #[must_use]
    pub fn largest(&self, processes: u64) -> Bytes {
        match self {
            SizeByRank::Same(size) => *size,
            SizeByRank::Cycled(sizes) => {
                let used = sizes.iter().zip(0..processes.max(1));
                used.map(|(size, _)| *size).max().unwrap_or_default()
            }
            SizeByRank::Stepped { .. } => self.of(processes.saturating_sub(1)),
        }
    }

    /// Bytes of this many processes together.
    #[must_use]
    pub fn sum(&self, processes: u64) -> u64 {
        match self {
            SizeByRank::Same(size) => size.0.saturating_mul(processes),
            SizeByRank::Cycled(sizes) => {
                let (rounds, rest) = (
                    processes / sizes.len() as u64,
                    processes % sizes.len() as u64,
                );
                let add = |sum: u64, size: &Bytes| sum.saturating_add(size.0);
                let round = sizes.iter().fold(0, add);
                let last = sizes.iter().zip(0..rest).map(|(size, _)| size).fold(0, add);
                round.saturating_mul(rounds).saturating_add(last)
            }
            SizeByRank::Stepped { first, step } => {
                let pairs = u128::from(processes) * u128::from(processes.saturating_sub(1)) / 2;
                let sum = u128::from(first.0) * u128::from(processes) + u128::from(step.0) * pairs;
                u64::try_from(sum).unwrap_or(u64::MAX)
            }
        }
    }
}

impl From<Bytes> for SizeByRank {
    fn from(size: Bytes) -> SizeByRank {
        SizeByRank::Same(size)
    }
}

impl Serialize for SizeByRank {
    /// A number of bytes, a list of them, or `first` and `step`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SizeByRank::Same(size) => size.serialize(serializer),
            SizeByRank::Cycled(sizes) => sizes.serialize(serializer),
            SizeByRank::Stepped { first, step } => {
                json!({ "first": first.0, "step": step.0 }).serialize(serializer)
            }
        }
    }
}

impl std::fmt::Display for SizeByRank {
    /// As it is written.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SizeByRank::Same(size) => write!(f, "\"{size}\""),
            _ => write!(f, "{}", SizeByRank::format(self)),
        }
    }
}

impl Leaf for SizeByRank {
    type Value = SizeByRank;

    fn expected() -> String {
        r#"a size such as "64 KiB", or by rank: ["1 MiB", "2 MiB"] or { first = "1 MiB", step = "64 KiB" }"#
            .to_owned()
    }

    fn schema() -> serde_json::Value {
        let size = Bytes::schema();
        json!({ "anyOf": [
            size,
            { "type": "array", "minItems": 1, "items": Bytes::schema() },
            {
                "type": "object", "minProperties": 2,
                "propertyNames": { "enum": ["first", "step"] },
                "additionalProperties": Bytes::schema(),
            },
        ] })
    }

    fn parse(node: &Node) -> Result<SizeByRank, String> {
        match &node.raw {
            Raw::List(list) if list.is_empty() => Err("the list is empty".to_owned()),
            Raw::List(list) => {
                let sizes = list.iter().map(Bytes::parse);
                sizes.collect::<Result<_, _>>().map(SizeByRank::Cycled)
            }
            Raw::Table(table) => {
                let known = ["first", "step"];
                if let Some(other) = (table.entries.iter()).find(|it| !known.contains(&&*it.key)) {
                    return Err(format!("the table has {:?}", other.key));
                }
                let size = |key: &str| {
                    let entry = table.entries.iter().find(|entry| entry.key == key);
                    entry.map_or(Err(format!("{key} is missing")), |entry| {
                        Bytes::parse(&entry.node)
                    })
                };
                Ok(SizeByRank::Stepped {
                    first: size("first")?,
                    step: size("step")?,
                })
            }
            _ => Bytes::parse(node).map(SizeByRank::Same),
        }
    }

    fn format(value: &SizeByRank) -> Raw {
        match value {
            SizeByRank::Same(size) => Bytes::format(size),
            SizeByRank::Cycled(sizes) => {
                let sizes = sizes.iter().map(|size| Node::plain(Bytes::format(size)));
                Raw::List(sizes.collect())
            }
            SizeByRank::Stepped { first, step } => {
                let mut table = Table::default();
                table.push("first", Node::plain(Bytes::format(first)));
                table.push("step", Node::plain(Bytes::format(step)));
                table.into()
            }
        }
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_maxima_are_those_of_the_ranks() {
        let all = [
            SizeByRank::Same(Bytes(5)),
            SizeByRank::Cycled(vec![Bytes(1), Bytes(7), Bytes(2)]),
            SizeByRank::Stepped {
                first: Bytes(10),
                step: Bytes(3),
            },
        ];
        for sizes in all {
            for processes in 1..9 {
                let each: Vec<u64> = (0..processes).map(|rank| sizes.of(rank).0).collect();
                assert_eq!(sizes.sum(processes), each.iter().sum::<u64>(), "{sizes}");
                assert_eq!(Some(&sizes.largest(processes).0), each.iter().max());
            }
        }
    }
}
