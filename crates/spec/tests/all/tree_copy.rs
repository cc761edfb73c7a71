//! Invalid tree copies, and the files that exist before the run.

use std::path::Path;

use headrace_spec::{Error, Loaded, load_measured};

const TREE: &str = "[clients]\ncount = 1\n[[workload]]\nkind = \"tree-copy\"\n";

fn with(lines: &str) -> Result<Loaded, Error> {
    load_measured(&format!("{TREE}{lines}\n"), Path::new("my.toml"), &[])
}

#[test]
fn trees_without_bytes_or_with_too_many_files_are_refused() {
    for (lines, expected) in [
        ("files = 10\nrequest = \"0 B\"", "my.toml:6:11"),
        ("files = 10\nfile_sizes = { \"0 B\" = 1 }", "more than 0"),
        ("directories = 50000\nfiles = 50000", "fewer than 2^32"),
        ("directories = 5", "missing field \"files\""),
        ("files = 10\nchunk = \"1 MiB\"", "give trees = \"common\""),
        (
            "files = 10\ntrees = \"common\"\nchunk = \"0 B\"",
            "more than 0",
        ),
        ("files = 10\nio.existing = true", "does not say which files"),
    ] {
        let error = with(lines).expect_err(lines).to_string();
        assert!(error.contains(expected), "{lines}: {error}");
        assert!(error.starts_with("my.toml:"), "{error}");
    }
    with("files = 10\nfile_sizes = \"small\"\nio.cached = true").expect("good");
}

#[test]
fn a_pipeline_knows_its_files_and_a_mix_does_not() {
    let kind = |kind: &str| TREE.replace("tree-copy", kind);
    let load = |text: String| load_measured(&text, Path::new("my.toml"), &[]);
    let pipeline = "input = \"1 MiB\"\nrequest = \"4 KiB\"\nio.existing = true\nio.cached = true\n";
    load(kind("pipeline") + pipeline).expect("good");
    let mix = "weights = { read = 1 }\nio.cached = true\n";
    let error = load(kind("operation-mix") + mix).expect_err("nobody knows");
    assert!(error.to_string().contains("leave it out"), "{error}");
}
