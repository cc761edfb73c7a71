//! Every operation, in mixes and with numbered files, on a real file system.

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
    let null = carried(&mix(&[]), Options { null: true });
    assert!(null.error.is_none(), "{:?}", null.error);
    for operation in MixedOperation::ALL {
        let word = operation.word();
        assert_eq!(done(&outcome, word), done(&null, word), "{word}");
    }
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
