//! `[servers.memory]`: a server's page cache.

use std::path::PathBuf;

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{PythonClass, Scenario, ServerKind, Servers};
use crate::values::{Bytes, FilePath, Rate, choice};

choice! {
    /// Page that is evicted from a full cache.
    pub enum Replacement {
        /// The least recently used one.
        Lru = "lru",
        /// The one that came in first.
        Fifo = "fifo",
        /// The first one at the hand that was not used since it last passed (second chance).
        Clock = "clock",
        /// 2Q: pages that were used once leave first (Johnson and Shasha 1994).
        TwoQueue = "2q",
        /// ARC: it adapts to recency and frequency (Megiddo and Modha 2003).
        Arc = "arc",
        /// A class in Python, which `python` names.
        Python = "python",
    }
}

section! {
    /// The page cache of a server.
    pub struct Memory {
        /// Room for cached data; 0: nothing is cached.
        cache: Bytes = default("0 B", "nothing is assumed about a cache") aka ["size", "capacity"],
        /// The unit in which data is cached.
        page: Bytes = default("4 KiB", "the page of Linux on x86-64"),
        /// Maximum dirty data in the cache; 0: a write is acknowledged once the device has it.
        dirty_limit: Bytes = default("0 B", "nothing is assumed about write-back")
            aka ["dirty", "dirty_ratio"],
        /// Page that is evicted from a full cache.
        replacement: Replacement = default("lru", "the usual model of the Linux page cache") aka ["policy"],
        /// A module or file in Python and a replacement policy in it, a subclass of
        /// `headrace.ReplacementPolicy` (docs/how-to/own-code.md); with
        /// `replacement = "python"`.
        python: Option<PythonClass> = optional("the policy is one of Headrace's") aka ["class"],
        /// Folder of the file, relative to the scenario file's folder. A module is searched for
        /// there first, then in Python's own path. Only with `python`.
        folder: Option<PathBuf> as Option<FilePath> = optional("the scenario file's folder") aka ["path"],
        /// Rate at which cached data is copied; only with a cache.
        rate: Option<Rate> = optional("copying takes no time"),
    }
    check sizes_fit;
}

impl Servers {
    /// The class in Python that is the replacement policy of the servers' page caches, or of
    /// those of a group, and its folder.
    #[must_use]
    pub fn policy_class(&self) -> Option<(PythonClass, PathBuf)> {
        self.alike()
            .into_iter()
            .find_map(|it| match it.servers.kind {
                ServerKind::SimpleServer(simple) => simple.memory.class(),
                ServerKind::MachineServer(_) => None,
            })
    }
}

impl Memory {
    /// Its replacement policy in Python, and the folder of that.
    fn class(&self) -> Option<(PythonClass, PathBuf)> {
        let folder = self.folder.clone().unwrap_or_default();
        self.python.clone().map(|class| (class, folder))
    }
}

fn sizes_fit(memory: &Memory, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Memory {
        cache,
        page,
        dirty_limit,
        ..
    } = memory;
    if page.0 == 0 {
        return Err(at.error("page", r#"expected a size of more than 0 such as "4 KiB""#));
    }
    if cache.0 > 0 && cache < page {
        let message = format!("expected 0 or at least one page: servers.memory.page = \"{page}\"");
        return Err(at.error("cache", message));
    }
    if dirty_limit > cache {
        let message =
            format!("expected no more than the cache: servers.memory.cache = \"{cache}\"");
        return Err(at.error("dirty_limit", message));
    }
    let is_python = memory.replacement == Replacement::Python;
    if is_python && memory.python.is_none() {
        let message = r#"expected its class too: servers.memory.python = "my_policy.py:MyPolicy""#;
        return Err(at.error("replacement", message));
    }
    if memory.python.is_some() && !is_python {
        let message = "only with servers.memory.replacement = \"python\"";
        return Err(at.error("python", message));
    }
    if memory.folder.is_some() && !is_python {
        let message =
            "it is of a class in Python: only with servers.memory.replacement = \"python\"";
        return Err(at.error("folder", message));
    }
    if memory.replacement != Replacement::Lru && cache.0 == 0 {
        let message = "nothing is cached, so nothing is evicted: leave it out or give \
                       servers.memory.cache";
        return Err(at.error("replacement", message));
    }
    let first = || all.parallel().and_then(|it| it.servers.policy_class());
    if is_python && first().is_some_and(|first| memory.class() != Some(first)) {
        let message = "expected the class of the other servers: all caches in Python have one";
        return Err(at.error("python", message));
    }
    if memory.rate.is_some() && cache.0 == 0 {
        let message = "nothing is cached, so nothing is copied: leave it out or give \
                       servers.memory.cache";
        return Err(at.error("rate", message));
    }
    Ok(())
}
