//! The names of what the engine makes.

/// Whether a name is one that the engine gives: `hr-`, letters, a number, and perhaps a word
/// behind a dot, as `hr-w0`, `hr-d12` or `hr-f7.renamed`. Nobody else's are like that.
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
}
