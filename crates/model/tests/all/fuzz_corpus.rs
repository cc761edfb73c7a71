//! Cases of the fuzz targets: each is read or refused.

#[path = "../../../../fuzz/fuzz_targets/expression.rs"]
mod expression;
#[path = "../../../../fuzz/fuzz_targets/net.rs"]
mod net;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn cases_of_expression() {
    replay::replay("expression", expression::check);
}

#[test]
fn cases_of_net() {
    replay::replay("net", net::check);
}
