//! Prefix of a call on a line of strace: process, time, and the additions of `-n`, `-i` and `-r`.
//!
//! ```text
//! 830<tar> 1600000000.000100 (+     0.000050) [ 257] [00007f0a12345678] openat(
//! └─ -f -Y └─ -ttt           └─ -r            └─ -n  └─ -i
//! [pid   830] 12:34:56.000100 openat(      without -o, with -tt
//! 830      0.000100 openat(                -r alone: seconds in six columns
//! ```

use super::syntax::{annotation_end, digits, number};

/// The beginning of a line, and the rest, which should be a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prefix<'a> {
    /// The process or thread; none if strace saw only one and left it out.
    pub(super) process: Option<u32>,
    pub(super) stamp: Stamp,
    pub(super) rest: &'a [u8],
}

/// A time as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) kind: StampKind,
    /// Nanoseconds, by kind.
    pub(super) time_ns: i64,
    /// True if the timestamp has no fraction of a second.
    pub(super) whole: bool,
}

/// Origin of a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StampKind {
    /// A number of seconds: since the epoch, or since the line before.
    Seconds {
        /// True if the number is right-aligned in six columns, as -r prints it.
        aligned: bool,
    },
    /// The time of day.
    OfDay,
    /// There is none.
    Absent,
}

const ABSENT: Stamp = Stamp {
    kind: StampKind::Absent,
    time_ns: 0,
    whole: false,
};

/// Linux gives no larger number to a process.
const LARGEST_PROCESS: u64 = 1 << 22;
/// The columns that -r uses for whole seconds.
const ALIGNED: usize = 6;
/// The columns that some versions use for the process with -o.
const PROCESS_COLUMNS: usize = 6;

/// Reads the beginning of a line.
pub(super) fn prefix(line: &[u8]) -> Prefix<'_> {
    let (process, separator, rest) = match process(line) {
        Some((process, separator, rest)) => (Some(process), separator, rest),
        None => (None, 0, line),
    };
    let text = rest.trim_ascii_start();
    let spaces = rest.len() - text.len();
    let (stamp, rest) = stamp(text, spaces, separator).unwrap_or((ABSENT, text));
    Prefix {
        process,
        stamp,
        rest: without_boxes(without_relative(rest)).trim_ascii_start(),
    }
}

/// `5967 ` or `5967<tar> ` (with -o) or `[pid  5967] ` (without): the number,
/// the most spaces that follow it, and what follows it.
fn process(line: &[u8]) -> Option<(u32, usize, &[u8])> {
    let (bracketed, text) = match line.strip_prefix(b"[pid") {
        Some(rest) => (true, rest.trim_ascii_start()),
        None => (false, line),
    };
    let digits = digits(text);
    let value = number(digits).filter(|it| *it <= LARGEST_PROCESS)?;
    let mut rest = &text[digits.len()..];
    if rest.first() == Some(&b'<') {
        rest = &rest[annotation_end(rest, 0)? + 1..];
    }
    if bracketed {
        rest = rest.strip_prefix(b"]")?;
    }
    if rest.first() != Some(&b' ') {
        return None;
    }
    let separator = match bracketed {
        true => 1,
        false => PROCESS_COLUMNS.saturating_sub(digits.len()).max(1),
    };
    Some((u32::try_from(value).ok()?, separator, rest))
}

fn stamp(text: &[u8], spaces: usize, separator: usize) -> Option<(Stamp, &[u8])> {
    let first = digits(text);
    if first.is_empty() {
        return None;
    }
    let rest = &text[first.len()..];
    if rest.first() == Some(&b':') {
        return of_day(text);
    }
    let (fraction, rest) = fraction(rest)?;
    let least = ALIGNED.saturating_sub(first.len()) + usize::from(separator > 0);
    let stamp = Stamp {
        kind: StampKind::Seconds {
            aligned: spaces >= least && spaces > separator,
        },
        time_ns: nanoseconds(first, fraction.unwrap_or(b"0"))?,
        whole: fraction.is_none(),
    };
    Some((stamp, rest))
}

/// `.219264 ` or ` `: the digits, and what follows the space.
fn fraction(text: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Some((None, text.strip_prefix(b" ")?));
    };
    let fraction = digits(rest);
    Some((Some(fraction), rest[fraction.len()..].strip_prefix(b" ")?))
}

/// `12:34:56.219264 `
fn of_day(text: &[u8]) -> Option<(Stamp, &[u8])> {
    let (clock, rest) = text.split_at_checked(8)?;
    let part = |at: usize, limit: u64| {
        let digits = digits(&clock[at..at + 2]);
        number(digits).filter(|it| digits.len() == 2 && *it < limit)
    };
    if clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    // 60: a leap second.
    let seconds = (part(0, 24)? * 60 + part(3, 60)?) * 60 + part(6, 61)?;
    let (fraction, rest) = fraction(rest)?;
    let within = nanoseconds(b"0", fraction.unwrap_or(b"0"))?;
    let stamp = Stamp {
        kind: StampKind::OfDay,
        time_ns: i64::try_from(seconds).ok()? * 1_000_000_000 + within,
        whole: fraction.is_none(),
    };
    Some((stamp, rest))
}

/// Seconds with a fraction of 1 to 9 digits.
pub(super) fn nanoseconds(seconds: &[u8], fraction: &[u8]) -> Option<i64> {
    if fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - fraction.len() as u32);
    let fraction = i64::try_from(number(fraction)?).ok()? * scale;
    i64::try_from(number(seconds)?)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction)
}

/// Returns the rest after `(+     0.000100) `, which -r adds to another time.
fn without_relative(text: &[u8]) -> &[u8] {
    let within = || {
        let rest = text.strip_prefix(b"(+")?.trim_ascii_start();
        let seconds = digits(rest);
        let rest = &rest[seconds.len()..];
        let rest = match rest.strip_prefix(b".") {
            Some(rest) => &rest[digits(rest).len()..],
            None => rest,
        };
        (!seconds.is_empty()).then(|| rest.strip_prefix(b") "))?
    };
    within().unwrap_or(text)
}

/// Returns the rest after `[ 257] ` and `[00007f0a12345678] `; question marks stand for numbers
/// that strace does not know.
fn without_boxes(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b"[") {
        let inside = rest
            .iter()
            .take(20)
            .take_while(|it| it.is_ascii_hexdigit() || **it == b' ' || **it == b'?')
            .count();
        match rest[inside..].strip_prefix(b"] ") {
            Some(after) if inside > 0 => text = after,
            _ => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: StampKind = StampKind::Seconds { aligned: false };
    const ALIGNED_SECONDS: StampKind = StampKind::Seconds { aligned: true };

    #[test]
    fn every_combination_of_flags_is_taken_apart() {
        let cases: &[(&str, Option<u32>, StampKind, i64)] = &[
            (
                "5967  1795297771.219264 x()",
                Some(5967),
                SECONDS,
                1_795_297_771_219_264_000,
            ),
            ("5     7.5 x()", Some(5), SECONDS, 7_500_000_000),
            ("5 7.5 x()", Some(5), SECONDS, 7_500_000_000),
            (
                "[pid    12] 7.000000001 x()",
                Some(12),
                SECONDS,
                7_000_000_001,
            ),
            ("[pid 12<a b>] 7.1 x()", Some(12), SECONDS, 7_100_000_000),
            ("830<tar> 7.1 x()", Some(830), SECONDS, 7_100_000_000),
            (
                "830<a\\76b> 7.1 [ 257] [00007f0a12345678] x()",
                Some(830),
                SECONDS,
                7_100_000_000,
            ),
            (
                "830 7.1 (+     0.000100) [????] [????????????????] x()",
                Some(830),
                SECONDS,
                7_100_000_000,
            ),
            (
                "1795297771.219264 x()",
                None,
                SECONDS,
                1_795_297_771_219_264_000,
            ),
            ("1795297771 x()", None, SECONDS, 1_795_297_771_000_000_000),
            (
                "16293 1795625790 x()",
                Some(16293),
                SECONDS,
                1_795_625_790_000_000_000,
            ),
            (
                "610      0.010000 x()",
                Some(610),
                ALIGNED_SECONDS,
                10_000_000,
            ),
            (
                "610        0.010000 x()",
                Some(610),
                ALIGNED_SECONDS,
                10_000_000,
            ),
            (
                "16369     12.5 x()",
                Some(16369),
                ALIGNED_SECONDS,
                12_500_000_000,
            ),
            ("16369      0 x()", Some(16369), ALIGNED_SECONDS, 0),
            (
                "[pid 16369]      0.000000001 x()",
                Some(16369),
                ALIGNED_SECONDS,
                1,
            ),
            ("     0.000100 x()", None, ALIGNED_SECONDS, 100_000),
            (
                "16136 16:56:29.614664 x()",
                Some(16136),
                StampKind::OfDay,
                60_989_614_664_000,
            ),
            ("00:00:01 x()", None, StampKind::OfDay, 1_000_000_000),
            (
                "12:00:00 (+     0) x()",
                None,
                StampKind::OfDay,
                43_200_000_000_000,
            ),
            ("5 x()", Some(5), StampKind::Absent, 0),
            ("[pid 5] [ 257] x()", Some(5), StampKind::Absent, 0),
            ("x()", None, StampKind::Absent, 0),
        ];
        for (line, process, kind, time_ns) in cases {
            let found = prefix(line.as_bytes());
            assert_eq!(
                (
                    found.process,
                    found.stamp.kind,
                    found.stamp.time_ns,
                    found.rest
                ),
                (*process, *kind, *time_ns, &b"x()"[..]),
                "{line}"
            );
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        for line in [
            "",
            "5",
            "5 ",
            "[pid",
            "[pid 5",
            "5<",
            "25:00:00 x",
            "1.0000000001 x",
            "[g] x",
        ] {
            let found = prefix(line.as_bytes());
            assert_eq!(found.stamp.kind, StampKind::Absent, "{line}");
        }
    }
}
