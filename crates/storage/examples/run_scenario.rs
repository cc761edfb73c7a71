//! Runs a scenario file and prints its result as JSON:
//! `cargo run --release -p headrace-storage --example run_scenario FILE [path=value …]`

use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: run_scenario FILE [path=value …]")?;
    let sets: Vec<String> = arguments.collect();
    let loaded = headrace_spec::load_file(file.as_ref(), &sets)?;
    let options = headrace_storage::Options::default();
    let outcome = headrace_storage::simulate(&loaded.scenario, options, &mut |_, _, _| {
        ControlFlow::Continue(())
    })?;
    println!("{}", serde_json::to_string_pretty(&outcome.report)?);
    Ok(())
}
