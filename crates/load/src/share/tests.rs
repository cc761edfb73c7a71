use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use headrace_workload::RoundKeeper;
use proptest::prelude::*;

use super::*;
use crate::operation::ALL;
use crate::{Directory, LiveProgress, Options, Outcome, merge_outcomes, run, run_share};

/// Engines in one program that meet each other.
#[derive(Default)]
struct Room {
    engines: u32,
    /// Processes that wait, times that the barrier has opened, and how far any process has come of
    /// those that wait and of the last ones.
    here: Mutex<HashMap<SyncPoint, (u32, u32, u64, u64)>>,
    all: Condvar,
    opened: AtomicU64,
    listeners: Mutex<HashMap<(usize, u32), Listener>>,
}

/// Message of an engine about a workload.
type Said = (usize, u32, RoundMessage);

/// One of the engines, and the receiver of its messages.
struct Engine {
    room: Arc<Room>,
    number: u32,
    says: Sender<Said>,
}

impl Room {
    fn meet(&self, place: SyncPoint, farthest: u64, over: &mut dyn FnMut() -> bool) -> u64 {
        let mut here = self.here.lock().expect("no panic");
        let (come, turn, most, last) = here.entry(place).or_default();
        let before = *turn;
        *come += 1;
        *most = farthest.max(*most);
        if *come == self.engines {
            (*come, *turn, *last, *most) = (0, before + 1, *most, 0);
            self.opened.fetch_add(1, Ordering::Relaxed);
            self.all.notify_all();
            return here[&place].3;
        }
        while here[&place].1 == before && !over() {
            let waited = self.all.wait_timeout(here, Duration::from_millis(1));
            here = waited.expect("no panic").0;
        }
        here[&place].3
    }

    /// Passes results of messages to all engines, until none sends another.
    fn relay(&self, scenario: &Scenario, said: &Receiver<Said>) {
        let engines = engines_of_each(scenario, self.engines).into_iter();
        let mut keepers: Vec<_> = engines.map(|it| RoundKeeper::new(it as usize)).collect();
        for (workload, by, message) in said {
            for kept in keepers[workload].hear(by, message) {
                for ((of, number), hear) in &*self.listeners.lock().expect("no panic") {
                    let news = kept.at(*number).filter(|_| *of == workload);
                    news.into_iter().for_each(|it| hear(it, kept.by == *number));
                }
            }
        }
    }
}

impl Peers for Engine {
    fn meet(&self, place: SyncPoint, farthest: u64, over: &mut dyn FnMut() -> bool) -> u64 {
        self.room.meet(place, farthest, over)
    }

    fn say(&self, workload: usize, message: RoundMessage) {
        let said = self.says.send((workload, self.number, message));
        said.expect("somebody listens");
    }

    fn listen(&self, workload: usize, listener: Listener) {
        let mut listeners = self.room.listeners.lock().expect("no panic");
        listeners.insert((workload, self.number), listener);
    }
}

fn scenario(text: &str) -> Scenario {
    let loaded = headrace_spec::load_measured(text, Path::new("test.toml"), &[]);
    loaded.expect("a scenario").scenario
}

/// Runs a scenario on several engines and merges their results.
fn shared(text: &str, engines: u32) -> (Outcome, u64) {
    let (outcomes, opened) = apart(text, engines);
    let named = (0..).zip(&outcomes);
    let bytes = |it: &Outcome| it.to_bytes().expect("bytes");
    let parts: Vec<_> = named
        .map(|(number, it)| (format!("host {number}"), bytes(it)))
        .collect();
    let merged = merge_outcomes(&scenario(text), &parts);
    (merged.expect("they fit"), opened)
}

/// The result of each of several engines, and the times that a barrier has opened.
fn apart(text: &str, engines: u32) -> (Vec<Outcome>, u64) {
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
    let (says, said) = mpsc::channel();
    let outcomes = std::thread::scope(|scope| {
        let (relaying, of) = (&room, &scenario);
        scope.spawn(move || relaying.relay(of, &said));
        let one = |number: u32| {
            let (scenario, directory) = (&scenario, &joined[number as usize]);
            let (room, says) = (Arc::clone(&room), says.clone());
            scope.spawn(move || {
                let engine = Engine { room, number, says };
                let share = Share::new(number, engines, Arc::new(engine));
                let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
                let done = run_share(scenario, directory, Options::default(), &share, watch);
                done.expect("it runs")
            })
        };
        let threads: Vec<_> = (0..engines).map(one).collect();
        drop(says);
        let done = threads.into_iter().map(|it| it.join().expect("no panic"));
        done.collect()
    });
    drop(joined);
    directory.remove().expect("it goes");
    let opened = room.opened.load(Ordering::Relaxed);
    (outcomes, opened)
}

fn alone(text: &str) -> Outcome {
    let below = tempfile::tempdir().expect("a temporary directory");
    let directory = Directory::make(below.path()).expect("it can be made");
    let watch = &mut |_: &LiveProgress| ControlFlow::Continue(());
    let outcome = run(&scenario(text), &directory, Options::default(), watch).expect("it runs");
    directory.remove().expect("it goes");
    outcome
}

fn counts(outcome: &Outcome) -> Vec<Option<(u64, u64, u64)>> {
    let cells = outcome.record.cells.iter();
    let of = |cell: &crate::Cell| (cell.count, cell.bytes, cell.service.count());
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

/// Processes of all engines go as far as the one that had come farthest, and take turns.
#[test]
fn a_stonewall_and_turns_hold_for_all_engines() {
    let (outcomes, opened) = apart(
        r#"
        clients = { count = 4 }
        [[workload]]
        preset = "ior-easy"
        block = "256 MiB"
        transfer = "4 KiB"
        stonewall = "30 ms"
        turns = [1, 1, 3]
        [[workload]]
        preset = "mdtest-hard"
        files = 100000
        stonewall = "30 ms"
        turns = [2, 4, 4, 5, 6]
        "#,
        3,
    );
    let count = |workload, phase, operation: &str| {
        let same = |it: &&crate::record::TimeSpan| {
            (it.workload, it.phase, ALL[it.operation].name()) == (workload, phase, operation)
        };
        outcomes
            .iter()
            .flat_map(|it| &it.record.stretches)
            .filter(same)
            .map(|it| it.count)
            .sum::<u64>()
    };
    let written = count(0, 0, "write");
    assert!(written > 0 && written.is_multiple_of(4), "{written}");
    assert_eq!(count(0, 2, "read"), written);
    let created = count(1, 0, "create");
    assert!(created > 0 && created.is_multiple_of(4), "{created}");
    assert_eq!(count(1, 4, "unlink"), created);
    let turns = [vec![1, 1, 3], vec![2, 4, 4, 5, 6]];
    // Each engine has its own clock.
    for outcome in &outcomes {
        let mut sorted: Vec<_> = outcome.record.stretches.iter().collect();
        sorted.sort_by_key(|it| it.from);
        let order = sorted
            .iter()
            .map(|it| turns[it.workload][it.phase as usize]);
        assert!(order.is_sorted());
    }
    // Four times all of them, six turns, a barrier in the first and the fourth, and two stonewalls.
    assert_eq!(opened, 4 + 6 + 2 + 2);
}

#[test]
fn several_engines_do_together_what_one_does() {
    let one = alone(IN_PHASES);
    let (three, opened) = shared(IN_PHASES, 3);
    assert!(three.error.is_none(), "{:?}", three.error);
    assert_eq!(counts(&three), counts(&one));
    assert_eq!((three.processes, three.reason), (20, "workload"));
    // Four times all of them, and two barriers and one between the phases.
    assert_eq!(opened, 4 + 2 + 1);
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

const SHARED: &str = r#"
    clients = { count = 4, processes = 2 }
    [[workload]]
    kind = "operation-mix"
    weights = { shared-read = 1, shared-write = 1, stat = 2 }
    amount = 200
    files = 3
    file_sizes = { "256 KiB" = 1 }
    sharing = "clients"
"#;

#[test]
fn processes_of_several_engines_share_an_operation() {
    for engines in [2, 3, 4] {
        let (outcome, _) = shared(SHARED, engines);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.reason, "workload");
        let rounds = outcome.rounds.expect("there are rounds");
        let done = |name| crate::run::tests::done(&outcome, name).0;
        let took_part = done("shared-read") + done("shared-write");
        assert!(rounds.whole > 50 && rounds.broken_off == 0, "{rounds:?}");
        // A client that has come to its end takes no part any more; and others go on.
        assert!(took_part > 2 * rounds.whole && took_part <= 4 * rounds.whole);
        assert!(took_part + done("stat") >= 4 * 200);
        let told = outcome.coordination.expect("there are several");
        assert_eq!(told.announced.count, rounds.whole);
        assert!(told.go_ahead.count > 0 && told.go_ahead.count <= rounds.whole);
    }
    assert_eq!(alone(SHARED).coordination, None);
}

#[test]
fn nobody_waits_longer_than_the_run_lasts() {
    let forever = SHARED.replace("amount = 200", "amount = \"forever\"");
    let text = format!("{forever}\n[run.stop]\ntime = \"50 ms\"\n");
    let (outcome, _) = shared(&text, 3);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.reason, "time");
    let rounds = outcome.rounds.expect("there are rounds");
    assert!(rounds.whole > 0 && rounds.broken_off <= 8, "{rounds:?}");
}

#[test]
fn what_several_cannot_do_is_refused() {
    let share = Share::new(0, 3, Arc::new(NoPeers));
    let text = "clients.count = 2\n[[workload]]\nkind = \"mdtest\"\nfiles = 2\n";
    let refused = share
        .suits(&scenario(text))
        .expect_err("too few")
        .to_string();
    assert!(refused.contains("expected at least 3"), "{refused}");
    let text =
        "clients.count = 3\n[[workload]]\nkind = \"mdtest\"\nfiles = 2\n[run.stop]\nrequests = 9\n";
    let refused = share
        .suits(&scenario(text))
        .expect_err("a count")
        .to_string();
    assert!(refused.contains("run.stop.time"), "{refused}");
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
        scope.spawn(|| room.meet(SyncPoint::All, 0, &mut || ends.load(Ordering::Relaxed)));
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
        let shares: Vec<Share> = (0..of).map(|it| Share::new(it, of, Arc::new(NoPeers))).collect();
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
        prop_assert_eq!(engines_of_each(&scenario, of), vec![of, 0]);
    }
}
