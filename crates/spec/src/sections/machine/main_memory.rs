//! `[machine.memory]`: main memory and the page cache in it.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Replacement, Scenario};
use crate::values::{Bytes, Fraction};

section! {
    /// Main memory. Memory that the processes and the kernel do not use is page
    /// cache: two lists, of inactive and active pages (Nguyen 2011, section
    /// 4.3). A page that is used twice while inactive becomes active; reclaim
    /// takes inactive pages first, clean before dirty.
    pub struct MainMemory {
        /// Main memory in all.
        size: Bytes = default("4 GiB", "the machine of Nguyen 2011, section 3.2") aka ["capacity"],
        /// Memory used by the kernel and the processes.
        used: Bytes = default("0 B", "nothing is assumed"),
        /// The unit of the page cache.
        page: Bytes = default("4 KiB", "the page of Linux on x86-64"),
        /// The largest folio. Dirty data counts against the limits in whole folios, which are as
        /// large as the calls that made the file, up to this.
        largest_folio: Bytes = same(page),
        /// The part of the page cache that active pages may take before the
        /// oldest of them become inactive again.
        active_share: f64 as Fraction = default(0.5, "inactive_is_low for caches below 1 GiB: Linux, mm/vmscan.c"),
        /// Replacement policy in the place of the two lists. Dirty pages are evicted as clean ones
        /// are.
        replacement: Option<Replacement> = optional("the two lists, as Linux has them") aka ["policy"],
    }
    check something_is_left;
}

impl MainMemory {
    /// Room for the page cache, in bytes.
    #[must_use]
    pub fn page_cache(&self) -> u64 {
        self.size.0.saturating_sub(self.used.0)
    }
}

fn something_is_left(memory: &MainMemory, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let MainMemory {
        size, used, page, ..
    } = memory;
    if !page.0.is_power_of_two() || page.0 > 1 << 20 {
        let message = r#"expected a power of two up to 1 MiB such as "4 KiB""#;
        return Err(at.error("page", message));
    }
    if memory.page_cache() < 16 * page.0 {
        let path = at.field("used").path;
        let message = format!("expected room for at least 16 pages: {path} = \"{used}\"");
        return Err(at.error("size", message));
    }
    let _ = size;
    if memory.replacement == Some(Replacement::Python) {
        let message = "a machine's page cache has one of Headrace's own policies: expected \
                       \"lru\", \"fifo\", \"clock\", \"2q\" or \"arc\"";
        return Err(at.error("replacement", message));
    }
    Ok(())
}
