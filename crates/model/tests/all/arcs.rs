//! Transitions without inputs, arcs that read, inhibit and reset, and exponential times.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;
use std::ops::ControlFlow;

use headrace_model::{Failure, Play, Settings};
use proptest::prelude::*;

use crate::nets::{ask, program, runs, space};

/// A queue of at most three customers.
const BOUNDED_QUEUE: &str = r#"
    [places.queue]
    [transitions.arrive]
    rate = "2.0"
    inhibit = [{ place = "queue", count = 3 }]
    put = "queue"
    [transitions.serve]
    delay = "exponential(0.5 s)"
    take = "queue"
"#;

/// Five machines that fail with rate 0.1 each, and repairmen.
fn repair(repairmen: &str) -> String {
    format!(
        r#"
        [places.working]
        initial = 5
        [places.broken]
        [transitions.fail]
        rate = 0.1
        servers = "infinite"
        take = "working"
        put = "broken"
        [transitions.repair]
        rate = 1.0
        servers = {repairmen}
        take = "broken"
        put = "working"
        "#
    )
}

/// The mean of a value of each run, and three standard errors.
fn agrees(values: impl Iterator<Item = f64>, expected: f64) {
    let values: Vec<f64> = values.collect();
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = 3.0 * (squares / (number - 1.0) / number).sqrt();
    assert!(
        (mean - expected).abs() < error && error < 0.05 * expected,
        "{mean} ± {error}, not {expected}"
    );
}

#[test]
fn a_bounded_queue_without_a_source_place() {
    assert_eq!(space(BOUNDED_QUEUE, None).states, 4);
    // M/M/1/3 with load 1: all four markings are equally likely, with a mean of 1.5 customers. A
    // customer enters in three of four cases: 1.5 a second.
    let results = runs(BOUNDED_QUEUE, 10_000.0, 10);
    agrees(results.iter().map(|it| it.nodes[0].mean_inside), 1.5);
    let served = results.iter().map(|it| it.transitions[1].firings as f64);
    agrees(served.map(|it| it / 10_000.0), 1.5);
}

#[test]
fn servers_of_transitions() {
    // With a repairman for each machine, p(k) of k broken machines is in proportion to
    // C(5, k) 0.1^k. With one repairman it is in proportion to 5! / (5 − k)! 0.1^k.
    for (repairmen, weights) in [
        ("\"infinite\"", [1.0, 0.5, 0.1, 0.01, 0.0005, 0.00001]),
        ("1", [1.0, 0.5, 0.2, 0.06, 0.012, 0.0012]),
        // 1, 5/10, 5·4/(2·100), then 3/(2·10), 2/(2·10), 1/(2·10) of the one before.
        ("2", [1.0, 0.5, 0.1, 0.015, 0.0015, 0.000_075]),
    ] {
        let all: f64 = weights.iter().sum();
        let broken: f64 = (0..6).map(|k| f64::from(k) * weights[k as usize]).sum();
        let results = runs(&repair(repairmen), 20_000.0, 10);
        agrees(
            results.iter().map(|it| it.nodes[1].mean_inside),
            broken / all,
        );
    }
}

#[test]
fn timed_transitions_race() {
    // Two with rates 1 and 3 share the token: the first wins in a quarter of all cases.
    let text = r#"
        [places.free]
        initial = 1
        [transitions.slow]
        rate = 1.0
        take = "free"
        put = "free"
        [transitions.fast]
        rate = 3.0
        take = "free"
        put = "free"
    "#;
    let results = runs(text, 2_000.0, 10);
    agrees(
        results
            .iter()
            .map(|it| it.transitions[0].firings as f64 / 2000.0),
        1.0,
    );
    agrees(
        results
            .iter()
            .map(|it| it.transitions[1].firings as f64 / 2000.0),
        3.0,
    );
}

#[test]
fn what_takes_no_time_fires_first() {
    let text = r#"
        [places.a]
        initial = 1
        [places.b]
        sink = true
        [transitions.later]
        rate = 1e12
        take = "a"
        [transitions.now]
        priority = -5
        take = "a"
        put = "b"
    "#;
    assert_eq!(space(text, Some("b == 1")).states, 2);
    let mut play = Play::new(program(text).unwrap().into(), 1).unwrap();
    let enabled = play.enabled().unwrap();
    let may_fire = enabled.iter().map(|it| (&*it.transition, it.may_fire));
    let expected = [("net/now", true), ("net/later", false)];
    assert_eq!(may_fire.collect::<Vec<_>>(), expected);
    assert!(play.fire("later", 0, 0).is_err());
    assert_eq!(play.step(None).unwrap().unwrap().transition, "net/now");
}

#[test]
fn rates_depend_on_tokens() {
    // Each token has its own time: 1/2 s for the first, 1/4 s for the second.
    let text = r#"
        [places.jobs]
        colour = "int"
        initial = [2, 4]
        [places.done]
        colour = "int"
        [transitions.work]
        rate = "to_real(job)"
        take = [{ place = "jobs", token = "job" }]
        put = [{ place = "done", token = "job" }]
        [transitions.again]
        rate = 1.0
        take = [{ place = "done", token = "job" }]
        put = [{ place = "jobs", token = "job" }]
    "#;
    assert_eq!(space(text, None).states, 4);
    // A token that works with rate r and then pauses for 1 s is at work for 1/r of 1/r + 1.
    let results = runs(text, 5_000.0, 10);
    let expected = 0.5 / 1.5 + 0.25 / 1.25;
    agrees(results.iter().map(|it| it.nodes[0].mean_inside), expected);
}

#[test]
fn a_read_token_stays_and_may_be_taken_too() {
    let text = r#"
        [places.open]
        initial = 1
        [places.here]
        initial = 3
        [places.there]
        sink = true
        [transitions.pass]
        take = "here"
        read = "open"
        put = "there"
        [transitions.close]
        take = "open"
        read = [{ place = "open" }]
        when = "false"
    "#;
    assert_eq!(space(text, Some("open == 1 and there == 3")).states, 4);
    // `close` needs one token, not two.
    let answer = space(
        &text.replace("when = \"false\"", ""),
        Some("open == 0 and there == 1"),
    );
    assert_eq!(answer.states, 8);
    assert!(answer.reached.is_some());
    let settings = Settings {
        until: None,
        warmup: 0.0,
        seed: 1,
    };
    let result = headrace_model::run(&program(text).unwrap(), &settings, &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(result.unwrap().nodes[2].inside, 3);
}

#[test]
fn tokens_of_a_value_inhibit() {
    let text = r#"
        [places.waiting]
        colour = "int"
        initial = [1, 2, 2]
        [places.busy]
        colour = "int"
        rest = true
        [transitions.start]
        take = [{ place = "waiting", token = "n" }]
        inhibit = [{ place = "busy", token = "n" }]
        put = [{ place = "busy", token = "n" }]
        [transitions.stop]
        take = [{ place = "busy", token = "n" }]
    "#;
    // Never two of one value are busy. (Waiting, busy) of value 1 is (1,0), (0,1) or (0,0).
    // With value 2 it is (2,0), (1,1), (1,0), (0,1) or (0,0).
    assert_eq!(space(text, None).states, 15);
    let mut play = Play::new(program(text).unwrap().into(), 1).unwrap();
    play.fire("start", 0, 1).unwrap();
    let enabled = play.enabled().unwrap();
    assert_eq!(enabled[0].bindings.len(), 1);
    assert_eq!(enabled[0].bindings[0]["n"], 1);
}

#[test]
fn a_reset_empties_its_place_before_tokens_are_put() {
    let text = r#"
        [places.a]
        initial = 4
        [transitions.t]
        take = "a"
        reset = "a"
        put = [{ place = "a", count = 2 }]
    "#;
    let answer = space(text, Some("a == 2"));
    assert_eq!((answer.states, answer.arcs), (2, 2));
    let mut play = Play::new(program(text).unwrap().into(), 1).unwrap();
    for _ in 0..2 {
        play.step(None).unwrap().unwrap();
        assert_eq!(play.marking()[0].count, 2);
    }
    let shape = headrace_model::structure(&program(text).unwrap()).unwrap();
    assert_eq!(shape.uncovered, ["net/a"]);
}

#[test]
fn a_run_refuses_what_would_fire_forever() {
    let text = "[places.a]\nsink = true\n[transitions.make]\nput = 'a'\n";
    let answer = ask(text, 100, false, None).unwrap();
    assert_eq!(answer.unbounded.unwrap().places, ["net/a"]);
    let settings = Settings {
        until: Some(1.0),
        warmup: 0.0,
        seed: 1,
    };
    let run = |text: &str| {
        headrace_model::run(&program(text).unwrap(), &settings, &mut |_| {
            ControlFlow::Continue(())
        })
    };
    let Err(Failure::Run(message)) = run(text) else {
        panic!("it ran");
    };
    assert!(
        message.contains("net/make: this transition takes nothing"),
        "{message}"
    );
    assert!(Play::new(program(text).unwrap().into(), 1).is_err());
    let held = format!("{text}inhibit = [{{ place = 'a', count = 7 }}]\n");
    assert_eq!(run(&held).unwrap().nodes[0].inside, 7);
    let stored = format!(
        "{text}when = 'count.number < 5'\nset = 'count.number = count.number + 1'\n\
         [stores.count]\nnumber = 0\n"
    );
    assert_eq!(run(&stored).unwrap().nodes[0].inside, 5);
}

#[test]
fn an_unbounded_place_is_named() {
    let text = "[places.a]\ninitial = 1\n[places.b]\nsink = true\n[transitions.t]\ntake = 'a'\n\
                put = ['a', 'b']\n";
    let unbounded = space(text, None).unbounded.unwrap();
    assert_eq!(
        (&*unbounded.places, unbounded.repeated),
        (&["net/b".to_owned()][..], 1)
    );
    assert_eq!(unbounded.path.firings, ["net/t"]);
    // A marking that is asked for is looked for beyond that.
    let answer = space(text, Some("b == 9"));
    assert!(answer.reached.is_some() && answer.unbounded.is_some());
    // The inhibitor bounds it, and so does a transition that takes from it first.
    for held in [
        "inhibit = [{ place = 'b', count = 4 }]\n",
        "[transitions.u]\ntake = 'b'\npriority = 1\n",
        "rate = 1.0\n[transitions.u]\ntake = 'b'\n",
    ] {
        let answer = ask(&format!("{text}{held}"), 50, false, None).unwrap();
        assert!(answer.unbounded.is_none(), "{held}");
    }
    // Those that others wait for take from places that do not grow.
    for rest in [
        "priority = 1\n[transitions.u]\ntake = 'a'\n",
        "rate = 1.0\n[places.c]\ninitial = 1\n[transitions.u]\ntake = 'c'\nput = 'a'\n",
    ] {
        let answer = space(&format!("{text}{rest}"), None);
        assert!(
            answer
                .unbounded
                .unwrap()
                .places
                .contains(&"net/b".to_owned()),
            "{rest}"
        );
    }
}

#[test]
fn a_condition_without_value_ends_a_search() {
    let text = "[places.a]\ninitial = 3\n[places.b]\nsink = true\n[transitions.t]\ntake = 'a'\n\
                put = 'b'\n";
    let Err(Failure::Run(message)) = ask(text, 100, false, Some("6 // b == 2")) else {
        panic!("it has a value");
    };
    assert!(message.starts_with("\"6 // b == 2\": "), "{message}");
    assert!(message.contains("division by zero"), "{message}");
    let answer = space(text, Some("b > 0 and 6 // b == 2"));
    assert_eq!(answer.reached.unwrap().firings.len(), 3);
}

#[test]
fn refused_documents() {
    let cases = [
        ("rate = 0.0", "a rate of 0 per second: expected more than 0"),
        ("rate = '-1.0'", "a rate of -1 per second"),
        ("delay = 'exponential(0 s)'", "a mean delay of 0 s"),
        ("delay = '1 s'", "expected exponential(mean)"),
        ("rate = 1.0\ndelay = 'exponential(1 s)'", "not both"),
        ("rate = 1.0\npriority = 1", "no priority and no weight"),
        ("servers = 2", "servers are of transitions with a rate"),
        ("rate = 1.0\nservers = 0", "expected a whole number from 1"),
        (
            "reset = [{ place = 'b', count = 1 }]",
            "the name of a place only",
        ),
        (
            "inhibit = [{ place = 'b', count = 0 }]",
            "expected a whole number from 1",
        ),
        (
            "inhibit = [{ place = 's', token = '()' }]",
            "all tokens of a station",
        ),
        ("inhibit = 'nothing'", "is called \"nothing\""),
    ];
    for (keys, expected) in cases {
        let text = format!(
            "[places.a]\ninitial = 1\n[places.b]\nsink = true\n[stations.s]\nservice = '1 s'\n\
             sink = true\n[transitions.t]\ntake = 'a'\nput = ['b', 's']\n{keys}\n"
        );
        let error = program(&text).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
    let source = "[places.a]\nsink = true\n[transitions.t]\nput = 'a'\nrate = 1.0\n\
                  servers = 'infinite'\n";
    assert!(
        program(source)
            .unwrap_err()
            .contains("takes nothing has no infinite")
    );
}

const PLACES: usize = 3;

/// Numbers by place: tokens taken, read, those that inhibit (0 is never), true if it empties the
/// place, and tokens put.
type Rule = [OfPlace; PLACES];
type OfPlace = (u32, u32, u32, bool, u32);

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let of_place = (
        0..3_u32,
        0..3_u32,
        0..4_u32,
        prop::bool::weighted(0.2),
        0..3_u32,
    );
    prop::collection::vec([of_place.clone(), of_place.clone(), of_place], 1..4)
}

/// The markings that can be reached, up to a number.
fn markings(initial: [u32; PLACES], rules: &[Rule], most: usize) -> Option<usize> {
    let mut known = BTreeSet::from([initial]);
    let mut waiting = VecDeque::from([initial]);
    while let Some(marking) = waiting.pop_front() {
        for rule in rules {
            let holds = rule
                .iter()
                .zip(marking)
                .all(|((take, read, inhibit, ..), tokens)| {
                    tokens >= *take.max(read) && (*inhibit == 0 || tokens < *inhibit)
                });
            if !holds {
                continue;
            }
            let next = std::array::from_fn(|place| {
                let (take, _, _, resets, put) = rule[place];
                let left = if resets { 0 } else { marking[place] - take };
                left + put
            });
            if known.insert(next) {
                waiting.push_back(next);
            }
            if known.len() > most {
                return None;
            }
        }
    }
    Some(known.len())
}

fn document(initial: [u32; PLACES], rules: &[Rule]) -> String {
    let mut text = String::new();
    for (place, tokens) in initial.iter().enumerate() {
        writeln!(text, "[places.p{place}]\ninitial = {tokens}\nsink = true").unwrap();
        // Filled by something, whatever the rules are.
        writeln!(
            text,
            "[transitions.never{place}]\ntake = 'p{place}'\nput = 'p{place}'\nwhen = 'false'"
        )
        .unwrap();
    }
    for (number, rule) in rules.iter().enumerate() {
        writeln!(text, "[transitions.t{number}]").unwrap();
        let arcs = |of: &dyn Fn(&OfPlace) -> u32| {
            let counts = rule
                .iter()
                .map(of)
                .enumerate()
                .filter(|(_, count)| *count > 0);
            let arcs = counts.map(|(place, count)| format!("{{place='p{place}',count={count}}}"));
            arcs.collect::<Vec<_>>().join(", ")
        };
        writeln!(text, "take = [{}]", arcs(&|it| it.0)).unwrap();
        writeln!(text, "read = [{}]", arcs(&|it| it.1)).unwrap();
        writeln!(text, "inhibit = [{}]", arcs(&|it| it.2)).unwrap();
        writeln!(text, "put = [{}]", arcs(&|it| it.4)).unwrap();
        let resets = (0..PLACES).filter(|place| rule[*place].3);
        let resets: Vec<String> = resets.map(|place| format!("'p{place}'")).collect();
        writeln!(text, "reset = [{}]", resets.join(", ")).unwrap();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// The state space is that of the slow and obvious twin. In a play, the kernel enables the
    /// transitions that hold by the definition.
    #[test]
    fn markings_are_those_of_the_definition(
        initial in [0..4_u32, 0..4_u32, 0..4_u32],
        rules in rules(),
    ) {
        let text = document(initial, &rules);
        if let Some(states) = markings(initial, &rules, 2000) {
            prop_assert_eq!(space(&text, None).states, states);
        }
        // A rate holds what would fire forever.
        let timed = text.replace("\nread = ", "\nrate = 1.0\nread = ");
        let mut play = Play::new(program(&timed).unwrap().into(), 1).unwrap();
        let mut marking = initial;
        for _ in 0..20 {
            let holding: BTreeSet<String> = rules.iter().enumerate().filter(|(_, rule)| {
                rule.iter().zip(marking).all(|((take, read, inhibit, ..), tokens)| {
                    tokens >= *take.max(read) && (*inhibit == 0 || tokens < *inhibit)
                })
            }).map(|(number, _)| format!("net/t{number}")).collect();
            let enabled: BTreeSet<String> = play.enabled().unwrap().into_iter().map(|it| it.transition).collect();
            prop_assert_eq!(&enabled, &holding);
            let Ok(fired) = play.step(None).unwrap() else { break };
            let number: usize = fired.transition["net/t".len()..].parse().unwrap();
            for (place, tokens) in marking.iter_mut().enumerate() {
                let (take, _, _, resets, put) = rules[number][place];
                *tokens = if resets { 0 } else { *tokens - take } + put;
            }
        }
    }
}
