//! `[layout]`: which server holds which part of a file.

mod basic;
mod crush;
mod free_space;
mod progressive;
mod python;
mod striped;
mod two_dimensional;
mod variable_strip;

pub use basic::Basic;
pub use crush::{Crush, FailureDomain};
pub use free_space::FreeSpace;
pub use progressive::{Component, ComponentPlace, Progressive};
pub use python::PythonLayout;
pub use striped::{FirstServer, ServersPerFile, Striped};
pub use two_dimensional::TwoDimensional;
pub use variable_strip::{Strip, VariableStrip};

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::names;
use crate::sections::{Parallel, Pool, ReplicaSets, Scenario};
use crate::values::{Bytes, Count, NonEmpty};

section! {
    /// Layout of files over the servers.
    pub struct Layout {
        /// Kind of layout.
        #[serde(flatten)]
        kind: LayoutKind = kinds(),
        /// Largest job sent to a server: a larger piece becomes several jobs.
        packet: Option<Bytes> = optional("a piece is one job, however large"),
        /// The pool whose servers hold the files.
        pool: Option<String> = optional("files may lie on every server"),
        /// Known servers of the first byte of the first files, by file number, for example from a
        /// system that hashes names. With a pool the numbers count its servers; with copies, its
        /// sets of servers.
        first_servers: Option<Vec<u32>> as Option<NonEmpty<Count>> = optional("`first` says it for all files"),
    }
    check pool_has_room;
}

kinds! {
    /// The ways to spread a file over servers.
    pub enum LayoutKind default "striped", "what every parallel file system offers" {
        Striped = "striped",
        Basic = "basic",
        TwoDimensional = "two-dimensional",
        VariableStrip = "variable-strip",
        Crush = "crush",
        FreeSpace = "free-space",
        PythonLayout = "python",
        Progressive = "progressive",
    }
}

impl LayoutKind {
    /// Returns the server that holds the first byte of a file.
    #[must_use]
    pub fn first(&self) -> FirstServer {
        match self {
            LayoutKind::Striped(layout) => layout.first,
            LayoutKind::Basic(layout) => layout.first,
            LayoutKind::TwoDimensional(layout) => layout.first,
            LayoutKind::VariableStrip(layout) => layout.first,
            // The placement of each file says it.
            LayoutKind::Crush(_) | LayoutKind::FreeSpace(_) | LayoutKind::PythonLayout(_) => {
                FirstServer::Zero
            }
            LayoutKind::Progressive(layout) => layout.first,
        }
    }

    /// Returns true if it chooses servers for each file or object, and no rule of turns.
    #[must_use]
    pub fn places_files(&self) -> bool {
        use LayoutKind::{Crush, FreeSpace, PythonLayout};
        matches!(self, Crush(_) | FreeSpace(_) | PythonLayout(_))
    }

    /// Number of targets that one file is spread over.
    #[must_use]
    pub fn width(&self, targets: u32) -> u32 {
        match self {
            LayoutKind::Striped(layout) => layout.width(targets),
            LayoutKind::Basic(_) => 1,
            LayoutKind::TwoDimensional(_) => targets,
            LayoutKind::VariableStrip(layout) => layout.width(),
            LayoutKind::FreeSpace(layout) => layout.servers.of(targets),
            LayoutKind::Crush(_) | LayoutKind::PythonLayout(_) => targets,
            LayoutKind::Progressive(layout) => layout.width(targets),
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
            LayoutKind::Crush(layout) => layout.unit,
            LayoutKind::FreeSpace(layout) => layout.unit,
            LayoutKind::PythonLayout(layout) => layout.unit,
            LayoutKind::Progressive(layout) => layout.smallest(),
        }
    }
}

impl Layout {
    /// The first byte of a file that is on data servers: those before it are on the metadata
    /// server.
    #[must_use]
    pub fn on_metadata(&self) -> Bytes {
        match &self.kind {
            LayoutKind::Progressive(layout) => layout.on_metadata(),
            _ => Bytes(0),
        }
    }

    /// The pool of the files, if they are in one.
    #[must_use]
    pub fn pool<'a>(&self, parallel: &'a Parallel) -> Option<&'a Pool> {
        let name = self.pool.as_ref()?;
        parallel.pools().iter().find(|pool| pool.name == *name)
    }

    /// Over how many places it spreads files, at the most: targets, or, where data is
    /// replicated, sets of them.
    #[must_use]
    pub fn places(&self, parallel: &Parallel) -> u32 {
        match self.pool(parallel) {
            Some(pool) => pool.targets(parallel),
            None => parallel.places(),
        }
    }
}

fn pool_has_room(layout: &Layout, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if layout.packet == Some(Bytes(0)) {
        let message = r#"expected a size of more than 0 such as "256 KiB""#;
        return Err(at.error("packet", message));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    if let Some(name) = &layout.pool {
        let pools: Vec<&str> = (parallel.pools().iter())
            .map(|pool| pool.name.as_str())
            .collect();
        if pools.is_empty() {
            let message =
                format!("there are no pools: write [[pool]] and below it name = {name:?}");
            return Err(at.error("pool", message));
        }
        if !pools.contains(&name.as_str()) {
            let known = names::or(&pools);
            let hint = names::hint(name, &pools);
            return Err(at.error("pool", format!("expected a pool, {known}{hint}")));
        }
    }
    let there = layout.places(parallel);
    first_servers_are_there(layout, parallel, there, at)?;
    match &layout.kind {
        LayoutKind::Striped(striped) => striped.fits(layout, there, parallel, at),
        LayoutKind::Basic(_) => Ok(()),
        LayoutKind::TwoDimensional(spec) => spec.fits(there, at),
        LayoutKind::VariableStrip(spec) => spec.fits(there, at),
        LayoutKind::Crush(spec) => spec.fits(layout, all, parallel, at),
        LayoutKind::FreeSpace(spec) => spec.fits(layout, there, parallel, at),
        LayoutKind::PythonLayout(spec) => spec.fits(at),
        LayoutKind::Progressive(spec) => spec.fits(layout, parallel, at),
    }
}

fn first_servers_are_there(
    layout: &Layout,
    parallel: &Parallel,
    there: u32,
    at: &Place<'_>,
) -> Result<(), Error> {
    let Some(known) = &layout.first_servers else {
        return Ok(());
    };
    if parallel.replication.sets == ReplicaSets::Blocks {
        let message = "each block has servers of its own, drawn for it: leave it out, or give \
                       another replication.sets than \"blocks\"";
        return Err(at.error("first_servers", message));
    }
    if layout.kind.places_files() {
        let message = "this kind chooses the servers of each file: leave it out, or give another \
                       kind";
        return Err(at.error("first_servers", message));
    }
    match known.iter().find(|it| **it >= there) {
        None => Ok(()),
        Some(over) => {
            let message = format!(
                "there is no {over}: expected numbers from 0 to {}, of servers or of sets of \
                 servers with the same data",
                there - 1
            );
            Err(at.error("first_servers", message))
        }
    }
}
