//! `[layout]`: which server holds which part of a file.

mod striped;

pub use striped::{FirstServer, ServersPerFile, Striped};

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
