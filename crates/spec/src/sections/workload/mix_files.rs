//! How large the files of a mix are.

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

/// Reads sizes with weights, or the name of a set of files.
pub(crate) struct FileSizes;

impl FileSizes {
    /// The sizes of a set.
    fn set(name: &str) -> Option<Weighted<Bytes>> {
        let (_, sizes) = SETS.iter().find(|(of, _)| *of == name)?;
        let sizes = sizes.iter().map(|&(size, weight)| (Bytes(size), weight));
        Some(Weighted(sizes.collect()))
    }
}

impl Leaf for FileSizes {
    type Value = Weighted<Bytes>;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        let names = SETS.map(|(name, _)| format!("{name:?}")).join(", ");
        format!("{}, or one of {names}", ByWeight::<Bytes>::expected())
    }

    fn schema() -> serde_json::Value {
        let names = SETS.map(|(name, _)| name);
        json!({ "anyOf": [ByWeight::<Bytes>::schema(), { "enum": names }] })
    }

    fn parse(node: &Node) -> Result<Weighted<Bytes>, String> {
        match &node.raw {
            Raw::Text(name) => FileSizes::set(name).ok_or_else(String::new),
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
}
