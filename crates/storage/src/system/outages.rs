//! Effects of server failures.

use serde::Serialize;

use super::System;
use crate::failure::{Outage, Repair};

/// A failure of a server, as it went.
#[derive(Clone, Debug, Serialize)]
pub struct OutageReport {
    /// The data server that failed; none if it was a metadata server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<u32>,
    /// The metadata server that failed; none if it was a data server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<u32>,
    /// Time of the failure, in seconds from the start.
    pub at_s: f64,
    /// Time when it is back; none if it does not come back.
    pub until_s: Option<f64>,
    /// The data server that serves its targets from then on, if another does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_over_by: Option<u32>,
    /// Time when the first client took it for failed; none if no client did.
    pub noticed_s: Option<f64>,
    /// Bytes that it had answered as written and had in its memory alone.
    pub forgotten_bytes: u64,
    /// Repair of the lost copies, if repair is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairReport>,
}

/// Report of a repair after a failure.
#[derive(Clone, Debug, Serialize)]
pub struct RepairReport {
    /// Start of copying, in seconds from the start; none if it did not start.
    pub began_s: Option<f64>,
    /// Bytes that servers stored for it.
    pub copied_bytes: u64,
    /// Bytes that servers read for it: with an erasure code, those of all pieces that give one back.
    pub read_bytes: u64,
    /// End of copying; none if copies remain, or none were needed.
    pub whole_s: Option<f64>,
}

/// The failures of a run that began before its end.
pub(super) fn outages(system: &System) -> Vec<OutageReport> {
    let Some(failing) = system.failing else {
        return Vec::new();
    };
    let world = &system.net.store(failing.store, 0).world;
    let (hosts, needed) = (&world.hosts, world.repair.as_ref().map(Repair::needed));
    let began = |outage: &&Outage| outage.at <= system.net.now();
    let outages = hosts.outages().iter().filter(began);
    outages
        .map(|outage| {
            let (server, metadata) = hosts.numbered(outage.host);
            OutageReport {
                server,
                metadata,
                at_s: outage.at.as_seconds(),
                until_s: outage.until.map(|time| time.as_seconds()),
                taken_over_by: outage.partner,
                noticed_s: outage.noticed.map(|time| time.as_seconds()),
                forgotten_bytes: outage.forgotten,
                repair: needed.map(|needed| RepairReport {
                    began_s: outage.repair_began.map(|time| time.as_seconds()),
                    copied_bytes: outage.copied,
                    read_bytes: outage.copied.saturating_mul(u64::from(needed)),
                    whole_s: outage.whole.map(|time| time.as_seconds()),
                }),
            }
        })
        .collect()
}
