//! Speed of nets from documents: firings of the common net, and markings of state spaces.
//!
//! ```sh
//! cargo run --release -p headrace-model --example net_speed [ROUNDS] [PART OF A NAME]
//! ```
//!
//! Rounds are interleaved; the table has medians and the extremes.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use headrace_model::{Language, Program, Question, Settings, compile, explore, parse, read, run};

type Failed = Box<dyn std::error::Error>;

/// A shipped net, with some parts of its text replaced.
fn net(name: &str, replaced: &[(&str, &str)]) -> Result<Program, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/nets");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml")))?;
    let text = replaced
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to));
    let value = parse(&text, Language::Toml).map_err(|(_, _, message)| message)?;
    let document = read(&value).map_err(|faults| format!("{faults:?}"))?;
    Ok(compile(&document, name)?)
}

/// Monitors of the common net.
const MONITORS: &str = r#"
[monitors.thinking]
kind = "marking"
value = "thinking"

[monitors.served]
kind = "counter"
transition = "server/back"

[values]"#;

/// Firings a second of the common net.
fn firings(program: &Program) -> Result<f64, Failed> {
    let settings = Settings {
        until: Some(300.0),
        warmup: 0.0,
        seed: 1,
    };
    let start = Instant::now();
    let result = run(program, &settings, &mut |_| ControlFlow::Continue(()));
    let firings = result.map_err(|failure| format!("{failure:?}"))?.firings;
    Ok(firings as f64 / start.elapsed().as_secs_f64())
}

/// Markings a second of a state space.
fn markings(program: &Program) -> Result<f64, Failed> {
    let question = Question {
        limit: 3_000_000,
        timed: false,
        reach: None,
        holds: Vec::new(),
        reduced: false,
    };
    let answer = explore(program, &question, &mut |_| ControlFlow::Continue(()));
    let answer = answer.map_err(|failure| format!("{failure:?}"))?;
    Ok(answer.states as f64 / answer.seconds)
}

/// Markings a second that state spaces of small markings should reach.
const AIM: u32 = 1_000_000;

/// A figure's name, and a function that measures it.
type Measure<'a> = (&'a str, &'a dyn Fn() -> Result<f64, Failed>);

fn main() -> Result<(), Failed> {
    let rounds = std::env::args().nth(1);
    let rounds: usize = rounds.map_or(Ok(5), |rounds| rounds.parse())?;
    let common = net("common", &[])?;
    let watched = net("common", &[("[values]", MONITORS)])?;
    let ring = net("token-ring", &[("n = 4", "n = 12")])?;
    let philosophers = net("philosophers", &[("n = 5", "n = 10")])?;
    let protocol = net("simple-protocol", &[])?;
    let measured: [Measure<'_>; 5] = [
        ("common net, firings/s", &|| firings(&common)),
        ("with two monitors, firings/s", &|| firings(&watched)),
        ("token ring of 12, markings/s", &|| markings(&ring)),
        ("10 philosophers, markings/s", &|| markings(&philosophers)),
        ("simple protocol, markings/s", &|| markings(&protocol)),
    ];
    let wanted = std::env::args().nth(2).unwrap_or_default();
    let measured: Vec<Measure<'_>> = measured
        .into_iter()
        .filter(|(name, _)| name.contains(&wanted))
        .collect();
    let mut samples = vec![Vec::new(); measured.len()];
    for _ in 0..rounds.max(1) {
        for ((_, measure), samples) in measured.iter().zip(&mut samples) {
            samples.push(measure()?);
        }
    }
    println!("{:<32} {:>12} {:>12} {:>12}", "", "median", "least", "most");
    for ((name, _), samples) in measured.iter().zip(&mut samples) {
        samples.sort_by(f64::total_cmp);
        println!(
            "{name:<32} {:>12.0} {:>12.0} {:>12.0}",
            samples[samples.len() / 2],
            samples[0],
            samples[samples.len() - 1]
        );
    }
    println!("aim of state spaces: {AIM} markings/s on one core");
    Ok(())
}
