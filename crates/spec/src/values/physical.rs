//! Quantities of facilities and of long plans: power, current, weight, years.

use serde_json::json;

use super::amount;
use super::scale::{self, PRINTED_TIMES, Scale, TIMES, decimal};
use crate::declare::Leaf;
use crate::tree::{Node, Raw};

/// The largest amount of any of them: more is a slip.
const MOST: f64 = 1e15;

/// A quantity that must be more than 0, its default.
pub(crate) struct MoreThanZero<T>(std::marker::PhantomData<T>);

impl<T: Leaf> Leaf for MoreThanZero<T>
where
    T::Value: Default + PartialOrd,
{
    type Value = T::Value;

    const NATURE: crate::declare::Nature = T::NATURE;

    fn expected() -> String {
        T::expected()
    }

    fn schema() -> serde_json::Value {
        T::schema()
    }

    fn parse(node: &Node) -> Result<T::Value, String> {
        let value = T::parse(node)?;
        if value > T::Value::default() {
            Ok(value)
        } else {
            Err("it must be more than 0".to_owned())
        }
    }

    fn format(value: &T::Value) -> Raw {
        T::format(value)
    }
}

/// Declares a quantity by its units, the SI unit first.
macro_rules! physical {
    ($(#[doc = $doc:literal])+ $name:ident, $expected:literal, [$($scale:expr),+ $(,)?]) => {
        physical!($(#[doc = $doc])+ $name, $expected, &[$($scale),+], &[$($scale),+]);
    };
    ($(#[doc = $doc:literal])+ $name:ident, $expected:literal, $scales:expr, $printed:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            const SCALES: &'static [Scale] = $scales;
            const PRINTED: &'static [Scale] = $printed;
        }

        impl Leaf for $name {
            type Value = $name;

            fn expected() -> String {
                $expected.to_owned()
            }

            fn schema() -> serde_json::Value {
                schema($name::SCALES)
            }

            fn parse(node: &Node) -> Result<$name, String> {
                read(node, $name::SCALES).map($name)
            }

            fn format(value: &$name) -> Raw {
                Raw::Text(print(value.0, $name::PRINTED))
            }
        }
    };
}

physical! {
    /// Watts.
    Watts, r#"a power such as "350 W" or "5 kW""#,
    [decimal("W", 0), decimal("mW", -3), decimal("kW", 3), decimal("MW", 6)]
}

physical! {
    /// Volt-amperes: apparent power.
    VoltAmperes, r#"an apparent power such as "1500 VA" or "10 kVA""#,
    [decimal("VA", 0), decimal("kVA", 3), decimal("MVA", 6)]
}

physical! {
    /// Amperes.
    Amperes, r#"a current such as "16 A""#,
    [decimal("A", 0), decimal("mA", -3), decimal("kA", 3)]
}

physical! {
    /// Volts.
    Volts, r#"a voltage such as "230 V""#,
    [decimal("V", 0), decimal("kV", 3)]
}

physical! {
    /// Kilograms.
    Kilograms, r#"a weight such as "26 kg" or "1.2 t""#,
    [decimal("kg", 0), decimal("g", -3), decimal("t", 3)]
}

physical! {
    /// Seconds of real time, years among them. In contrast to [`super::Seconds`] they have no
    /// maximum, as they are not simulated. A year has 365 days (8760 h).
    Span, r#"a time such as "4 h", "30 d" or "5 y""#, TIMES, PRINTED_TIMES
}

impl Span {
    /// Reads the seconds of a time of any length, such as `"1,000,000 h"`.
    ///
    /// # Errors
    /// The error in the text.
    pub fn seconds(text: &str) -> Result<f64, String> {
        scale::parse(text, TIMES)
    }
}

fn schema(scales: &[Scale]) -> serde_json::Value {
    json!({ "anyOf": [
        {
            "type": "string",
            "pattern": scale::pattern(scales),
        },
        { "const": 0 },
    ] })
}

fn read(node: &Node, scales: &[Scale]) -> Result<f64, String> {
    match &node.raw {
        Raw::Text(text) => parse(text, scales),
        Raw::Integer(0) => Ok(0.0),
        Raw::Integer(number) if *number > 0 => Err(format!(
            "a bare number has no unit, write {:?}",
            format!("{number} {}", scales[0].name)
        )),
        Raw::Integer(_) => Err("it must not be negative".to_owned()),
        Raw::Float(_) => Err("a bare number has no unit".to_owned()),
        _ => Err(String::new()),
    }
}

fn parse(text: &str, scales: &[Scale]) -> Result<f64, String> {
    let value = scale::parse(text, scales)?;
    if value <= MOST {
        Ok(value)
    } else {
        Err("it is too large".to_owned())
    }
}

/// In the unit that makes it shortest; reads back as the same value.
fn print(value: f64, scales: &[Scale]) -> String {
    let first = scales[0].name;
    if value == 0.0 {
        return format!("0 {first}");
    }
    let ways = scales.iter().flat_map(|scale| {
        let number = scale.of(value);
        [(number, scale.name), (amount::trimmed(number), scale.name)]
    });
    // Numbers far from 1 are hard to read.
    let ways = ways.filter(|(number, _)| (0.1..1e7).contains(number));
    let best = amount::shortest(ways, |text| parse(text, scales) == Ok(value));
    best.unwrap_or_else(|| format!("{} {first}", amount::digits(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Span, String> {
        Span::parse(&Node::plain(text.into()))
    }

    #[test]
    fn a_year_has_365_days() {
        assert_eq!(of("10 y"), of("87600 h"));
        assert_eq!(of("1000000 h"), Ok(Span(3.6e9)));
        assert_eq!(of("1,000,000 hours"), Ok(Span(3.6e9)));
        assert_eq!(of("2 w"), of("14 days"));
        assert_eq!(of("12 months"), of("1 y"));
    }

    #[test]
    fn amounts_read_back_as_they_were_printed() {
        for text in [
            "1200000 h",
            "8.5 ms",
            "4.16 ms",
            "100 us",
            "5 y",
            "7 d",
            "0 s",
        ] {
            let value = of(text).expect(text);
            let Raw::Text(printed) = Span::format(&value) else {
                panic!("it is text");
            };
            assert_eq!(of(&printed), Ok(value), "{text} became {printed}");
            assert!(printed.len() <= text.len(), "{text} became {printed}");
        }
    }

    #[test]
    fn a_wrong_amount_says_why() {
        for (text, why) in [
            ("5", "the unit is missing"),
            ("5 weaks", "weaks is no unit of it: the units are s, ms"),
            ("-1 h", "negative"),
            ("1e300 y", "too large"),
        ] {
            let error = of(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        let bare = Watts::parse(&Node::plain(5000.into())).expect_err("no unit");
        assert!(bare.contains(r#"write "5000 W""#), "{bare}");
    }
}
