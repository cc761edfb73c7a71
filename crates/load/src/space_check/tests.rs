use headrace_spec::load_measured;

use super::*;

fn scenario(text: &str) -> Scenario {
    load_measured(text, Path::new("test.toml"), &[])
        .expect("a scenario")
        .scenario
}

#[track_caller]
fn needs(workload: &str, bytes: u64, names: u64) {
    let text = format!("[clients]\ncount = 2\nprocesses = 3\n[[workload]]\n{workload}");
    let scenario = scenario(&text);
    let workload = &scenario.workload[0];
    let application = sequence(&scenario, 0, 6).expect("a workload");
    let need = Need::of(&scenario, workload, &*application);
    assert_eq!(need, Need { bytes, names }, "{text}");
}

#[test]
fn what_is_prepared_and_what_is_written_counts_once() {
    let ior = "block = \"1 MiB\"\ntransfer = \"64 KiB\"\nsegments = 2\nfiles = 5\n";
    let (all, mib) = (60 << 20, 1 << 20);
    needs(ior, all, 30);
    needs(&format!("{ior}phases = [\"write\", \"read\"]"), all, 30);
    needs(&format!("{ior}phases = [\"read\"]"), all, 30);
    needs(
        &format!("{ior}phases = [\"read\", \"write\"]\nio.existing = true"),
        all,
        30,
    );
    // Ten transfers of each process.
    needs(&format!("{ior}requests = 10"), 6 * 10 * mib / 16, 30);
    needs(&format!("{ior}phases = [\"sync\"]"), 0, 0);
    // The bytes written in a second are unknown.
    needs(&format!("{ior}[run]\nstop = {{ time = \"1 s\" }}"), 0, 0);
}

#[test]
fn names_trees_and_pipelines_count() {
    let names = "kind = \"mdtest\"\nfiles = 100\nbytes = \"10 B\"\n";
    needs(names, 6000, 600);
    needs(&format!("{names}phases = [\"stat\"]"), 0, 0);
    let tree = "kind = \"tree-copy\"\ndirectories = 4\nfiles = 10\nfile_sizes = { \"10 B\" = 1 }\n";
    needs(tree, 2 * 6 * 400, 6 * (40 + 40 + 8));
    let pipeline = "kind = \"pipeline\"\ninput = \"1 MiB\"\nrequest = \"64 KiB\"\n";
    needs(&format!("{pipeline}in_place = true"), 6 << 20, 6);
    needs(&format!("{pipeline}output = \"2 MiB\""), 18 << 20, 12);
}

#[test]
fn a_mix_has_files_that_become_longer() {
    let mix = "kind = \"operation-mix\"\nweights = { read = 1, write = 1 }\nfiles = 20\n\
               file_sizes = { \"1000 B\" = 1 }\nwrite_sizes = { \"100 B\" = 1 }\namount = 50\n";
    needs(mix, 20_000, 20);
    // Half of 100 operations write, and four fifths of these append 100 bytes.
    needs(&format!("{mix}append_share = 0.8"), 24_000, 20);
    needs(
        &format!("{mix}append_share = 0.8\nappend_limit = \"100 B\""),
        22_000,
        20,
    );
    let cut = mix.replace("read = 1", "read = 1, truncate = 1");
    needs(&format!("{cut}append_share = 0.8"), 20_000, 20);
    let open = mix.replace("50", "\"forever\"\nrate = 10");
    needs(
        &format!("{open}append_share = 0.8\n[run]\nstop = {{ time = \"10 s\" }}"),
        24_000,
        20,
    );
    let large = mix.replace(
        "files = 20",
        "files = 20\nrate = 10\nbytes_per_rate = \"1 MB\"",
    );
    let with_names = large.replace("read = 1", "read = 1, readdir = 1, readlink = 1")
        + "names = { directories_per_rate = 10, symbolic_links_per_rate = 100 }";
    needs(&with_names, 10_000_000, 10_000 + 100 + 1000);
}

#[test]
fn too_much_is_told_with_what_there_is() {
    let free = Free {
        bytes: Some(63_440_000_000),
        names: Some(1000),
        block: 0,
    };
    let all = SpaceLimit::default();
    let need = |bytes, names| free.holds(Need { bytes, names }, all, Path::new("/mnt"));
    need(63_440_000_000, 1000).expect("it fits");
    let text = need(100 << 40, 0).expect_err("too large").to_string();
    assert!(
        text.starts_with("/mnt: the benchmark needs 110 TB, but 63.4 GB are free"),
        "{text}"
    );
    let text = need(0, 1001).expect_err("too many").to_string();
    assert!(text.contains("needs 1001 files"), "{text}");
    assert!(text.contains("room for 1000 (df -i)"), "{text}");
    // A file system without limits.
    let free = Free {
        bytes: None,
        names: None,
        block: 4096,
    };
    let many = Need {
        bytes: 1 << 60,
        names: 1 << 40,
    };
    free.holds(many, all, Path::new("/mnt"))
        .expect("it may fit");
}

#[test]
fn a_run_takes_no_more_than_its_part_of_the_free_space() {
    let free = Free {
        bytes: Some(1_000_000),
        names: Some(100),
        block: 1000,
    };
    let need = |bytes, names, limit| free.holds(Need { bytes, names }, limit, Path::new("/mnt"));
    let quarter = SpaceLimit::Share(0.25);
    // Each name takes a block beside its bytes.
    need(240_000, 10, quarter).expect("it fits");
    let text = need(240_001, 10, quarter)
        .expect_err("too large")
        .to_string();
    assert!(
        text.contains("needs 250 kB, and its files may take 250 kB (--space)"),
        "{text}"
    );
    let text = need(0, 26, quarter).expect_err("too many").to_string();
    assert!(
        text.contains("26 files, directories and links") && text.contains("25 of them"),
        "{text}"
    );
    need(400_000, 50, SpaceLimit::Bytes(450_000)).expect("it fits");
    need(400_001, 50, SpaceLimit::Bytes(450_000)).expect_err("too large");
    need(2_000_000, 0, SpaceLimit::Bytes(9_000_000)).expect_err("more than is free");
}

#[test]
fn amounts_have_three_digits() {
    let all = [0, 999, 1000, 9_994_999, 99_960_000, 999_600_000, u64::MAX];
    assert_eq!(
        all.map(told),
        [
            "0 B", "999 B", "1.00 kB", "9.99 MB", "100 MB", "1.00 GB", "18.4 EB"
        ]
    );
}
