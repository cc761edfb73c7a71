//! Replays the cases of a corpus in ordinary tests.

use std::fs;
use std::path::Path;

/// Checks every file of a corpus.
pub fn replay(corpus: &str, check: impl Fn(&[u8])) {
    let fuzz = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
    let cases = fs::read_dir(fuzz.join(corpus)).expect("a corpus");
    let mut count = 0;
    for case in cases {
        let path = case.expect("an entry").path();
        // The output of a test is shown if it fails.
        println!("{}", path.display());
        check(&fs::read(path).expect("a file"));
        count += 1;
    }
    assert!(count > 0);
}
