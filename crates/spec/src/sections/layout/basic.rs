//! `kind = "basic"`: a file in one piece.

use super::FirstServer;
use crate::declare::section;

section! {
    /// The whole file on one server (OrangeFS: basic distribution,
    /// src/io/description/dist-basic.c).
    pub struct Basic {
        /// Server that holds the file.
        first: FirstServer = default("round-robin", "spreads the files evenly")
            aka ["start"],
    }
}
