//! Nets of tests: read, run and explored.

use std::ops::ControlFlow;
use std::path::Path;

use headrace_model::{
    Answer, Failure, Fault, Language, Program, Question, RunResult, Settings, compile, explore,
    parse, position, read, run,
};

/// The text of a shipped net, with some parts of it replaced.
pub fn net(name: &str, replaced: &[(&str, &str)]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/nets");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    replaced.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{name} has no {from}");
        text.replace(from, to)
    })
}

/// Compiles a TOML document; errors are lines with their places.
pub fn program(text: &str) -> Result<Program, String> {
    let lines = |faults: Vec<Fault>| {
        let line = |fault: &Fault| {
            let (line, column) = position(text, Language::Toml, fault);
            format!("{line}:{column}: {fault}")
        };
        faults.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let value = parse(text, Language::Toml)
        .map_err(|(line, column, message)| format!("{line}:{column}: {message}"))?;
    let document = read(&value).map_err(lines)?;
    let program = compile(&document, "net").map_err(|faults| lines(faults.0))?;
    headrace_model::structure(&program).map_err(|faults| lines(faults.0))?;
    Ok(program)
}

/// Runs a net with the seeds 1, 2, ….
pub fn runs(text: &str, until: f64, number: u64) -> Vec<RunResult> {
    let program = program(text).unwrap();
    let run = |seed| {
        let settings = Settings {
            until: Some(until),
            warmup: 0.0,
            seed,
        };
        run(&program, &settings, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    (1..=number).map(run).collect()
}

/// Explores a net without time.
pub fn space(text: &str, reach: Option<&str>) -> Answer {
    ask(text, 1_000_000, false, reach).unwrap()
}

/// Explores a net.
pub fn ask(text: &str, limit: usize, timed: bool, reach: Option<&str>) -> Result<Answer, Failure> {
    let question = Question {
        limit,
        timed,
        reach: reach.map(str::to_owned),
        holds: Vec::new(),
        reduced: false,
    };
    let program = program(text).unwrap();
    explore(&program, &question, &mut |_| ControlFlow::Continue(()))
}
