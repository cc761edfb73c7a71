//! Measurements of a run: requests as they start and end, summarised.

mod activity;
mod attribution;
mod bottleneck;
mod latencies;
mod links;
mod local;
mod outages;
mod recorder;
mod report;
mod series;
mod servers;
mod single_requests;
mod stop;
mod synced_writes;
mod unfinished_requests;
mod unmodelled;

pub use bottleneck::Bottleneck;
pub use outages::{OutageReport, RepairReport};
pub use recorder::{Completed, Recorder};
pub use report::{
    BreakdownEntry, GroupReport, Latency, OperationReport, Report, ScenarioReport, Share,
    StationReport,
};
pub use series::Series;
pub use single_requests::{Recipient, Recorded};
pub use stop::{PrecisionReport, StopReason, StopReport};
pub use synced_writes::SyncedWrites;
pub use unfinished_requests::{Unfinished, UnfinishedReport};

pub(crate) use attribution::counts;
pub(crate) use report::report;
pub(crate) use single_requests::SingleRequests;
