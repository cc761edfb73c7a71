//! A number of bytes: `"64 KiB"`.

use std::str::FromStr;

use serde_json::json;

use super::amount::{self, Amount, Unit, unit};
use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// SI prefixes are powers of ten, IEC prefixes powers of two (IEC 80000-13).
const UNITS: [Unit; 11] = [
    unit("B", 1),
    unit("kB", 1_000),
    unit("KiB", 1 << 10),
    unit("MB", 1_000_000),
    unit("MiB", 1 << 20),
    unit("GB", 1_000_000_000),
    unit("GiB", 1 << 30),
    unit("TB", 1_000_000_000_000),
    unit("TiB", 1 << 40),
    unit("PB", 1_000_000_000_000_000),
    unit("PiB", 1 << 50),
];

impl Leaf for Bytes {
    type Value = Bytes;

    fn expected() -> String {
        r#"a size such as "64 KiB" or "1 MB""#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [
            { "type": "string", "pattern": amount::pattern("([kMGTP]|[KMGTP]i)?B") },
            { "const": 0 },
        ] })
    }

    fn parse(node: &Node) -> Result<Bytes, String> {
        match &node.raw {
            Raw::Text(text) => parse(text),
            Raw::Integer(0) => Ok(Bytes(0)),
            Raw::Integer(number) if *number > 0 => Err(format!(
                r#"a bare number has no unit, write "{number} B" or "{number} KiB""#
            )),
            Raw::Integer(_) => Err("it must not be negative".to_owned()),
            Raw::Float(_) => Err("a bare number has no unit".to_owned()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &Bytes) -> Raw {
        Raw::Text(value.to_string())
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Bytes);
}

impl FromStr for Bytes {
    type Err = String;

    /// Reads it as a scenario would.
    fn from_str(text: &str) -> Result<Bytes, String> {
        super::read_as(parse(text), &Bytes::expected())
    }
}

impl std::fmt::Display for Bytes {
    /// In the largest unit that divides it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fits = |unit: &&Unit| self.0 != 0 && self.0.is_multiple_of(unit.factor);
        let unit = UNITS
            .iter()
            .filter(fits)
            .max_by_key(|unit| unit.factor)
            .unwrap_or(&UNITS[0]);
        write!(f, "{} {}", self.0 / unit.factor, unit.name)
    }
}

fn parse(text: &str) -> Result<Bytes, String> {
    let amount = amount::split(text)?;
    let unit = find_unit(&amount)?;
    let whole = || "it must be a whole number of bytes".to_owned();
    let large = || "it is larger than 16 EiB".to_owned();
    let mut bytes = amount
        .digits
        .checked_mul(u128::from(unit.factor))
        .ok_or_else(large)?;
    if bytes > 0 {
        for _ in 0..amount.exponent.max(0) {
            bytes = bytes.checked_mul(10).ok_or_else(large)?;
        }
        for _ in amount.exponent.min(0)..0 {
            if !bytes.is_multiple_of(10) {
                return Err(whole());
            }
            bytes /= 10;
        }
    }
    u64::try_from(bytes).map(Bytes).map_err(|_| large())
}

fn find_unit(amount: &Amount<'_>) -> Result<Unit, String> {
    if matches!(amount.unit, "KB" | "K" | "k" | "kb" | "kib" | "Kib") {
        return Err("kB is 1000 bytes and KiB is 1024".to_owned());
    }
    amount.find_unit(&UNITS)
}
