//! Documents as they are read, run and explored.

use headrace_model::{Language, Program, Settings, compile, parse, position, read, run};
use std::ops::ControlFlow;

/// Compiles a TOML document; errors are lines with their places.
pub fn program(text: &str) -> Result<Program, String> {
    let value = parse(text, Language::Toml).map_err(|error| format!("{error:?}"))?;
    let lines = |faults: Vec<headrace_model::Fault>| {
        let lines: Vec<String> = faults
            .iter()
            .map(|fault| {
                let (line, column) = position(text, Language::Toml, fault);
                format!("{line}:{column}: {fault}")
            })
            .collect();
        lines.join("\n")
    };
    let document = read(&value).map_err(lines)?;
    let program = compile(&document, "net").map_err(|faults| lines(faults.0))?;
    headrace_model::structure(&program).map_err(|faults| lines(faults.0))?;
    Ok(program)
}

#[test]
fn a_queue_runs() {
    let text = std::fs::read_to_string("/tmp/mm1.toml").unwrap();
    let program = program(&text).unwrap();
    let settings = Settings {
        until: Some(1e5),
        warmup: 0.0,
        seed: 1,
    };
    let result = run(&program, &settings, &mut |_| ControlFlow::Continue(())).unwrap();
    println!("{result:#?}");
}
