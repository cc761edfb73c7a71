//! Cases of the fuzz targets: each is read or refused.

#[path = "../../../../fuzz/fuzz_targets/reliability.rs"]
mod reliability;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn cases_of_reliability() {
    replay::replay("reliability", reliability::check);
}
