//! A document as a form to fill in, from its declaration.

use crate::declare::{Field, Presence, Section, Shape};
use crate::tree::{Raw, join, key};

/// Columns of a line of comment.
const WIDTH: usize = 96;

/// Every field of a document with its question. Explanations begin with `# `; answers that are not
/// given yet begin with `#` alone, to be removed.
pub(crate) fn form(declared: &Section, noun: &str) -> String {
    let mut text = String::new();
    comment(&declared.doc, &mut text);
    text.push_str("#\n");
    comment(
        &format!(
            "This form is a {noun} as it stands. To answer a question, remove the # before its \
             field and write the answer; every value below is an example or a default. Repeat a \
             section in two brackets for each further entry."
        ),
        &mut text,
    );
    values(declared, false, &mut text);
    sections(declared, "", false, &mut text);
    text
}

/// The values of a section; those of an example are comments.
fn values(section: &Section, is_example: bool, text: &mut String) {
    for field in &section.fields {
        let Shape::Leaf { expected, .. } = &field.shape else {
            continue;
        };
        text.push('\n');
        comment(&field.doc, text);
        let (value, note, is_given) = answer(field, expected);
        comment(&note, text);
        let mark = if is_given && !is_example { "" } else { "#" };
        let value = value.map_or_else(String::new, |value| format!(" {value}"));
        text.push_str(&format!("{mark}{} ={value}\n", key(field.name)));
    }
}

/// The example or default of a field, the comment about it, and whether the document needs it.
fn answer<'a>(field: &'a Field, expected: &str) -> (Option<&'a Raw>, String, bool) {
    let expected = capital(expected);
    match &field.presence {
        Presence::Required { example } => {
            let note = format!("Required. {expected}. The value is an example.");
            (Some(example), note, true)
        }
        Presence::Default { value, source } => {
            let note = format!("{expected}. Default: {value} ({source}).");
            (Some(value), note, false)
        }
        Presence::Optional { without, example } => {
            let note = format!("{expected}. If unknown: {without}.");
            (example.as_ref(), note, false)
        }
        Presence::Same { field } => (None, format!("{expected}. Default: as {field}."), false),
        Presence::Supplied { from } => (None, format!("{expected}. Default: {from}."), false),
        Presence::Over { .. } | Presence::Section | Presence::Kinds => {
            (None, format!("{expected}."), false)
        }
    }
}

/// The sections of a section; those of a list are examples.
fn sections(section: &Section, path: &str, is_example: bool, text: &mut String) {
    for field in &section.fields {
        let path = join(path, field.name);
        match &field.shape {
            Shape::Section(inner) => {
                heading(&field.doc, &inner.doc, None, text);
                let mark = if is_example { "#" } else { "" };
                text.push_str(&format!("{mark}[{path}]\n"));
                values(inner, is_example, text);
                sections(inner, &path, is_example, text);
            }
            Shape::Tables(inner) => {
                let without = match &field.presence {
                    Presence::Optional { without, .. } => Some(*without),
                    _ => None,
                };
                heading(&field.doc, &inner.doc, without, text);
                let is_needed = without.is_none() && !is_example;
                let mark = if is_needed { "" } else { "#" };
                text.push_str(&format!("{mark}[[{path}]]\n"));
                values(inner, !is_needed, text);
                sections(inner, &path, !is_needed, text);
            }
            Shape::Leaf { .. } | Shape::Kinds(_) => {}
        }
    }
}

fn heading(question: &str, doc: &str, without: Option<&str>, text: &mut String) {
    text.push_str("\n\n");
    text.push_str(&format!("# {}\n", "-".repeat(WIDTH - 2)));
    comment(question, text);
    if doc != question {
        comment(doc, text);
    }
    if let Some(without) = without {
        comment(&format!("If unknown: {without}."), text);
    }
}

fn comment(prose: &str, text: &mut String) {
    let mut line = "#".to_owned();
    for word in prose.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
