//! Questions about reliability in JSON: any text is answered or refused. Simulations are ended
//! when they first report progress.
#![cfg_attr(fuzzing, no_main)]

use std::ops::ControlFlow;

use headrace_survival::{Error, answer_json};

/// Answers a question.
pub fn check(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data) {
        let answer = answer_json(text, &mut |_| ControlFlow::Break(()));
        assert!(!matches!(answer, Err(Error::Own(_))), "{answer:?}");
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
