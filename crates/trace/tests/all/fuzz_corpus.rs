//! Cases of the fuzz targets: each is read or refused.

#[path = "../../../../fuzz/replay.rs"]
mod replay;
#[path = "../../../../fuzz/fuzz_targets/trace.rs"]
mod trace;

#[test]
fn cases_of_trace() {
    replay::replay("trace", trace::check);
}
