//! Invalid operation mixes, and the suggested changes.

use std::path::Path;

use headrace_spec::{Error, Loaded, load_measured};

const MIX: &str = r#"
[clients]
count = 1
[[workload]]
kind = "operation-mix"
weights = { read = 2, write = 1, stat = 4, open = 1 }
"#;

fn with(line: &str) -> Result<Loaded, Error> {
    load_measured(&format!("{MIX}{line}\n"), Path::new("my.toml"), &[])
}

#[test]
fn what_would_have_no_effect_or_no_end_is_refused() {
    for (line, expected) in [
        ("bytes_per_rate = \"10 MB\"", "give rate"),
        ("append_limit = \"1 MB\"", "give append_share"),
        ("write_files = 1.0", "reads are of the other files"),
        ("bursts = { length = 3 }", "there are no bursts"),
        ("locality = { recent_files = 3 }", "no file is used again"),
        ("files = 5\nlocality = { groups = 6 }", "there are 5 files"),
        (
            "files = 50\nwrite_files = 0.1\nlocality = { groups = 6 }",
            "for reads and for writes",
        ),
        (
            "hot_files = 0.1\nhot_share = 0.5\nlocality = { groups = 6 }",
            "leave hot_files",
        ),
        (
            "followed_by = { open = \"sync\" }",
            "\"sync\" is not in the mix",
        ),
        (
            "followed_by = { open = \"read\", read = \"stat\", stat = \"open\" }",
            "form a cycle",
        ),
        ("followed_by = { open = \"open\" }", "form a cycle"),
        ("followed_by = { opne = \"open\" }", "is no operation"),
        ("names = { directories = 5 }", "give chdir or readdir"),
        ("names = { symbolic_links_per_rate = 5 }", "give rate"),
        (
            "rate = 10\nnames = { symbolic_links_per_rate = 5 }",
            "give readlink a weight",
        ),
        ("sharing = \"client\"", "no operation of the mix is shared"),
        ("sharing = \"all\"", "\"clients\""),
        ("names = { sets = 5 }", "there are no directories"),
        (
            "file_sets = \"per-group\"\nwrite_files = 0.5",
            "groups that write have files of their own",
        ),
        (
            "file_sets = \"per-group\"\nfiles = 3",
            "a file for each of 4 groups",
        ),
        ("file_sets = \"own\"", "\"per-group\""),
        ("file_sizes = [\"small\", \"tiny\"]", "or a list of these"),
        ("file_sizes = \"tiny\"", "\"small\", \"medium\", \"large\""),
    ] {
        let error = with(line).expect_err(line).to_string();
        assert!(error.contains(expected), "{line}: {error}");
        assert!(error.starts_with("my.toml:"), "{error}");
    }
    let many = MIX.replace("stat = 4", "readdir = 4") + "names = { directories = 600000000 }";
    let error = load_measured(&many, Path::new("my.toml"), &[]).expect_err("too many");
    assert!(error.to_string().contains("2^29"), "{error}");
    let one = MIX.replace("write = 1, stat = 4, open = 1", "fread = 1, unlink = 1");
    let one = one + "file_sets = \"per-group\"";
    let error = load_measured(&one, Path::new("my.toml"), &[]).expect_err("one group");
    assert!(
        error.to_string().contains("fewer than two groups"),
        "{error}"
    );
    // One of the three files has 1 KiB: that of the direct writes.
    let direct = MIX.replace("write = 1", "direct-write = 1");
    let direct = direct + "files = 4\nfile_sizes = { \"1 KiB\" = 1, \"8 KiB\" = 1 }";
    load_measured(&direct, Path::new("my.toml"), &[]).expect("a file of 8 KiB");
    let direct = direct.replace("1 KiB\" = 1", "1 KiB\" = 9") + "\nfile_sets = \"per-group\"";
    let error = load_measured(&direct, Path::new("my.toml"), &[]).expect_err("too small");
    assert!(error.to_string().contains("4 KiB at least"), "{error}");
    let stat = MIX.replace("read = 2, write = 1, ", "") + "bursts = { share = 0.5 }";
    let error = load_measured(&stat, Path::new("my.toml"), &[]).expect_err("no writes");
    assert!(
        error.to_string().contains("the mix has no writes"),
        "{error}"
    );
}

#[test]
fn all_of_it_goes_together() {
    let all = r#"
        rate = 100
        files = 500
        file_sizes = "small"
        bytes_per_rate = "10 MB"
        write_files = 0.3
        append_share = 0.8
        append_limit = "1 MB"
        random_from = "128 KiB"
        locality = { groups = 20, reads = 0.5, overwrites = 0.5 }
        bursts = { share = 0.5 }
        followed_by = { open = "read", write = "stat" }
        names = { directories_per_rate = 10, directories = 5, symbolic_links_per_rate = 100, sets = 3 }
    "#;
    let text = MIX.replace("open = 1", "open = 1, readdir = 1, readlink = 1") + all;
    let per_group = text
        .replace("write_files = 0.3", "file_sets = \"per-group\"")
        .replace("\"small\"", "[\"small\", \"medium\"]");
    for text in [text, per_group] {
        let loaded = load_measured(&text, Path::new("my.toml"), &[]).expect("it loads");
        let canonical = loaded.scenario.to_canonical_toml();
        let again = load_measured(&canonical, Path::new("my.toml"), &[]).expect("canonical");
        assert_eq!(again.scenario, loaded.scenario);
    }
}
