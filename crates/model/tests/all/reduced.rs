//! Searches for deadlocks in reduced state spaces, against full state spaces and a replay.

use std::fmt::Write;
use std::ops::ControlFlow;

use crate::nets::net;
use headrace_model::{Answer, Failure, Language, Question, compile, explore, parse, read};
use proptest::prelude::*;

const PLACES: usize = 5;

/// By arc: place and number of tokens.
type Arcs = Vec<(usize, u32)>;

#[derive(Clone, Debug)]
struct Rule {
    takes: Arcs,
    reads: Arcs,
    inhibits: Arcs,
    puts: Arcs,
}

fn arcs(most: usize) -> impl Strategy<Value = Arcs> {
    prop::collection::vec((0..PLACES, 1_u32..3), 0..=most)
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let takes = prop::collection::vec((0..PLACES, 1_u32..3), 1..3);
    let seldom = || prop_oneof![3 => Just(Vec::new()), 1 => arcs(1)];
    let rule =
        (takes, seldom(), seldom(), arcs(2)).prop_map(|(takes, reads, inhibits, puts)| Rule {
            takes,
            reads,
            inhibits,
            puts,
        });
    prop::collection::vec(rule, 1..9)
}

fn document(initial: &[u32], rules: &[Rule]) -> String {
    let mut text = String::new();
    for (place, tokens) in initial.iter().enumerate() {
        // Tokens may remain in the first places.
        let sink = place < 2;
        writeln!(text, "[places.p{place}]\ninitial = {tokens}\nsink = {sink}").unwrap();
    }
    let list = |arcs: &Arcs| {
        let arc = |(place, count)| format!("{{ place = 'p{place}', count = {count} }}");
        arcs.iter().copied().map(arc).collect::<Vec<_>>().join(", ")
    };
    for (number, rule) in rules.iter().enumerate() {
        writeln!(
            text,
            "[transitions.t{number}]\ntake = [{}]\nread = [{}]\ninhibit = [{}]\nput = [{}]",
            list(&rule.takes),
            list(&rule.reads),
            list(&rule.inhibits),
            list(&rule.puts),
        )
        .unwrap();
    }
    text
}

fn sum(arcs: &Arcs, place: usize) -> u32 {
    let own = arcs.iter().filter(|(other, _)| *other == place);
    own.map(|(_, count)| count).sum()
}

fn is_enabled(rule: &Rule, marking: &[u32]) -> bool {
    let has = |place: usize| {
        let needed = sum(&rule.takes, place).max(sum(&rule.reads, place));
        let inhibits = |(other, count): &(usize, u32)| *other == place && marking[place] >= *count;
        marking[place] >= needed && !rule.inhibits.iter().any(inhibits)
    };
    (0..marking.len()).all(has)
}

fn fire(rule: &Rule, marking: &mut [u32]) {
    for (place, tokens) in marking.iter_mut().enumerate() {
        *tokens = *tokens - sum(&rule.takes, place) + sum(&rule.puts, place);
    }
}

/// Asks about a net, which may have places that nothing fills or drains.
fn ask(text: &str, limit: usize, deadlock: bool, reach: Option<&str>) -> Result<Answer, Failure> {
    let question = Question {
        limit,
        timed: false,
        reach: reach.map(str::to_owned),
        holds: Vec::new(),
        deadlock,
    };
    let document = read(&parse(text, Language::Toml).unwrap()).unwrap();
    let program = compile(&document, "net").unwrap();
    explore(&program, &question, &mut |_| ControlFlow::Continue(()))
}

/// Looks for a deadlock.
fn deadlock(text: &str, limit: usize) -> Answer {
    ask(text, limit, true, None).unwrap()
}

/// The marking after the firings of a path; none if one of them is not enabled.
fn replayed(answer: &Answer, initial: &[u32], rules: &[Rule]) -> Option<Vec<u32>> {
    let mut marking = initial.to_vec();
    for firing in &answer.deadlock.as_ref()?.firings {
        let rule = &rules[firing.strip_prefix("net/t")?.parse::<usize>().ok()?];
        if !is_enabled(rule, &marking) {
            return None;
        }
        fire(rule, &mut marking);
    }
    Some(marking)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 1_000_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduced_and_full_searches_agree(
        initial in prop::collection::vec(0_u32..3, PLACES),
        rules in rules(),
    ) {
        let text = document(&initial, &rules);
        let full = ask(&text, 3000, false, None).unwrap();
        prop_assume!(full.complete);
        let reduced = deadlock(&text, 3000);
        prop_assert!(reduced.reduction.as_ref().unwrap().reduced);
        prop_assert!(reduced.states <= full.states);
        prop_assert_eq!(reduced.deadlocks > 0, full.deadlocks > 0);
        prop_assert_eq!(reduced.deadlock.is_some(), full.dead > 0);
        if full.deadlocks == 0 {
            prop_assert_eq!((reduced.complete, reduced.dead), (true, full.dead));
        }
        if full.dead > 0 {
            let marking = replayed(&reduced, &initial, &rules).unwrap();
            prop_assert!(!rules.iter().any(|rule| is_enabled(rule, &marking)));
            prop_assert!(full.deadlocks == 0 || marking[2..].iter().any(|tokens| *tokens > 0));
        }
    }
}

/// Philosophers who take their forks in either order, as in the Model Checking Contest.
fn philosophers(number: usize) -> (Vec<u32>, Vec<Rule>) {
    let fork = |own: usize| number + own % number;
    let state = |kind: usize, own: usize| kind * number + own;
    let mut initial = vec![1; 2 * number];
    initial.resize(5 * number, 0);
    let mut rules = Vec::new();
    for own in 0..number {
        for (kind, first, second) in [(2, own, own + 1), (3, own + 1, own)] {
            rules.push((vec![own, fork(first)], vec![state(kind, own)]));
            rules.push((vec![state(kind, own), fork(second)], vec![state(4, own)]));
        }
        rules.push((vec![state(4, own)], vec![own, fork(own), fork(own + 1)]));
    }
    let weighted = |places: Vec<usize>| places.into_iter().map(|place| (place, 1)).collect();
    let rules = rules.into_iter().map(|(takes, puts)| Rule {
        takes: weighted(takes),
        reads: Vec::new(),
        inhibits: Vec::new(),
        puts: weighted(puts),
    });
    (initial, rules.collect())
}

#[test]
fn many_philosophers_starve_with_one_fork_each() {
    let number = 100;
    let (initial, rules) = philosophers(number);
    let answer = deadlock(&document(&initial, &rules), 10_000);
    assert_eq!((answer.deadlocks, answer.complete), (1, false));
    let marking = replayed(&answer, &initial, &rules).unwrap();
    assert!(!rules.iter().any(|rule| is_enabled(rule, &marking)));
    // All hold the left fork, or all the right one: a hundred firings lead there.
    assert_eq!(answer.deadlock.unwrap().firings.len(), number);
    assert_eq!(answer.states, number + 1);
}

#[test]
fn independent_rings_need_few_markings() {
    // Each of ten rings of three places has one token: 3^10 markings, and no deadlock.
    let rings = 0..10_usize;
    let mut initial = Vec::new();
    let mut rules = Vec::new();
    for ring in rings {
        initial.extend([1, 0, 0]);
        rules.extend((0..3).map(|own| Rule {
            takes: vec![(3 * ring + own, 1)],
            reads: Vec::new(),
            inhibits: Vec::new(),
            puts: vec![(3 * ring + (own + 1) % 3, 1)],
        }));
    }
    let text = document(&initial, &rules);
    let full = ask(&text, 100_000, false, None).unwrap();
    assert_eq!((full.states, full.dead), (59_049, 0));
    let reduced = deadlock(&text, 100_000);
    assert_eq!(
        (reduced.states, reduced.dead, reduced.complete),
        (3, 0, true)
    );
}

#[test]
fn other_nets_are_searched_as_a_whole() {
    let reason = |text: &str| {
        let answer = deadlock(text, 1000);
        let reduction = answer.reduction.unwrap();
        assert!(!reduction.reduced);
        (reduction.reason.unwrap(), answer.deadlocks)
    };
    let (text, deadlocks) = reason(&net("philosophers", &[]));
    assert_eq!(text, "tokens of philosophers/thinking have data");
    assert_eq!(deadlocks, 1);
    let plain = "[places.a]\ninitial = 2\n[places.b]\n[transitions.t]\ntake = 'a'\n";
    for (more, why) in [
        (
            "priority = 1\n[transitions.u]\ntake = 'b'",
            "net/u has a priority of its own",
        ),
        ("reset = 'b'", "net/t has a reset arc"),
        ("when = 'copy() == 0'", "net/t has a guard"),
        (
            "put = { place = 'b', count = 'below(2)' }",
            "net/t has an output with a condition, a computed number or a chosen copy",
        ),
    ] {
        assert_eq!(reason(&format!("{plain}{more}")).0, why, "{more}");
    }
}

#[test]
fn a_search_for_a_deadlock_answers_no_other_question() {
    let text = "[places.a]\n[transitions.t]\ntake = 'a'";
    let refused = ask(text, 10, true, Some("a == 1"));
    let refused = format!("{:?}", refused.unwrap_err());
    assert!(
        refused.contains("expected no condition and no formula"),
        "{refused}"
    );
}

#[test]
fn a_condition_counts_tokens_of_any_number_of_places() {
    let rules: Vec<Rule> = Vec::new();
    let text = document(&[1; 100], &rules) + "[transitions.t]\ntake = 'p99'\n";
    let sum = (0..100)
        .map(|place| format!("p{place}"))
        .collect::<Vec<_>>();
    let answer = ask(
        &text,
        10,
        false,
        Some(&format!("{} == 99", sum.join(" + "))),
    )
    .unwrap();
    assert_eq!(answer.reached.unwrap().firings, ["net/t"]);
}
