//! Speed of the reliability engine on one thread: disk-years simulated a second, and the time to
//! a 1 % standard error of RAID-6 of 8 disks. Each case is repeated; the median and the fastest
//! time are printed.
//!
//! `cargo run --release -p headrace-survival --example speed [repetitions]`

use std::ops::ControlFlow;
use std::time::Instant;

use headrace_survival::{Answer, Question};

const HOUR: f64 = 3600.0;
const TEN_YEARS: f64 = 87_600.0 * HOUR;

/// Elerath and Pecht 2007: RAID-5 of 8 disks, Weibull lifetimes and repairs.
fn fail_and_repair(latent: &str) -> String {
    format!(
        r#"{{"redundancy": {{"kind": "array", "disks": 8, "tolerates": 1}},
        "lifetime": {{"law": {{"kind": "weibull", "shape": 1.12, "scale": {}}}}},
        "repair": {{"rebuild": {{"kind": "weibull", "shape": 2, "scale": {}, "location": {}}}}},
        {latent} "horizons": [{TEN_YEARS}], "method": "monte-carlo",
        "simulation": {{"count_losses": true, "missions": 2000000, "threads": 1}}}}"#,
        461_386.0 * HOUR,
        12.0 * HOUR,
        6.0 * HOUR,
    )
}

fn raid6(relative_error: f64, threads: u32) -> String {
    format!(
        r#"{{"redundancy": {{"kind": "array", "disks": 8, "tolerates": 2}},
        "lifetime": {{"law": {{"kind": "exponential", "mean": {}}}}},
        "repair": {{"rebuild": {{"kind": "exponential", "mean": {}}}}},
        "horizons": [{TEN_YEARS}], "method": "monte-carlo",
        "simulation": {{"relative_error": {relative_error}, "threads": {threads}}}}}"#,
        1e6 * HOUR,
        12.0 * HOUR,
    )
}

fn timed(question: &str) -> Result<(f64, Answer), Box<dyn std::error::Error>> {
    let question: Question = serde_json::from_str(question)?;
    let begin = Instant::now();
    let answer = headrace_survival::answer(&question, &mut |_| ControlFlow::Continue(()))?;
    Ok((begin.elapsed().as_secs_f64(), answer))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let repetitions: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 7,
    };
    let latent = |scrub: &str| {
        format!(
            r#""latent": {{"mean": {}, "scrub": {scrub}}},"#,
            9259.0 * HOUR
        )
    };
    let weekly = format!(
        r#"{{"kind": "weibull", "shape": 3, "scale": {}, "location": {}}}"#,
        168.0 * HOUR,
        6.0 * HOUR
    );
    let cases = [
        ("fail and repair", fail_and_repair("")),
        (
            "latent errors, no scrub",
            fail_and_repair(&latent(r#"{"kind": "none"}"#)),
        ),
        (
            "latent errors, weekly scrub",
            fail_and_repair(&latent(&weekly)),
        ),
        ("RAID-6 of 8 to 1 %, 1 thread", raid6(0.01, 1)),
        ("RAID-6 of 8 to 1 %, all threads", raid6(0.01, 0)),
    ];
    println!(
        "{:<32} {:>9} {:>9} {:>12} {:>11} {:>9}",
        "case", "median s", "fastest s", "disk-years/s", "loss prob.", "error"
    );
    let mut times = vec![Vec::new(); cases.len()];
    let mut answers = vec![None; cases.len()];
    // Interleaved, so that a disturbance hits all cases alike.
    for _ in 0..repetitions {
        for (at, (_, question)) in cases.iter().enumerate() {
            let (time, answer) = timed(question)?;
            times[at].push(time);
            answers[at] = Some(answer);
        }
    }
    for (at, (name, _)) in cases.iter().enumerate() {
        times[at].sort_by(f64::total_cmp);
        let (median, fastest) = (times[at][repetitions / 2], times[at][0]);
        if let Some(answer) = &answers[at] {
            let loss = &answer.horizons[0];
            println!(
                "{name:<32} {median:>9.3} {fastest:>9.3} {:>12.3e} {:>11.4e} {:>8.2}%",
                answer.simulated_disk_years / median,
                loss.loss_probability,
                100.0 * loss.standard_error / loss.loss_probability.max(1e-300),
            );
        }
    }
    Ok(())
}
