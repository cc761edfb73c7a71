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
        comment(&note(field, expected), text);
        let is_needed = matches!(field.presence, Presence::Required { .. });
        let mark = if is_needed && !is_example { "" } else { "#" };
        text.push_str(&format!(
            "{mark}{} = {}\n",
            key(field.name),
            answer(field, section)
        ));
    }
}

/// The comment on the value of a field.
fn note(field: &Field, expected: &str) -> String {
    let expected = capital(expected);
    match &field.presence {
        Presence::Required { .. } => format!("Required. {expected}. The value is an example."),
        Presence::Default { value, source } => format!("{expected}. Default: {value} ({source})."),
        Presence::Optional { without, .. } => format!("{expected}. If unknown: {without}."),
        Presence::Same { field } => format!("{expected}. Default: as {field}."),
        Presence::Supplied { from } => format!("{expected}. Default: {from}."),
        Presence::Over { .. } | Presence::Section | Presence::Kinds => format!("{expected}."),
    }
}

/// The example or the default of a field.
fn answer(field: &Field, section: &Section) -> Raw {
    match &field.presence {
        Presence::Required { example } => example.clone(),
        Presence::Default { value, .. } => value.clone(),
        Presence::Optional { example, .. } => example.clone().unwrap_or_else(|| "".into()),
        Presence::Same { field: other } => {
            let other = section.fields.iter().find(|it| it.name == *other);
            other.map_or_else(|| "".into(), |other| answer(other, section))
        }
        Presence::Supplied { .. } => "my system".into(),
        Presence::Over { .. } | Presence::Section | Presence::Kinds => "".into(),
    }
}

/// The sections of a section; those of a list are examples.
fn sections(section: &Section, path: &str, is_example: bool, text: &mut String) {
    for field in &section.fields {
        let path = join(path, field.name);
        match &field.shape {
            Shape::Section(inner) => {
                heading(&field.doc, None, text);
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
                heading(&field.doc, without, text);
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

fn heading(question: &str, without: Option<&str>, text: &mut String) {
    text.push_str("\n\n");
    text.push_str(&format!("# {}\n", "-".repeat(WIDTH - 2)));
    comment(question, text);
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
