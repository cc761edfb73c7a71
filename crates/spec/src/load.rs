//! Loading a scenario: its layers put over each other, then read.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::declare::{Codec, Nature, Place, Presence, Section, Shape};
use crate::error::Error;
use crate::sections::{Scenario, kinds_fit};
use crate::syntax::{self, Layer};
use crate::tree::{Node, Origin, Raw, Table};
use crate::{
    limits, merge, models, presets, read_roots, removed, set, structure, system_file, workloads,
};

/// The declaration of the whole scenario.
pub(crate) static DECLARED: LazyLock<Section> = LazyLock::new(Scenario::section);

impl Scenario {
    /// Name of such a document in messages.
    const NOUN: &'static str = "scenario";

    /// An example of `--set`.
    const SETTING: &'static str = "network.bandwidth=1 Gbit/s";
}

/// A scenario and where each of its values came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario, complete.
    pub scenario: Scenario,
    pub(crate) tree: Node,
}

impl Loaded {
    /// The error about the value of the field at `path`, found after loading.
    #[must_use]
    pub fn error(&self, path: &str, message: impl Into<String>) -> Error {
        error_at(&self.tree, path, message)
    }

    /// Returns true if the scenario, a file that it names or `--set` gives a value to the field at
    /// `path`. Presets and defaults do not count.
    #[must_use]
    pub fn gives(&self, path: &str) -> bool {
        self.tree.find(path).is_some_and(|node| match node.origin {
            Origin::File { .. } | Origin::Whole { .. } | Origin::Set { .. } => true,
            Origin::Preset { .. } | Origin::Default => false,
        })
    }
}

/// Loads a scenario from the text of `file`, with values from the command line
/// (`path=value`) over it. Files that the scenario names are taken relative to
/// the folder of `file`, also if a `--set` names them.
///
/// # Errors
/// The first thing that is wrong, where it stands and what to write instead.
pub fn load(text: &str, file: &Path, sets: &[String]) -> Result<Loaded, Error> {
    loaded(text, file, sets, |_| presets::DEFAULT)
}

/// The same for a measurement: a scenario without a system is for the system that is measured.
///
/// # Errors
/// As [`load`].
pub fn load_measured(text: &str, file: &Path, sets: &[String]) -> Result<Loaded, Error> {
    loaded(text, file, sets, |user| {
        let says = |table: &Table| table.entries.iter().all(|it| WORK.contains(&&*it.key));
        match user.table().is_some_and(says) {
            true => presets::MEASURED,
            false => presets::DEFAULT,
        }
    })
}

/// Sections that describe the workload, not the system.
const WORK: [&str; 5] = ["name", "description", "clients", "workload", "run"];

fn loaded(
    text: &str,
    file: &Path,
    sets: &[String],
    default: impl FnOnce(&Node) -> &'static str,
) -> Result<Loaded, Error> {
    let mut user = user_layer(text, file, sets, &DECLARED, Scenario::SETTING)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let default = default(&user);
    let mut tree = system_file::below(&mut user, default, folder)?;
    merge::over(&mut tree, user, &DECLARED);
    let stem = file.file_stem().map(|stem| stem.to_string_lossy());
    let name = stem.map_or_else(|| Scenario::NOUN.to_owned(), |stem| stem.into_owned());
    supply_name(&mut tree, name);

    workloads::fill(&mut tree)?;
    merge::complete(&mut tree, &DECLARED);
    models::fill(&mut tree, &DECLARED)?;
    removed::take_out(&mut tree, &DECLARED)?;
    structure::check(&tree, &DECLARED, "")?;
    kinds_fit(&tree)?;
    name_kinds(&mut tree, &DECLARED);
    resolve_files(&mut tree, &DECLARED, "", folder)?;
    let scenario = Scenario::read(&tree, "").map_err(|error| in_file(error, &tree))?;
    let at = Place {
        root: &tree,
        path: String::new(),
    };
    <Scenario as Codec>::check(&scenario, &scenario, &at)
        .and_then(|()| limits::check(&scenario, &at))
        .map_err(|error| in_file(error, &tree))?;
    Ok(Loaded { scenario, tree })
}

/// Loads a scenario from a file; see [`load`].
///
/// # Errors
/// The file cannot be read, or what [`load`] finds.
pub fn load_file(file: &Path, sets: &[String]) -> Result<Loaded, Error> {
    load(&read_file(file, Scenario::NOUN)?, file, sets)
}

/// Reads the text of a document's file.
pub(crate) fn read_file(file: &Path, noun: &str) -> Result<String, Error> {
    let whole = Origin::Whole {
        file: file.display().to_string().into(),
    };
    let bytes = std::fs::read(file)
        .map_err(|error| Error::at(&whole, format!("cannot read the {noun}: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::at(
            &whole,
            format!("expected TOML text in UTF-8, but byte {at} is not"),
        )
    })
}

/// Reads what the user gives: the text of a file, with `--set` values over it. `example` is such a
/// value.
pub(crate) fn user_layer(
    text: &str,
    file: &Path,
    sets: &[String],
    declared: &Section,
    example: &str,
) -> Result<Node, Error> {
    let name: Arc<str> = file.display().to_string().into();
    let mut user = syntax::read(text, &Layer::File(name.clone()))?;
    // An error of the document as a whole has no line.
    user.origin = Origin::Whole { file: name };
    merge::kinds_by_name(&mut user, declared);
    for text in sets {
        set::apply(&mut user, declared, text, example)?;
    }
    Ok(user)
}

/// Names a document if it has no name.
pub(crate) fn supply_name(tree: &mut Node, name: String) {
    if let Raw::Table(table) = &mut tree.raw
        && table.get("name").is_none()
    {
        table.push("name", Node::plain(Raw::Text(name)));
    }
}

/// Writes the kind into every table that says by a section of which kind it is.
fn name_kinds(node: &mut Node, section: &Section) {
    let Raw::Table(table) = &mut node.raw else {
        return;
    };
    if let Some(kind) = section.given_kind(table)
        && table.get("kind").is_none()
    {
        let origin = table.get(&kind).map(|node| node.origin.clone());
        let origin = origin.unwrap_or(Origin::Default);
        let raw = Raw::Text(kind);
        table.push("kind", Node { raw, origin });
    }
    let kind = section.kind_of(table);
    for field in section.fields(kind.as_deref()) {
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        match (&field.shape, &mut node.raw) {
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                list.iter_mut().for_each(|node| name_kinds(node, inner));
            }
            (Shape::Section(inner), _) => name_kinds(node, inner),
            _ => {}
        }
    }
}

/// Puts the document's folder before the files that it names, or that are named
/// if it names none.
pub(crate) fn resolve_files(
    node: &mut Node,
    section: &Section,
    path: &str,
    folder: &Path,
) -> Result<(), Error> {
    let Raw::Table(table) = &mut node.raw else {
        return Ok(());
    };
    let kind = section.kind_of(table);
    for field in section.fields(kind.as_deref()) {
        let absent = match &field.presence {
            Presence::Default { value, .. } => Some(value.clone()),
            // A class stands beside the scenario that uses it.
            Presence::Optional { .. }
                if field.name == "folder" && table.get("python").is_some() =>
            {
                Some(".".into())
            }
            _ => None,
        };
        if let (Shape::Leaf { nature, .. }, Some(raw)) = (&field.shape, absent)
            && *nature == Nature::File
            && table.get(field.name).is_none()
        {
            let origin = Origin::Default;
            table.push(field.name, Node { raw, origin });
        }
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        let path = crate::tree::join(path, field.name);
        match (&field.shape, &mut node.raw) {
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                for node in list {
                    resolve_files(node, inner, &path, folder)?;
                }
            }
            (Shape::Section(inner), _) => resolve_files(node, inner, &path, folder)?,
            (
                Shape::Leaf {
                    nature: Nature::File,
                    ..
                },
                Raw::Text(text),
            ) if !text.is_empty() => {
                let full = std::path::absolute(folder.join(text.as_str()));
                match full.ok().and_then(|full| full.to_str().map(str::to_owned)) {
                    Some(full) => {
                        if let Err(message) = read_roots::check(Path::new(&full)) {
                            return Err(Error::value(node, &path, message));
                        }
                        *text = full;
                    }
                    None => {
                        let message = "the folder of the file that names it has no name in UTF-8";
                        return Err(Error::value(node, &path, message));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The error about the value of the field at `path` of a document that was loaded.
pub(crate) fn error_at(tree: &Node, path: &str, message: impl Into<String>) -> Error {
    let (section, field) = path.rsplit_once('.').unwrap_or(("", path));
    let at = Place {
        root: tree,
        path: section.to_owned(),
    };
    in_file(at.error(field, message), tree)
}

/// Places an absent field in the document's file.
pub(crate) fn in_file(mut error: Error, tree: &Node) -> Error {
    if error.file.is_empty() {
        error.file = Error::at(&tree.origin, "").file;
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::key;

    /// Kinds by the path of their sections.
    type Chosen<'a> = Vec<(String, &'a str)>;

    /// The required fields of a section as its examples say, as an inline table;
    /// of the chosen kinds, and of the default ones elsewhere.
    fn examples(section: &Section, path: &str, chosen: &Chosen<'_>) -> String {
        let own = chosen.iter().find(|(at, _)| at == path);
        let own = own.map(|(_, kind)| *kind);
        let own = own.or_else(|| section.kinds().map(|kinds| kinds.default));
        let mut entries = Vec::new();
        if section.kinds().is_some() {
            entries.push(format!("kind = {:?}", own.unwrap_or("")));
        }
        // Switches between switches are part of whole networks only.
        let switches = ["leaf-spine", "fat-tree", "graph", "torus", "mesh"];
        let has_switches =
            |(at, kind): &(String, &str)| at == "network.topology" && switches.contains(kind);
        if path == "network" && chosen.iter().any(has_switches) {
            entries.push("grain = \"flow\"".to_owned());
        }
        // Only processes that share files ask together.
        let together = |(at, kind): &(String, &str)| at == "workload.collective" && *kind != "none";
        if path == "workload" && chosen.iter().any(together) {
            entries.push("access = \"shared\"".to_owned());
        }
        // Only copies are recreated.
        let repairs = |(at, kind): &(String, &str)| at == "replication.repair" && *kind != "none";
        if path == "replication" && chosen.iter().any(repairs) {
            entries.push("copies = 2".to_owned());
        }
        // Only where data has copies does a job have a choice of servers.
        let chooses = |(at, kind): &(String, &str)| at == "scheduler" && *kind == "least-loaded";
        if path == "replication" && chosen.iter().any(chooses) {
            entries.push("copies = 2".to_owned());
        }
        if path == "scheduler" && chosen.iter().any(chooses) {
            entries.push("position = \"client\"".to_owned());
        }
        for field in section.fields(own) {
            let path = crate::tree::join(path, field.name);
            // A server's files lie on its first file system: it may have no other.
            if path == "servers.machine.volume" {
                continue;
            }
            // It is of one server or the other, and not with every kind around it.
            if ["failure", "servers.group", "clients.group"].contains(&path.as_str()) {
                continue;
            }
            // Nor are pools with copies, and CRUSH knows none.
            let crush = |(at, kind): &(String, &str)| at == "layout" && *kind == "crush";
            let code = |(at, kind): &(String, &str)| at == "replication.code" && *kind != "none";
            if path == "pool"
                && chosen
                    .iter()
                    .any(|it| repairs(it) || chooses(it) || crush(it) || code(it))
            {
                continue;
            }
            // Each target has free space, and only some partitions have subtrees.
            if path == "layout.free" {
                entries.push("free = [\"1 TiB\", \"1 TiB\", \"1 TiB\", \"1 TiB\"]".to_owned());
                continue;
            }
            if path == "metadata.subtree" || path == "workload.layout.free" {
                continue;
            }
            let value = match (&field.presence, &field.shape) {
                (_, Shape::Tables(inner)) => format!("[{}]", examples(inner, &path, chosen)),
                (Presence::Required { example }, _) => example.to_string(),
                (Presence::Section, Shape::Section(inner)) => examples(inner, &path, chosen),
                _ => continue,
            };
            entries.push(format!("{} = {value}", key(field.name)));
        }
        format!("{{ {} }}", entries.join(", "))
    }

    /// Every kind, with the kinds of the sections around it.
    fn kinds<'a>(
        section: &'a Section,
        path: &str,
        chosen: &Chosen<'a>,
        into: &mut Vec<Chosen<'a>>,
    ) {
        if let Some(kinds) = section.kinds() {
            for (kind, section) in &kinds.kinds {
                let mut chosen = chosen.clone();
                chosen.push((path.to_owned(), *kind));
                into.push(chosen.clone());
                self::kinds(section, path, &chosen, into);
            }
        }
        for field in &section.fields {
            if let Shape::Section(inner) | Shape::Tables(inner) = &field.shape {
                kinds(inner, &crate::tree::join(path, field.name), chosen, into);
            }
        }
    }

    #[test]
    fn the_examples_of_every_kind_make_a_scenario() {
        let mut all = Vec::new();
        kinds(&DECLARED, "", &Chosen::new(), &mut all);
        assert!(all.len() >= 7, "{all:?}");
        for chosen in all {
            let text = examples(&DECLARED, "", &chosen);
            // The top level is no inline table.
            let node = syntax::read_set(&text, &Origin::Default);
            let lines = node.table().expect("a table").entries.iter();
            let lines = lines.map(|entry| format!("{} = {}\n", key(&entry.key), entry.node.raw));
            let text = lines.collect::<String>();
            if let Err(error) = load(&text, Path::new("examples.toml"), &[]) {
                panic!("{chosen:?}: {error}\n{text}");
            }
        }
    }
}
