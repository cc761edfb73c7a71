//! A number of bytes per second: `"1 Gbit/s"`.

use std::str::FromStr;

use serde_json::json;

use super::amount::{self, Unit, unit};
use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw};

/// Bytes per second; always more than 0 and finite in a scenario that loaded.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize)]
#[serde(transparent)]
pub struct Rate(pub f64);

const BYTES: [Unit; 9] = [
    unit("B/s", 1),
    unit("kB/s", 1_000),
    unit("MB/s", 1_000_000),
    unit("GB/s", 1_000_000_000),
    unit("TB/s", 1_000_000_000_000),
    unit("KiB/s", 1 << 10),
    unit("MiB/s", 1 << 20),
    unit("GiB/s", 1 << 30),
    unit("TiB/s", 1 << 40),
];

/// Network rates count bits, eight to a byte.
const BITS: [Unit; 5] = [
    unit("bit/s", 1),
    unit("kbit/s", 1_000),
    unit("Mbit/s", 1_000_000),
    unit("Gbit/s", 1_000_000_000),
    unit("Tbit/s", 1_000_000_000_000),
];

impl Leaf for Rate {
    type Value = Rate;

    fn expected() -> String {
        r#"a rate such as "1 Gbit/s" or "125 MB/s""#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({
            "type": "string",
            "pattern": amount::pattern("(([kMGT]|[KMGT]i)?B|[kMGT]?bit)/s"),
        })
    }

    fn parse(node: &Node) -> Result<Rate, String> {
        match &node.raw {
            Raw::Text(text) => parse(text),
            Raw::Integer(_) | Raw::Float(_) => Err("a bare number has no unit".to_owned()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &Rate) -> Raw {
        Raw::Text(value.to_string())
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Rate);
}

impl FromStr for Rate {
    type Err = String;

    /// Reads it as a scenario would.
    fn from_str(text: &str) -> Result<Rate, String> {
        super::read_as(parse(text), &Rate::expected())
    }
}

impl std::fmt::Display for Rate {
    /// In the unit that makes it shortest; reads back as the same value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = BYTES.iter().map(|unit| (self.0 / factor(unit), unit.name));
        let bits = BITS
            .iter()
            .map(|unit| (self.0 * 8.0 / factor(unit), unit.name));
        let ways = bytes.chain(bits).filter(|(number, _)| *number >= 1.0);
        let best = amount::shortest(ways, |text| parse(text) == Ok(*self));
        // The number alone always reads back.
        f.write_str(&best.unwrap_or_else(|| format!("{} B/s", amount::digits(self.0))))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "powers of ten and two below 2^53 are exact"
)]
fn factor(unit: &Unit) -> f64 {
    unit.factor as f64
}

fn parse(text: &str) -> Result<Rate, String> {
    let amount = amount::split(text)?;
    let (unit, bits) = match BITS.iter().find(|unit| unit.name == amount.unit) {
        Some(unit) => (*unit, true),
        None => (find_unit(&amount)?, false),
    };
    // Powers of ten go into the decimal exponent, so that the value is rounded
    // once; powers of two and the division by eight are exact.
    let rate = match unit.factor {
        factor if factor.is_power_of_two() && factor > 1 => amount.number(0) * self::factor(&unit),
        factor => amount.number(factor.ilog10().cast_signed()),
    };
    let rate = if bits { rate / 8.0 } else { rate };
    if rate.is_infinite() || rate.is_nan() {
        return Err("it is too large".to_owned());
    }
    if rate <= 0.0 {
        return Err("it must be more than 0".to_owned());
    }
    Ok(Rate(rate))
}

fn find_unit(amount: &amount::Amount<'_>) -> Result<Unit, String> {
    let unit = amount.unit;
    if let Some(bits) = unit.strip_suffix("bps") {
        return Err(format!(
            "write {bits}bit/s for bits or {bits}B/s for bytes per second"
        ));
    }
    if let Some(prefix) = unit.strip_suffix("b/s") {
        return Err(format!(
            "write {prefix}bit/s for bits or {prefix}B/s for bytes per second"
        ));
    }
    if !unit.is_empty() && !unit.ends_with("/s") {
        if let Some(rate) = BYTES
            .iter()
            .chain(&BITS)
            .find(|rate| rate.name == format!("{unit}/s"))
        {
            return Err(format!("{unit} is a size, did you mean {}?", rate.name));
        }
        // A word that is no unit at all: the examples say enough.
        return Err(String::new());
    }
    amount.find_unit(&BYTES)
}
