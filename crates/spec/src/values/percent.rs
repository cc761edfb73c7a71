//! Parts of a whole: `"30 %"` or `0.3`.

use serde_json::json;

use super::amount;
use super::number::number;
use crate::declare::Leaf;
use crate::tree::{Node, Raw};

/// Declares a codec for the parts that satisfy a condition.
macro_rules! parts {
    ($(#[doc = $doc:literal])+ $name:ident, $expected:literal, $fits:expr) => {
        $(#[doc = $doc])+
        pub(crate) struct $name;

        impl Leaf for $name {
            type Value = f64;

            fn expected() -> String {
                $expected.to_owned()
            }

            fn schema() -> serde_json::Value {
                json!({ "anyOf": [
                    { "type": "number", "minimum": 0 },
                    {
                        "type": "string",
                        "pattern": amount::pattern("%"),
                    },
                ] })
            }

            fn parse(node: &Node) -> Result<f64, String> {
                let part = read(node)?;
                let fits: fn(f64) -> bool = $fits;
                if fits(part) {
                    return Ok(part);
                }
                Err(percent_instead(node))
            }

            fn format(value: &f64) -> Raw {
                print(*value)
            }
        }
    };
}

parts! {
    /// From nothing to all.
    Part, r#"a part from 0 to 1, such as "30 %" or 0.3"#, |part| (0.0..=1.0).contains(&part)
}

parts! {
    /// A probability that is neither impossible nor certain.
    Chance, r#"a probability between 0 and 1, such as "0.1 %" or 0.001"#,
    |part| part > 0.0 && part < 1.0
}

parts! {
    /// Growth, at most elevenfold.
    Growth, r#"a growth from 0 to 10, such as "30 %" or 0.3"#, |part| (0.0..=10.0).contains(&part)
}

fn read(node: &Node) -> Result<f64, String> {
    let Raw::Text(text) = &node.raw else {
        return number(node);
    };
    let amount = amount::split(text)?;
    match amount.unit {
        "%" => Ok(amount.number(-2)),
        "" => Err("write it without quotes, or with %".to_owned()),
        _ => Err("the unit is %".to_owned()),
    }
}

/// Returns a hint if a bare number was meant as a percentage.
fn percent_instead(node: &Node) -> String {
    match &node.raw {
        Raw::Integer(2..=100) => format!("did you mean \"{} %\"?", node.raw),
        _ => String::new(),
    }
}

fn print(value: f64) -> Raw {
    let percent = value * 100.0;
    let ways = [percent, amount::trimmed(percent)].map(|number| (number, "%"));
    let same = |text: &str| read(&Node::plain(text.into())) == Ok(value);
    amount::shortest(ways, same).map_or(Raw::Float(value), Raw::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_a_part() {
        for (raw, part) in [
            (Raw::from("30 %"), 0.3),
            (Raw::from("0.1%"), 0.001),
            (Raw::from(0.3), 0.3),
            (Raw::from(1), 1.0),
        ] {
            assert_eq!(Part::parse(&Node::plain(raw)), Ok(part));
            assert_eq!(Part::parse(&Node::plain(Part::format(&part))), Ok(part));
        }
    }

    #[test]
    fn a_wrong_part_says_why() {
        let of = |raw: Raw| Part::parse(&Node::plain(raw)).expect_err("wrong");
        assert_eq!(of(30.into()), "did you mean \"30 %\"?");
        assert!(of("0.3".into()).contains("without quotes"));
        assert!(of("-3 %".into()).contains("negative"));
        assert!(of(f64::NAN.into()).contains("finite"));
        assert!(Chance::parse(&Node::plain(0.into())).is_err());
    }
}
