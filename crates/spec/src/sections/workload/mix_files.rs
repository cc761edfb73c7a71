//! File sizes of an operation mix.

use std::collections::BTreeMap;

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};
use crate::values::{ByWeight, Bytes, Weighted};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The sets of files that have names, each with bytes and files in 100 of that size.
const SETS: [(&str, &[(u64, f64)]); 3] = [
    // Wang 2002, table 3.1; SPEC SFS 2.0.
    (
        "small",
        &[
            (KIB, 33.0),
            (2 * KIB, 21.0),
            (4 * KIB, 13.0),
            (8 * KIB, 10.0),
            (16 * KIB, 8.0),
            (32 * KIB, 5.0),
            (64 * KIB, 4.0),
            (128 * KIB, 3.0),
            (256 * KIB, 2.0),
            (MIB, 1.0),
        ],
    ),
    // Wang 2002, table 3.2.
    (
        "medium",
        &[
            (KIB, 20.0),
            (4 * KIB, 10.0),
            (16 * KIB, 36.0),
            (64 * KIB, 10.0),
            (128 * KIB, 10.0),
            (256 * KIB, 6.0),
            (MIB, 4.0),
            (8 * MIB, 2.0),
            (128 * MIB, 2.0),
        ],
    ),
    // Wang 2002, table 3.3.
    (
        "large",
        &[
            (16 * KIB, 10.0),
            (128 * KIB, 20.0),
            (512 * KIB, 20.0),
            (MIB, 20.0),
            (16 * MIB, 10.0),
            (128 * MIB, 8.0),
            (512 * MIB, 6.0),
            (1024 * MIB, 3.0),
            (2048 * MIB, 3.0),
        ],
    ),
];

/// Reads sizes with weights, or the names of sets of files.
pub(crate) struct FileSizes;

impl FileSizes {
    /// The sizes of a set.
    fn set(name: &str) -> Option<Weighted<Bytes>> {
        let (_, sizes) = SETS.iter().find(|(of, _)| *of == name)?;
        let sizes = sizes.iter().map(|&(size, weight)| (Bytes(size), weight));
        Some(Weighted(sizes.collect()))
    }

    /// As many files of each of several sets.
    fn sets(names: &[Node]) -> Result<Weighted<Bytes>, String> {
        let mut all = BTreeMap::new();
        let mut seen = Vec::new();
        for name in names {
            let Raw::Text(name) = &name.raw else {
                return Err(String::new());
            };
            if seen.contains(&name) {
                return Err(format!("{name:?} occurs twice"));
            }
            seen.push(name);
            // The weights of each set add up to 100.
            for (size, weight) in FileSizes::set(name).ok_or_else(String::new)?.0 {
                *all.entry(size).or_insert(0.0) += weight;
            }
        }
        match all.is_empty() {
            true => Err("it is empty".to_owned()),
            false => Ok(Weighted(all.into_iter().collect())),
        }
    }
}

impl Leaf for FileSizes {
    type Value = Weighted<Bytes>;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        let names = SETS.map(|(name, _)| format!("{name:?}")).join(", ");
        format!(
            "{}, or one of {names}, or a list of these",
            ByWeight::<Bytes>::expected()
        )
    }

    fn schema() -> serde_json::Value {
        let names = SETS.map(|(name, _)| name);
        let list = json!({ "type": "array", "minItems": 1, "items": { "enum": names } });
        json!({ "anyOf": [ByWeight::<Bytes>::schema(), { "enum": names }, list] })
    }

    fn parse(node: &Node) -> Result<Weighted<Bytes>, String> {
        match &node.raw {
            Raw::Text(name) => FileSizes::set(name).ok_or_else(String::new),
            Raw::List(names) => FileSizes::sets(names),
            _ => ByWeight::<Bytes>::parse(node),
        }
    }

    fn format(value: &Weighted<Bytes>) -> Raw {
        ByWeight::<Bytes>::format(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights and mean bytes of the tables, worked out by hand.
    #[test]
    fn the_sets_are_those_of_the_tables() {
        let of = |name| {
            let sizes = FileSizes::set(name).expect("a set").0;
            let weight: f64 = sizes.iter().map(|it| it.1).sum();
            let bytes: f64 = sizes.iter().map(|it| it.0.0 as f64 * it.1).sum();
            (weight, bytes / 1024.0)
        };
        let small = 33.0 + 42.0 + 52.0 + 80.0 + 128.0 + 160.0 + 256.0 + 384.0 + 512.0 + 1024.0;
        assert_eq!(of("small"), (100.0, small));
        let medium = 20.0 + 40.0 + 576.0 + 640.0 + 1280.0 + 1536.0 + 4096.0 + 16384.0 + 262144.0;
        assert_eq!(of("medium"), (100.0, medium));
        assert_eq!(of("large").0, 100.0);
        assert_eq!(FileSizes::set("huge"), None);
    }

    #[test]
    fn a_list_has_as_many_files_of_each_set() {
        let list = |names: &[&str]| {
            let names = names.iter().map(|name| Node::plain((*name).into()));
            FileSizes::parse(&Node::plain(Raw::List(names.collect())))
        };
        let all = list(&["small", "medium", "large"]).expect("sizes").0;
        let weight: f64 = all.iter().map(|it| it.1).sum();
        assert_eq!(weight, 300.0);
        let of = |size| all.iter().find(|it| it.0.0 == size).map(|it| it.1);
        // 1 KiB: 33 and 20 in 100; 128 KiB: 3, 10 and 20; 2 GiB: 3, of the large set alone.
        let sizes = [KIB, 128 * KIB, 2048 * MIB].map(of);
        assert_eq!(sizes, [Some(53.0), Some(33.0), Some(3.0)]);
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for wrong in [&["small", "huge"][..], &["small", "small"], &[]] {
            assert!(list(wrong).is_err(), "{wrong:?}");
        }
    }
}
