//! Numbers without a unit.

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::quantities::Quantity;
use crate::tree::{Node, Raw};

/// A whole number of at least 1.
pub(crate) struct AtLeastOne;

impl Leaf for AtLeastOne {
    type Value = u32;

    fn expected() -> String {
        "a whole number of at least 1".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }

    fn parse(node: &Node) -> Result<u32, String> {
        let number = whole(node)?;
        if number < 1 {
            return Err(String::new());
        }
        u32::try_from(number).map_err(|_| format!("the largest is {}", u32::MAX))
    }

    fn format(value: &u32) -> Raw {
        Raw::from(*value)
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Count);
}

/// A whole number of at least 0.
pub(crate) struct Count;

impl Leaf for Count {
    type Value = u32;

    fn expected() -> String {
        "a whole number of at least 0".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
    }

    fn parse(node: &Node) -> Result<u32, String> {
        match whole(node)? {
            number if number < 0 => Err(String::new()),
            number => u32::try_from(number).map_err(|_| format!("the largest is {}", u32::MAX)),
        }
    }

    fn format(value: &u32) -> Raw {
        Raw::from(*value)
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Count);
}

/// A whole number of at least 0 that says which one, not how many.
pub(crate) struct Ordinal;

impl Leaf for Ordinal {
    type Value = u32;

    fn expected() -> String {
        Count::expected()
    }

    fn schema() -> serde_json::Value {
        Count::schema()
    }

    fn parse(node: &Node) -> Result<u32, String> {
        Count::parse(node)
    }

    fn format(value: &u32) -> Raw {
        Count::format(value)
    }
}

fn whole(node: &Node) -> Result<i64, String> {
    match &node.raw {
        Raw::Integer(number) => Ok(*number),
        Raw::Text(text) if text.trim().parse::<i64>().is_ok() => {
            Err("write it without quotes".to_owned())
        }
        _ => Err(String::new()),
    }
}

/// A number of requests: at least 1.
impl Leaf for u64 {
    type Value = u64;

    fn expected() -> String {
        "a whole number of at least 1".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 1 })
    }

    fn parse(node: &Node) -> Result<u64, String> {
        match u64::try_from(whole(node)?) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(String::new()),
        }
    }

    fn format(value: &u64) -> Raw {
        Raw::Integer(i64::try_from(*value).unwrap_or(i64::MAX))
    }

    const NATURE: Nature = Nature::Quantity(Quantity::Count);
}

/// A seed of random numbers: a whole number that TOML can write and that is not negative.
pub(crate) struct Seed;

impl Leaf for Seed {
    type Value = u64;

    fn expected() -> String {
        "a whole number from 0 to 2^63 - 1".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })
    }

    fn parse(node: &Node) -> Result<u64, String> {
        u64::try_from(whole(node)?).map_err(|_| String::new())
    }

    fn format(value: &u64) -> Raw {
        u64::format(value)
    }
}

impl Leaf for bool {
    type Value = bool;

    fn expected() -> String {
        "true or false".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "boolean" })
    }

    fn parse(node: &Node) -> Result<bool, String> {
        match &node.raw {
            Raw::Boolean(truth) => Ok(*truth),
            Raw::Text(text) if matches!(text.as_str(), "true" | "false") => {
                Err("write it without quotes".to_owned())
            }
            _ => Err(String::new()),
        }
    }

    fn format(value: &bool) -> Raw {
        Raw::Boolean(*value)
    }
}

/// The number as it is written.
pub(crate) fn number(node: &Node) -> Result<f64, String> {
    match &node.raw {
        // Whole numbers beyond 2^53 are rounded, as any decimal number is.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        Raw::Integer(number) => Ok(*number as f64),
        Raw::Float(number) if number.is_finite() => Ok(*number),
        Raw::Float(_) => Err("it must be finite".to_owned()),
        Raw::Text(text) if text.trim().parse::<f64>().is_ok() => {
            Err("write it without quotes".to_owned())
        }
        _ => Err(String::new()),
    }
}

/// Declares a codec for the numbers that satisfy a condition.
macro_rules! numbers {
    ($(#[doc = $doc:literal])+ $name:ident, $expected:literal, $fits:expr, $schema:tt) => {
        $(#[doc = $doc])+
        pub(crate) struct $name;

        impl Leaf for $name {
            type Value = f64;

            fn expected() -> String {
                $expected.to_owned()
            }

            fn schema() -> serde_json::Value {
                json!($schema)
            }

            fn parse(node: &Node) -> Result<f64, String> {
                let number = number(node)?;
                let fits: fn(f64) -> bool = $fits;
                if fits(number) { Ok(number) } else { Err(String::new()) }
            }

            fn format(value: &f64) -> Raw {
                Raw::Float(*value)
            }

            const NATURE: Nature = Nature::Quantity(Quantity::Number);
        }
    };
}

numbers! {
    /// A number of more than 0.
    Positive, "a number of more than 0, such as 1.5", |number| number > 0.0,
    { "type": "number", "exclusiveMinimum": 0 }
}

numbers! {
    /// A number of 0 or more.
    NonNegative, "a number of at least 0, such as 1.5", |number| number >= 0.0,
    { "type": "number", "minimum": 0 }
}

numbers! {
    /// A number from 0 to 1.
    Portion, "a number from 0 to 1, such as 0.5", |number| (0.0..=1.0).contains(&number),
    { "type": "number", "minimum": 0, "maximum": 1 }
}

numbers! {
    /// A part that is not nothing.
    Share, "a number of more than 0, up to 1, such as 0.3", |number| number > 0.0 && number <= 1.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1 }
}

numbers! {
    /// A number between 0 and 1, both excluded.
    Fraction, "a number between 0 and 1, such as 0.05", |number| number > 0.0 && number < 1.0,
    { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }
}

numbers! {
    /// Money in the currency of a catalogue.
    Money, "an amount of money without its currency, such as 12000",
    |number| (0.0..=1e12).contains(&number),
    { "type": "number", "minimum": 0, "maximum": 1e12 }
}

numbers! {
    /// Years to plan for.
    Years, "a number of years of more than 0, up to 50, such as 3",
    |number| number > 0.0 && number <= 50.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 50 }
}

numbers! {
    /// Unrecoverable read errors per bit read.
    BitErrorRate, "a number of more than 0, up to 1e-6, such as 1e-15",
    |number| number > 0.0 && number <= 1e-6,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1e-6 }
}

numbers! {
    /// Height in a rack: a unit is 44.45 mm (IEC 60297).
    RackUnits, "a number of rack units of more than 0, up to 60, such as 2",
    |number| number > 0.0 && number <= 60.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 60 }
}

numbers! {
    /// How many times something is another.
    Ratio, "a number of more than 0, up to 1000, such as 1.5",
    |number| number > 0.0 && number <= 1000.0,
    { "type": "number", "exclusiveMinimum": 0, "maximum": 1000 }
}
