//! `[recovery]`: what clients do when a server does not answer.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{CountOr, Limit, Seconds};

section! {
    /// Recovery of clients when a server does not reply. Without `[[failure]]` all servers reply.
    pub struct Recovery {
        /// Timeout after which a client considers a server failed. A slow server answers the client's
        /// pings, so it is not considered failed.
        timeout: Seconds = default("60 s", "timeo = 600 of a mount over TCP: nfs(5)") aka ["obd_timeout", "ping_timeout"],
        /// Time between two tries to reach a server that has been taken for failed.
        retry: Seconds = default("10 s", "RECONNECT_INTERVAL, 10 s: Lustre 1.8, lustre/tests/conf-sanity.sh; max(obd_timeout / 10, 10) in lustre/include/obd_support.h before") aka ["retry_interval", "retry_delay"],
        /// After how many of these tries a request fails.
        retries: Limit as CountOr<Limit> = default("unlimited", "a request waits until the server is back, as of a hard mount: nfs(5)") aka ["retry_limit"],
    }
    check times_pass;
}

/// As often as this a client looks, for as long as the run lasts.
const SHORTEST: Seconds = Seconds(1e-3);

fn times_pass(recovery: &Recovery, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    for (field, time) in [("timeout", recovery.timeout), ("retry", recovery.retry)] {
        if time < SHORTEST {
            let message = format!(
                "clients would check for timeouts continuously: expected at least \
                 \"{SHORTEST}\", as systems have seconds"
            );
            return Err(at.error(field, message));
        }
    }
    let fails = all.parallel().is_some_and(|it| it.failure.is_some());
    if fails && recovery.retries.limit().is_some() && all.clients.machine().is_some() {
        let message = "what a client's cache does when a request fails is not modelled: expected \
                       \"unlimited\", or clients.kind = \"simple\"";
        return Err(at.error("retries", message));
    }
    Ok(())
}
