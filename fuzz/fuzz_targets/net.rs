//! Nets as documents in TOML or JSON: any text is compiled or refused. A compiled net has a
//! structure, and its run and state space end by a result or an error.
#![cfg_attr(fuzzing, no_main)]

use std::ops::ControlFlow;

use headrace_model::{
    Failure, Fault, Faults, Language, Program, Question, Settings, compile, explore_within, parse,
    position, read, run, run_settings, structure, transition_invariants,
};

/// Compiles a text and runs the net.
pub fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let language = match text.trim_start().starts_with('{') {
        true => Language::Json,
        false => Language::Toml,
    };
    match program(text, language) {
        Ok(program) => use_net(&program),
        Err(faults) => {
            for fault in &faults {
                assert!(position(text, language, fault).0 >= 1);
                assert!(!fault.to_string().is_empty());
            }
        }
    }
}

fn program(text: &str, language: Language) -> Result<Program, Vec<Fault>> {
    let value = parse(text, language).map_err(|_| Vec::new())?;
    let document = read(&value)?;
    compile_checked(&document).map_err(|faults| faults.0)
}

fn compile_checked(document: &headrace_model::Document) -> Result<Program, Faults> {
    let program = compile(document, "fuzz")?;
    run_settings(document, &program)?;
    structure(&program)?;
    Ok(program)
}

/// The callbacks end what takes long.
fn use_net(program: &Program) {
    let _ = transition_invariants(program);
    let settings = Settings {
        until: Some(1e-3),
        warmup: 0.0,
        seed: 1,
    };
    let _ = run(program, &settings, &mut |_| ControlFlow::Break(())).map_err(described);
    let question = Question {
        limit: 50,
        timed: true,
        reach: None,
        holds: Vec::new(),
        reduced: false,
    };
    let memory = 1 << 26;
    let _ = explore_within(program, &question, memory, &mut |_| ControlFlow::Break(()))
        .map_err(described);
}

fn described(failure: Failure) {
    if let Failure::Document(faults) = failure {
        assert!(!faults.0.is_empty());
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
