//! The reference pages of the scenario file, from the declarations.
//!
//! A type of section is documented once. The page of a top-level section has the types below
//! it; a type that several sections use equally has a page of its own.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::declare::{Field, Presence, Section, Shape};
use crate::error::Error;
use crate::load::DECLARED;
use crate::tree::{Node, Origin, Raw, Table, join};
use crate::{links, models, presets, workloads};

/// One page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in `docs/reference/scenario/`.
    pub file: String,
    /// Its text in Markdown.
    pub text: String,
}

/// The reference pages in Markdown: every field with its type, default and source.
/// `docs/reference/scenario/` has these pages.
#[must_use]
pub fn reference() -> Vec<Page> {
    let types = Types::new(&DECLARED);
    let mut pages = vec![index(&types)];
    for (file, name) in &types.pages {
        let mut text = String::new();
        types.section(name, 1, &mut text);
        pages.push(page(file, text));
    }
    pages.push(presets_page());
    pages.push(workloads_page());
    pages.push(models_page());
    pages.push(links_page());
    pages
}

/// The reference of a document without presets, on one page.
pub(crate) fn of_document(declared: &Section, noun: &str, introduction: &str) -> Page {
    let types = Types::on_one_page(declared, noun);
    let mut text = format!("# The {noun} file\n\n{}\n", introduction.trim());
    text.push_str(UNITS);
    text.push_str("\n## Top level\n");
    types.body(declared, "", noun, 2, &mut text);
    for field in sections_of(declared) {
        if let Shape::Section(inner) | Shape::Tables(inner) = &field.shape {
            types.section(inner.name, 2, &mut text);
        }
    }
    page(noun, text)
}

/// Units of documents that are not simulated.
const UNITS: &str = "
## Units

Units are required. Money is a plain number in the currency of the catalogue.

| quantity | units |
| --- | --- |
| size | B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024) |
| rate | a size per second as in `\"60 MB/s\"`, or bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (powers of 1000, eight bits to a byte) |
| time | ps, ns, us, ms, s, min, h, d, w, month (730 h), y (8760 h), or words: \"1,000,000 hours\" |
| part, growth, probability | `\"30 %\"` or `0.3` |
| power | W, mW, kW, MW |
| apparent power | VA, kVA, MVA |
| current, voltage | A, mA, kA; V, kV |
| weight | kg, g, t |
";

const GENERATED: &str = "<!-- Generated from the declarations in crates/spec by UPDATE=1 cargo test -p headrace-spec --test reference -->";

const INTRODUCTION: &str = concat!(
    r#"# The scenario file

A scenario is a TOML file that says what the file system is, what its clients do, and how the
simulation is run. The shortest one:

```toml
"#,
    include_str!("shortest.toml"),
    r#"```

A value is looked for in this order:

1. on the command line: `--set network.latency="1 ms"`. An entry of a list is named by its number,
   as in `--set workload.0.files=4`; the only entry needs no number;
2. in the file;
3. in the presets that `system` and a workload's `preset` name ([presets](presets.md),
   [presets of workloads](workload-presets.md));
4. among the defaults.

`headrace explain FILE` prints the full scenario and where each value came from.

## Units

Units are required.

| quantity | units |
| --- | --- |
| size | B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024) |
| rate | a size per second as in `"60 MB/s"`, or bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (powers of 1000, eight bits to a byte) |
| time | ps, ns, us, ms, s, min, h, d, w, month (730 h), y (8760 h), or words: `"12 hours"` |
"#
);

fn page(file: &str, text: String) -> Page {
    Page {
        file: format!("{file}.md"),
        text: text.replacen('\n', &format!("\n\n{GENERATED}\n"), 1),
    }
}

fn index(types: &Types) -> Page {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n## Top level\n");
    types.body(&DECLARED, "", "index", 2, &mut text);
    let lists = [
        ("presets", "Values of known systems: `system = …`."),
        (
            "workload-presets",
            "Known benchmarks and programs: `preset = …` of a workload.",
        ),
        ("models", "Drives: `model = …` of a device."),
        ("links", "Links of the standards: `link = …` of a network."),
    ];
    text.push_str("\n## Lists of known values\n\n");
    for (file, what) in lists {
        let _ = writeln!(text, "- [{}]({file}.md): {what}", file.replace('-', " "));
    }
    page("index", text)
}

/// A type of section, where it is documented and where it is used.
struct Type<'a> {
    section: &'a Section,
    /// Documentation of its field, if only one field has the type.
    doc: &'a str,
    /// The page's name, without its ending.
    page: String,
    /// The path that its headings have.
    path: String,
    several: bool,
    /// All sections of a scenario that are of the type.
    uses: Vec<String>,
}

struct Types<'a> {
    all: BTreeMap<&'static str, Type<'a>>,
    /// The pages in order: name, and the type that it begins with.
    pages: Vec<(String, &'static str)>,
    /// The path of the first section that can be of a kind, by the kind's type.
    kinds: BTreeMap<&'static str, String>,
}

/// A field that has a type of section.
struct Use<'a> {
    parent: &'static str,
    field: &'a Field,
    section: &'a Section,
    several: bool,
    depth: usize,
}

impl<'a> Types<'a> {
    fn new(root: &'a Section) -> Types<'a> {
        let mut paths: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        all_paths(root, "", &mut paths);
        let mut types = Types {
            all: BTreeMap::new(),
            pages: Vec::new(),
            kinds: BTreeMap::new(),
        };
        let uses = uses(root);
        // A type is reached by its shallowest use first, so its parent has a place.
        for this in &uses {
            let name = this.section.name;
            if types.all.contains_key(name) {
                continue;
            }
            let same = uses.iter().filter(|it| it.section.name == name);
            let equal = same.clone().filter(|it| it.depth == this.depth).count();
            let file = this.field.name.replace('_', "-");
            let (page, path) = match types.all.get(this.parent) {
                Some(parent) if equal == 1 => {
                    (parent.page.clone(), join(&parent.path, this.field.name))
                }
                Some(_) => (file, format!("….{}", this.field.name)),
                None => (file, this.field.name.to_owned()),
            };
            if !types.pages.iter().any(|(known, _)| *known == page) {
                types.pages.push((page.clone(), name));
            }
            for (_, kind) in this.section.kinds().iter().flat_map(|it| &it.kinds) {
                let first = || path.clone();
                types.kinds.entry(kind.name).or_insert_with(first);
            }
            let of_type = Type {
                section: this.section,
                doc: if same.count() == 1 || equal == 1 {
                    &this.field.doc
                } else {
                    &this.section.doc
                },
                page,
                path,
                several: this.several,
                uses: paths.remove(name).unwrap_or_default(),
            };
            types.all.insert(name, of_type);
        }
        types
    }

    /// The same, all on one page.
    fn on_one_page(root: &'a Section, page: &str) -> Types<'a> {
        let mut types = Types::new(root);
        // Links to the beginning of a page lead to a heading then.
        types.pages.clear();
        for of_type in types.all.values_mut() {
            page.clone_into(&mut of_type.page);
        }
        types
    }

    /// A type with its heading, and the types that are documented below it.
    fn section(&self, name: &str, level: usize, text: &mut String) {
        let Some(this) = self.all.get(name) else {
            return;
        };
        if level > 1 {
            text.push('\n');
        }
        let marks = "#".repeat(level);
        let _ = writeln!(text, "{marks} `{}`", this.title());
        paragraph(this.doc, text);
        let own = this.path.clone();
        let others: Vec<String> = (this.uses.iter())
            .filter(|path| path.trim_matches(['[', ']']) != own)
            .map(|path| format!("`{path}`"))
            .collect();
        if !others.is_empty() {
            let also = if others.len() < this.uses.len() {
                "also "
            } else {
                ""
            };
            paragraph(
                &format!("A scenario {also}has it as {}.", others.join(", ")),
                text,
            );
        }
        self.body(this.section, &this.path, &this.page, level, text);
        for field in sections_of(this.section) {
            let (Shape::Section(inner) | Shape::Tables(inner)) = &field.shape else {
                continue;
            };
            let below = self.all.get(inner.name);
            if below.is_some_and(|it| it.path == join(&this.path, field.name)) {
                self.section(inner.name, 2, text);
            }
        }
    }

    /// The fields of a section: values, kinds, and links to sections.
    fn body(&self, section: &Section, path: &str, page: &str, level: usize, text: &mut String) {
        let kinds = section.kinds();
        let kind = kinds.map(|kinds| kinds.kind.as_ref());
        let rows: Vec<&Field> = kind.into_iter().chain(&section.fields).collect();
        table(&rows, path, text);
        self.links(section.fields.iter(), page, text);
        for (kind, section) in kinds.iter().flat_map(|kinds| &kinds.kinds) {
            let place = match path {
                "" => String::new(),
                path => format!("`[{path}]`: "),
            };
            let marks = "#".repeat(level + 1);
            let _ = writeln!(text, "\n{marks} {place}`kind = {kind:?}`");
            paragraph(&section.doc, text);
            match self.kinds.get(section.name) {
                Some(first) if first != path && !section.fields.is_empty() => {
                    let same = format!("Its fields are those of the kind of `[{first}]`.");
                    paragraph(&same, text);
                }
                _ => {
                    table(&section.fields.iter().collect::<Vec<_>>(), path, text);
                    self.links(section.fields.iter(), page, text);
                }
            }
        }
    }

    /// Returns links to the documentation of the sections among some fields.
    fn links<'b>(&self, fields: impl Iterator<Item = &'b Field>, page: &str, text: &mut String) {
        let mut first = true;
        for field in fields {
            let (Shape::Section(inner) | Shape::Tables(inner)) = &field.shape else {
                continue;
            };
            let Some(this) = self.all.get(inner.name) else {
                continue;
            };
            if std::mem::take(&mut first) {
                text.push_str("\nSections:\n\n");
            }
            let begins = self.pages.iter().any(|(_, name)| *name == inner.name);
            let anchor = match begins {
                true => String::new(),
                false => format!("#{}", slug(&this.title())),
            };
            let file = match this.page == page {
                true if begins => format!("{page}.md"),
                true => String::new(),
                false => format!("{}.md", this.page),
            };
            let without = match &field.presence {
                Presence::Optional { without, .. } => format!(" Without it: {without}."),
                Presence::Over { path } => {
                    format!(" What it does not give is as in `[{path}]`.")
                }
                Presence::Required { .. } => " Required.".to_owned(),
                _ => String::new(),
            };
            let name = field.name;
            let doc = &field.doc;
            let _ = writeln!(text, "- [`{name}`]({file}{anchor}): {doc}{without}");
        }
    }
}

impl Type<'_> {
    fn title(&self) -> String {
        bracketed(&self.path, self.several)
    }
}

fn bracketed(path: &str, several: bool) -> String {
    if several {
        format!("[[{path}]]")
    } else {
        format!("[{path}]")
    }
}

/// The anchor of a heading.
fn slug(title: &str) -> String {
    let kept = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    title.chars().filter(kept).collect()
}

/// All fields of a section that are sections, those of its kinds too.
fn sections_of(section: &Section) -> impl Iterator<Item = &Field> {
    let is_section = |field: &&Field| matches!(field.shape, Shape::Section(_) | Shape::Tables(_));
    section.fields(None).into_iter().filter(is_section)
}

/// Every field that is a section, each type's own fields once, the shallowest first.
fn uses(root: &Section) -> Vec<Use<'_>> {
    let mut uses: Vec<Use<'_>> = Vec::new();
    let mut level = vec![root];
    let mut seen = vec![root.name];
    for depth in 1.. {
        let first = uses.len();
        for parent in std::mem::take(&mut level) {
            for field in sections_of(parent) {
                let (section, several) = match &field.shape {
                    Shape::Section(section) => (section, false),
                    Shape::Tables(section) => (section, true),
                    Shape::Leaf { .. } | Shape::Kinds(_) => continue,
                };
                uses.push(Use {
                    parent: parent.name,
                    field,
                    section,
                    several,
                    depth,
                });
            }
        }
        for this in &uses[first..] {
            if !seen.contains(&this.section.name) {
                seen.push(this.section.name);
                level.push(this.section);
            }
        }
        if level.is_empty() {
            break;
        }
    }
    uses
}

/// The paths of all sections that a scenario can have, by type.
fn all_paths(section: &Section, path: &str, into: &mut BTreeMap<&'static str, Vec<String>>) {
    for field in sections_of(section) {
        let path = join(path, field.name);
        let (inner, several) = match &field.shape {
            Shape::Section(inner) => (inner, false),
            Shape::Tables(inner) => (inner, true),
            Shape::Leaf { .. } | Shape::Kinds(_) => continue,
        };
        let known = into.entry(inner.name).or_default();
        let title = bracketed(&path, several);
        if !known.contains(&title) {
            known.push(title);
        }
        all_paths(inner, &path, into);
    }
}

fn is_leaf(field: &Field) -> bool {
    matches!(field.shape, Shape::Leaf { .. })
}

fn paragraph(text: &str, page: &mut String) {
    page.push_str(&format!("\n{text}\n"));
}

/// The default of the default system's preset for a field, with its source, if the preset has one.
fn of_default_system(path: &str) -> Option<(String, String)> {
    let preset = presets::read(presets::DEFAULT)?.ok()?;
    let node = preset.find(path)?;
    match &node.origin {
        Origin::Preset { source, .. } => Some((node.raw.to_string(), source.to_string())),
        _ => None,
    }
}

/// A table of fields; `path` is that of their section.
fn table(fields: &[&Field], path: &str, page: &mut String) {
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
            Presence::Optional { without, .. } => {
                ("none".to_owned(), format!("without it: {without}"))
            }
            Presence::Same { field } => (format!("`{field}`"), String::new()),
            Presence::Supplied { from } => ((*from).to_owned(), String::new()),
            Presence::Section | Presence::Kinds | Presence::Over { .. } => continue,
        };
        // A scenario that names no system has the preset's value.
        let (default, why) = match of_default_system(&join(path, field.name)) {
            Some((value, source)) => {
                let ideal = presets::DEFAULT;
                (
                    format!("`{value}` (`system = {ideal:?}`); else {default}"),
                    format!("{ideal}: {source}; else {why}"),
                )
            }
            None => (default, why),
        };
        let name = format!("`{}`", field.name);
        row(&[&name, &field.doc, expected, &default, &why], page);
    }
}

fn row(cells: &[&str], page: &mut String) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    page.push_str(&format!("| {} |\n", cells.join(" | ")));
}

fn presets_page() -> Page {
    let mut text =
        "# Presets\n\nThe values of `system = NAME`. A scenario's own values replace them.\n"
            .to_owned();
    for (name, description) in presets::presets() {
        let title = format!("system = {name:?}");
        values(&title, description, presets::read(name), &mut text);
    }
    page("presets", text)
}

fn workloads_page() -> Page {
    let mut text = "# Presets of workloads\n\nThe values of `preset = NAME` in a `[[workload]]`. Its own values replace them.\n".to_owned();
    for (name, description) in workloads::workloads() {
        let title = format!("preset = {name:?}");
        values(&title, description, workloads::whole(name), &mut text);
    }
    page("workload-presets", text)
}

fn models_page() -> Page {
    let mut text = "# Models of devices\n\nThe values of `model = NAME` in a [device](device.md). Its own values replace them.\n".to_owned();
    for (kind, name, description) in models::models() {
        let title = format!("kind = {kind:?}, model = {name:?}");
        values(&title, description, models::read(kind, name), &mut text);
    }
    page("models", text)
}

/// Links of one family differ in few values: one table for what all have, one for the rest.
fn links_page() -> Page {
    let mut text =
        "# Links\n\nThe values of `link = NAME` in a [network](network.md).\n".to_owned();
    let mut families: Vec<(&str, Vec<(&str, Rows)>)> = Vec::new();
    for (name, family) in links::links() {
        let values = rows_of(links::read(name).map(Ok));
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, links)) => links.push((name, values)),
            None => families.push((family, vec![(name, values)])),
        }
    }
    for (family, links) in families {
        let _ = write!(
            text,
            "\n## {family}\n\n| link | field | value | source |\n| --- | --- | --- | --- |\n"
        );
        let first = links.first().map(|(_, values)| values.clone());
        let (shared, _): (Rows, Rows) = (first.unwrap_or_default().into_iter())
            .partition(|value| links.iter().all(|(_, values)| values.contains(value)));
        for [field, value, source] in &shared {
            row(&["all", field, value, source], &mut text);
        }
        for (name, values) in &links {
            for [field, value, source] in values.iter().filter(|it| !shared.contains(it)) {
                row(&[&format!("`{name:?}`"), field, value, source], &mut text);
            }
        }
    }
    page("links", text)
}

fn values(title: &str, description: &str, read: Option<Result<Node, Error>>, page: &mut String) {
    page.push_str(&format!("\n## `{title}`\n"));
    paragraph(description, page);
    let rows = rows_of(read);
    if rows.is_empty() {
        return;
    }
    page.push_str("\n| field | value | source |\n| --- | --- | --- |\n");
    for [field, value, source] in &rows {
        row(&[field, value, source], page);
    }
}

/// Field, value and source.
type Rows = Vec<[String; 3]>;

/// The values of a preset.
fn rows_of(read: Option<Result<Node, Error>>) -> Rows {
    let mut rows = Vec::new();
    if let Some(Ok(Node {
        raw: Raw::Table(table),
        ..
    })) = read
    {
        preset_rows(&table, "", &mut rows);
    }
    (rows.chunk_by(|one, next| one.table == next.table && one.source == next.source))
        .flat_map(|of_one_source| match of_one_source {
            // Weights and shares: a row for the whole table.
            [first, _, _, ..] if !first.table.is_empty() => {
                let values = of_one_source
                    .iter()
                    .map(|it| format!("{} = {}", it.key, it.value));
                let values: Vec<String> = values.collect();
                let all = format!("`{{ {} }}`", values.join(", "));
                vec![[format!("`{}`", first.table), all, first.source.clone()]]
            }
            few => (few.iter())
                .map(|it| {
                    let path = [&it.table, &it.key].map(String::as_str).join(".");
                    let path = path.trim_start_matches('.');
                    [
                        format!("`{path}`"),
                        format!("`{}`", it.value),
                        it.source.clone(),
                    ]
                })
                .collect(),
        })
        .collect()
}

/// A value of a preset.
struct Value {
    table: String,
    key: String,
    value: String,
    source: String,
}

fn preset_rows(table: &Table, path: &str, rows: &mut Vec<Value>) {
    for entry in &table.entries {
        match (&entry.node.raw, &entry.node.origin) {
            (Raw::Table(table), _) => preset_rows(table, &join(path, &entry.key), rows),
            (raw, Origin::Preset { source, .. }) => rows.push(Value {
                table: path.to_owned(),
                // Quoted as a file needs it.
                key: join("", &entry.key),
                value: raw.to_string(),
                source: source.to_string(),
            }),
            _ => {}
        }
    }
}
