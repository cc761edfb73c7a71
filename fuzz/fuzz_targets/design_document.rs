//! Worksheets and catalogues: any text is loaded or refused, and a loaded one loads again.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;

use headrace_spec::DocumentKind;

/// Loads a text as each kind of document.
pub fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let file = Path::new("/nonexistent/fuzz.toml");
    for kind in DocumentKind::ALL {
        match kind.load(text, file, &[]) {
            Ok(loaded) => {
                let again = kind
                    .load(&loaded.toml, file, &[])
                    .expect("what was written loads");
                assert_eq!(loaded.json, again.json);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));
