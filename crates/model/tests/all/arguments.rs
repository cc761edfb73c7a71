//! Impossible parameters: constants are refused when a document is read, others when they are
//! drawn.

use std::ops::ControlFlow;

use crate::nets::{ask, program, runs};
use headrace_model::{Failure, Settings, run};

fn net(lines: &str) -> String {
    format!(
        "[places.a]\ncolour = 'int'\ninitial = [0, 1]\n[places.b]\nsink = true\n\
         [transitions.t]\ntake = [{{ place = 'a', token = 'x' }}]\n{lines}\n"
    )
}

#[test]
fn constants_are_refused_with_their_place() {
    let cases = [
        ("exponential(-1 s)", "expected a mean of 0 or more"),
        ("uniform(2 s, 1 s)", "expected the lower bound first"),
        ("erlang(0, 1 s)", "whole number of stages"),
        ("erlang(1.5, 1 s)", "whole number of stages"),
        ("erlang(2, -1 s)", "a mean of 0 or more"),
        ("normal(1 s, -1 s)", "a deviation of 0 or more"),
        ("lognormal(0, -1)", "a sigma of 0 or more"),
        ("weibull(0, 1 s)", "a shape of more than 0"),
        ("weibull(1, -1 s)", "a scale of 0 or more"),
        ("pareto(-1, 1 s)", "a shape of more than 0"),
        ("pareto(1, -1 s)", "a least value of 0 or more"),
        (
            "if bernoulli(2) then 1 s else 2 s",
            "probability from 0 to 1",
        ),
        ("seconds(discrete(3, 1))", "one or more values"),
        ("seconds(below(0))", "one or more values"),
        ("1 s / 0", "1 s / 0: division by zero"),
        ("1 s * exp(1000)", "at most 104 days"),
        ("-1 s", "zero or more"),
        ("seconds(-1 // 0)", "division by zero"),
        ("9223372036854775807 * 2 s", "64 bits"),
    ];
    for (expression, reason) in cases {
        let delay = net(&format!(
            "put = [{{ place = 'b', delay = '{expression}' }}]"
        ));
        let found = program(&delay).map(|_| ()).unwrap_err();
        assert!(found.starts_with("8:"), "{found}");
        assert!(found.contains(reason), "{expression}: {found}");
        let service = format!(
            "{}\n[stations.s]\ncolour = 'int'\nsink = true\nservice = '{expression}'",
            net("put = [{ place = 's', token = 'x' }, 'b']")
        );
        let found = program(&service).map(|_| ()).unwrap_err();
        assert!(found.starts_with("13:"), "{found}");
        assert!(found.contains(reason), "{expression}: {found}");
    }
}

#[test]
fn a_part_that_is_never_used_needs_no_value() {
    for when in [
        "if 1 > 2 then 1 // 0 == 0 else x == x",
        "x == x or (1 == 1 or 1 // 0 == 0)",
        "not (1 == 2 and below(0 * 3) == 1) or x == x",
    ] {
        let allowed = when.replace("below(0 * 3)", "1 // 0");
        program(&net(&format!("when = '{allowed}'\nput = 'b'"))).unwrap();
    }
}

/// The message of a run, and of a state space with time, that fails.
fn failures(text: &str) -> [String; 2] {
    let settings = Settings {
        until: Some(1.0),
        warmup: 0.0,
        seed: 1,
    };
    let result = run(&program(text).unwrap(), &settings, &mut |_| {
        ControlFlow::Continue(())
    });
    let message = |failure: Failure| match failure {
        Failure::Run(message) => message,
        other => panic!("{other:?}"),
    };
    [
        message(result.map(|_| ()).unwrap_err()),
        ask(text, 1000, true, None)
            .map(|_| String::new())
            .unwrap_or_else(message),
    ]
}

#[test]
fn others_end_the_run_with_path_and_expression() {
    let cases = [
        (
            "exponential(x - 1 s)",
            "exponential(x - 1 s): expected a mean of 0 or more",
        ),
        (
            "uniform(1 s, x * 1 s)",
            "uniform(1 s, x * 1 s): expected the lower bound first",
        ),
        (
            "erlang(x, 1 s)",
            "erlang(x, 1 s): expected a whole number of stages",
        ),
        (
            "weibull(x, 1 s)",
            "weibull(x, 1 s): expected a shape of more than 0",
        ),
        ("1 s / x", "1 s / x: division by zero"),
        ("1 s * exp(1000 - x)", "at most 104 days"),
        ("x * 1 s - 1 s", "of -1 s: expected 0 or more"),
        (
            "if bernoulli(x - 1) then 1 s else 2 s",
            "bernoulli(x - 1): expected a probability",
        ),
        ("seconds(below(x))", "below(x): expected one or more values"),
        (
            "seconds(discrete(1, x))",
            "discrete(1, x): expected one or more values",
        ),
    ];
    for (expression, reason) in cases {
        let expression = expression.replace("exponential(x - 1 s)", "exponential((x - 1) * 1 s)");
        let reason = reason.replace("exponential(x - 1 s)", "exponential((x - 1) * 1 s)");
        let delay = net(&format!(
            "put = [{{ place = 'b', delay = '{expression}' }}]"
        ));
        let [found, in_space] = failures(&delay);
        assert!(found.contains("net/t: "), "{found}");
        assert!(found.contains(&reason), "{expression}: {found}");
        assert!(in_space.contains("net/t: "), "{expression}: {in_space}");
        let service = expression.replace('x', "token").replace("etokenp", "exp");
        let reason = reason.replace('x', "token").replace("etokenp", "exp");
        let text = format!(
            "{}\n[stations.s]\ncolour = 'int'\nsink = true\nservice = '{service}'",
            net("put = [{ place = 's', token = 'x' }, 'b']")
        );
        let [found, in_space] = failures(&text);
        assert!(found.contains("net/s: "), "{found}");
        assert!(found.contains(&reason), "{service}: {found}");
        assert!(in_space.contains("net/s: "), "{service}: {in_space}");
    }
}

#[test]
fn a_class_that_is_none_ends_the_run() {
    for (class, reason) in [
        ("token - 1", "a class of -1: expected 0 or more"),
        ("5 // token", "zero"),
    ] {
        let text = format!(
            "{}\n[stations.s]\ncolour = 'int'\nsink = true\ndiscipline = 'priority'\n\
             service = '1 s'\nclass = '{class}'",
            net("put = [{ place = 's', token = 'x' }, 'b']")
        );
        for message in failures(&text) {
            assert!(
                message.contains("net/s: ") && message.contains(reason),
                "{message}"
            );
        }
    }
}

#[test]
fn negative_times_of_a_normal_distribution_count_as_zero() {
    let text = net("put = [{ place = 'b', delay = 'normal(0 s, 1 s) - 1 s' }]");
    assert_eq!(runs(&text, 10.0, 1)[0].nodes[1].inside, 2);
}

#[test]
fn numbers_of_first_tokens_and_settings_of_runs() {
    let initial = |value: &str| {
        let text = format!(
            "values.n = 3\n[places.a]\ninitial = {value}\n[places.b]\nsink = true\n\
             [transitions.t]\ntake = 'a'\nput = 'b'"
        );
        program(&text).map(|it| runs_of(&it))
    };
    assert_eq!(initial("2"), Ok(2));
    assert_eq!(initial("'2 * n'"), Ok(6));
    assert_eq!(initial("'()'"), Ok(1));
    let error = initial("-1").unwrap_err();
    assert!(error.starts_with("3:11: "), "{error}");
    assert!(error.contains("-1: expected a number of tokens of 0 or more"));
    assert!(initial("'n - 4'").unwrap_err().contains("0 or more"));
    assert!(
        initial("1.5")
            .unwrap_err()
            .contains("expected int, not real")
    );
}

fn runs_of(program: &headrace_model::Program) -> u64 {
    let settings = Settings {
        until: None,
        warmup: 0.0,
        seed: 1,
    };
    let result = run(program, &settings, &mut |_| ControlFlow::Continue(()));
    result.unwrap().firings
}

#[test]
fn the_warm_up_ends_before_the_run() {
    let text = "[run]\nuntil = '1 s'\nwarmup = '2 s'\n[places.a]\ninitial = 1\nsink = true";
    let value = headrace_model::parse(text, headrace_model::Language::Toml).unwrap();
    let document = headrace_model::read(&value).unwrap();
    let program = headrace_model::compile(&document, "net").unwrap();
    let faults = headrace_model::run_settings(&document, &program).unwrap_err();
    let place = headrace_model::position(text, headrace_model::Language::Toml, &faults.0[0]);
    assert_eq!(place, (3, 10));
    assert!(faults.to_string().contains("less than until, which is 1 s"));
}
