//! Every operation, in mixes and with numbered files, on a real file system.

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use headrace_spec::MixedOperation;

use super::tests::{carried, done};
use super::*;

/// A mix of every operation but some, each as often.
fn mix(left_out: &[&str]) -> String {
    let all = MixedOperation::ALL.iter().map(|it| it.word());
    let named = all.filter(|word| !left_out.contains(word));
    let weights: Vec<_> = named.map(|word| format!("{word} = 1")).collect();
    format!(
        r#"
        clients = {{ count = 2, processes = 2 }}
        [[workload]]
        kind = "operation-mix"
        weights = {{ {} }}
        amount = 1000
        files = 20
        file_sizes = {{ "1 KiB" = 1, "64 KiB" = 1 }}
        read_sizes = {{ "3 KiB" = 1, "20 KiB" = 1 }}
        write_sizes = {{ "1 KiB" = 1, "9 KiB" = 1 }}
        append_share = 0.5
        "#,
        weights.join(", ")
    )
}

#[test]
fn no_operation_of_a_mix_of_all_fails() {
    let outcome = carried(&mix(&[]), Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    for operation in MixedOperation::ALL {
        let (count, bytes) = done(&outcome, operation.word());
        assert!(count > 0, "{operation:?}");
        let moves = operation.reads() || operation.writes();
        assert_eq!(bytes > 0, moves, "{operation:?}");
    }
    let null = carried(
        &mix(&[]),
        Options {
            calls: Backend::Null,
            ..Options::default()
        },
    );
    assert!(null.error.is_none(), "{:?}", null.error);
    for operation in MixedOperation::ALL {
        let word = operation.word();
        assert_eq!(done(&outcome, word), done(&null, word), "{word}");
    }
}

/// The same operations, and all data read is the data written.
#[test]
fn io_uring_does_the_same_as_system_calls() {
    let text = mix(&[]) + "io = { verify = true }";
    let posix = carried(&text, Options::default());
    let options = Options {
        calls: Backend::Uring,
        ..Options::default()
    };
    let Some(uring) = where_there_is_io_uring(&text, options) else {
        return;
    };
    assert!(posix.error.is_none(), "{:?}", posix.error);
    assert!(uring.error.is_none(), "{:?}", uring.error);
    for operation in MixedOperation::ALL {
        let word = operation.word();
        assert_eq!(done(&posix, word), done(&uring, word), "{word}");
    }
}

/// None, and one clear error, where the kernel or a sandbox does not let it be used.
fn where_there_is_io_uring(text: &str, options: Options) -> Option<Outcome> {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    match run(&super::tests::scenario(text), &directory, options, watch) {
        Err(error) => {
            assert!(error.to_string().contains("\"posix\""), "{error}");
            None
        }
        Ok(outcome) => Some(outcome),
    }
}

/// By whatever calls it was written, others read the same data back.
#[test]
fn what_is_written_one_way_is_read_another_way() {
    for io in ["", r#"interface = "library", "#] {
        for calls in [Backend::Posix, Backend::Uring] {
            let text = format!(
                r#"
                clients = {{ count = 1, processes = 3 }}
                [[workload]]
                block = "70 KiB"
                transfer = "7 KiB"
                segments = 3
                access = "shared"
                phases = ["write", "read"]
                io = {{ {io}verify = true }}
                "#
            );
            if let Some(outcome) = where_there_is_io_uring(
                &text,
                Options {
                    calls,
                    ..Options::default()
                },
            ) {
                assert!(outcome.error.is_none(), "{:?}", outcome.error);
                assert_eq!(done(&outcome, "read").0, 90);
            }
        }
    }
}

#[test]
fn a_byte_that_changes_is_found() {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let text = r#"
        clients = { count = 1 }
        [[workload]]
        block = "64 KiB"
        transfer = "4 KiB"
        phases = ["read"]
        repeat = "forever"
        io = { verify = true }
        [run.stop]
        time = "60 s"
    "#;
    let file = directory.path().join("hr-w0/hr-d0/hr-f0");
    let mut changed = false;
    let watch = &mut |live: &LiveProgress| {
        if live.phase == Phase::Running && !changed {
            changed = true;
            let byte = std::fs::read(&file).expect("read")[12_345] ^ 0x40;
            let open = std::fs::File::options().write(true).open(&file);
            let written = open.expect("opened").write_at(&[byte], 12_345);
            assert_eq!(written.expect("written"), 1);
        }
        ControlFlow::Continue(())
    };
    let outcome = run(
        &super::tests::scenario(text),
        &directory,
        Options::default(),
        watch,
    );
    let outcome = outcome.expect("it began");
    assert_eq!(outcome.reason, "failed");
    let message = outcome.error.as_ref().expect("an error").to_string();
    assert!(message.contains("read of w0, file 0"), "{message}");
    assert!(message.contains("byte 12345 "), "{message}");
    directory.remove().expect("it goes");
}

#[test]
fn each_operation_alone_finds_what_it_needs() {
    for operation in MixedOperation::ALL {
        let others = MixedOperation::ALL.iter().filter(|it| *it != operation);
        let others: Vec<_> = others.map(|it| it.word()).collect();
        let text = mix(&others).replace("amount = 1000", "amount = 50");
        let outcome = carried(&text, Options::default());
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(done(&outcome, operation.word()).0, 100);
    }
}

#[test]
fn names_of_numbered_files_are_made_changed_listed_and_removed() {
    let outcome = carried(
        r#"
        clients = { count = 2 }
        [[workload]]
        kind = "mdtest"
        files = 10
        directory = "own"
        phases = ["mkdir", "create", "rename", "stat", "readdir", "rename", "unlink", "rmdir"]
        "#,
        Options::default(),
    );
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    for name in ["mkdir", "create", "stat", "readdir", "unlink", "rmdir"] {
        assert_eq!(done(&outcome, name), (20, 0), "{name}");
    }
    assert_eq!(done(&outcome, "rename"), (40, 0));
}

#[test]
fn the_c_library_and_mappings_read_what_the_library_wrote() {
    let text = |phases: &str, io: &str| {
        format!(
            r#"
            clients = {{ count = 2, processes = 2 }}
            [[workload]]
            block = "100 kB"
            transfer = "1000 B"
            access = "shared"
            phases = [{phases}]
            io = {{ {io} }}
            "#
        )
    };
    for io in [
        r#"interface = "library""#,
        r#"interface = "library", buffer = "64 KiB""#,
    ] {
        let text = text(r#""write", "read", "sync", "read""#, io);
        let outcome = carried(&text, Options::default());
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(done(&outcome, "write"), (400, 400_000));
        assert_eq!(done(&outcome, "read"), (800, 800_000));
    }
    let text = text(r#""read""#, r#"interface = "mapped""#);
    let outcome = carried(&text, Options::default());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(done(&outcome, "read"), (400, 400_000));
}
