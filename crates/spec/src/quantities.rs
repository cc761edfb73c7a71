//! The quantities of a scenario: the amount of each resource. A caller can ask
//! for the effect of more or less of it.

use crate::declare::{Codec, Leaf, Nature, Section, Shape};
use crate::load::{DECLARED, Loaded};
use crate::sections::Scenario;
use crate::syntax;
use crate::tree::{Node, Origin, Raw, Table, join};
use crate::values::{Bytes, Rate, Seconds};

/// Quantity that a field counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Bytes per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A whole number of things.
    Count,
    /// A number without a unit, such as a share.
    Number,
}

impl Quantity {
    /// Name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Rate => "rate",
            Quantity::Bytes => "bytes",
            Quantity::Seconds => "seconds",
            Quantity::Count => "count",
            Quantity::Number => "number",
        }
    }

    /// Returns an example of its values.
    pub(crate) fn example(self) -> String {
        match self {
            Quantity::Rate => Rate::expected(),
            Quantity::Bytes => Bytes::expected(),
            Quantity::Seconds => Seconds::expected(),
            Quantity::Count => "a whole number".to_owned(),
            Quantity::Number => "a number".to_owned(),
        }
    }

    /// Returns true if a text is a value of it, as `--set` has it. Each field has its own valid
    /// values.
    pub(crate) fn reads(self, text: &str) -> bool {
        let node = syntax::read_set(text, &Origin::Default);
        self.amount(&node).is_some_and(f64::is_finite)
    }

    /// The amount that a canonical value stands for, in the unit of the variant;
    /// none for a word in its place, such as `"all"`.
    fn amount(self, node: &Node) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "beyond 2^53 rounded, as any decimal number is"
        )]
        match (self, &node.raw) {
            (Quantity::Rate, _) => Rate::parse(node).ok().map(|rate| rate.0),
            (Quantity::Bytes, _) => Bytes::parse(node).ok().map(|bytes| bytes.0 as f64),
            (Quantity::Seconds, _) => Seconds::parse(node).ok().map(|seconds| seconds.0),
            (Quantity::Count | Quantity::Number, Raw::Integer(number)) => Some(*number as f64),
            (Quantity::Number, Raw::Float(number)) => Some(*number),
            _ => None,
        }
    }
}

/// A field that counts or measures something, and how much it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantified {
    /// The field, as `--set` names it.
    pub path: String,
    /// Quantity.
    pub quantity: Quantity,
    /// Amount in bytes, seconds, bytes per second, or without a unit.
    pub amount: f64,
    /// The same as the scenario writes it, without quotes.
    pub text: String,
}

/// Every quantity that a scenario has, with its origin, in the order of the reference. Fields of
/// unused kinds are absent. So are optional fields without a value, and words in the place of a
/// number.
#[must_use]
pub fn quantities(loaded: &Loaded) -> Vec<Quantified> {
    let mut found = Vec::new();
    if let Some(Raw::Table(table)) = Scenario::print(&loaded.scenario) {
        section(&table, &DECLARED, "", &mut found);
    }
    found
}

fn section(table: &Table, section: &Section, path: &str, found: &mut Vec<Quantified>) {
    let kind = section.kind_of(table);
    for field in section.fields(kind.as_deref()) {
        let Some(node) = table.get(field.name) else {
            continue;
        };
        let path = join(path, field.name);
        match (&field.shape, &node.raw) {
            (Shape::Section(inner), Raw::Table(table)) => {
                self::section(table, inner, &path, found);
            }
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                for (index, node) in list.iter().enumerate() {
                    if let Raw::Table(table) = &node.raw {
                        self::section(table, inner, &format!("{path}.{index}"), found);
                    }
                }
            }
            (
                Shape::Leaf {
                    nature: Nature::Quantity(quantity),
                    ..
                },
                raw,
            ) => found.extend(quantity.amount(node).map(|amount| Quantified {
                path,
                quantity: *quantity,
                amount,
                text: match raw {
                    Raw::Text(text) => text.clone(),
                    other => other.to_string(),
                },
            })),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TEXT: &str = r#"
        [clients]
        count = 3
        [servers]
        count = 4
        device = { read_rate = "60 MB/s", write_rate = "60 MB/s" }
        [network]
        bandwidth = "1 Gbit/s"
        latency = "0.2 ms"
        [layout]
        unit = "256 KiB"
        [[workload]]
        block = "1 MiB"
        repeat = "forever"
        [run.stop]
        time = "10 s"
        [scheduler]
        kind = "sfq"
        depth = 4
        weights = { all = 2 }
    "#;

    fn of(path: &str) -> Option<(Quantity, f64, String)> {
        let loaded = crate::load(TEXT, Path::new("m.toml"), &[]).expect("good");
        let mut all = quantities(&loaded).into_iter();
        all.find(|it| it.path == path)
            .map(|it| (it.quantity, it.amount, it.text))
    }

    #[test]
    fn amounts_are_in_units_of_the_quantity_and_texts_as_written() {
        let known = [
            ("clients.count", Quantity::Count, 3.0, "3"),
            ("servers.device.read_rate", Quantity::Rate, 60e6, "60 MB/s"),
            ("network.latency", Quantity::Seconds, 2e-4, "0.2 ms"),
            ("layout.unit", Quantity::Bytes, 262_144.0, "256 KiB"),
            // A default counts as well as what the file gives.
            ("servers.memory.page", Quantity::Bytes, 4096.0, "4 KiB"),
            ("workload.0.read_share", Quantity::Number, 0.5, "0.5"),
        ];
        for (path, quantity, amount, text) in known {
            assert_eq!(
                of(path),
                Some((quantity, amount, text.to_owned())),
                "{path}"
            );
        }
    }

    #[test]
    fn words_what_is_not_given_and_what_is_no_amount_are_left_out() {
        for path in [
            "workload.0.repeat",
            "layout.servers",
            "clients.card.bandwidth",
            "run.seed",
            "servers.device.disks",
            "scheduler.weights",
            "scheduler.weights.all",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn every_amount_can_be_set_again() {
        let file = Path::new("m.toml");
        let loaded = crate::load(TEXT, file, &[]).expect("good");
        for it in quantities(&loaded) {
            let sets = [format!("{}={}", it.path, it.text)];
            let again = crate::load(TEXT, file, &sets);
            let again = again.unwrap_or_else(|error| panic!("{}: {error}", it.path));
            assert_eq!(again.scenario, loaded.scenario, "{}", it.path);
        }
    }
}
