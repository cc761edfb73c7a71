//! The names of what the engine makes.

/// Whether a name is one that the engine gives: letters, a number, and perhaps a word
/// behind a dot, as `w0`, `d12` or `f7.renamed`.
pub fn is_ours(name: &str) -> bool {
    let (stem, word) = name.split_once('.').unwrap_or((name, "x"));
    let number = stem.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let letters = stem.len() > number.len();
    digits && letters && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_not_ours() {
        for ours in ["w0", "d12", "f7", "own3", "f7.renamed"] {
            assert!(is_ours(ours), "{ours}");
        }
        for theirs in [
            "",
            "f",
            "7",
            "f7.",
            "f7.tar.gz",
            "F7",
            "notes.txt",
            "f-7",
            ".f7",
            "f7 ",
            "f7x",
        ] {
            assert!(!is_ours(theirs), "{theirs}");
        }
    }
}
