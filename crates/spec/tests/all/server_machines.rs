//! A machine below a server: its presets, and what does not go with it.

use std::path::Path;

use headrace_spec::{Explanation, JournalMode, Loaded, Machine, explain};

const FILE: &str = r#"system = "pvfs2"
clients.count = 8
network = { bandwidth = "1 Gbit/s", latency = "0.2 ms" }
[servers]
count = 4
[servers.machine]
system = "ext3"
device = { read_rate = "60 MB/s", write_rate = "50 MB/s" }
[[workload]]
block = "1 MiB"
"#;

fn load(text: &str, sets: &[&str]) -> Result<Loaded, headrace_spec::Error> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    headrace_spec::load(text, Path::new("my.toml"), &sets)
}

fn machine(loaded: &Loaded) -> &Machine {
    let parallel = loaded.scenario.parallel().expect("a parallel file system");
    parallel.servers.machine().expect("a machine")
}

fn origin(explanation: &Explanation, path: &str) -> String {
    let row = explanation.rows.iter().find(|row| row.path == path);
    row.unwrap_or_else(|| panic!("no {path}")).origin.clone()
}

#[test]
fn the_section_says_the_kind_and_its_preset_fills_it() {
    let loaded = load(FILE, &[]).unwrap_or_else(|error| panic!("{error}"));
    let journal = &machine(&loaded).file_system.journal;
    assert_eq!(journal.mode, JournalMode::Ordered);
    let explanation = explain(&loaded);
    let mode = origin(&explanation, "servers.machine.file_system.journal.mode");
    assert_eq!(mode, "preset ext3");
    assert_eq!(origin(&explanation, "servers.kind"), "my.toml:6:1");
    // The preset's values for a simple server have no effect here.
    assert!(
        explanation
            .rows
            .iter()
            .all(|row| !row.path.starts_with("servers.memory"))
    );
    let text = loaded.scenario.to_canonical_toml();
    let again = load(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.scenario, loaded.scenario);
}

#[test]
fn what_is_given_beside_the_preset_wins() {
    let sets = ["servers.machine.file_system.journal.mode=journal"];
    let loaded = load(FILE, &sets).unwrap_or_else(|error| panic!("{error}"));
    let file_system = &machine(&loaded).file_system;
    assert_eq!(file_system.journal.mode, JournalMode::Data);
    assert!((file_system.journal.checkpoint_at - 0.5).abs() < 1e-12);
}

#[test]
fn what_does_not_go_with_a_machine_is_named_once() {
    let beside =
        |line: &str| FILE.replace("[servers.machine]", &format!("{line}\n[servers.machine]"));
    let cases = [
        (
            beside("device = { read_rate = \"1 MB/s\", write_rate = \"1 MB/s\" }"),
            r#"my.toml:6:1: "device" in [servers] has no effect beside [servers.machine] (line 7), which has one of its own: take "device" out"#,
        ),
        (
            beside("memory.cache = \"1 GB\""),
            r#"my.toml:6:1: "memory" in [servers] has no effect beside [servers.machine] (line 7), which has one of its own: take "memory" out"#,
        ),
        (
            beside("io_scheduler.kind = \"cfq\""),
            r#"my.toml:6:1: "io_scheduler" in [servers] has no effect beside [servers.machine] (line 7), which has one of its own: take "io_scheduler" out"#,
        ),
        (
            beside("kind = \"simple\""),
            r#"my.toml:7:10: unknown field "machine" in [servers] of kind "simple": it belongs to kind "machine""#,
        ),
        (
            FILE.replace("ext3", "pvfs2"),
            r#"my.toml:7:10: servers.machine.system = "pvfs2": expected "ext2", "ext3", "ext4", "xfs", "ldiskfs", "zfs", "poweredge-1850" or "atlantis""#,
        ),
        (
            FILE.replace("ext3", "ext5"),
            r#"my.toml:7:10: servers.machine.system = "ext5": expected "ext2", "ext3", "ext4", "xfs", "ldiskfs", "zfs", "poweredge-1850" or "atlantis": did you mean "ext2"?"#,
        ),
        (
            FILE.replace("device = {", "cpu.cores = 2\n#"),
            r#"my.toml: missing section [servers.machine.device]: write [servers.machine.device] and below it, for example, read_rate = "60 MB/s""#,
        ),
        (
            FILE.replace("[[workload]]", "[[servers.machine.volume]]\nname = \"a\"\ndevice = { read_rate = \"60 MB/s\", write_rate = \"50 MB/s\" }\n[[workload]]"),
            r#"my.toml:9:1: servers.machine.volume = [{ name = "a", device = { read_rate = "60 MB/s", write_rate = "50 MB/s" } }]: the files of a server lie on its first file system: leave it out"#,
        ),
        (
            FILE.replace("count = 4", "count = 4\ndaemon.threads = 3_000_000"),
            r#"my.toml:6:18: servers.daemon.threads = 3000000: these are 12000000 threads on all servers: with a [servers.machine] expected at most 10000000"#,
        ),
        (
            FILE.replace("count = 4", "count = 4\ndaemon.time_per_job = \"1 min\""),
            r#"my.toml:6:23: servers.daemon.time_per_job = "1 min": with a [servers.machine] expected at most "4 s""#,
        ),
        (
            FILE.replace("block", "io.direct = true\nblock"),
            r#"my.toml:10:13: workload.0.io.direct = true: it has an effect on local file systems only: kind = "parallel"; leave it out"#,
        ),
    ];
    for (text, expected) in cases {
        match load(&text, &[]) {
            Ok(_) => panic!("{text}"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}

#[test]
fn simple_servers_say_what_only_machines_can_do() {
    let simple = FILE.replace("[servers.machine]\nsystem = \"ext3\"", "");
    load(&simple, &[]).unwrap_or_else(|error| panic!("{error}"));
    for (set, expected) in [
        (
            "servers.daemon.synchronous=true",
            r#"--set servers.daemon.synchronous=true: it has an effect with a [servers.machine] only: leave it out, or give servers.memory.dirty_limit = "0 B""#,
        ),
        (
            "workload.0.io.synchronous=true",
            r#"--set workload.0.io.synchronous=true: it has an effect where there are local file systems only: leave it out, or give the servers a [servers.machine]"#,
        ),
    ] {
        match load(&simple, &[set]) {
            Ok(_) => panic!("{set}"),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
        load(FILE, &[set]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_local_file_system_has_its_preset_at_the_top() {
    let text = r#"system = "ext4"
[machine]
system = "xfs"
device = { read_rate = "60 MB/s", write_rate = "50 MB/s" }
[[workload]]
block = "1 MiB"
"#;
    let error = load(text, &[]).expect_err("two presets").to_string();
    let expected = r#"my.toml:3:10: machine.system = "xfs": on a local file system, system = "xfs" at the top says that: put it there"#;
    assert_eq!(error, expected);
}
