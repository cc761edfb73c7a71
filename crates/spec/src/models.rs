//! The catalogue of devices: what a drive one can buy is like. A device is added
//! by its file, in which each number has its source, and one line here.

use crate::declare::{Nature, Section, Shape};
use crate::error::Error;
use crate::links;
use crate::merge;
use crate::presets;
use crate::sections::data_sheet;
use crate::syntax::{self, Layer};
use crate::tree::{Entry, Node, Origin, Raw, Table};
use crate::values::Listed;

/// A device of the catalogue.
struct Model {
    /// As its maker calls it.
    name: &'static str,
    /// The kind of device it is.
    kind: &'static str,
    text: &'static str,
}

macro_rules! models {
    ($($kind:literal: $($name:literal),+;)+) => {
        &[$($(Model {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("models/", $name, ".toml")),
        }),+),+]
    };
}

const MODELS: &[Model] = models! {
    "disk": "ST3146707LC", "MAT3147NC", "ST336753LC", "ST336754LC", "ST3146855LC", "ST2000DM001",
        "ST2000NM0033", "ST3600057SS";
    "solid-state": "850-PRO-512GB", "P3700-1.6TB",
        "P4510-4TB", "H3100-1.6TB", "980-PRO-1TB", "P5510-3.84TB", "CM6-R-30.72TB",
        "CD6-R-15.36TB", "PM9A3-7.68TB", "P5800X-1.6TB", "FL6-3.2TB", "PE8110-7.68TB",
        "7450-PRO-7.68TB", "PM1743-15.36TB", "9400-PRO-7.68TB", "7500-PRO-15.36TB",
        "D5-P5336-122.88TB", "9550-MAX-12.8TB", "SN861-1.6TB", "7600-MAX-6.4TB",
        "CM9-R-15.36TB", "9650-MAX-25.6TB";
};

/// The catalogue: kind of device, model, and description (the first line of its
/// file).
#[must_use]
pub fn models() -> Vec<(&'static str, &'static str, &'static str)> {
    MODELS
        .iter()
        .map(|model| {
            let first = model.text.lines().next().unwrap_or("");
            (model.kind, model.name, first.trim_start_matches('#').trim())
        })
        .collect()
}

/// The values of a model; none if there is no such model.
pub(crate) fn read(kind: &str, name: &str) -> Option<Result<Node, Error>> {
    let model = MODELS
        .iter()
        .find(|model| model.kind == kind && model.name == name)?;
    Some(syntax::read(model.text, &Layer::Preset(model.name)))
}

/// Puts the values of models and presets of machines below the given ones, in every section that
/// names one. Adds the fields that follow from data sheets. A name that is none is left to the
/// reader of the field.
pub(crate) fn fill(node: &mut Node, section: &Section) -> Result<(), Error> {
    let Raw::Table(table) = &mut node.raw else {
        return Ok(());
    };
    let kind = section.kind_of(table);
    for field in section.fields(kind.as_deref()) {
        let Some(node) = table.get_mut(field.name) else {
            continue;
        };
        match (&field.shape, &mut node.raw) {
            (Shape::Tables(inner) | Shape::Section(inner), Raw::List(list)) => {
                for node in list {
                    fill(node, inner)?;
                }
            }
            (Shape::Section(inner), _) => fill(node, inner)?,
            _ => {}
        }
    }
    give_way_to_link(table, section);
    let fields = section.fields(kind.as_deref());
    let below = fields.into_iter().find_map(|field| {
        let Some(Raw::Text(name)) = table.get(field.name).map(|node| &node.raw) else {
            return None;
        };
        match nature(&field.shape)? {
            Nature::Model => read(kind.as_deref()?, name),
            Nature::MachinePreset => presets::machine(name),
            Nature::Link => links::read(name).map(Ok),
            _ => None,
        }
    });
    if let Some(below) = below {
        let mut below = below?;
        let above = std::mem::replace(node, Node::plain(Raw::Boolean(false)));
        merge::over(&mut below, above, section);
        *node = below;
    }
    let fields = section.fields(kind.as_deref());
    if let Raw::Table(table) = &mut node.raw
        && fields.iter().any(|field| field.name == data_sheet::NAME)
    {
        data_sheet::complete(table)?;
    }
    Ok(())
}

/// Drops what a preset says of a link that is named: it spoke of another.
fn give_way_to_link(table: &mut Table, section: &Section) {
    let named = section
        .fields
        .iter()
        .any(|field| nature(&field.shape) == Some(Nature::Link) && table.get(field.name).is_some());
    if named {
        let of_preset = |entry: &Entry| matches!(entry.node.origin, Origin::Preset { .. });
        let gives = |entry: &Entry| links::GIVES.contains(&entry.key.as_str());
        table
            .entries
            .retain(|entry| !(gives(entry) && of_preset(entry)));
    }
}

/// Returns true if a field names a link.
pub(crate) fn is_link(shape: &Shape) -> bool {
    nature(shape) == Some(Nature::Link)
}

/// Returns true if a field's value is the name of a model.
pub(crate) fn is_model(shape: &Shape) -> bool {
    nature(shape) == Some(Nature::Model)
}

fn nature(shape: &Shape) -> Option<Nature> {
    match shape {
        Shape::Leaf { nature, .. } => Some(*nature),
        _ => None,
    }
}

/// The name of a model of one kind.
macro_rules! model_name {
    ($(#[doc = $doc:literal])+ $name:ident, $kind:literal) => {
        $(#[doc = $doc])+
        pub(crate) struct $name;

        impl Listed for $name {
            const NATURE: Nature = Nature::Model;

            fn names() -> Vec<&'static str> {
                of($kind)
            }
        }
    };
}

model_name! {
    /// The name of a disk drive.
    DiskModel, "disk"
}

model_name! {
    /// The name of a solid-state drive.
    SolidStateModel, "solid-state"
}

/// The models of a kind.
fn of(kind: &str) -> Vec<&'static str> {
    let own = MODELS.iter().filter(|model| model.kind == kind);
    own.map(|model| model.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn scenario(kind: &str, model: &str) -> String {
        format!(
            "[clients]\ncount = 1\n[servers]\ncount = 1\n[network]\nbandwidth = \"1 Gbit/s\"\n\
             latency = \"1 ms\"\n[layout]\nunit = \"1 MiB\"\n[[workload]]\nblock = \"1 MiB\"\n\
             [servers.device]\nkind = \"{kind}\"\nmodel = \"{model}\"\n"
        )
    }

    #[test]
    fn every_model_is_complete_and_says_where_from() {
        for (kind, name, description) in models() {
            assert!(description.len() > 10);
            let text = scenario(kind, name);
            let loaded = match crate::load(&text, Path::new("m.toml"), &[]) {
                Ok(loaded) => loaded,
                Err(error) => panic!("{name}: {error}"),
            };
            let explained = crate::explain(&loaded);
            let row = explained
                .rows
                .iter()
                .find(|row| row.path == "servers.device.capacity");
            let row = row.expect("a capacity");
            assert_eq!(row.origin, format!("preset {name}"));
            assert!(!row.source.is_empty());
            // It loads to itself, also where there is no catalogue to look in.
            let canonical = loaded.scenario.to_canonical_toml();
            let again = crate::load(&canonical, Path::new("m.toml"), &[]).expect("canonical");
            assert_eq!(again.scenario, loaded.scenario);
        }
    }

    #[test]
    fn what_is_given_beside_a_model_wins_and_a_wrong_name_is_guessed() {
        let text = scenario("disk", "ST3146707LC") + "rpm = 7200\n";
        let loaded = crate::load(&text, Path::new("m.toml"), &[]).expect("good");
        assert!(loaded.scenario.to_canonical_toml().contains("rpm = 7200"));
        let error = crate::load(&scenario("disk", "ST3146707LW"), Path::new("m.toml"), &[]);
        let error = error.expect_err("no such model").to_string();
        assert!(error.contains("did you mean \"ST3146707LC\"?"), "{error}");
    }
}
