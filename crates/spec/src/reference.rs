//! The reference page of the scenario file, from the declarations.

use std::fmt::Write;

use crate::declare::{Field, Presence, Section, Shape, heading};
use crate::error::Error;
use crate::load::DECLARED;
use crate::tree::{Node, Origin, Raw, Table, join};
use crate::{links, models, presets, workloads};

/// The reference page in Markdown: every field with its type, default and
/// source. `docs/scenario.md` is this text.
#[must_use]
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    section(&DECLARED, "", &DECLARED.doc, &mut page);
    page.push_str("\n## Presets\n");
    for (name, description) in presets::presets() {
        let title = format!("system = {name:?}");
        values(&title, description, presets::read(name), &mut page);
    }
    page.push_str("\n## Presets of workloads\n");
    for (name, description) in workloads::workloads() {
        let title = format!("preset = {name:?}");
        values(&title, description, workloads::whole(name), &mut page);
    }
    page.push_str("\n## Models of devices\n");
    for (kind, name, description) in models::models() {
        let title = format!("kind = {kind:?}, model = {name:?}");
        values(&title, description, models::read(kind, name), &mut page);
    }
    page.push_str("\n## Links\n");
    for (name, description) in links::links() {
        let title = format!("link = {name:?}");
        values(&title, description, links::read(name).map(Ok), &mut page);
    }
    page
}

const INTRODUCTION: &str = concat!(
    r#"# The scenario file

<!-- Generated from the declarations in crates/spec; `cargo test -p headrace-spec` says how. -->

A scenario is a TOML file that says what the file system is, what its clients do, and how the
simulation is run. The shortest one:

```toml
"#,
    include_str!("shortest.toml"),
    r#"```

A value is looked for on the command line (`--set network.latency="1 ms"`; an entry of a list is
named by its number, as in `--set workload.0.files=4`, which the only one does not need), then in
the file, then in the presets that `system` and a workload's `preset` name, then among the defaults below. `headrace explain FILE` prints the full scenario and
where each value came from.

Units are required. Sizes: B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB, PiB (powers
of 1024). Rates: a size per second as in `"60 MB/s"`, or bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s
(powers of 1000, eight bits to a byte). Times: ns, us, ms, s, min, h, d.
"#
);

fn section(section: &Section, path: &str, doc: &str, page: &mut String) {
    if !path.is_empty() {
        let title = if path.ends_with(".0") {
            heading(path)
        } else {
            format!("[{path}]")
        };
        page.push_str(&format!("\n## `{title}`\n"));
    } else {
        page.push_str("\n## Top level\n");
    }
    paragraph(doc, page);
    let own: Vec<&Field> = section
        .fields
        .iter()
        .filter(|field| is_leaf(field))
        .collect();
    let kinds = section.kinds();
    let rows: Vec<&Field> = kinds
        .map(|kinds| kinds.kind.as_ref())
        .into_iter()
        .chain(own)
        .collect();
    table(&rows, page);
    if let Some(kinds) = kinds {
        for (kind, section) in &kinds.kinds {
            let place = match path {
                "" => String::new(),
                path => format!("`{}`: ", heading(path)),
            };
            page.push_str(&format!("\n### {place}`kind = {kind:?}`\n"));
            paragraph(&section.doc, page);
            table(&section.fields.iter().collect::<Vec<_>>(), page);
        }
    }
    inner_sections(section, path, page);
}

fn inner_sections(section: &Section, outer: &str, page: &mut String) {
    for field in &section.fields {
        let path = join(outer, field.name);
        match &field.shape {
            Shape::Section(inner) => self::section(inner, &path, &field.doc, page),
            Shape::Tables(inner) => self::section(inner, &format!("{path}.0"), &field.doc, page),
            Shape::Kinds(kinds) => {
                for (_, section) in &kinds.kinds {
                    inner_sections(section, outer, page);
                }
            }
            Shape::Leaf { .. } => {}
        }
    }
}

fn is_leaf(field: &Field) -> bool {
    matches!(field.shape, Shape::Leaf { .. })
}

fn paragraph(text: &str, page: &mut String) {
    page.push_str(&format!("\n{text}\n"));
}

fn table(fields: &[&Field], page: &mut String) {
    if !fields.iter().any(|field| is_leaf(field)) {
        return;
    }
    page.push_str(
        "\n| field | what it is | value | default | why |\n| --- | --- | --- | --- | --- |\n",
    );
    for field in fields {
        let Shape::Leaf { expected, .. } = &field.shape else {
            continue;
        };
        let (default, why) = match &field.presence {
            Presence::Required { .. } => ("required".to_owned(), String::new()),
            Presence::Default { value, source } => (format!("`{value}`"), (*source).to_owned()),
            Presence::Optional { without } => ("none".to_owned(), format!("without it: {without}")),
            Presence::Same { field } => (format!("`{field}`"), String::new()),
            Presence::Supplied { from } => ((*from).to_owned(), String::new()),
            Presence::Section | Presence::Kinds | Presence::Over { .. } => continue,
        };
        let cells = [
            &format!("`{}`", field.name),
            &field.doc,
            expected,
            &default,
            &why,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        page.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

fn values(title: &str, description: &str, read: Option<Result<Node, Error>>, page: &mut String) {
    page.push_str(&format!("\n### `{title}`\n"));
    paragraph(description, page);
    let Some(Ok(Node {
        raw: Raw::Table(table),
        ..
    })) = read
    else {
        return;
    };
    page.push_str("\n| field | value | source |\n| --- | --- | --- |\n");
    preset_rows(&table, "", page);
}

fn preset_rows(table: &Table, path: &str, page: &mut String) {
    for entry in &table.entries {
        let path = join(path, &entry.key);
        match (&entry.node.raw, &entry.node.origin) {
            (Raw::Table(table), _) => preset_rows(table, &path, page),
            (raw, Origin::Preset { source, .. }) => {
                // Writing to a string cannot fail.
                let _ = writeln!(page, "| `{path}` | `{raw}` | {source} |");
            }
            _ => {}
        }
    }
}
