//! The storage models, run from scenario texts as users write them: known
//! answers worked out by hand, and laws that hold whatever the scenario says.

mod bottlenecks;
mod caches;
mod client_caches;
mod closed_systems;
mod conservation;
mod determinism;
mod device_disk;
mod device_every_transfer;
mod device_raid;
mod device_raid_cache;
mod device_raid_members;
mod device_raid_rebuild;
mod device_solid_state;
mod device_throttled;
mod devices;
mod iosched;
mod limits;
mod local_bottlenecks;
mod local_streams;
mod local_times;
mod pipelines;
mod positions;
mod reports;
mod round_trips;
mod running;
mod schedulers;
mod server_bottlenecks;
mod server_machines;
mod sharing;
mod striped_read;
mod traces;
mod workloads;
