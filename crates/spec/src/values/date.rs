//! A day: `2026-11-20`.

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::tree::{Node, Raw};

/// A day of the Gregorian calendar, as ISO 8601 writes it, with or without quotes.
pub(crate) struct Date;

impl Leaf for Date {
    type Value = String;

    const NATURE: Nature = Nature::Plain;

    fn expected() -> String {
        "a day such as \"2026-11-20\"".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$" })
    }

    fn parse(node: &Node) -> Result<String, String> {
        match &node.raw {
            Raw::Text(text) | Raw::Date(text) if is_day(text) => Ok(text.clone()),
            _ => Err(String::new()),
        }
    }

    fn format(value: &String) -> Raw {
        Raw::Text(value.clone())
    }
}

fn is_day(text: &str) -> bool {
    // toml_edit knows the calendar; a time behind the day is no day.
    let is_short = text.len() == "2026-11-20".len();
    let parsed: Result<toml_edit::Datetime, _> = text.parse();
    is_short && parsed.is_ok_and(|it| it.date.is_some() && it.time.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_of_the_calendar_are_read() {
        assert!(is_day("2024-02-29"));
        for text in [
            "2023-02-29",
            "2026-13-01",
            "20.11.2026",
            "",
            "2026-11-20T10:00:00",
        ] {
            assert!(!is_day(text), "{text}");
        }
    }
}
