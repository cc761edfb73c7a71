//! Units that are powers of ten or multiples of an SI unit; those of time.

use super::amount;

/// A unit: `10^power × factor` of the SI unit.
pub(super) struct Scale {
    pub name: &'static str,
    power: i32,
    factor: f64,
    /// Its other names.
    others: &'static [&'static str],
}

pub(super) const fn decimal(name: &'static str, power: i32) -> Scale {
    Scale {
        name,
        power,
        factor: 1.0,
        others: &[],
    }
}

const fn multiple(name: &'static str, factor: f64) -> Scale {
    Scale {
        name,
        power: 0,
        factor,
        others: &[],
    }
}

impl Scale {
    const fn or(mut self, others: &'static [&'static str]) -> Scale {
        self.others = others;
        self
    }

    /// Returns true if it is the SI unit or a power of ten of it.
    pub fn is_decimal(&self) -> bool {
        self.factor == 1.0
    }

    /// An amount of the SI unit in this one.
    pub fn of(&self, value: f64) -> f64 {
        value * 10f64.powi(-self.power) / self.factor
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.others.iter().copied())
    }
}

/// Units of time. A year has 365 days (8760 h), as data sheets count it.
pub(super) const TIMES: &[Scale] = &[
    decimal("s", 0).or(&["sec", "second", "seconds"]),
    decimal("ms", -3),
    decimal("us", -6).or(&["µs", "μs"]),
    decimal("ns", -9),
    multiple("min", 60.0).or(&["minute", "minutes"]),
    multiple("h", 3_600.0).or(&["hr", "hour", "hours"]),
    multiple("d", 86_400.0).or(&["day", "days"]),
    multiple("y", 31_536_000.0).or(&["a", "yr", "year", "years"]),
    multiple("w", 604_800.0).or(&["week", "weeks"]),
    multiple("month", 2_628_000.0).or(&["months"]),
    decimal("ps", -12),
];

/// Units of time in which values are printed.
pub(super) const PRINTED_TIMES: &[Scale] = TIMES.split_at(8).0;

/// The pattern, in JSON Schema, of the texts that [`parse`] reads.
pub(super) fn pattern(scales: &[Scale]) -> String {
    let names: Vec<&str> = scales.iter().flat_map(Scale::names).collect();
    amount::pattern(&format!("({})", names.join("|")))
}

/// Reads an amount in the SI unit.
///
/// # Errors
/// The error, or an empty text if this is no number with a unit at all.
pub(super) fn parse(text: &str, scales: &[Scale]) -> Result<f64, String> {
    let amount = amount::split(text)?;
    let is_meant = |scale: &&Scale| scale.names().any(|name| name == amount.unit);
    let Some(scale) = scales.iter().find(is_meant) else {
        let names: Vec<&str> = scales.iter().map(|scale| scale.name).collect();
        let reason = match amount.unit {
            "" => "the unit is missing".to_owned(),
            unit => format!("{unit} is no unit of it"),
        };
        return Err(format!("{reason}: the units are {}", names.join(", ")));
    };
    Ok(amount.number(scale.power) * scale.factor)
}
