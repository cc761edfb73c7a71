use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::{Directory, Live, Options, Outcome, run, run_share, together};

/// Engines in one program that meet each other.
#[derive(Default)]
struct Room {
    engines: u32,
    /// How many have come, and how often all had.
    here: Mutex<HashMap<Meet, (u32, u32)>>,
    all: Condvar,
    opened: AtomicU64,
}

impl Others for Room {
    fn meet(&self, place: Meet, over: &mut dyn FnMut() -> bool) {
        let mut here = self.here.lock().expect("no panic");
        let (come, turn) = here.entry(place).or_default();
        let before = *turn;
        *come += 1;
        if *come == self.engines {
            (*come, *turn) = (0, before + 1);
            self.opened.fetch_add(1, Ordering::Relaxed);
            self.all.notify_all();
            return;
        }
        while here[&place].1 == before && !over() {
            let waited = self.all.wait_timeout(here, Duration::from_millis(1));
            here = waited.expect("no panic").0;
        }
    }
}

fn scenario(text: &str) -> Scenario {
    let loaded = headrace_spec::load_measured(text, Path::new("test.toml"), &[]);
    loaded.expect("a scenario").scenario
}

/// What so many engines do of a scenario, put together.
fn shared(text: &str, engines: u32) -> (Outcome, u64) {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let joined: Vec<Directory> = (0..engines)
        .map(|_| Directory::join(directory.path(), directory.mark()).expect("the same"))
        .collect();
    let room = Arc::new(Room {
        engines,
        ..Room::default()
    });
    let scenario = scenario(text);
    let parts: Vec<(String, Vec<u8>)> = std::thread::scope(|scope| {
        let one = |number: u32| {
            let (scenario, directory) = (&scenario, &joined[number as usize]);
            let others: Arc<dyn Others> = Arc::clone(&room) as _;
            scope.spawn(move || {
                let share = Share::new(number, engines, others);
                let watch = &mut |_: &Live| ControlFlow::Continue(());
                let done = run_share(scenario, directory, Options::default(), &share, watch);
                let done = done.expect("it runs");
                (format!("host {number}"), done.to_bytes().expect("bytes"))
            })
        };
        let threads: Vec<_> = (0..engines).map(one).collect();
        let done = threads.into_iter().map(|it| it.join().expect("no panic"));
        done.collect()
    });
    drop(joined);
    directory.remove().expect("it goes");
    let opened = room.opened.load(Ordering::Relaxed);
    (together(&scenario, &parts).expect("they fit"), opened)
}

fn alone(text: &str) -> Outcome {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &Live| ControlFlow::Continue(());
    let outcome = run(&scenario(text), &directory, Options::default(), watch).expect("it runs");
    directory.remove().expect("it goes");
    outcome
}

fn counts(outcome: &Outcome) -> Vec<Option<(u64, u64, u64)>> {
    let cells = outcome.record.cells.iter();
    let of = |cell: &crate::Cell| (cell.count, cell.bytes, cell.service.len());
    cells.map(|cell| cell.as_deref().map(of)).collect()
}

const IN_PHASES: &str = r#"
    clients = { count = 5, processes = 2 }
    [[workload]]
    block = "256 KiB"
    transfer = "16 KiB"
    phases = ["write", "sync", "read"]
    io.verify = true
    [[workload]]
    kind = "ior"
    block = "64 KiB"
    transfer = "16 KiB"
    phases = ["read", "write"]
    access = "shared"
    io.existing = true
    io.verify = true
"#;

#[test]
fn several_engines_do_together_what_one_does() {
    let one = alone(IN_PHASES);
    let (three, opened) = shared(IN_PHASES, 3);
    assert!(three.error.is_none(), "{:?}", three.error);
    assert_eq!(counts(&three), counts(&one));
    assert_eq!((three.processes, three.reason), (20, "workload"));
    // Twice all of them, and two barriers and one between the phases.
    assert_eq!(opened, 2 + 2 + 1);
}

#[test]
fn the_same_operations_of_a_mix_are_asked() {
    let text = r#"
        clients = { count = 3 }
        [[workload]]
        kind = "operation-mix"
        weights = { read = 5, write = 5, stat = 5, create = 1, unlink = 3, open = 1 }
        amount = 200
        files = 20
        file_sizes = { "64 KiB" = 1 }
    "#;
    assert_eq!(counts(&shared(text, 2).0), counts(&alone(text)));
}

#[test]
fn what_several_cannot_do_is_refused() {
    let share = Share::new(0, 3, Arc::new(Nobody));
    let text = "clients.count = 2\n[[workload]]\nkind = \"mdtest\"\nfiles = 2\n";
    let refused = share
        .suits(&scenario(text))
        .expect_err("too few")
        .to_string();
    assert!(refused.contains("expected 3 at least"), "{refused}");
    let text =
        "clients.count = 3\n[[workload]]\nkind = \"mdtest\"\nfiles = 2\n[run.stop]\nrequests = 9\n";
    let refused = share
        .suits(&scenario(text))
        .expect_err("a count")
        .to_string();
    assert!(refused.contains("run.stop.time"), "{refused}");
    let mix = "clients.count = 3\n[[workload]]\nkind = \"operation-mix\"\nweights = { shared-read = 1 }\nsharing = \"clients\"\n";
    let refused = share
        .suits(&scenario(mix))
        .expect_err("another's")
        .to_string();
    assert!(refused.contains("give \"client\""), "{refused}");
    let of_one = mix.replace("\"clients\"", "\"client\"");
    assert!(share.suits(&scenario(&of_one)).is_ok());
    assert!(Share::alone().suits(&scenario(text)).is_ok());
}

#[test]
fn nobody_waits_for_engines_that_are_gone() {
    let room = Room {
        engines: 2,
        ..Room::default()
    };
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| room.meet(Meet::All, &mut || ends.load(Ordering::Relaxed)));
        ends.store(true, Ordering::Relaxed);
    });
}

proptest! {
    #[test]
    fn every_process_is_carried_out_by_one_and_its_file_made_by_one(
        count in 1_u32..20, processes in 1_u32..4, of in 1_u32..20,
    ) {
        let of = of.min(count);
        let text = format!(
            "clients = {{ count = {count}, processes = {processes} }}\n[[workload]]\nio.existing = true\nblock = \"1 MiB\"\nphases = [\"read\"]\n"
        );
        let scenario = scenario(&text);
        let workload = &scenario.workload[0];
        let all = count * processes;
        let shares: Vec<Share> = (0..of).map(|it| Share::new(it, of, Arc::new(Nobody))).collect();
        let mut seen: Vec<u32> = Vec::new();
        for share in &shares {
            let here = share.processes(&scenario, workload, all);
            prop_assert!(!here.is_empty());
            for &rank in &here {
                let file = ExistingFile { file: rank, rank: Some(rank), size: 1 };
                let makers: Vec<u32> = shares
                    .iter()
                    .filter(|it| it.makes(&scenario, workload, &file))
                    .map(|it| it.number)
                    .collect();
                prop_assert_eq!(makers, vec![(share.number + 1) % of]);
            }
            seen.extend(here);
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..all).collect::<Vec<_>>());
        prop_assert_eq!(engines_of_each(&scenario, of), vec![of]);
    }
}
