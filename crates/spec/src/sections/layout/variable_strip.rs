//! `kind = "variable-strip"`: strips of chosen sizes on chosen servers.

use super::FirstServer;
use crate::Error;
use crate::declare::{Place, Tables, section};
use crate::values::Bytes;

section! {
    /// A list of strips, each with its own size and server, repeated to the end of the file.
    /// OrangeFS has this distribution (variable strips, src/io/description/dist-varstrip.c).
    pub struct VariableStrip {
        /// The strips in order.
        strip: Vec<Strip> as Tables<Strip> = required([Strip::example()]) aka ["strips"],
        /// Server that is number 0 of a file.
        first: FirstServer = default("round-robin", "spreads the first strips evenly")
            aka ["start"],
    }
}

section! {
    /// Contiguous bytes of a file on one server.
    pub struct Strip {
        /// The server, counted from the file's first one.
        server: u32 as crate::values::Count = required(0),
        /// Length in bytes.
        size: Bytes = required("64 KiB"),
    }
}

impl Strip {
    fn example() -> crate::tree::Table {
        let mut table = crate::tree::Table::default();
        table.push("server", crate::tree::Node::plain(0.into()));
        table.push("size", crate::tree::Node::plain("64 KiB".into()));
        table
    }
}

impl VariableStrip {
    /// Servers that one file is spread over.
    #[must_use]
    pub fn width(&self) -> u32 {
        let last = self.strip.iter().map(|strip| strip.server).max();
        last.map_or(1, |last| last.saturating_add(1))
    }
}

/// The largest strip: the whole list has a number of bytes.
const LARGEST_STRIP: u64 = 1 << 40;

impl VariableStrip {
    /// Rejects strips on servers that do not exist, and strips of size 0.
    pub(super) fn fits(&self, there: u32, at: &Place<'_>) -> Result<(), Error> {
        let strips = at.field("strip");
        for (index, strip) in self.strip.iter().enumerate() {
            let at = strips.field(&index.to_string());
            if strip.server >= there {
                let message = format!(
                    "expected a number less than {there}: servers (or targets, or sets of \
                     copies) are counted from 0"
                );
                return Err(at.error("server", message));
            }
            if strip.size.0 == 0 || strip.size.0 > LARGEST_STRIP {
                let message = r#"expected a size from 1 B to 1 TiB such as "64 KiB""#;
                return Err(at.error("size", message));
            }
        }
        Ok(())
    }
}
