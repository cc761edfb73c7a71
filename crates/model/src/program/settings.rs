//! Settings of runs that a document has.

use super::Program;
use super::compiler::{fault, in_text};
use crate::colour::Kind;
use crate::document::{Document, Text};
use crate::error::Faults;
use crate::expression::{Allowed, Code, Scope, parse};

/// The end and warm-up of a document's runs in seconds, its seed and replications.
///
/// # Errors
/// A time that is none.
pub fn run_settings(document: &Document, program: &Program) -> Result<[Option<f64>; 4], Faults> {
    let mut colours = program.colours.clone();
    let mut faults = Vec::new();
    let constants = &program.constants;
    let mut seconds = |text: &Option<Text>| {
        let text = text.as_ref()?;
        let mut scope = Scope::new(&mut colours, constants, Allowed::Nothing);
        let typed = parse(&text.text).and_then(|it| scope.compile(&it, Kind::Time));
        match typed.map(|typed| typed.words[0].clone()) {
            Ok(Code::Constant(time)) if time >= 0 => return Some(time as f64 / 1e12),
            Ok(_) => fault(&mut faults, &text.path, "expected a time such as 10 s"),
            Err(error) => in_text(&mut faults, text, error),
        }
        None
    };
    let run = &document.run;
    let (until, warmup) = (seconds(&run.until), seconds(&run.warmup));
    if let (Some(text), Some(end)) = (&run.until, until)
        && end <= 0.0
    {
        fault(&mut faults, &text.path, "expected a time of more than 0 s");
    } else if let (Some(text), Some(end), Some(start)) = (&run.warmup, until, warmup)
        && start >= end
    {
        let message = format!("expected less than until, which is {end} s");
        fault(&mut faults, &text.path, message);
    }
    let settings = [
        until,
        warmup,
        run.seed.map(|seed| seed as f64),
        run.replications.map(f64::from),
    ];
    match faults.is_empty() {
        true => Ok(settings),
        false => Err(Faults(faults)),
    }
}
