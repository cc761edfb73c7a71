//! A span of time: `"0.2 ms"`.

use std::str::FromStr;

use serde_json::json;

use super::amount;
use super::scale::{self, PRINTED_TIMES, TIMES};
use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw};

/// Seconds; from 0 to [`Seconds::LONGEST`] in a scenario that loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, serde::Serialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

impl Seconds {
    /// Simulated time is counted in picoseconds with 64 bits: 213 days and a half.
    pub const LONGEST: Seconds = Seconds(18_446_744.0);

    /// A picosecond: shorter times are rounded to it or to nothing.
    pub const SHORTEST: Seconds = Seconds(1e-12);
}

impl Leaf for Seconds {
    type Value = Seconds;

    fn expected() -> String {
        r#"a time such as "0.2 ms" or "10 s""#.to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [
            { "type": "string", "pattern": scale::pattern(TIMES) },
            { "const": 0 },
        ] })
    }

    fn parse(node: &Node) -> Result<Seconds, String> {
        match &node.raw {
            Raw::Text(text) => parse(text),
            Raw::Integer(0) => Ok(Seconds(0.0)),
            Raw::Integer(number) if *number > 0 => Err(format!(
                r#"a bare number has no unit, write "{number} s" or "{number} ms""#
            )),
            Raw::Integer(_) => Err("it must not be negative".to_owned()),
            Raw::Float(_) => Err("a bare number has no unit".to_owned()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &Seconds) -> Raw {
        Raw::Text(value.to_string())
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Seconds);
}

impl FromStr for Seconds {
    type Err = String;

    /// Reads it as a scenario would.
    fn from_str(text: &str) -> Result<Seconds, String> {
        super::read_as(parse(text), &Seconds::expected())
    }
}

impl std::fmt::Display for Seconds {
    /// In the unit that makes it shortest; reads back as the same value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0.0 {
            return f.write_str("0 s");
        }
        // Scaling may round: fewer digits may then still be the same value.
        let ways = PRINTED_TIMES.iter().flat_map(|scale| {
            let number = scale.of(self.0);
            let trimmed = scale.is_decimal().then(|| amount::trimmed(number));
            let ways = [Some(number), trimmed].into_iter().flatten();
            ways.filter(|number| scale.is_decimal() || *number >= 1.0)
                .map(|number| (number, scale.name))
        });
        let best = amount::shortest(ways, |text| parse(text) == Ok(*self));
        // The number alone always reads back.
        f.write_str(&best.unwrap_or_else(|| format!("{} s", amount::digits(self.0))))
    }
}

fn parse(text: &str) -> Result<Seconds, String> {
    let seconds = scale::parse(text, TIMES)?;
    if seconds <= Seconds::LONGEST.0 {
        Ok(Seconds(seconds))
    } else {
        Err("the longest is 213 d, the most that simulated time can hold".to_owned())
    }
}
