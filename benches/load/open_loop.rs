//! What the load engine says of open loops whose figures are known beforehand.
//!
//! Stalls: 2,000 operations a second, of which 0.5 % take 20 ms longer. The p99 of service is
//! that of the bare call; the p99 of response follows from the arrivals and the stalls.
//!
//! Arrivals: Kolmogorov and Smirnov's test of the times between starts against the exponential
//! distribution, with calls that take no time and with stat of a file.
//!
//! ```text
//! cargo run --release -p headrace-load --example open_loop [DIR]
//! ```

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use headrace_load::calls::{STALL, Stalls};
use headrace_load::{Backend, Directory, Done, Options};

const SECONDS: f64 = 20.0;

fn main() -> Result<(), Box<dyn Error>> {
    let below = std::env::args().nth(1).unwrap_or_else(|| "/tmp".to_owned());
    let below = Path::new(&below);
    stalls(below)?;
    arrivals(below)
}

fn stalls(below: &Path) -> Result<(), Box<dyn Error>> {
    println!("2,000 stats a second for {SECONDS} s; ms, medians and 99th percentiles");
    println!(
        "{:<30} {:>8} {:>8} {:>9} {:>9}",
        "", "service", "p99", "response", "p99"
    );
    for (name, calls, processes) in [
        ("no stalls, one process", Backend::Posix, 1),
        ("0.5 % stall, one process", Backend::Stalling, 1),
        ("0.5 % stall, 16 processes", Backend::Stalling, 16),
    ] {
        let done = carried(below, calls, processes, 2000.0)?;
        let service = percentiles(done.iter().map(|it| it.ended - it.started));
        let response = percentiles(done.iter().map(|it| it.ended - it.intended));
        println!(
            "{name:<30} {:>8.3} {:>8.3} {:>9.3} {:>9.3}",
            service.0, service.1, response.0, response.1
        );
        if (calls, processes) == (Backend::Stalling, 1) {
            let least = percentiles(least_responses(&done));
            let name = "  if only stalls took time";
            println!(
                "{name:<30} {:>8} {:>8} {:>9.3} {:>9.3}",
                "", "", least.0, least.1
            );
        }
    }
    Ok(())
}

fn arrivals(below: &Path) -> Result<(), Box<dyn Error>> {
    println!("\nTimes between starts, against an exponential distribution");
    println!(
        "{:<24} {:>6} {:>7} {:>9} {:>8} {:>9} {:>8}",
        "", "rate", "starts", "intended", "p", "actual", "p"
    );
    for (name, calls, processes) in [
        ("no calls, 1 process", Backend::Null, 1),
        ("stat, 1 process", Backend::Posix, 1),
        ("stat, 16 processes", Backend::Posix, 16),
    ] {
        for rate in [100.0, 500.0, 2000.0] {
            let done = carried(below, calls, processes, rate)?;
            let intended = exponential(done.iter().map(|it| it.intended), rate);
            let actual = exponential(done.iter().map(|it| it.started), rate);
            println!(
                "{name:<24} {rate:>6} {:>7} {:>9.4} {:>8.3} {:>9.4} {:>8.3}",
                done.len(),
                intended.0,
                intended.1,
                actual.0,
                actual.1
            );
        }
    }
    Ok(())
}

/// Every operation of an open loop, by process.
fn carried(
    below: &Path,
    calls: Backend,
    processes: u32,
    rate: f64,
) -> Result<Vec<Done>, Box<dyn Error>> {
    let text = format!(
        r#"
        clients = {{ count = 1, processes = {processes} }}
        [[workload]]
        kind = "operation-mix"
        weights = {{ stat = 1 }}
        amount = "forever"
        rate = {rate}
        files = 1
        [run]
        stop = {{ time = "{SECONDS} s" }}
        "#
    );
    let scenario = headrace_spec::load_measured(&text, Path::new("loop.toml"), &[])?.scenario;
    let directory = Directory::make(below)?;
    let options = Options {
        calls,
        each: true,
        ..Options::default()
    };
    let watch = &mut |_: &headrace_load::LiveProgress| ControlFlow::Continue(());
    let outcome = headrace_load::run(&scenario, &directory, options, watch);
    directory.remove()?;
    Ok(outcome?.record.each.unwrap_or_default())
}

/// The median and the 99th percentile of nanoseconds, in milliseconds.
fn percentiles(times: impl IntoIterator<Item = u64>) -> (f64, f64) {
    let mut times: Vec<u64> = times.into_iter().collect();
    times.sort_unstable();
    let at = |part: usize| {
        let place = (times.len() * part).div_ceil(100).max(1) - 1;
        times
            .get(place)
            .map_or(f64::NAN, |time| *time as f64 * 1e-6)
    };
    (at(50), at(99))
}

/// Response times if nothing but stalls took time: the recursion of Lindley (1952).
fn least_responses(done: &[Done]) -> Vec<u64> {
    let mut free = 0;
    let of_one = |(one, stalls): (&Done, bool)| {
        free = free.max(one.intended) + if stalls { STALL.as_nanos() as u64 } else { 0 };
        free - one.intended
    };
    done.iter().zip(Stalls::default()).map(of_one).collect()
}

/// The largest distance between the distribution of the times between starts and the
/// exponential one, and the probability of one as large if there were none (with the
/// approximation of Stephens 1970).
fn exponential(starts: impl Iterator<Item = u64>, rate: f64) -> (f64, f64) {
    let mut starts: Vec<u64> = starts.collect();
    starts.sort_unstable();
    let pairs = starts.windows(2);
    let mut between: Vec<f64> = pairs.map(|it| (it[1] - it[0]) as f64 * 1e-9).collect();
    between.sort_by(f64::total_cmp);
    let count = between.len() as f64;
    let distance = |(place, between): (usize, &f64)| {
        let expected = 1.0 - (-rate * between).exp();
        let (below, up_to) = (place as f64 / count, (place + 1) as f64 / count);
        (expected - below).max(up_to - expected)
    };
    let farthest = between.iter().enumerate().map(distance).fold(0.0, f64::max);
    let scaled = (count.sqrt() + 0.12 + 0.11 / count.sqrt()) * farthest;
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * (-2.0 * f64::from(k * k) * scaled * scaled).exp()
    };
    let p: f64 = (1..=100).map(term).sum();
    (farthest, p.clamp(0.0, 1.0))
}
