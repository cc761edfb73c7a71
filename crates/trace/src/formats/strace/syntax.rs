//! The grammar of strace's output: lines, arguments, descriptors, strings.
//!
//! After strace(1) and the output of strace 6.1.

use std::borrow::Cow;

use super::prefix::nanoseconds;

/// Content of a line after its [prefix](super::prefix).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    /// `name(rest`: arguments, `)`, result and duration.
    Call { name: &'a [u8], rest: &'a [u8] },
    /// `name(rest <unfinished ...>`
    Unfinished { name: &'a [u8], rest: &'a [u8] },
    /// `<... name resumed>rest`
    Resumed { name: &'a [u8], rest: &'a [u8] },
    /// `name(rest <detached ...>`: strace was ended in the midst of it.
    Detached { name: &'a [u8], rest: &'a [u8] },
    /// `--- SIGNAL ---`
    Signal,
    /// `+++ exited with 0 +++`, `+++ killed by SIGNAL +++`
    Exit,
    /// `+++ superseded by execve in pid 5 +++`
    Superseded { by: u32 },
}

const UNFINISHED: &[u8] = b"<unfinished ...>";
const DETACHED: &[u8] = b"<detached ...>";

impl Body<'_> {
    /// Returns true if it is a call without its end.
    pub(super) fn is_cut(&self) -> bool {
        // The usual case first: with -T, every call ends with its duration.
        match self {
            Body::Call { rest, .. } if !rest.ends_with(b">") => call(rest).is_none(),
            _ => false,
        }
    }

    /// Returns true if it is a call with its result, or a part of a call in two lines, which
    /// hardly any other text is. A trace of an attached program begins with such parts.
    pub(super) fn is_surely_strace(&self) -> bool {
        match self {
            Body::Call { rest, .. } => outcome_start(rest).is_some(),
            Body::Unfinished { .. } | Body::Resumed { .. } => true,
            _ => false,
        }
    }
}

/// Returns true if a write with these `RWF_` flags is as one to a file opened with O_SYNC.
pub(super) fn writes_through(flags: &[u8]) -> bool {
    has_flag(flags, b"RWF_SYNC") || has_flag(flags, b"RWF_DSYNC")
}

/// Reads what follows a line's prefix; none if it is not of strace.
pub(super) fn body(line: &[u8]) -> Option<Body<'_>> {
    if let Some(rest) = line.strip_prefix(b"<... ") {
        // `????` stands for a call that strace has not seen begin.
        let end = rest.iter().position(|it| matches!(it, b' ' | b'>'))?;
        let (name, rest) = rest.split_at(end);
        // Before version 5.?, strace put a space before `>`.
        let rest = rest.strip_prefix(b" resumed")?.trim_ascii_start();
        return Some(Body::Resumed {
            name,
            rest: rest.strip_prefix(b">")?,
        });
    }
    if line.starts_with(b"--- ") {
        return Some(Body::Signal);
    }
    if let Some(rest) = line.strip_prefix(b"+++ ") {
        return match rest.strip_prefix(b"superseded by execve in pid ") {
            Some(rest) => Some(Body::Superseded {
                by: u32::try_from(number(digits(rest))?).ok()?,
            }),
            None => Some(Body::Exit),
        };
    }
    let name = word(line);
    if name.is_empty() {
        return None;
    }
    let rest = line[name.len()..].strip_prefix(b"(")?;
    let trimmed = rest.trim_ascii_end();
    if !trimmed.ends_with(b" ...>") {
        return Some(Body::Call { name, rest });
    }
    Some(if let Some(rest) = trimmed.strip_suffix(UNFINISHED) {
        Body::Unfinished {
            name,
            rest: rest.trim_ascii_end(),
        }
    } else if let Some(rest) = trimmed.strip_suffix(DETACHED) {
        Body::Detached { name, rest }
    } else {
        Body::Call { name, rest }
    })
}

fn outcome_start(rest: &[u8]) -> Option<&[u8]> {
    let rest = &rest[Arguments::of(rest)?.length..];
    rest.trim_ascii_start().strip_prefix(b"= ")
}

/// The arguments of a call: the first few, each as printed.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    items: [&'a [u8]; Arguments::KEPT],
    count: usize,
    /// Bytes up to and including the closing parenthesis.
    length: usize,
}

impl<'a> Arguments<'a> {
    const KEPT: usize = 6;

    /// Splits at the commas outside strings, brackets and annotations.
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        let mut arguments = Self {
            items: [b""; Self::KEPT],
            count: 0,
            length: 0,
        };
        let mut depth = 0_usize;
        let mut start = 0;
        let mut at = 0;
        loop {
            match *text.get(at)? {
                b'"' => at = string_end(text, at)?,
                b'<' if text.get(at + 1) == Some(&b'<') => at += 1,
                b'<' => at = annotation_end(text, at)?,
                b'(' | b'[' | b'{' => depth += 1,
                b')' if depth == 0 => {
                    arguments.push(&text[start..at]);
                    arguments.length = at + 1;
                    return Some(arguments);
                }
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                b',' if depth == 0 => {
                    arguments.push(&text[start..at]);
                    start = at + 1;
                }
                b'/' if text.get(at + 1) == Some(&b'*') => {
                    at += 2 + memchr::memmem::find(&text[at + 2..], b"*/")? + 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn push(&mut self, item: &'a [u8]) {
        if let Some(slot) = self.items.get_mut(self.count) {
            *slot = item.trim_ascii();
            self.count += 1;
        }
    }

    /// The first few arguments.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.items.into_iter().take(self.count)
    }

    /// The argument at this position, from 0; empty if there is none.
    pub(super) fn get(&self, index: usize) -> &'a [u8] {
        self.items.get(index).copied().unwrap_or_default()
    }
}

/// The position of the quote that closes the string which opens at `at`.
fn string_end(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += 1;
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 1;
    }
}

/// The position of the `>` that closes the annotation which opens at `at`.
///
/// strace escapes both `<` and `>` in paths. An annotation may hold another
/// (`</dev/null<char 1:3>>`) or an arrow (`<TCP:[1.2.3.4:5->6.7.8.9:10]>`).
pub(super) fn annotation_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.iter().enumerate().skip(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if text[index - 1] == b'-' && text.get(at + 1) != Some(&b'/') => {}
            b'>' if depth == 1 => return Some(index),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Result of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    /// The value; none if the call did not return (`?`).
    pub(super) value: Option<i64>,
    /// The value as printed, with an annotation if it is a descriptor.
    pub(super) text: &'a [u8],
    /// Time that the call took; none without -T.
    pub(super) duration_ns: Option<i64>,
}

/// Splits what follows the opening parenthesis of a call.
pub(super) fn call(rest: &[u8]) -> Option<(Arguments<'_>, Outcome<'_>)> {
    let arguments = Arguments::of(rest)?;
    let rest = rest[arguments.length..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii();
    let (text, duration_ns) = match rest.strip_suffix(b">").and_then(duration) {
        Some((rest, duration)) => (rest, Some(duration)),
        None => (rest, None),
    };
    if text.is_empty() {
        return None;
    }
    let value = if text[0] == b'?' {
        None
    } else {
        Some(signed(text)?)
    };
    Some((
        arguments,
        Outcome {
            value,
            text,
            duration_ns,
        },
    ))
}

/// ` <0.000146`
fn duration(text: &[u8]) -> Option<(&[u8], i64)> {
    let start = memchr::memrchr(b'<', text)?;
    let mut parts = text[start + 1..].splitn(2, |byte| *byte == b'.');
    let (seconds, fraction) = (parts.next()?, parts.next()?);
    if seconds.is_empty() {
        return None;
    }
    Some((
        text[..start].trim_ascii_end(),
        nanoseconds(seconds, fraction)?,
    ))
}

/// The process number in `5 /* 1005 in strace's PID NS */`, which strace adds
/// where the traced process has another number for it.
pub(super) fn translated(text: &[u8]) -> Option<u32> {
    const NAMESPACE: &[u8] = b" in strace's PID NS";
    let start = memchr::memmem::find(text, b"/* ")? + 3;
    let digits = digits(&text[start..]);
    if !text[start + digits.len()..].starts_with(NAMESPACE) {
        return None;
    }
    u32::try_from(number(digits)?).ok()
}

/// A descriptor argument: `3`, `3</path>`, `AT_FDCWD</path>`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    /// The number; none for AT_FDCWD.
    pub(super) number: Option<i32>,
    /// Annotation in angle brackets that `-y` printed.
    pub(super) annotation: Option<&'a [u8]>,
}

/// With `-X raw` and `-X verbose` the current directory is a number.
const AT_FDCWD: i32 = -100;

/// Reads a descriptor.
pub(super) fn descriptor(argument: &[u8]) -> Option<Descriptor<'_>> {
    let (number, rest) = match argument.strip_prefix(b"AT_FDCWD") {
        Some(rest) => (None, rest),
        None => {
            let value = i32::try_from(signed(argument)?).ok()?;
            let rest = argument.strip_prefix(b"-").unwrap_or(argument);
            (Some(value), &rest[digits(rest).len()..])
        }
    };
    // `-100 /* AT_FDCWD */</path>`
    let rest = match rest.strip_prefix(b" /*") {
        Some(comment) => &comment[memchr::memmem::find(comment, b"*/")? + 2..],
        None => rest,
    };
    let annotation = match rest.first() {
        Some(b'<') => Some(&rest[1..annotation_end(rest, 0)?]),
        _ => None,
    };
    let number = number.filter(|it| *it != AT_FDCWD);
    Some(Descriptor { number, annotation })
}

/// The bytes of a string argument `"…"`; none if it is none (`NULL`, `0x…`).
pub(super) fn string(argument: &[u8]) -> Option<Cow<'_, [u8]>> {
    if argument.first() != Some(&b'"') {
        return None;
    }
    Some(unescape(&argument[1..string_end(argument, 0)?]))
}

/// Replaces `\n`, `\"`, `\303`, `\xc3`…
pub(super) fn unescape(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', text) else {
        return Cow::Borrowed(text);
    };
    let mut plain = text[..first].to_vec();
    let mut at = first;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let Some(&escape) = text.get(at) else {
            plain.push(byte);
            break;
        };
        at += 1;
        plain.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'x' => coded(text, &mut at, 16, 2),
            b'0'..=b'7' => {
                at -= 1;
                coded(text, &mut at, 8, 3)
            }
            other => other,
        });
    }
    Cow::Owned(plain)
}

fn coded(text: &[u8], at: &mut usize, base: u32, most: usize) -> u8 {
    let mut value = 0_u32;
    let end = (*at + most).min(text.len());
    while *at < end {
        let Some(digit) = char::from(text[*at]).to_digit(base) else {
            break;
        };
        value = value * base + digit;
        *at += 1;
    }
    value as u8
}

/// A number argument: decimal, hexadecimal with `0x`, or octal with `0`.
pub(super) fn unsigned(argument: &[u8]) -> Option<u64> {
    match argument.strip_prefix(b"0x") {
        Some(hexadecimal) => {
            let digits = hexadecimal
                .iter()
                .take_while(|it| it.is_ascii_hexdigit())
                .count();
            let text = std::str::from_utf8(&hexadecimal[..digits]).ok()?;
            u64::from_str_radix(text, 16).ok()
        }
        None => number(digits(argument)),
    }
}

/// A number argument that may be negative.
pub(super) fn signed(argument: &[u8]) -> Option<i64> {
    match argument.strip_prefix(b"-") {
        Some(rest) => i64::try_from(number(digits(rest))?).ok().map(|it| -it),
        // An address above 2⁶³ is a value too; as a number it has no use.
        None => unsigned(argument).map(|it| i64::try_from(it).unwrap_or(i64::MAX)),
    }
}

/// The parts of a list `[…]` or a structure `{…}`, each as printed.
pub(super) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = match list.first() {
        Some(b'[' | b'{') => &list[1..],
        _ => b"",
    };
    std::iter::from_fn(move || {
        let end = item_end(rest)?;
        let item = rest[..end].trim_ascii();
        rest = match rest[end] {
            b',' => &rest[end + 1..],
            _ => b"",
        };
        (!item.is_empty()).then_some(item)
    })
}

/// Returns the end of a list's first item: its comma or the closing bracket.
fn item_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match *text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'<' if text.get(at + 1) == Some(&b'<') => at += 1,
            b'<' => at = annotation_end(text, at)?,
            b'(' | b'[' | b'{' => depth += 1,
            b',' | b']' | b'}' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

/// The value of a part of a structure: of `l_len=` in `{…, l_len=512}`.
pub(super) fn member<'a>(structure: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    items(structure).find_map(|it| it.strip_prefix(name))
}

/// The value of a field in a structure: `st_size=` in `{…, st_size=5, …}`.
pub(super) fn field<'a>(argument: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = memchr::memmem::find(argument, name)? + name.len();
    Some(&argument[start..])
}

/// Returns true if a list of flags `A|B|C` (maybe within a structure) has this one.
pub(super) fn has_flag(argument: &[u8], flag: &[u8]) -> bool {
    argument
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .any(|it| it == flag)
}

fn word(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|it| !it.is_ascii_alphanumeric() && *it != b'_');
    &text[..end.unwrap_or(text.len())]
}

pub(super) fn digits(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|it| !it.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, digit| {
        value
            .checked_mul(10)?
            .checked_add(u64::from(digit.wrapping_sub(b'0')))
    })
}
