//! The presets of workloads: what known programs and benchmarks do. A preset is
//! added by its file and one line here.

use crate::declare::{Nature, Section, Shape};
use crate::error::Error;
use crate::load::DECLARED;
use crate::merge;
use crate::presets;
use crate::syntax::{self, Layer};
use crate::tree::{Node, Raw, Table};
use crate::values::Listed;

struct Preset {
    name: &'static str,
    text: &'static str,
}

macro_rules! workloads {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            text: include_str!(concat!("workloads/", $name, ".toml")),
        }),+]
    };
}

const WORKLOADS: &[Preset] = workloads![
    "ior-easy",
    "ior-hard",
    "ior-random",
    "mdtest-easy",
    "mdtest-hard",
    "checkpoint",
    "copy",
    "copy-in",
    "copy-out",
    "dd",
    "small-files",
    "unet3d",
    "resnet50",
    "cosmoflow",
    "retinanet",
    "flux",
    "dlrm",
    "llama3-8b",
    "llama3-70b",
    "llama3-405b",
    "llama3-1t",
    "sfs-nfsv2",
    "sfs-nfsv3",
    "sfs2008-nfs",
    "mpfs",
    "mpfs-read-write",
    "mpfs-metadata",
    "mpfs-benchmark",
    "dbench",
];

/// The section of a preset in which a system has values of its own.
const SYSTEMS: &str = "systems";

/// The presets of workloads: name and description (the first line of its file).
#[must_use]
pub fn workloads() -> Vec<(&'static str, &'static str)> {
    WORKLOADS
        .iter()
        .map(|preset| {
            let first = preset.text.lines().next().unwrap_or("");
            (preset.name, first.trim_start_matches('#').trim())
        })
        .collect()
}

/// The values of a preset on a system; none if there is no such preset.
pub(crate) fn read(name: &str, system: &str) -> Option<Result<Node, Error>> {
    Some(whole(name)?.map(|mut node| {
        if let (Some(own), Some(section)) = (take_own(&mut node, system), section()) {
            merge::over(&mut node, own, section);
        }
        node
    }))
}

/// All that a preset says, whatever the system; none if there is no such preset.
pub(crate) fn whole(name: &str) -> Option<Result<Node, Error>> {
    let preset = WORKLOADS.iter().find(|preset| preset.name == name)?;
    Some(syntax::read(preset.text, &Layer::Preset(preset.name)))
}

/// Takes the systems' values out of a preset, and gives those of one of them.
fn take_own(node: &mut Node, system: &str) -> Option<Node> {
    let table = table_of(node)?;
    let at = table.entries.iter().position(|it| it.key == SYSTEMS)?;
    let mut systems = table.entries.remove(at).node;
    table_of(&mut systems)?.get_mut(system).cloned()
}

fn table_of(node: &mut Node) -> Option<&mut Table> {
    match &mut node.raw {
        Raw::Table(table) => Some(table),
        _ => None,
    }
}

/// Returns the fields of a workload.
fn section() -> Option<&'static Section> {
    let field = DECLARED.fields.iter().find(|it| it.name == "workload")?;
    match &field.shape {
        Shape::Tables(section) => Some(section),
        _ => None,
    }
}

/// Puts the values of presets below the given ones, in every workload that names one. A name that
/// is none is left to the reader of the field.
pub(crate) fn fill(tree: &mut Node) -> Result<(), Error> {
    let system = match tree.find("system").map(|node| &node.raw) {
        Some(Raw::Text(system)) => system.clone(),
        _ => presets::DEFAULT.to_owned(),
    };
    let Some(table) = table_of(tree) else {
        return Ok(());
    };
    let (Some(Raw::List(list)), Some(section)) = (
        table.get_mut("workload").map(|node| &mut node.raw),
        section(),
    ) else {
        return Ok(());
    };
    for node in list {
        let Some(Raw::Text(name)) = node.find("preset").map(|node| &node.raw) else {
            continue;
        };
        if let Some(below) = read(name, &system) {
            let mut below = below?;
            let above = std::mem::replace(node, Node::plain(Raw::Boolean(false)));
            merge::over(&mut below, above, section);
            *node = below;
        }
    }
    Ok(())
}

/// The kind of workload that a preset is.
fn kind(name: &str) -> Option<String> {
    match &read(name, presets::DEFAULT)?.ok()?.find("kind")?.raw {
        Raw::Text(kind) => Some(kind.clone()),
        _ => None,
    }
}

/// The names of the presets of one kind of workload, or of all.
pub(crate) fn names(of_kind: Option<&str>) -> Vec<&'static str> {
    let all = WORKLOADS.iter().map(|preset| preset.name);
    match of_kind {
        None => all.collect(),
        Some(wanted) => all
            .filter(|name| kind(name).as_deref() == Some(wanted))
            .collect(),
    }
}

/// The name of a preset of a workload.
pub(crate) struct WorkloadPreset;

impl Listed for WorkloadPreset {
    const NATURE: Nature = Nature::WorkloadPreset;

    fn names() -> Vec<&'static str> {
        names(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::Presence;
    use std::path::Path;

    fn scenario(system: &str, preset: &str) -> String {
        let kind = presets::read(system).expect("it is one").expect("TOML");
        let local =
            matches!(kind.find("kind").map(|it| &it.raw), Some(Raw::Text(it)) if it == "local");
        let parts = if local {
            "[machine]\nmemory = { size = \"1 GiB\" }\n\
             device = { kind = \"simple\", read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n"
        } else {
            "[clients]\ncount = 1\n[servers]\ncount = 4\n\
             device = { read_rate = \"1 GB/s\", write_rate = \"1 GB/s\" }\n\
             [network]\nbandwidth = \"1 Gbit/s\"\nlatency = \"1 ms\"\n[layout]\nunit = \"1 MiB\"\n"
        };
        format!("system = \"{system}\"\n{parts}[[workload]]\npreset = \"{preset}\"\n")
    }

    #[test]
    fn every_preset_is_complete_on_every_system_and_says_where_from() {
        for (name, description) in workloads() {
            assert!(description.len() > 10);
            for system in presets::all() {
                let text = scenario(system, name);
                // Some write files again, which these do not allow.
                let sets: &[String] = match system {
                    "hdfs" | "s3-gateway" => &["metadata.write_once=false".to_owned()],
                    _ => &[],
                };
                // Its components have units of their own.
                let text = match system {
                    "lustre-2.15" => text.replace("[layout]\nunit = \"1 MiB\"\n", ""),
                    _ => text,
                };
                let loaded = crate::load(&text, Path::new("m.toml"), sets);
                let loaded = loaded.unwrap_or_else(|error| panic!("{name} on {system}: {error}"));
                let rows = crate::explain(&loaded).rows;
                let mut given = 0;
                for row in rows.iter().filter(|row| row.path.starts_with("workload")) {
                    if row.origin == format!("preset {name}") {
                        given += 1;
                        // The workload is the preset itself.
                        assert!(
                            !row.source.is_empty() || row.path.ends_with(".kind"),
                            "{row:?}"
                        );
                    }
                }
                assert!(given > 2, "{name}");
                let canonical = loaded.scenario.to_canonical_toml();
                let again = crate::load(&canonical, Path::new("m.toml"), &[]).expect("canonical");
                assert_eq!(again.scenario, loaded.scenario);
            }
        }
    }

    #[test]
    fn systems_with_values_of_their_own_exist_and_no_value_is_optional() {
        let section = section().expect("workloads are declared");
        for preset in WORKLOADS {
            let mut node = syntax::read(preset.text, &Layer::Preset(preset.name)).expect("TOML");
            let table = table_of(&mut node).expect("a table");
            if let Some(systems) = table.get(SYSTEMS).and_then(|it| it.table().cloned()) {
                for entry in &systems.entries {
                    assert!(
                        presets::all().contains(&entry.key.as_str()),
                        "{}",
                        entry.key
                    );
                }
            }
            for entry in table.entries.iter().filter(|it| it.key != SYSTEMS) {
                let fields = section.fields(None);
                let mut of_name = fields.iter().filter(|field| field.name == entry.key);
                // A file could not take it back, but for one that is true or false.
                let optional = entry.key != "opens"
                    && of_name.all(|it| matches!(it.presence, Presence::Optional { .. }));
                assert!(!optional, "{}: {}", preset.name, entry.key);
            }
        }
    }

    #[test]
    fn what_is_given_beside_a_preset_wins_and_a_wrong_name_is_guessed() {
        let load = |text: &str| crate::load(text, Path::new("m.toml"), &[]);
        let transfer = |text: &str| {
            let loaded = load(text).expect("good");
            let rows = crate::explain(&loaded).rows;
            let row = rows.iter().find(|row| row.path == "workload.0.transfer");
            row.and_then(|row| row.value.clone()).expect("a transfer")
        };
        assert_eq!(transfer(&scenario("ideal", "copy-in")), "\"128 KiB\"");
        assert_eq!(transfer(&scenario("pvfs2", "copy-in")), "\"4 KiB\"");
        let more = scenario("pvfs2", "copy-in") + "transfer = \"1 MiB\"\n";
        assert_eq!(transfer(&more), "\"1 MiB\"");
        let error = load(&scenario("pvfs2", "copy-inn")).expect_err("no such preset");
        let error = error.to_string();
        assert!(error.contains("did you mean \"copy-in\"?"), "{error}");
    }
}
