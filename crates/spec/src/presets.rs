//! The presets: what a known system is like. A preset is added by its file and
//! one line here.

use std::sync::LazyLock;

use serde_json::json;

use crate::declare::{Leaf, Nature};
use crate::error::Error;
use crate::names;
use crate::syntax::{self, Layer};
use crate::tree::{Node, Raw};
use crate::values::Listed;

struct Preset {
    name: &'static str,
    text: &'static str,
}

/// A preset of the folder `presets`, by the name of its file.
macro_rules! preset {
    ($name:literal) => {
        Preset {
            name: $name,
            text: include_str!(concat!("presets/", $name, ".toml")),
        }
    };
}

const PRESETS: [Preset; 27] = [
    preset!("ideal"),
    preset!("pvfs"),
    preset!("pvfs2"),
    preset!("lustre"),
    preset!("lustre-2.15"),
    preset!("glusterfs"),
    preset!("hdfs"),
    preset!("cephfs"),
    preset!("beegfs"),
    preset!("daos"),
    preset!("spectrum-scale"),
    preset!("wekafs"),
    preset!("vast"),
    preset!("s3-gateway"),
    preset!("nfs"),
    preset!("pnfs"),
    preset!("cifs"),
    preset!("mpfs"),
    preset!("ext2"),
    preset!("ext3"),
    preset!("ext4"),
    preset!("xfs"),
    preset!("ldiskfs"),
    preset!("zfs"),
    preset!("poweredge-1850"),
    preset!("atlantis"),
    preset!("measured"),
];

/// The preset of a scenario that names none.
pub(crate) const DEFAULT: &str = "ideal";

/// The preset of a scenario without a system, where a real one is measured.
pub(crate) const MEASURED: &str = "measured";

/// The presets: name and description (the first line of its file).
#[must_use]
pub fn presets() -> Vec<(&'static str, &'static str)> {
    PRESETS
        .iter()
        .map(|preset| (preset.name, description(preset.text)))
        .collect()
}

fn description(text: &'static str) -> &'static str {
    text.lines()
        .next()
        .unwrap_or("")
        .trim_start_matches('#')
        .trim()
}

/// The values of a preset; none if there is no such preset.
pub(crate) fn read(name: &str) -> Option<Result<Node, Error>> {
    let preset = PRESETS.iter().find(|preset| preset.name == name)?;
    Some(syntax::read(preset.text, &Layer::Preset(preset.name)))
}

/// Returns true if a scenario's value at a path is the one of its preset.
pub(crate) fn says(scenario: &Node, path: &str) -> bool {
    let name = match scenario.find("system").map(|node| &node.raw) {
        Some(Raw::Text(name)) => name,
        _ => DEFAULT,
    };
    match read(name) {
        Some(Ok(preset)) => {
            let [ours, preset] = [scenario, &preset].map(|it| it.find(path).map(|it| &it.raw));
            ours == preset
        }
        _ => false,
    }
}

/// Returns a preset's description of a machine; none without such a preset or description.
pub(crate) fn machine(name: &str) -> Option<Result<Node, Error>> {
    match read(name)? {
        Ok(mut node) => match &mut node.raw {
            Raw::Table(table) => table.get_mut("machine").map(|node| Ok(node.clone())),
            _ => None,
        },
        Err(error) => Some(Err(error)),
    }
}

/// The presets that say something about a machine.
static MACHINES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut names = all();
    // The preset of a measured system is no base for others.
    names.retain(|name| *name != MEASURED && machine(name).is_some());
    names
});

/// The name of a preset of a machine.
pub(crate) struct MachinePreset;

impl Listed for MachinePreset {
    const NATURE: Nature = Nature::MachinePreset;

    fn names() -> Vec<&'static str> {
        MACHINES.clone()
    }
}

/// The name of a preset; in a scenario's file also that of a file which says the same
/// (`crate::system_file`).
pub(crate) struct PresetName;

impl Leaf for PresetName {
    type Value = String;

    fn expected() -> String {
        format!("{}, or a file such as \"machine.toml\"", names::or(&all()))
    }

    fn schema() -> serde_json::Value {
        json!({ "anyOf": [{ "enum": all() }, { "type": "string", "pattern": "\\.toml$" }] })
    }

    fn parse(node: &Node) -> Result<String, String> {
        match &node.raw {
            Raw::Text(name) if all().contains(&name.as_str()) => Ok(name.clone()),
            Raw::Text(name) => Err(names::guess(name, &all())),
            _ => Err(String::new()),
        }
    }

    fn format(value: &String) -> Raw {
        Raw::Text(value.clone())
    }
}

/// The names of the presets.
pub(crate) fn all() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{Presence, Section, Shape};
    use crate::load::DECLARED;

    /// Optional fields of devices, queues and caches: presets of whole machines give them.
    const OF_MACHINES: [&str; 4] = ["depth", "model", "most", "rate"];

    /// A file cannot remove an optional value of a preset. It can only give another value, or
    /// another kind without the field.
    fn gives_no_optional_field(node: &Node, section: &Section) {
        for entry in node.table().into_iter().flat_map(|table| &table.entries) {
            let fields = section.fields(None);
            let field = fields.iter().find(|field| field.name == entry.key);
            let field = field.unwrap_or_else(|| panic!("there is no field {}", entry.key));
            assert!(
                !matches!(field.presence, Presence::Optional { .. })
                    || OF_MACHINES.contains(&entry.key.as_str()),
                "{}",
                entry.key
            );
            if let Shape::Section(inner) = &field.shape {
                gives_no_optional_field(&entry.node, inner);
            }
        }
    }

    #[test]
    fn presets_give_declared_fields_that_are_not_optional() {
        for name in all() {
            let preset = read(name).expect("it is one").expect("it is TOML");
            gives_no_optional_field(&preset, &DECLARED);
        }
    }
}
