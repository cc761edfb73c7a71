//! Scenarios: any text is loaded or refused, and a loaded one can be explained and loads again.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;

use headrace_spec::{cautions, explain, load, load_measured, quantities};

/// Loads a text as a scenario of a simulation and of a measurement.
pub fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let file = Path::new("/nonexistent/fuzz.toml");
    let _ = load_measured(text, file, &[]).map_err(|error| error.to_string());
    match load(text, file, &[]) {
        Ok(loaded) => {
            let _ = (explain(&loaded), quantities(&loaded));
            let _ = cautions(&loaded);
            let canonical = loaded.scenario.to_canonical_toml();
            let again = load(&canonical, file, &[]).expect("what was written loads");
            assert_eq!(canonical, again.scenario.to_canonical_toml());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
