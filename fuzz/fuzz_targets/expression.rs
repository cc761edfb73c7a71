//! Expressions of nets: any text is parsed or refused.
#![cfg_attr(fuzzing, no_main)]

use headrace_model::parse_expression;

/// Parses a text as an expression.
pub fn check(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data)
        && let Err(error) = parse_expression(text)
    {
        assert!(error.column <= text.chars().count());
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
