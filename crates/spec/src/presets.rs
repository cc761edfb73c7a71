//! The presets: what a known system is like. A preset is added by its file and
//! one line here.

use crate::error::Error;
use crate::syntax::{self, Layer};
use crate::tree::Node;

struct Preset {
    name: &'static str,
    text: &'static str,
}

const PRESETS: [Preset; 2] = [
    Preset {
        name: "ideal",
        text: include_str!("presets/ideal.toml"),
    },
    Preset {
        name: "pvfs2",
        text: include_str!("presets/pvfs2.toml"),
    },
];

/// The preset of a scenario that names none.
pub(crate) const DEFAULT: &str = "ideal";

/// The presets: name, and what it is (the first line of its file).
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

/// The names of the presets.
pub(crate) fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}
