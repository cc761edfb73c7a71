//! `[layout]`: which server holds which part of a file.

mod basic;
mod striped;
mod two_dimensional;
mod variable_strip;

pub use basic::Basic;
pub use striped::{FirstServer, ServersPerFile, Striped};
pub use two_dimensional::TwoDimensional;
pub use variable_strip::{Strip, VariableStrip};

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::Scenario;
use crate::values::Bytes;

section! {
    /// How files are laid out over the servers.
    pub struct Layout {
        /// How a file's data is spread.
        #[serde(flatten)]
        kind: LayoutKind = kinds(),
        /// Largest job sent to a server: a larger piece becomes several jobs.
        packet: Option<Bytes> = optional("a piece is one job, however large"),
    }
    check packet_is_not_empty;
}

kinds! {
    /// The ways to spread a file over servers.
    pub enum LayoutKind default "striped", "what every parallel file system offers" {
        Striped = "striped",
        Basic = "basic",
        TwoDimensional = "two-dimensional",
        VariableStrip = "variable-strip",
    }
}

impl LayoutKind {
    /// Which server holds the first byte of a file.
    #[must_use]
    pub fn first(&self) -> FirstServer {
        match self {
            LayoutKind::Striped(layout) => layout.first,
            LayoutKind::Basic(layout) => layout.first,
            LayoutKind::TwoDimensional(layout) => layout.first,
            LayoutKind::VariableStrip(layout) => layout.first,
        }
    }

    /// Over how many of so many targets one file is spread.
    pub(crate) fn width(&self, targets: u32) -> u32 {
        match self {
            LayoutKind::Striped(layout) => layout.servers.of(targets),
            LayoutKind::Basic(_) => 1,
            LayoutKind::TwoDimensional(_) => targets,
            LayoutKind::VariableStrip(layout) => layout.width(),
        }
    }

    /// Bytes of the smallest strip.
    pub(crate) fn smallest(&self) -> Bytes {
        match self {
            LayoutKind::Striped(layout) => layout.unit,
            LayoutKind::Basic(_) => Bytes(u64::MAX),
            LayoutKind::TwoDimensional(layout) => layout.unit,
            LayoutKind::VariableStrip(layout) => {
                let sizes = layout.strip.iter().map(|strip| strip.size);
                sizes.min().unwrap_or(Bytes(1))
            }
        }
    }
}

fn packet_is_not_empty(layout: &Layout, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    match layout.packet {
        Some(Bytes(0)) => Err(at.error(
            "packet",
            r#"expected a size of more than 0 such as "256 KiB""#,
        )),
        _ => Ok(()),
    }
}
