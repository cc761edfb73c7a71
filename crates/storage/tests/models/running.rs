//! Running a scenario from its text.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use headrace_net::Time;
use headrace_spec::Scenario;
use headrace_storage::measure::{Completed, StationReport};
use headrace_storage::{Options, Outcome, simulate};

/// One client, one server and one request of 1 MB; nothing on the wire but data.
/// A byte takes 1 ns on the network, 10 ns to read and 20 ns to write.
pub const SMALLEST: &str = r#"
    [clients]
    count = 1
    [servers]
    count = 1
    device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "1 MiB"
    [[workload]]
    block = "1 MB"
    phases = ["read"]
"#;

pub const MICROSECOND: u64 = 1_000_000;
pub const NANOSECOND: u64 = 1_000;

/// Loads a scenario text; relative files are looked for beside this package's manifest.
pub fn load(text: &str, sets: &[&str]) -> Result<Scenario, headrace_spec::Error> {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("test.toml");
    Ok(headrace_spec::load(text, &file, &sets)?.scenario)
}

/// Runs a scenario text to its end, keeping every request.
pub fn run(text: &str, sets: &[&str]) -> Outcome {
    let scenario = load(text, sets).unwrap_or_else(|error| panic!("{error}"));
    run_scenario(&scenario)
}

/// Runs a scenario to its end, keeping every request.
pub fn run_scenario(scenario: &Scenario) -> Outcome {
    let options = Options {
        keep_requests: true,
        ..Options::default()
    };
    let outcome = simulate(scenario, options, &mut |_, _, _| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error of a scenario, from loading or running it.
pub fn refusal(text: &str, sets: &[&str]) -> String {
    let scenario = match load(text, sets) {
        Ok(scenario) => scenario,
        Err(error) => return error.to_string(),
    };
    let run = simulate(&scenario, Options::default(), &mut |_, _, _| {
        ControlFlow::Continue(())
    });
    match run {
        Ok(outcome) => panic!("it ran for {} s", outcome.report.simulated_seconds),
        Err(error) => error.to_string(),
    }
}

/// A file of the repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// A shipped scenario.
pub fn shipped(name: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let file = in_repository("scenarios").join(name);
    let loaded = headrace_spec::load_file(&file, &sets);
    loaded.unwrap_or_else(|error| panic!("{error}")).scenario
}

/// Latencies of all requests in the order in which they were done, in picoseconds.
pub fn latencies(outcome: &Outcome) -> Vec<u64> {
    outcome.requests.iter().map(latency).collect()
}

/// From the actual start of a request to its end, in picoseconds.
pub fn latency(it: &Completed) -> u64 {
    it.completed.since(it.request.issued).0
}

/// The time at which the last request was done.
pub fn last(outcome: &Outcome) -> Time {
    let last = outcome.requests.iter().map(|it| it.completed).max();
    last.unwrap_or(Time::ZERO)
}

/// A station by the end of its path.
pub fn station<'a>(outcome: &'a Outcome, path: &str) -> &'a StationReport {
    let mut stations = outcome.report.stations.iter();
    let found = stations.find(|it| it.station.ends_with(path));
    found.unwrap_or_else(|| panic!("no station {path}"))
}

/// Returns the total busy time of a station's servers, in picoseconds.
pub fn busy(outcome: &Outcome, path: &str) -> f64 {
    let station = station(outcome, path);
    station.service.unwrap_or(0.0) * station.visits as f64 * 1e12
}

/// Checks that two numbers differ by no more than a part of the second.
#[track_caller]
pub fn close(got: f64, expected: f64, part: f64) {
    let error = (got - expected).abs();
    assert!(
        error <= part * expected.abs(),
        "{got}, expected {expected} within {part}"
    );
}
