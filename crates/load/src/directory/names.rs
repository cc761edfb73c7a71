//! The names of what the engine makes.

use super::mark::EMPTY;

/// Returns true if a name is one that the engine gives: `hr-`, letters and a number. A word may
/// follow a dot: `hr-w0`, `hr-d12` or `hr-f7.renamed`. No other names have this form.
pub fn is_ours(name: &str) -> bool {
    let Some(name) = name.strip_prefix("hr-") else {
        return false;
    };
    let (stem, word) = name.split_once('.').unwrap_or((name, "x"));
    let number = stem.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let letters = stem.len() > number.len();
    digits && letters && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns true if a name is one under which the engine makes and removes directories, of a process
/// and a number.
pub fn is_empty(name: &str) -> bool {
    let number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(EMPTY).and_then(|it| it.split_once('-'));
    numbers.is_some_and(|(process, attempt)| number(process) && number(attempt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_not_ours() {
        for ours in ["hr-w0", "hr-d12", "hr-f7", "hr-own3", "hr-f7.renamed"] {
            assert!(is_ours(ours), "{ours}");
        }
        for theirs in [
            "",
            "hr-",
            "hr-f",
            "hr-7",
            "hr-f7.",
            "hr-f7.tar.gz",
            "hr-F7",
            "hr-f-7",
            "hr-f7 ",
            "hr-f7x",
            "f7",
            "w0",
            "notes.txt",
            "thesis2026.pdf",
            "photo1.jpg",
            ".hr-f7",
        ] {
            assert!(!is_ours(theirs), "{theirs}");
        }
    }
    #[test]
    fn directories_that_are_made_have_a_process_and_a_number() {
        assert!(is_empty("headrace-bench-empty-17-0"));
        for theirs in [
            "headrace-bench-17-0",
            "headrace-bench-empty-",
            "headrace-bench-empty-1",
            "headrace-bench-empty-x-1",
            "headrace-bench-empty-1-",
            "headrace-bench-empty-1-2-3",
        ] {
            assert!(!is_empty(theirs), "{theirs}");
        }
    }
}
