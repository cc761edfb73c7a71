//! `[[metadata.subtree]]`: parts of the tree of directories with servers of their own.

use super::{Distribution, Metadata};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::Count;

section! {
    /// A directory and all below it, on one metadata server (Ceph: the extended attribute
    /// `ceph.dir.pin`). Workload N has the directory `/N`. Where each of its processes, or each
    /// part of its tree, has a directory, these are `/N/0`, `/N/1` and so on.
    pub struct Subtree {
        /// The directory: `/`, `/0` or `/0/3`.
        directory: String = required("/0") aka ["prefix", "path"],
        /// The metadata server, counted from 0.
        server: u32 as Count = required(1) aka ["rank"],
    }
    check check;
}

impl Subtree {
    /// The workload, and the number of its directory; none where it is all of them.
    #[must_use]
    pub fn parts(&self) -> Option<(Option<u32>, Option<u32>)> {
        let inner = self.directory.strip_prefix('/')?;
        let number = |text: &str| {
            let plain = text.bytes().all(|it| it.is_ascii_digit());
            plain.then(|| text.parse().ok()).flatten()
        };
        match inner.split_once('/') {
            None if inner.is_empty() => Some((None, None)),
            None => Some((Some(number(inner)?), None)),
            Some((workload, directory)) => {
                Some((Some(number(workload)?), Some(number(directory)?)))
            }
        }
    }
}

fn check(subtree: &Subtree, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some((workload, _)) = subtree.parts() else {
        let message = r#"expected a directory such as "/0", of workload 0, or "/0/3""#;
        return Err(at.error("directory", message));
    };
    let workloads = all.workload.len();
    if workload.is_some_and(|it| it as usize >= workloads) {
        let message =
            format!("there is no such workload: they are counted from 0, {workloads} in all");
        return Err(at.error("directory", message));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let servers = parallel.metadata_servers();
    if subtree.server >= servers {
        let message = format!(
            "expected a number from 0 to {}, of a metadata server",
            servers - 1
        );
        return Err(at.error("server", message));
    }
    let same = parallel.metadata.subtrees().iter();
    if same.filter(|it| it.parts() == subtree.parts()).count() > 1 {
        return Err(at.error(
            "directory",
            "expected a directory that no other subtree has",
        ));
    }
    Ok(())
}

/// Checks that subtrees are given where they are used, and only there.
pub(super) fn are_used(metadata: &Metadata, at: &Place<'_>) -> Result<(), Error> {
    let by_subtree = metadata.distribution == Distribution::Subtree;
    if by_subtree == metadata.subtree.is_some() {
        return Ok(());
    }
    Err(match by_subtree {
        true => at.error(
            "distribution",
            "no directory has a server: write [[metadata.subtree]] and below it directory = \"/0\" \
             and server = 0",
        ),
        false => at.error(
            "subtree",
            format!(
                "it says nothing with distribution = {:?}: expected \"subtree\", or leave it out",
                metadata.distribution.word()
            ),
        ),
    })
}

impl Metadata {
    /// The parts of the tree that have servers of their own.
    #[must_use]
    pub fn subtrees(&self) -> &[Subtree] {
        self.subtree.as_deref().unwrap_or_default()
    }
}
