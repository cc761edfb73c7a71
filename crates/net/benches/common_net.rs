//! See `examples/common_net.rs`.
fn main() {}
