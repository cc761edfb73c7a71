use std::ops::ControlFlow;
use std::path::Path;

use super::*;
use crate::page_cache::lacks;

pub(crate) fn scenario(text: &str) -> Scenario {
    let loaded = headrace_spec::load_measured(text, Path::new("test.toml"), &[]);
    loaded.expect("a scenario").scenario
}

/// Runs a scenario in a temporary directory and checks that it is empty afterwards.
pub(super) fn carried(text: &str, options: Options) -> Outcome {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let outcome = run(&scenario(text), &directory, options, watch).expect("it runs");
    directory.remove().expect("it goes");
    let left = std::fs::read_dir(below.path()).expect("it is there");
    assert_eq!(left.count(), 0);
    outcome
}

/// Returns the number of completed operations of a name, and the bytes they moved.
pub(crate) fn done(outcome: &Outcome, name: &str) -> (u64, u64) {
    let number = operation::number(name).expect("an operation");
    let cell = outcome.record.cells[number].as_ref();
    cell.map_or((0, 0), |cell| (cell.count, cell.bytes))
}

#[test]
fn every_transfer_of_every_phase_is_made_once() {
    let outcome = carried(
        r#"
        clients = { count = 2, processes = 2 }
        [[workload]]
        block = "1 MiB"
        transfer = "64 KiB"
        segments = 2
        access = "shared"
        sync_per_write = true
        opens = true
        phases = ["write", "sync", "read"]
        "#,
        Options::default(),
    );
    assert_eq!(outcome.reason, "workload");
    assert_eq!(done(&outcome, "write"), (4 * 32, 8 << 20));
    assert_eq!(done(&outcome, "read"), (4 * 32, 8 << 20));
    assert_eq!(done(&outcome, "sync"), (4 * 32 + 4, 0));
    assert_eq!(done(&outcome, "open"), (3 * 4, 0));
    assert_eq!(done(&outcome, "close"), (3 * 4, 0));
}

#[test]
fn files_are_made_looked_up_read_and_removed() {
    let outcome = carried(
        r#"
        clients = { count = 3 }
        [[workload]]
        kind = "mdtest"
        files = 20
        bytes = "3901 B"
        directory = "own"
        phases = ["create", "stat", "read", "unlink"]
        "#,
        Options::default(),
    );
    for (name, bytes) in [("create", 0), ("write", 3901), ("stat", 0), ("read", 3901)] {
        assert_eq!(done(&outcome, name), (60, 60 * bytes), "{name}");
    }
    assert_eq!(done(&outcome, "unlink"), (60, 0));
    assert_eq!(done(&outcome, "close"), (60, 0));
}

/// Names without "01" are not looked up, and every process lists one directory.
#[test]
fn find_lists_directories_and_looks_up_matching_names() {
    let outcome = carried(
        r#"
        clients = { count = 3 }
        [[workload]]
        preset = "mdtest-easy"
        files = 120
        "#,
        Options::default(),
    );
    assert_eq!(done(&outcome, "create"), (360, 0));
    assert_eq!(done(&outcome, "find-first"), (3, 0));
    assert_eq!(done(&outcome, "find-next"), (3, 0));
    // 101 alone is looked up by `find`, and all of them by `stat`.
    assert_eq!(done(&outcome, "stat"), (3 + 360, 0));
    assert_eq!(done(&outcome, "unlink"), (360, 0));
}

/// Other processes read the data, and all read what all have written.
#[test]
fn after_a_stonewall_all_have_written_and_read_as_much() {
    let outcome = carried(
        r#"
        clients = { count = 3 }
        [[workload]]
        preset = "ior-easy"
        block = "256 MiB"
        transfer = "4 KiB"
        stonewall = "50 ms"
        "#,
        Options::default(),
    );
    let (writes, written) = done(&outcome, "write");
    assert!(writes > 0 && writes < 3 << 16, "{writes}");
    assert_eq!(writes % 3, 0);
    assert_eq!(done(&outcome, "read"), (writes, written));
    let outcome = carried(
        r#"
        clients = { count = 2 }
        [[workload]]
        preset = "mdtest-hard"
        files = 100000
        stonewall = "20 ms"
        "#,
        Options::default(),
    );
    let (created, _) = done(&outcome, "create");
    assert!(created > 0 && created < 200_000, "{created}");
    for operation in ["write", "close", "read", "unlink"] {
        assert_eq!(done(&outcome, operation).0, created, "{operation}");
    }
}

#[test]
fn phases_of_workloads_come_in_turn() {
    let outcome = carried(
        r#"
        clients = { count = 2 }
        [[workload]]
        preset = "ior-easy"
        block = "2 MiB"
        turns = [1, 1, 3]
        [[workload]]
        preset = "mdtest-hard"
        files = 50
        turns = [2, 4, 5, 5, 6]
        "#,
        Options::default(),
    );
    let mut stretches = outcome.record.stretches.clone();
    stretches.sort_by_key(|it| it.from);
    let turns = [vec![1, 1, 3], vec![2, 4, 5, 5, 6]];
    let order: Vec<u32> = stretches
        .iter()
        .map(|it| turns[it.workload][it.phase as usize])
        .collect();
    assert!(order.is_sorted() && order.len() >= 8, "{order:?}");
    for (before, after) in stretches.iter().zip(&stretches[1..]) {
        let other = turns[before.workload][before.phase as usize]
            != turns[after.workload][after.phase as usize];
        assert!(!other || before.to <= after.from);
    }
}

/// Files that are opened, written and closed one after the other: more than a process may
/// have open.
#[test]
fn files_are_closed_where_the_workload_closes_them() {
    let outcome = carried(
        r#"
        [[workload]]
        kind = "ior"
        files = 200
        block = "4 KiB"
        opens = true
        phases = ["write", "read"]
        "#,
        Options::default(),
    );
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    for (name, bytes) in [("open", 0), ("close", 0)] {
        assert_eq!(done(&outcome, name), (400, bytes), "{name}");
    }
    for name in ["write", "read"] {
        assert_eq!(done(&outcome, name), (200, 200 * 4096), "{name}");
    }
}

const MIX: &str = r#"
    clients = { count = 2, processes = 3 }
    [[workload]]
    kind = "operation-mix"
    weights = { read = 5, write = 5, stat = 5, create = 1, unlink = 3, sync = 1, open = 1 }
    amount = 400
    files = 20
    file_sizes = { "4 KiB" = 1, "64 KiB" = 1 }
    append_share = 0.5
"#;

#[test]
fn no_operation_of_a_mix_fails_and_the_same_ones_come_again() {
    let counts = |options| {
        let outcome = carried(MIX, options);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let names = ["read", "write", "stat", "create", "unlink", "sync", "open"];
        names.map(|name| done(&outcome, name))
    };
    let real = counts(Options::default());
    assert_eq!(real.iter().map(|(count, _)| count).sum::<u64>(), 800);
    assert!(real.iter().all(|(count, _)| *count > 0));
    assert_eq!(
        real,
        counts(Options {
            calls: Backend::Null,
            ..Options::default()
        })
    );
}

#[test]
fn an_open_loop_asks_at_the_rate_whatever_the_system_does() {
    let text = MIX.replace("amount = 400", "amount = 200\nrate = 2000");
    let outcome = carried(
        &text,
        Options {
            calls: Backend::Null,
            ..Options::default()
        },
    );
    // 200 arrivals at 1,000 a second of each client: within five standard deviations.
    let seconds = outcome.lasted as f64 * 1e-9;
    assert!(seconds > 0.12, "{seconds}");
    let cells = outcome.record.cells.iter().flatten();
    for cell in cells {
        let longest = |times: &crate::Times| times.exact.map(|it| it.most);
        assert!(longest(&cell.response) >= longest(&cell.service));
    }
}

#[test]
fn clients_of_groups_do_different_things() {
    let text = r#"
        clients = { count = 3, processes = 2, groups = { writers = 1, readers = 2 } }
        [[workload]]
        group = "writers"
        block = "64 KiB"
        transfer = "16 KiB"
        phases = ["write"]
        [[workload]]
        group = "readers"
        kind = "operation-mix"
        weights = { read = 1, stat = 1 }
        files = 5
        file_sizes = { "4 KiB" = 1 }
        amount = 50
    "#;
    let outcome = carried(text, Options::default());
    // One client writes, two processes of it a file each; two have a mix of their own.
    assert_eq!(done(&outcome, "write"), (8, 128 << 10));
    assert_eq!(done(&outcome, "read").0 + done(&outcome, "stat").0, 100);
}

#[test]
fn time_and_requests_end_a_run() {
    let forever = r#"
        clients = { count = 2 }
        [[workload]]
        block = "64 KiB"
        transfer = "4 KiB"
        phases = ["write"]
        repeat = "forever"
        [run.stop]
    "#;
    let outcome = carried(&format!("{forever}\nrequests = 100"), Options::default());
    assert_eq!(outcome.reason, "requests");
    // Each process may have one in progress.
    assert!((100..=101).contains(&done(&outcome, "write").0));
    let outcome = carried(&format!("{forever}\ntime = \"50 ms\""), Options::default());
    assert_eq!(outcome.reason, "time");
    assert!(outcome.lasted < 5_000_000_000);
}

#[test]
fn a_caller_breaks_off_and_nothing_is_left() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let text = r#"
        clients = { count = 2 }
        [[workload]]
        block = "64 KiB"
        transfer = "4 KiB"
        repeat = "forever"
        run.stop.time = "1 h"
    "#;
    let text = text.replace("run.stop.time", "[run.stop]\ntime");
    let watch = &mut |live: &LiveProgress| match live.seconds > 0.1 {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let outcome = run(&scenario(&text), &directory, Options::default(), watch);
    let outcome = outcome.expect("it runs");
    assert_eq!(outcome.reason, "interrupted");
    assert!(done(&outcome, "write").0 > 0);
    directory.remove().expect("it goes");
}

#[test]
fn what_cannot_be_carried_out_is_said() {
    let text = include_str!("../../../../scenarios/collective-write.toml");
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let error = run(&scenario(text), &directory, Options::default(), watch);
    let message = error.expect_err("no exchange").to_string();
    assert!(message.contains("collective"), "{message}");
}

#[test]
fn a_directory_that_vanishes_ends_the_run_with_an_error() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let text = r#"
        clients = { count = 2 }
        [[workload]]
        kind = "mdtest"
        files = 1000000
        phases = ["create", "unlink"]
    "#;
    let path = directory.path().to_path_buf();
    let mut gone = false;
    let watch = &mut |live: &LiveProgress| {
        if live.operations.iter().any(|it| it.0 > 0) && !gone {
            gone = true;
            std::fs::rename(path.join("hr-w0"), path.join("hr-w9")).expect("renamed");
        }
        ControlFlow::Continue(())
    };
    let outcome = run(&scenario(text), &directory, Options::default(), watch);
    let outcome = outcome.expect("it began");
    assert_eq!(outcome.reason, "failed");
    let message = outcome.error.as_ref().expect("an error").to_string();
    assert!(
        message.contains("create") && message.contains("unmounted"),
        "{message}"
    );
    assert!(done(&outcome, "create").0 > 0);
    directory.remove().expect("it goes");
}

#[test]
fn a_second_run_in_a_directory_finds_its_files_as_they_were() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let sizes = || {
        let file = |number: u32| directory.path().join(format!("hr-w0/hr-d0/hr-f{number}"));
        let size = |number| std::fs::metadata(file(number)).expect("a file").len();
        (0..20).map(size).sum::<u64>()
    };
    let expected = 10 * (4 << 10) + 10 * (64 << 10);
    let mut counts = Vec::new();
    for _ in 0..2 {
        let first = run(&scenario(MIX), &directory, Options::default(), watch).expect("it runs");
        assert!(first.error.is_none(), "{:?}", first.error);
        // Some are longer now.
        assert!(sizes() > expected);
        counts.push(done(&first, "create"));
    }
    assert_eq!(counts[0], counts[1]);
    // Nothing is requested, and existing files are recreated.
    let none = MIX.replace("amount = 400", "amount = 1");
    run(
        &scenario(&none.replace("write = 5, ", "")),
        &directory,
        Options::default(),
        watch,
    )
    .expect("it runs");
    assert_eq!(sizes(), expected);
    directory.remove().expect("it goes");
}

#[test]
fn the_load_achieved_is_the_one_offered_if_nothing_takes_time() {
    let text = MIX.replace("amount = 400", "amount = \"forever\"\nrate = 3000")
        + "[run]\nwarm_up = \"0.1 s\"\nstop = { time = \"0.5 s\" }";
    let outcome = carried(
        &text,
        Options {
            calls: Backend::Null,
            ..Options::default()
        },
    );
    let load = outcome.load.expect("a rate");
    assert_eq!(load.requested_per_second, 3000.0);
    // 1,200 arrivals: within five standard deviations.
    assert!((load.offered_per_second - 3000.0).abs() < 5.0 * 3000.0 / 1200_f64.sqrt());
    // No timing is asserted: a machine that is busy achieves less.
    assert!(load.achieved_per_second <= load.offered_per_second * 1.1);
    let closed = carried(
        MIX,
        Options {
            calls: Backend::Null,
            ..Options::default()
        },
    );
    assert_eq!(closed.load, None);
}

#[test]
fn files_that_do_not_fit_are_refused_before_any_is_made() {
    let text = MIX
        .replace("files = 20", "files = 3")
        .replace("\"4 KiB\" = 1, \"64 KiB\" = 1", "\"1000 PiB\" = 1");
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let error = run(&scenario(&text), &directory, Options::default(), watch);
    let message = error.expect_err("no room").to_string();
    assert!(message.contains("are free"), "{message}");
    assert_eq!(directory.usage().expect("it is there").1, 0);
    directory.remove().expect("it goes");
}

#[test]
fn more_processes_than_a_host_has_room_for_are_refused() {
    let text = |processes: u32| {
        format!("[clients]\nprocesses = {processes}\n[[workload]]\nkind = \"mdtest\"\nfiles = 2\n")
    };
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let error = run(
        &scenario(&text(10_001)),
        &directory,
        Options::default(),
        watch,
    );
    let message = error.expect_err("too many").to_string();
    assert!(
        message.contains("10001") && message.contains("10000"),
        "{message}"
    );
    // Those that share one copy of the workload do all of it.
    let outcome = carried(
        &text(300),
        Options {
            calls: Backend::Null,
            ..Options::default()
        },
    );
    assert_eq!(done(&outcome, "create").0, 600);
}

#[test]
fn directories_and_symbolic_links_are_there_before_the_run() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let text = r#"
        [[workload]]
        kind = "operation-mix"
        weights = { readdir = 1, chdir = 1, find-first = 1, find-next = 1, readlink = 4 }
        amount = 400
        rate = 20000
        files = 3
        file_sizes = { "1 KiB" = 1 }
        names = { directories = 25, symbolic_links_per_rate = 0.005, sets = 4 }
    "#;
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    for _ in 0..2 {
        let outcome = run(&scenario(text), &directory, Options::default(), watch);
        let outcome = outcome.expect("it runs");
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
    }
    let listed = |path: &str| {
        let found = std::fs::read_dir(directory.path().join("hr-w0").join(path));
        found.expect("a directory").count()
    };
    assert_eq!(
        [0, 1, 3].map(|set| listed(&format!("hr-s{set}"))),
        [7, 6, 6]
    );
    // 100 links in 25 directories.
    assert_eq!([listed("hr-s0/hr-d24"), listed("hr-s1/hr-d5")], [4, 4]);
    // No link was made beside a file.
    assert_eq!(listed("hr-d0"), 3);
    directory.remove().expect("it goes");
}

#[test]
fn the_threads_of_a_pipeline_hand_buffers_on() {
    for threads in ["one", "separate"] {
        let text = format!(
            r#"
            clients = {{ count = 2 }}
            [[workload]]
            kind = "pipeline"
            input = "1 MiB"
            output = "512 KiB"
            request = "64 KiB"
            buffers = 2
            threads = "{threads}"
            sync = true
            compute_per_request = "10 us"
            "#
        );
        let outcome = carried(&text, Options::default());
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.reason, "workload");
        assert_eq!(done(&outcome, "read"), (32, 2 << 20));
        assert_eq!(done(&outcome, "write"), (32, 1 << 20));
        assert_eq!(done(&outcome, "sync").0, 2);
        let stages = if threads == "one" { 1 } else { 3 };
        assert_eq!(outcome.processes, 2 * stages);
    }
}

/// On a real file system: files leave the page cache while others are made, as where the kernel
/// gives memory back.
#[test]
fn files_that_are_to_be_cached_are_when_the_run_begins() {
    let scenario = scenario(
        r#"
        clients = { count = 4 }
        [[workload]]
        block = "1 MiB"
        transfer = "64 KiB"
        access = "file-per-process"
        phases = ["read"]
        io = { existing = true, cached = true }
        "#,
    );
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let (mut left, mut colder) = (0, None);
    let watch = &mut |live: &LiveProgress| {
        let files = files_below(below.path());
        // It is asked once for each file that is made, and once for each that is checked.
        if live.phase == Phase::Preparing && left < files.len() {
            for file in &files {
                file.sync_all().expect("it can be synced");
                rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)
                    .expect("it is only advice");
            }
            left = files.len();
        } else if live.phase == Phase::Running {
            colder.get_or_insert(files.iter().filter(|it| lacks(it, 0, 1 << 20)).count());
        }
        ControlFlow::Continue(())
    };
    run(&scenario, &directory, Options::default(), watch).expect("it runs");
    assert_eq!((left, colder), (4, Some(0)));
}

/// Opens the files of a workload, without the directory's mark.
fn files_below(path: &Path) -> Vec<std::fs::File> {
    let entries = std::fs::read_dir(path).expect("it is there");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("it is there").path()) {
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.extend(std::fs::File::open(&path)),
        }
    }
    found.retain(|file| file.metadata().is_ok_and(|it| it.len() == 1 << 20));
    found
}

#[test]
fn calls_of_one_byte_are_all_made_and_counted() {
    // Neither 10,000 nor 9,000 bytes are whole bufferfuls of 4 KiB; data read is compared with data
    // written.
    let io = r#"io = { interface = "library", buffer = "4 KiB", verify = true }"#;
    for call in [1, 8] {
        let outcome = carried(
            &format!(
                r#"
                clients = {{ count = 1, processes = 2 }}
                [[workload]]
                block = "10000 B"
                transfer = "{call} B"
                phases = ["write", "read"]
                {io}
                "#
            ),
            Options::default(),
        );
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        for name in ["write", "read"] {
            assert_eq!(done(&outcome, name), (2 * 10_000 / call, 20_000), "{name}");
        }
    }
    let outcome = carried(
        &format!(
            r#"
            clients = {{ count = 1 }}
            [[workload]]
            kind = "pipeline"
            input = "9000 B"
            request = "1 B"
            {io}
            "#
        ),
        Options::default(),
    );
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(done(&outcome, "read"), (9000, 9000));
    assert_eq!(done(&outcome, "write"), (9000, 9000));
}

#[test]
fn a_run_ends_after_so_many_calls_of_one_byte() {
    let outcome = carried(
        r#"
        clients = { count = 1 }
        run = { stop = { requests = 100 } }
        [[workload]]
        block = "10000 B"
        transfer = "1 B"
        io = { interface = "library" }
        "#,
        Options::default(),
    );
    assert_eq!(done(&outcome, "write"), (100, 100));
}

#[test]
fn a_run_refuses_to_end_by_precision() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let text = r#"
        clients = { count = 1 }
        run = { stop = { precision = 0.05 } }
        [[workload]]
        block = "1 MiB"
    "#;
    let refused = run(&scenario(text), &directory, Options::default(), watch);
    let error = refused.expect_err("it is not measured").to_string();
    assert!(error.starts_with("run.stop.precision = 0.05: "), "{error}");
    directory.remove().expect("it goes");
}

#[test]
fn work_that_ends_within_the_warm_up_tells_how_long_it_took() {
    let outcome = carried(
        r#"
        clients = { count = 1 }
        run = { warm_up = "60 s" }
        [[workload]]
        block = "1 MiB"
        "#,
        Options::default(),
    );
    assert!(outcome.record.cells.iter().all(Option::is_none));
    assert_eq!(outcome.reason, "workload");
    assert!(outcome.lasted > 0 && outcome.lasted < 60_000_000_000);
}
