//! Cases of the fuzz targets: each is read or refused.

#[path = "../../../../fuzz/fuzz_targets/design_document.rs"]
mod design_document;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
#[path = "../../../../fuzz/fuzz_targets/scenario.rs"]
mod scenario;
#[path = "../../../../fuzz/fuzz_targets/setting.rs"]
mod setting;

#[test]
fn cases_of_design_document() {
    replay::replay("design_document", design_document::check);
}

#[test]
fn cases_of_scenario() {
    replay::replay("scenario", scenario::check);
}

#[test]
fn cases_of_setting() {
    replay::replay("setting", setting::check);
}
