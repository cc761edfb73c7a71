//! Prints what a trace holds, as JSON: `cargo run --example info -- FILE`.

use std::error::Error;

use headrace_trace::{Summary, open};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which trace?")?;
    let mut reader = open(path.as_ref(), None)?;
    let summary = Summary::of(reader.as_mut())?;
    let both = serde_json::json!({ "summary": summary, "skipped": reader.skipped() });
    println!("{both:#}");
    Ok(())
}
