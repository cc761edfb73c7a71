//! Functions from outside the document, and what documents of the storage models need: names with
//! a slash, outputs of which each firing uses one.

use std::ops::ControlFlow;
use std::sync::Arc;

use headrace_model::{
    External, Failure, Function, Kind, Language, Program, Question, Settings, compile_with,
    explore, parse, read, run, structure,
};

/// Adds the words of its arguments; fails at a negative one.
struct Sum;

impl Function for Sum {
    fn word(&self, kinds: &[Kind], arguments: &[i64], word: usize) -> Option<i64> {
        assert_eq!((kinds.len(), word), (2, 0));
        let sum: i64 = arguments.iter().sum();
        (sum >= 0).then_some(sum)
    }
}

fn with_sum(text: &str) -> Program {
    let value = parse(text, Language::Toml).expect("it is TOML");
    let document = read(&value).expect("it is a net");
    let sum = External {
        name: "sum".to_owned(),
        colour: "int".to_owned(),
        function: Arc::new(Sum),
    };
    compile_with(&document, "n", &[sum]).expect("it compiles")
}

fn net(first: i64) -> Program {
    with_sum(&format!(
        "[places.p]\ncolour = 'int'\ninitial = [{first}, 5]\nrest = true\n[places.q]\ncolour = \
         'int'\nsink = true\n[transitions.t]\ntake = [{{ place = 'p', token = 'x' }}]\nwhen = \
         'sum(x, 1) == 6'\nlet = ['y = sum(x, x * 2)']\nput = [{{ place = 'q', token = 'y' }}]\n"
    ))
}

const SETTINGS: Settings = Settings {
    until: None,
    warmup: 0.0,
    seed: 1,
};

#[test]
fn functions_are_called_in_guards_and_lets() {
    let result = run(&net(3), &SETTINGS, &mut |_| ControlFlow::Continue(()));
    let result = result.expect("it runs");
    // Only the second token passes.
    assert_eq!((result.firings, result.stop), (1, "quiet"));
}

#[test]
fn a_function_that_fails_ends_the_run() {
    let result = run(&net(-9), &SETTINGS, &mut |_| ControlFlow::Continue(()));
    match result {
        Err(Failure::Run(message)) => {
            assert!(message.contains("n/t"), "{message}");
            assert!(message.contains("a function failed"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn state_spaces_refuse_functions() {
    let question = Question {
        limit: 10,
        timed: false,
        reach: None,
        holds: Vec::new(),
        reduced: false,
    };
    let answer = explore(&net(3), &question, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(answer, Err(Failure::Run(message)) if message.contains("refuse")));
}

#[test]
fn one_of_several_outputs_is_known_to_the_kernel() {
    let text = "
        [places]
        p = { initial = 1 }
        'a/b' = {}
        c = {}
        d = {}
        [transitions.t]
        take = 'p'
        let = ['way = below(3)']
        put = [
          { place = 'a//b', when = 'way == 0' },
          { place = 'c', when = 'way == 1', delay = '1 s' },
          { place = 'd', when = 'way == 2' },
        ]
        [transitions]
        back = { take = 'a//b', put = 'p' }
        again = { take = 'c', put = 'p' }
        once_more = { take = 'd', put = 'p' }
    ";
    let program = crate::nets::program(text).expect("it compiles");
    let shape = structure(&program).expect("it is a net");
    let outputs = &shape.structure.page.transitions[0].outputs;
    let how: Vec<_> = outputs.iter().map(|it| (it.how, it.delayed)).collect();
    let expected = [("either", false), ("either", true), ("either", false)];
    assert_eq!(how, expected);
    // So the token is never lost.
    assert_eq!((shape.invariants.len(), shape.uncovered.len()), (1, 0));
}
