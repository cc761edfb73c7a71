//! Searches in reduced state spaces, against full state spaces and a replay.

use std::fmt::Write;
use std::ops::ControlFlow;

use crate::nets::net;
use headrace_model::{Answer, Asked, Failure, Language, Question, compile, explore, parse, read};
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
fn ask(text: &str, limit: usize, reduced: bool, reach: Option<&str>) -> Result<Answer, Failure> {
    let question = Question {
        limit,
        timed: false,
        reach: reach.map(str::to_owned),
        holds: Vec::new(),
        reduced,
    };
    asked(text, &question)
}

fn asked(text: &str, question: &Question) -> Result<Answer, Failure> {
    let document = read(&parse(text, Language::Toml).unwrap()).unwrap();
    let program = compile(&document, "net").unwrap();
    explore(&program, question, &mut |_| ControlFlow::Continue(()))
}

/// Looks for a deadlock.
fn deadlock(text: &str, limit: usize) -> Answer {
    ask(text, limit, true, None).unwrap()
}

/// The marking after the firings of a path; none if one of them is not enabled.
fn replayed(firings: &[String], initial: &[u32], rules: &[Rule]) -> Option<Vec<u32>> {
    let mut marking = initial.to_vec();
    for firing in firings {
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
            prop_assert!(reduced.complete && reduced.dead <= full.dead);
        }
        if full.dead > 0 {
            let marking = replayed(&reduced.deadlock.as_ref().unwrap().firings, &initial, &rules).unwrap();
            prop_assert!(!rules.iter().any(|rule| is_enabled(rule, &marking)));
            prop_assert!(full.deadlocks == 0 || marking[2..].iter().any(|tokens| *tokens > 0));
        }
    }
}

fn properties() -> impl Strategy<Value = String> {
    let place = || (0..PLACES).prop_map(|it| format!("p{it}"));
    let compared = ["==", "!=", "<", "<=", ">", ">="];
    let compared = (0..compared.len()).prop_map(move |it| compared[it]);
    let number = prop_oneof![
        place(),
        (place(), place()).prop_map(|(one, other)| format!("({one} + {other})")),
        (place(), place()).prop_map(|(one, other)| format!("({one} - {other})")),
        (place(), place()).prop_map(|(one, other)| format!("max({one}, 2 * {other})")),
        place().prop_map(|it| format!("(-{it})")),
        (0_u32..4).prop_map(|it| it.to_string()),
    ];
    let leaf = (number.clone(), compared, number)
        .prop_map(|(one, is, other)| format!("{one} {is} {other}"));
    leaf.prop_recursive(2, 4, 2, |part| {
        prop_oneof![
            2 => (part.clone(), part.clone()).prop_map(|(one, other)| format!("({one}) and ({other})")),
            1 => (part.clone(), part.clone()).prop_map(|(one, other)| format!("({one}) or ({other})")),
            1 => part.prop_map(|it| format!("not ({it})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, max_global_rejects: 1_000_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduced_and_full_searches_reach_the_same(
        initial in prop::collection::vec(0_u32..3, PLACES),
        rules in rules(),
        property in properties(),
    ) {
        let text = document(&initial, &rules);
        let full = ask(&text, 3000, false, Some(&property)).unwrap();
        prop_assume!(full.complete);
        let reduced = ask(&text, 3000, true, Some(&property)).unwrap();
        prop_assert!(reduced.reduction.as_ref().unwrap().reduced);
        prop_assert!(reduced.states <= full.states);
        prop_assert_eq!(reduced.reached.is_some(), full.reached.is_some());
        prop_assert_eq!(reduced.complete, full.reached.is_none());
        if let Some(path) = &reduced.reached {
            let marking = replayed(&path.firings, &initial, &rules).unwrap();
            let there = ask(&document(&marking, &rules), 1, false, Some(&property)).unwrap();
            prop_assert!(there.reached.is_some());
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
    let marking = replayed(&answer.deadlock.as_ref().unwrap().firings, &initial, &rules).unwrap();
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
        (1, 0, true)
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
fn a_reduced_search_answers_no_formula() {
    let text = "[places.a]\n[transitions.t]\ntake = 'a'";
    let holds = vec![Asked {
        formula: "AG(a == 0)".to_owned(),
        automaton: None,
    }];
    let refused = asked(
        text,
        &Question {
            limit: 10,
            timed: false,
            reach: None,
            holds,
            reduced: true,
        },
    );
    let refused = format!("{:?}", refused.unwrap_err());
    assert!(refused.contains("expected no formula"), "{refused}");
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

/// A rule on tokens of two numbers: takes bound to variables, puts of variables, and a guard.
#[derive(Clone, Debug)]
struct Coloured {
    takes: Vec<(usize, [usize; 2])>,
    puts: Vec<(usize, [usize; 2])>,
    guard: Option<(usize, usize, bool)>,
    /// A constant in place of a variable that is put.
    constant: Option<i64>,
}

const VARIABLES: [&str; 3] = ["x", "y", "z"];

fn coloured() -> impl Strategy<Value = Vec<Coloured>> {
    let pair = || prop::array::uniform2(0..VARIABLES.len());
    let arcs = move |most| prop::collection::vec((0..3_usize, pair()), 1..=most);
    let guard = prop::option::of((0..3_usize, 0..3_usize, any::<bool>()));
    let constant = prop_oneof![4 => Just(None), 1 => (0_i64..3).prop_map(Some)];
    let rule =
        (arcs(2), arcs(2), guard, constant).prop_map(|(takes, puts, guard, constant)| Coloured {
            takes,
            puts,
            guard,
            constant,
        });
    prop::collection::vec(rule, 1..4)
}

/// A net; none if a rule uses a variable that it does not bind.
fn coloured_document(initial: &[Vec<(i64, i64)>], rules: &[Coloured]) -> Option<String> {
    let mut text = "[colours.pair]\none = 'int'\nother = 'int'\n".to_owned();
    for (place, tokens) in initial.iter().enumerate() {
        let tokens = tokens
            .iter()
            .map(|(one, other)| format!("{{ token = 'pair({one}, {other})' }}"));
        let tokens = tokens.collect::<Vec<_>>().join(", ");
        writeln!(
            text,
            "[places.p{place}]\ncolour = 'pair'\ninitial = [{tokens}]\nsink = {}",
            place == 0
        )
        .unwrap();
    }
    let record = |pair: &[usize; 2], constant: Option<i64>| {
        let last = constant.map_or(VARIABLES[pair[1]].to_owned(), |it| it.to_string());
        format!("pair({}, {last})", VARIABLES[pair[0]])
    };
    for (number, rule) in rules.iter().enumerate() {
        let bound: Vec<usize> = rule.takes.iter().flat_map(|(_, pair)| *pair).collect();
        let used = rule.puts.iter().flat_map(|(_, pair)| *pair);
        let used: Vec<usize> = used
            .chain(rule.guard.iter().flat_map(|it| [it.0, it.1]))
            .collect();
        if used.iter().any(|it| !bound.contains(it)) {
            return None;
        }
        let arc = |(place, pair): &(usize, [usize; 2]), constant| {
            format!(
                "{{ place = 'p{place}', token = '{}' }}",
                record(pair, constant)
            )
        };
        let takes = rule.takes.iter().map(|it| arc(it, None));
        let puts = rule.puts.iter().map(|it| arc(it, rule.constant));
        let takes = takes.collect::<Vec<_>>().join(", ");
        let puts = puts.collect::<Vec<_>>().join(", ");
        writeln!(
            text,
            "[transitions.t{number}]\ntake = [{takes}]\nput = [{puts}]"
        )
        .unwrap();
        if let Some((one, other, is_equal)) = rule.guard {
            let is = if is_equal { "==" } else { "!=" };
            writeln!(
                text,
                "when = '{} {is} {}'",
                VARIABLES[one], VARIABLES[other]
            )
            .unwrap();
        }
    }
    Some(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 1_000_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_that_are_alike_change_no_answer(
        initial in prop::collection::vec(prop::collection::vec((0_i64..3, 0_i64..3), 0..4), 3),
        rules in coloured(),
        (place, most) in (0..3_usize, 1..5_usize),
    ) {
        let text = coloured_document(&initial, &rules);
        prop_assume!(text.is_some());
        let text = text.unwrap();
        let full = ask(&text, 2000, false, None).unwrap();
        prop_assume!(full.complete);
        let reduced = ask(&text, 2000, true, None).unwrap();
        prop_assert!(reduced.states <= full.states);
        prop_assert_eq!(reduced.deadlocks > 0, full.deadlocks > 0);
        let length = |answer: &Answer| answer.deadlock.as_ref().map(|path| path.firings.len());
        if full.deadlocks > 0 {
            prop_assert_eq!(length(&reduced), length(&full));
        }
        let deadlock = reduced.deadlock;
        let property = format!("p{place} >= {most}");
        let (full, reduced) = (ask(&text, 2000, false, Some(&property)).unwrap(), ask(&text, 2000, true, Some(&property)).unwrap());
        let length = |answer: &Answer| answer.reached.as_ref().map(|path| path.firings.len());
        prop_assert_eq!(length(&reduced), length(&full));
        // A path has firings of the net itself, with their variables, and its marking is met.
        for path in reduced.reached.iter().chain(&deadlock) {
            prop_assert!(path.firings.iter().all(|it| it.contains('(')), "{:?}", path.firings);
            let tokens = |(place, tokens): &(String, Vec<String>)| {
                let name = place.trim_start_matches("net/");
                let kinds: std::collections::BTreeSet<_> = tokens.iter().collect();
                let counts = kinds.iter().map(|kind| {
                    let count = tokens.iter().filter(|it| it == kind).count();
                    format!("tokens('{name}', {kind}) == {count}")
                });
                counts.collect::<Vec<_>>().join(" and ")
            };
            let all: Vec<String> = path.marking.iter().map(tokens).collect();
            if !all.is_empty() {
                let met = ask(&text, 2000, false, Some(&all.join(" and "))).unwrap();
                prop_assert!(met.reached.is_some(), "{all:?}");
            }
        }
    }
}

#[test]
fn clients_that_are_alike_are_one() {
    // Ten clients, each idle, waiting or served: 3^10 markings, and C(12, 2) without their names.
    let clients = (0..10)
        .map(|it| it.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!(
        "[places.idle]\ncolour = 'int'\ninitial = [{clients}]\n[places.waiting]\ncolour = 'int'\n\
         [places.served]\ncolour = 'int'\n\
         [transitions.ask]\ntake = {{ place = 'idle', token = 'c' }}\nput = {{ place = 'waiting', token = 'c' }}\n\
         [transitions.serve]\ntake = {{ place = 'waiting', token = 'c' }}\nput = {{ place = 'served', token = 'c' }}\n\
         [transitions.end]\ntake = {{ place = 'served', token = 'c' }}\nput = {{ place = 'idle', token = 'c' }}\n"
    );
    let full = ask(&text, 100_000, false, None).unwrap();
    assert_eq!((full.states, full.dead), (59_049, 0));
    let reduced = ask(&text, 100_000, true, None).unwrap();
    assert_eq!((reduced.states, reduced.complete), (66, true));
    assert_eq!(reduced.reduction.unwrap().alike, 1);
    let last = ask(&text, 100_000, true, Some("served == 10")).unwrap();
    let firings = last.reached.unwrap().firings;
    assert_eq!(firings.len(), 20);
    let others = firings
        .iter()
        .filter(|it| it.starts_with("net/ask"))
        .collect::<std::collections::BTreeSet<_>>();
    assert_eq!(others.len(), 10, "{firings:?}");
    // A client that is asked for is not like the others.
    let one = ask(&text, 100_000, true, Some("tokens('served', 3) == 1")).unwrap();
    assert_eq!(
        (
            one.reached.unwrap().firings.len(),
            one.reduction.unwrap().alike
        ),
        (2, 0)
    );
}

#[test]
fn a_path_has_the_values_of_the_first_marking() {
    // Two edges with opposite ends and a triangle: a marking with several representatives.
    for rotation in 0..5 {
        let edges = [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)];
        let edges = edges.map(|(one, other)| ((one + rotation) % 5, (other + rotation) % 5));
        let tokens = edges.map(|(one, other)| format!("{{ token = 'pair({one}, {other})' }}"));
        let text = format!(
            "[colours.pair]\none = 'int'\nother = 'int'\n\
             [places.edges]\ncolour = 'pair'\ninitial = [{}]\n\
             [places.steps]\ninitial = 3\n[places.done]\nsink = true\n\
             [transitions.go]\nput = ['done', {{ place = 'edges', token = 'pair(x, y)' }}]\n\
             take = ['steps', {{ place = 'edges', token = 'pair(x, y)' }}]\nwhen = 'x != y'\n",
            tokens.join(", ")
        );
        let path = deadlock(&text, 1000).deadlock.unwrap();
        assert_eq!(path.firings.len(), 3);
        assert!(
            path.firings.iter().all(|it| it.contains("x = ")),
            "{path:?}"
        );
        let (_, left) = path
            .marking
            .iter()
            .find(|(place, _)| place == "net/edges")
            .unwrap();
        let mut expected: Vec<String> = edges
            .iter()
            .map(|(one, other)| format!("pair({one}, {other})"))
            .collect();
        expected.sort();
        assert_eq!(*left, expected);
    }
}
