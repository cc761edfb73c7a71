//! Operations that several processes execute at the same moment.

use std::ops::ControlFlow;

use super::tests::{carried, done, scenario};
use super::*;

const SHARED: &str = r#"
    clients = { count = 2, processes = 3 }
    [[workload]]
    kind = "operation-mix"
    weights = { shared-read = 2, shared-write = 1, stat = 5 }
    amount = 300
    files = 5
    file_sizes = { "1 MiB" = 1 }
    sharing = "client"
"#;

#[test]
fn all_who_take_part_carry_the_operation_out() {
    for (sharing, each) in [("client", 3), ("clients", 2)] {
        let text = SHARED.replace("\"client\"", &format!("\"{sharing}\""));
        let outcome = carried(&text, Options::default());
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.reason, "workload");
        let rounds = outcome.rounds.expect("there are rounds");
        let shared = done(&outcome, "shared-read").0 + done(&outcome, "shared-write").0;
        assert!(rounds.whole > 50, "{rounds:?}");
        assert_eq!(rounds.broken_off, 0);
        match sharing {
            "client" => {
                assert_eq!(shared, each * rounds.whole);
                assert_eq!(done(&outcome, "shared-read").0 % each, 0);
            }
            // A client that has come to its end takes no part any more.
            _ => assert!(shared > rounds.whole && shared <= each * rounds.whole),
        }
    }
    let alone = carried(
        &SHARED.replace("\"client\"", "\"none\""),
        Options::default(),
    );
    assert_eq!(alone.rounds, None);
}

#[test]
fn nobody_begins_before_all_have_ended_what_they_did() {
    let options = Options {
        each: true,
        ..Options::default()
    };
    let text = SHARED.replace("count = 2, processes = 3", "count = 1, processes = 3");
    let outcome = carried(&text, options);
    let each = outcome.record.each.as_deref().expect("they are kept");
    // One process after the other, each in the order of time.
    let processes: Vec<&[crate::record::Done]> = each
        .chunk_by(|one, next| one.started <= next.started)
        .collect();
    assert_eq!(processes.len(), 3);
    let number = |name| operation::number(name).expect("an operation");
    let shared = [number("shared-read"), number("shared-write")];
    let places = |process: &[crate::record::Done]| -> Vec<usize> {
        let all = 0..process.len();
        all.filter(|&it| shared.contains(&process[it].operation))
            .collect()
    };
    let rounds = outcome.rounds.expect("there are rounds").whole as usize;
    for round in 0..rounds {
        let of_it = processes
            .iter()
            .map(|process| (*process, places(process)[round]));
        let first = of_it.clone().map(|(process, at)| process[at].started).min();
        let before = of_it.filter_map(|(process, at)| Some(process[at.checked_sub(1)?].ended));
        assert!(before.max() <= first, "round {round}");
    }
}

#[test]
fn nobody_waits_for_a_process_that_has_failed_or_a_run_that_is_over() {
    let forever = SHARED.replace("amount = 300", "amount = \"forever\"");
    let text = format!("{forever}\n[run.stop]\ntime = \"50 ms\"\n");
    let outcome = carried(&text, Options::default());
    assert_eq!(outcome.reason, "time");
    let rounds = outcome.rounds.expect("there are rounds");
    // At most one round of each client is begun and incomplete.
    assert!(rounds.whole > 0 && rounds.broken_off <= 2, "{rounds:?}");
    let text = format!("{forever}\n[run.stop]\ntime = \"1 h\"\n");
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let path = directory.path().to_path_buf();
    let mut gone = false;
    let watch = &mut |live: &LiveProgress| {
        if live.phase == Phase::Running && !gone {
            gone = true;
            std::fs::rename(path.join("hr-w0"), path.join("hr-w9")).expect("renamed");
        }
        ControlFlow::Continue(())
    };
    let outcome = run(&scenario(&text), &directory, Options::default(), watch);
    assert_eq!(outcome.expect("it began").reason, "failed");
    directory.remove().expect("it goes");
}
