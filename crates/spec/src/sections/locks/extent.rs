//! `kind = "extent"`: locks on ranges of bytes.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{Bytes, Seconds};

section! {
    /// Locks on ranges of a file's bytes, one table for each target, as Lustre's distributed lock
    /// manager (Schwan, Ottawa Linux Symposium 2003). Readers share, writers do not. A lock is
    /// granted for the largest range that conflicts with no other client's lock, and is held until
    /// another client needs it.
    pub struct ExtentLocks {
        /// Time that a server takes for a client's message about a lock, one after the
        /// other.
        time_per_lock: Seconds = default("0 s", "no cost is assumed") aka ["time"],
        /// Granularity of extents.
        unit: Bytes = default("4 KiB", "a page: lustre/ldlm/ldlm_extent.c, ldlm_extent_internal_policy_fixup") aka ["page", "align"],
        /// If true, a lock is granted larger than it was asked for.
        grow: bool = default(true, "the largest extent that conflicts with nobody: lustre/ldlm/ldlm_extent.c, ldlm_extent_policy"),
        /// Beyond how many conflicting locks on the same object a writer's lock grows no
        /// further than `contended_growth`.
        contended_locks: u32 as crate::values::Count = default(32, "lustre/ldlm/ldlm_extent.c, ldlm_extent_internal_policy_fixup"),
        /// Maximum extent of such a lock from the requested range.
        contended_growth: Bytes = default("32 MiB", "LDLM_MAX_GROWN_EXTENT in lustre/ldlm/ldlm_extent.c"),
    }
    check pages_and_copies_fit;
}

fn pages_and_copies_fit(locks: &ExtentLocks, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if locks.unit.0 == 0 {
        return Err(at.error("unit", r#"expected a size of more than 0 such as "4 KiB""#));
    }
    if let Some(machine) = all.clients.machine() {
        if machine.attributes.oplocks().is_some() {
            let message = "clients have opportunistic locks already: clients.machine.attributes.kind \
                           = \"oplocks\"; expected \"none\"";
            return Err(at.error("kind", message));
        }
        let page = machine.memory.page;
        if !locks.unit.0.is_multiple_of(page.0.max(1)) {
            let message = format!(
                "a page of a client would be under two locks: expected a multiple of \
                 clients.machine.memory.page = \"{page}\""
            );
            return Err(at.error("unit", message));
        }
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let copies = parallel.replication.pieces();
    if copies > 1 {
        let message = format!(
            "locks on replicated data are not modelled: its sets have {copies} servers; expected \
             \"none\""
        );
        return Err(at.error("kind", message));
    }
    Ok(())
}
