//! `[machine.copying]`: copies between the page cache and processes.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, Fraction, Portion, Positive, Seconds};

section! {
    /// Time to copy a page between the page cache and a process. It grows when the process's buffer
    /// exceeds its share of a processor cache (Nguyen 2011, section 4.5). Two caches give three
    /// times. The pages of a request up to the share of the first take `page_in_l2` each. Those up
    /// to the share of the second take `page_in_l3`, the rest `page_in_memory`.
    pub struct Copying {
        /// The second-level cache of a core.
        l2: Bytes = default("512 KiB", "the Xeon of Nguyen 2011, section 3.2"),
        /// The share of it that a buffer can have before copies slow down.
        l2_share: f64 as Fraction = default(0.125, "an eighth: Nguyen 2011, table 2"),
        /// The third-level cache; 0 if there is none.
        l3: Bytes = default("0 B", "no third level"),
        /// The share of it that a buffer can have.
        l3_share: f64 as Fraction = default(0.125, "as for the second level"),
        /// Time for a page while the buffer fits into its share of the second level.
        page_in_l2: Seconds = default("0 s", "copying takes no time: measure it"),
        /// Time for a page beyond it.
        page_in_l3: Seconds = same(page_in_l2),
        /// Time for a page beyond the share of the last cache.
        page_in_memory: Seconds = same(page_in_l3),
        /// Effective size of the last level of the processor's caches for copied pages and lists of
        /// buffer heads. A fraction exp(-x / reach) of used data remains after x further bytes, as
        /// with random replacement. Other data shares the level, so this may be less than its size.
        l3_reach: Bytes = default("0 B", "nothing is found again: measure it"),
        /// Cost of copying such bytes again, relative to a copy from memory.
        reuse_share: f64 as Portion = default(1.0, "as long as others: measure it"),
        /// Cost of a copy into the page cache relative to a copy out of it. A process writes from a
        /// buffer in the processor's caches, and reads data that they lack.
        write_share: f64 as Portion = default(1.0, "as long as out of it"),
    }
    check times_grow;
    removed {
        "contention": Positive = default(1.0), "take it out: copies of several cores take as long as those of one";
        "l1": Bytes = default("0 B"), "take it out: \"l3_reach\" alone tells what the processor's caches have";
        "read_call": Seconds = default("0 s"), "take it out: a call that follows no other takes \"discontiguous_call\" in [machine.cpu]";
        "write_l2_share": Fraction = same(l2_share), "copies into the page cache take \"write_share\" of those out of it, whatever their size";
    }
}

fn times_grow(copying: &Copying, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if copying.l3.0 > 0 && copying.l3 < copying.l2 {
        let message = format!(
            "expected 0, or no less than the second level: {} = \"{}\"",
            at.field("l2").path,
            copying.l2
        );
        return Err(at.error("l3", message));
    }
    Ok(())
}
