//! A number with a unit, read exactly.

/// A decimal number `digits × 10^exponent` and the unit behind it.
#[derive(Debug, PartialEq)]
pub(crate) struct Amount<'a> {
    pub digits: u128,
    pub exponent: i32,
    pub unit: &'a str,
}

/// A unit and how much of the first unit it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub name: &'static str,
    pub factor: u64,
}

pub(crate) const fn unit(name: &'static str, factor: u64) -> Unit {
    Unit { name, factor }
}

/// The pattern, in JSON Schema, of the texts that [`split`] reads with units of the pattern `units`.
pub(crate) fn pattern(units: &str) -> String {
    let whole = "([0-9]+|[1-9][0-9]{0,2}((,[0-9]{3})+|(_[0-9]{3})+))";
    format!(r"^\s*({whole}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*{units}\s*$")
}

/// Splits `"1.5 GiB"` or `"1,000,000 h"`.
///
/// # Errors
/// The error, or an empty text if this is no number with a unit at all.
pub(crate) fn split(text: &str) -> Result<Amount<'_>, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err("it must not be negative".to_owned());
    }
    let end = number_end(text);
    let (number, unit) = text.split_at(end);
    if unit.starts_with([',', '_']) {
        return Err(
            "groups of thousands have three digits, and a decimal point is a point".to_owned(),
        );
    }
    let number = number.replace([',', '_'], "");
    let (mantissa, power) = match number.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse::<i32>().map_err(|_| too_long())?),
        None => (number.as_str(), 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && part.is_empty() {
        return Err(String::new());
    }
    let part = part.trim_end_matches('0');
    let digits = format!("{whole}{part}");
    // 38 digits are what a u128 holds in any case.
    let places = i32::try_from(part.len()).map_err(|_| too_long())?;
    if digits.trim_start_matches('0').len() > 38 {
        return Err(too_long());
    }
    let digits = if digits.is_empty() {
        0
    } else {
        digits.parse().map_err(|_| too_long())?
    };
    let exponent = power.checked_sub(places).ok_or_else(too_long)?;
    Ok(Amount {
        digits,
        exponent,
        unit: unit.trim(),
    })
}

fn too_long() -> String {
    "the number has too many digits".to_owned()
}

/// Returns the end of the number: digits, grouped in thousands or not, a point, and an exponent.
/// The exponent needs digits (`1 e` might begin a unit).
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    // A group that begins with 0 is a decimal comma.
    if (1..=3).contains(&end) && bytes[0] != b'0' {
        let separator = bytes.get(end).copied();
        while matches!(separator, Some(b',' | b'_'))
            && bytes.get(end).copied() == separator
            && digits(end + 1) == 3
        {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = if end + 1 + sign <= bytes.len() {
            digits(end + 1 + sign)
        } else {
            0
        };
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    end
}

impl Amount<'_> {
    /// The number alone, rounded once.
    pub(crate) fn number(&self, shift: i32) -> f64 {
        let text = format!("{}e{}", self.digits, self.exponent.saturating_add(shift));
        text.parse().unwrap_or(f64::NAN)
    }

    /// The unit by its name.
    ///
    /// # Errors
    /// The units there are, and the one that was probably meant.
    pub(crate) fn find_unit(&self, units: &[Unit]) -> Result<Unit, String> {
        if let Some(unit) = units.iter().find(|unit| unit.name == self.unit) {
            return Ok(*unit);
        }
        let names: Vec<&str> = units.iter().map(|unit| unit.name).collect();
        if self.unit.is_empty() {
            return Err("the unit is missing".to_owned());
        }
        Err(format!("the units are {}", names.join(", ")))
    }
}

/// The fewest digits that read back as the same number.
pub(crate) fn digits(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The number rounded to 15 significant digits.
pub(crate) fn trimmed(number: f64) -> f64 {
    format!("{number:.14e}").parse().unwrap_or(number)
}

/// Returns the shortest notation of a value as number and unit; the first of several. Only
/// notations that read back as the value are considered.
pub(crate) fn shortest(
    ways: impl IntoIterator<Item = (f64, &'static str)>,
    same: impl Fn(&str) -> bool,
) -> Option<String> {
    let texts = ways.into_iter().map(|(number, unit)| {
        let digits = digits(number);
        (digits.len(), format!("{digits} {unit}"))
    });
    let exact = texts.filter(|(_, text)| same(text));
    exact
        .min_by_key(|(length, _)| *length)
        .map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn thousands_have_groups_of_three_digits() {
        for (text, number, unit) in [
            ("1,000,000 h", 1e6, "h"),
            ("1_000 KiB", 1e3, "KiB"),
            ("12,345.5 s", 12_345.5, "s"),
            ("1234.5s", 1_234.5, "s"),
        ] {
            let amount = split(text).expect(text);
            assert_eq!((amount.number(0), amount.unit), (number, unit), "{text}");
        }
        for text in [
            "0,001 s",
            "1_000,000 s",
            "1,5 s",
            "1,00,000 h",
            "1,0000 s",
            "1234,567 s",
            "1,000,00 s",
        ] {
            let error = split(text).expect_err(text);
            assert!(error.contains("three digits"), "{text}: {error}");
        }
    }
}
