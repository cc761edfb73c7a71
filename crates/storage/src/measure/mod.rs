//! Measurements of a run: requests as they start and end, summarised.

mod activity;
pub(crate) mod attribution;
mod bottleneck;
mod caches;
mod job_counts;
mod latencies;
pub(crate) mod links;
pub(crate) mod local;
mod phases;
mod recorder;
mod series;
pub(crate) mod servers;
mod single_requests;
pub(crate) mod stations;
mod stop;
mod synced_writes;
mod unfinished_requests;

pub use bottleneck::Bottleneck;
pub use caches::{CacheReport, UnwrittenReport};
pub use recorder::{Completed, Recorder};
pub use series::Series;
pub use single_requests::{Recipient, Recorded};
pub use stations::{BreakdownEntry, StationReport};
pub use stop::{PrecisionReport, StopReason, StopReport};
pub use synced_writes::SyncedWrites;
pub use unfinished_requests::{Unfinished, UnfinishedReport};

pub(crate) use attribution::{ServicePart, counts};
pub(crate) use bottleneck::{Turn, bottleneck, of_arrivals};
pub(crate) use caches::{caches, unwritten};
pub(crate) use latencies::Latencies;
pub(crate) use phases::phases;
pub(crate) use recorder::{Cell, column};
pub(crate) use single_requests::SingleRequests;
pub(crate) use stations::WriteBack;
pub(crate) use synced_writes::synced_writes;
