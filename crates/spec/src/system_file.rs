//! A system that is described in a file of its own, below a scenario of the work.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::declare::Codec;
use crate::error::Error;
use crate::load::{DECLARED, resolve_files};
use crate::presets::{self, PresetName};
use crate::syntax::{self, Layer};
use crate::tree::{Node, Origin, Raw, Table};
use crate::{merge, names, read_roots};

/// File name extension; no preset has it.
const ENDING: &str = ".toml";

/// Files below each other at the most.
const MOST: usize = 8;

/// Bytes of a file at the most: the longest that a calibration writes has some thousand.
const LARGEST: u64 = 16 << 20;

/// Sections that a system file does not contain.
const WORK: [&str; 2] = ["workload", "run"];

/// The values of the preset or the file that a `system` names. The `system` of the saved scenario
/// is the preset at the bottom, so that a scenario with every value filled in needs no other file.
pub(crate) fn below(user: &mut Node, default: &str, folder: &Path) -> Result<Node, Error> {
    after(user, default, folder, &mut Vec::new())
}

/// As [`below`], of a file that these files led to.
fn after(
    user: &mut Node,
    default: &str,
    folder: &Path,
    read_before: &mut Vec<PathBuf>,
) -> Result<Node, Error> {
    let given = user.table().and_then(|table| table.get("system"));
    let Some(node) = given.cloned() else {
        return preset(default);
    };
    let Some(name) = file(&node) else {
        return preset(&PresetName::read(&node, "system")?);
    };
    let path = folder.join(name);
    not_read_before(&node, &path, read_before)?;
    let mut system = read(&node, &path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    resolve_files(&mut system, &DECLARED, "", folder)?;
    let mut tree = after(&mut system, presets::DEFAULT, folder, read_before)?;
    merge::over(&mut tree, system, &DECLARED);
    if let Raw::Table(table) = &mut user.raw {
        table.entries.retain(|entry| entry.key != "system");
    }
    Ok(tree)
}

/// Rejects a file that leads back to itself, or to too many; records it.
fn not_read_before(node: &Node, path: &Path, before: &mut Vec<PathBuf>) -> Result<(), Error> {
    // A missing file is reported where it is read.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(first) = before.iter().position(|it| *it == real) {
        let names = before[first..].iter().chain([&real]);
        let names = names.filter_map(|it| it.file_name());
        let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
        let message = format!(
            "it refers to itself ({}): expected the last of these files to name a preset, \
             such as \"nfs\"",
            names.join(", ")
        );
        return Err(Error::value(node, "system", message));
    }
    if before.len() == MOST {
        let message = format!("more than {MOST} files lead to each other: put some into one");
        return Err(Error::value(node, "system", message));
    }
    before.push(real);
    Ok(())
}

/// The file that a system is described in, if it is none of the presets.
fn file(node: &Node) -> Option<&str> {
    match &node.raw {
        Raw::Text(name) if name.ends_with(ENDING) => Some(name),
        _ => None,
    }
}

/// The values of a preset.
fn preset(name: &str) -> Result<Node, Error> {
    // Only names of presets are read.
    presets::read(name).unwrap_or_else(|| Ok(Node::plain(Table::default().into())))
}

fn read(node: &Node, path: &Path) -> Result<Node, Error> {
    let text = text_of(path);
    let text = text.map_err(|error| {
        let message = format!("{} cannot be read: {error}", path.display());
        Error::value(node, "system", message)
    })?;
    let name: Arc<str> = path.display().to_string().into();
    let mut system = syntax::read(&text, &Layer::File(name.clone()))?;
    system.origin = Origin::Whole { file: name };
    merge::kinds_by_name(&mut system, &DECLARED);
    if let Raw::Table(table) = &mut system.raw {
        if let Some(entry) = table.entries.iter().find(|it| WORK.contains(&&*it.key)) {
            let message = format!(
                "a system's file says nothing of the work, and this has {}: expected it in the \
                 scenario",
                names::or(&[&entry.key])
            );
            return Err(Error::at(&entry.key_origin, message));
        }
        // They are the scenario's own.
        table
            .entries
            .retain(|it| !["name", "description"].contains(&&*it.key));
    }
    Ok(system)
}

/// A pipe would be waited for, and some devices never end.
fn text_of(path: &Path) -> std::io::Result<String> {
    let full = std::path::absolute(path)?;
    read_roots::check(&full).map_err(std::io::Error::other)?;
    let mut file = read_roots::open_regular(path)?;
    if file.metadata()?.len() > LARGEST {
        return Err(std::io::Error::other("it is larger than 16 MiB"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}
