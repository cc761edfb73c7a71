//! `[[pool]]`: named sets of servers.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Parallel, Scenario};
use crate::values::Numbers;

section! {
    /// Servers under a name, with all their targets, for layouts that keep files to them
    /// (Lustre: OST pools, `lctl pool_new`). A server may be in several pools.
    pub struct Pool {
        /// Name for use in layouts.
        name: String = required("flash"),
        /// Its servers, counted from 0: numbers, and ranges such as `"0-3"`.
        servers: Vec<u32> as Numbers = required(["0-1"]) aka ["targets", "osts", "members"],
    }
    check name_is_its_own_and_servers_exist;
}

impl Pool {
    /// Number of targets its servers have.
    #[must_use]
    pub fn targets(&self, parallel: &Parallel) -> u32 {
        let servers = u32::try_from(self.servers.len()).unwrap_or(u32::MAX);
        servers.saturating_mul(parallel.servers.targets)
    }
}

fn name_is_its_own_and_servers_exist(
    pool: &Pool,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    if pool.name.is_empty() {
        return Err(at.error("name", r#"expected a name such as "flash""#));
    }
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let same = parallel.pools().iter();
    if same.filter(|other| other.name == pool.name).count() > 1 {
        return Err(at.error("name", "expected a name that no other pool has"));
    }
    let count = parallel.servers.count;
    if let Some(last) = pool.servers.iter().find(|server| **server >= count) {
        let message = format!(
            "there is no server {last}: servers are counted from 0, and servers.count = {count}"
        );
        return Err(at.error("servers", message));
    }
    if parallel.replication.pieces() > 1 {
        let message = format!(
            "pools of replicated data are not modelled: leave pools out, or give \
             replication.copies = 1 and no code in place of sets of {}",
            parallel.replication.pieces()
        );
        return Err(at.error("servers", message));
    }
    Ok(())
}
