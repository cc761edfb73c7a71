//! Names that processes make and remove in the same directories.

use std::collections::BTreeMap;
use std::path::Path;

use super::tests::{done, scenario};
use super::*;

const SHARED: &str = r#"
    clients = { count = 2, processes = 3 }
    [[workload]]
    kind = "operation-mix"
    weights = { create = 4, unlink = 3, stat = 2, readdir = 1, rename = 1, link = 1, mkdir = 1 }
    amount = 500
    files = 5
    names = { directories = 4, made_in = "clients", taken = "any" }
"#;

/// Runs a scenario, and returns the names in each directory afterwards.
fn run_and_list(text: &str, directory: &Directory) -> (Outcome, BTreeMap<String, Vec<String>>) {
    let watch = &mut |_: &LiveProgress| std::ops::ControlFlow::Continue(());
    let outcome = run(&scenario(text), directory, Options::default(), watch).expect("it runs");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let names = |path: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a directory");
        let names = entries.map(|it| it.expect("an entry").file_name());
        names.map(|it| it.into_string().expect("a name")).collect()
    };
    let top = directory.path().join("hr-w0");
    let sets = names(&top).into_iter().filter(|it| it.starts_with("hr-s"));
    let inner = sets.flat_map(|set| {
        let all = names(&top.join(&set));
        all.into_iter().map(move |it| format!("{set}/{it}"))
    });
    let listed = inner.map(|it| (it.clone(), names(&top.join(&it))));
    let listed = listed.collect();
    assert!(!names(&top).iter().any(|it| it.starts_with("hr-o")));
    (outcome, listed)
}

/// As many names are left as were made and not removed. Stat, link and unlink of a directory without
/// names make one first, which is not counted.
#[test]
fn names_of_all_processes_are_in_the_same_directories() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    for taken in ["any", "own"] {
        let text = SHARED.replace("\"any\"", &format!("{taken:?}"));
        let (outcome, listed) = run_and_list(&text, &directory);
        assert_eq!(listed.len(), 4);
        let left: usize = listed.values().map(Vec::len).sum();
        let count = |name| done(&outcome, name).0 as usize;
        let least =
            (count("create") + count("link") + count("mkdir")).saturating_sub(count("unlink"));
        assert!(left >= least && left < least + 200, "{left} {least}");
        assert!(listed.values().all(|names| names.len() > left / 8));
    }
    directory.remove().expect("it goes");
}

#[test]
fn processes_of_a_client_share_its_directories_only() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let text = SHARED.replace("\"clients\"", "\"client\"");
    let (_, listed) = run_and_list(&text, &directory);
    assert_eq!(listed.len(), 4);
    for (path, names) in &listed {
        let number = |name: &str| -> u64 {
            let digits = name.trim_start_matches(|it: char| !it.is_ascii_digit());
            digits.parse().expect("a number")
        };
        let client = number(path.rsplit('/').next().expect("a name")) % 2;
        // A name's number is its maker's rank, and a multiple of the six processes.
        assert!(
            names.iter().all(|name| number(name) % 2 == client),
            "{path}"
        );
    }
    directory.remove().expect("it goes");
}
