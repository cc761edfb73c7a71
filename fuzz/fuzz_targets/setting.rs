//! Values of the command line (`--set path=value`), one a line, over the default scenario.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;

use headrace_spec::load;

/// Loads the default scenario with the lines of a text as settings.
pub fn check(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data) {
        let sets: Vec<String> = text.lines().map(str::to_owned).collect();
        let _ = load("", Path::new("/nonexistent/fuzz.toml"), &sets).map_err(|it| it.to_string());
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
