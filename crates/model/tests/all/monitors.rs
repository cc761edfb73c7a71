//! Monitors and plays against closed forms, traces and runs.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::nets::{net, program};
use headrace_model::{
    Extras, MonitorReport, OwnMonitor, Play, RunResult, Settings, Verdict, run, run_with,
};

const MONITORS: &str = r#"
[monitors.left]
kind = "counter"
transition = "leave"

[monitors."left in a crowd"]
kind = "counter"
transition = "leave"
when = "desk >= 2"

[monitors.inside]
kind = "marking"
value = "desk"

[monitors."time of leaving"]
kind = "observation"
transition = "leave"
value = "now()"

[monitors.trace]
kind = "collector"
transition = "leave"
columns = { at = "now()", inside = "desk", crowd = "max(desk, 2) > 2" }
limit = 50
"#;

fn settings(until: f64, warmup: f64, seed: u64) -> Settings {
    Settings {
        until: Some(until),
        warmup,
        seed,
    }
}

fn ran(text: &str, settings: &Settings) -> RunResult {
    let program = program(text).unwrap();
    run(&program, settings, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn monitor<'a>(result: &'a RunResult, name: &str) -> &'a MonitorReport {
    result.monitors.iter().find(|it| it.name == name).unwrap()
}

#[test]
fn monitors_agree_with_the_statistics_of_the_kernel() {
    let text = net("queue", &[]);
    let plain = ran(&text, &settings(5000.0, 500.0, 3));
    let result = ran(&format!("{text}{MONITORS}"), &settings(5000.0, 500.0, 3));
    // Monitors change nothing.
    assert_eq!(result.nodes, plain.nodes);
    assert_eq!(result.firings, plain.firings);
    let left = monitor(&result, "left");
    assert_eq!(left.count, plain.transitions[1].firings);
    assert_eq!(left.rate, Some(left.count as f64 / 4500.0));
    let inside = monitor(&result, "inside");
    assert!((inside.mean.unwrap() - plain.nodes[2].mean_inside).abs() < 1e-9);
    assert_eq!(inside.least, Some(0.0));
    assert_eq!(inside.last, Some(plain.nodes[2].inside as f64));
    // The means over the intervals have the same mean as all of the run.
    let interval = result.interval.unwrap();
    assert_eq!((inside.means.len() as f64 * interval).round(), 5000.0);
    let rates = left.means.iter().map(|it| it.unwrap() * interval);
    let before = ran(&text, &settings(500.0, 0.0, 3));
    let all = left.count + before.transitions[1].firings;
    assert_eq!(rates.sum::<f64>().round() as u64, all);
    let crowd = monitor(&result, "left in a crowd");
    assert!(crowd.count > 0 && crowd.count < left.count);
}

#[test]
fn one_server_has_the_number_of_the_formula() {
    // M/M/1 with load 1/2: the mean number is ρ / (1 − ρ) = 1, its variance ρ / (1 − ρ)² = 2.
    let text = format!("{}{MONITORS}", net("queue", &[]));
    let results = (1..=10).map(|seed| ran(&text, &settings(20_000.0, 100.0, seed)));
    let (means, deviations): (Vec<f64>, Vec<f64>) = results
        .map(|result| {
            let inside = monitor(&result, "inside");
            (inside.mean.unwrap(), inside.deviation.unwrap())
        })
        .unzip();
    let mean = means.iter().sum::<f64>() / 10.0;
    let squares: f64 = means.iter().map(|it| (it - mean).powi(2)).sum();
    let error = (squares / 9.0 / 10.0).sqrt();
    assert!((mean - 1.0).abs() < 3.0 * error, "{mean} ± {error}");
    assert!(error < 0.03);
    let deviation = deviations.iter().sum::<f64>() / 10.0;
    assert!((deviation - 2.0_f64.sqrt()).abs() < 0.1, "{deviation}");
}

#[test]
fn collected_rows_are_the_firings_of_a_play() {
    let text = format!("{}{MONITORS}", net("queue", &[]));
    let result = ran(&text, &settings(1000.0, 0.0, 5));
    let trace = monitor(&result, "trace");
    assert_eq!(trace.count, 50);
    assert_eq!(trace.count + trace.left_out, monitor(&result, "left").count);
    let names: Vec<&str> = trace.columns.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["time_s", "at", "inside", "crowd"]);
    let mut play = Play::new(Arc::new(program(&text).unwrap()), 5).unwrap();
    let mut row = 0;
    while row < 50 {
        let fired = play.step(None).unwrap().unwrap();
        if fired.transition != "queue/leave" {
            continue;
        }
        let value = |column: usize| &trace.columns[column].values[row];
        assert_eq!(value(0).as_f64(), Some(fired.time));
        assert_eq!(value(1), value(0));
        let inside = play.marking();
        let inside = inside.iter().filter(|it| it.place == "queue/desk");
        let inside: u64 = inside.map(|it| it.count).sum();
        assert_eq!(value(2).as_u64(), Some(inside));
        assert_eq!(value(3).as_bool(), Some(inside > 2));
        row += 1;
    }
}

#[test]
fn a_breakpoint_stops_exactly() {
    let text = net("queue", &[]);
    let crowd = format!("{text}\n[monitors.crowd]\nkind = \"breakpoint\"\nwhen = \"desk == 4\"\n");
    let result = ran(&crowd, &settings(10_000.0, 0.0, 1));
    assert_eq!(result.stop, "breakpoint");
    assert_eq!(result.stopped_by.as_deref(), Some("crowd"));
    assert_eq!(result.nodes[2].inside, 4);
    // One firing before, there were three.
    let mut play = Play::new(Arc::new(program(&text).unwrap()), 1).unwrap();
    let mut continues = |_: f64| ControlFlow::Continue(());
    assert_eq!(
        play.run(None, Some("desk == 4"), &mut continues).unwrap(),
        "condition"
    );
    assert_eq!(play.time(), result.time);
    assert_eq!(play.figures().firings, result.firings);
    let third = format!(
        "{text}\n[monitors.third]\nkind = \"breakpoint\"\ntransition = \"leave\"\ncount = 3\n"
    );
    let result = ran(&third, &settings(10_000.0, 0.0, 1));
    assert_eq!(
        (result.transitions[1].firings, result.stop),
        (3, "breakpoint")
    );
    // It counts again from the first marking.
    let mut play = Play::new(Arc::new(program(&third).unwrap()), 1).unwrap();
    assert_eq!(play.run(None, None, &mut continues).unwrap(), "breakpoint");
    assert_eq!(play.time(), result.time);
    play.reset().unwrap();
    assert_eq!(play.time(), 0.0);
    assert_eq!(
        play.run(Some(1e6), None, &mut continues).unwrap(),
        "breakpoint"
    );
    assert_eq!(play.time(), result.time);
}

#[test]
fn a_play_fires_as_a_run_does() {
    for name in ["queue", "common", "simple-protocol", "machine-repair"] {
        let program = Arc::new(program(&net(name, &[])).unwrap());
        let mut play = Play::new(Arc::clone(&program), 9).unwrap();
        let mut time = 0.0;
        for _ in 0..500 {
            match play.step(None).unwrap() {
                Ok(fired) => time = fired.time,
                Err(stop) => {
                    assert_eq!(stop, "quiet");
                    break;
                }
            }
        }
        // Partly in steps, partly at once.
        let end = 1.5 * time;
        let continues = &mut |_: f64| ControlFlow::Continue(());
        play.run(Some(end), None, continues).unwrap();
        let played = play.figures();
        let ran = run(&program, &settings(end, 0.0, 9), continues).unwrap();
        assert_eq!(played.nodes, ran.nodes, "{name}");
        assert_eq!((played.firings, played.events), (ran.firings, ran.events));
    }
}

#[test]
fn philosophers_are_played_by_hand() {
    let program = Arc::new(program(&net("philosophers", &[])).unwrap());
    let mut play = Play::new(program, 1).unwrap();
    let enabled = play.enabled().unwrap();
    assert_eq!(enabled.len(), 1);
    assert_eq!(enabled[0].bindings.len(), 5);
    assert!(play.fire("right", 0, 0).is_err());
    // The third philosopher takes a left fork, then the right one.
    let fired = play.fire("left", 0, 2).unwrap();
    assert_eq!(fired.binding["p"], 2);
    assert_eq!(fired.taken.len(), 2);
    assert_eq!(fired.put[0].text, "2");
    let enabled = play.enabled().unwrap();
    assert_eq!(
        enabled.iter().map(|it| it.bindings.len()).sum::<usize>(),
        4 + 1
    );
    let fired = play.fire("right", 0, 0).unwrap();
    assert_eq!(fired.put[0].place, "philosophers/eating");
    let eating = play.marking();
    let eating: Vec<&str> = eating
        .iter()
        .filter(|it| it.place == "philosophers/eating")
        .map(|it| &*it.text)
        .collect();
    assert_eq!(eating, ["2"]);
    // All take their left forks: nothing can happen.
    play.reset().unwrap();
    for _ in 0..5 {
        play.fire("left", 0, 0).unwrap();
    }
    assert!(play.enabled().unwrap().is_empty());
    assert_eq!(play.step(None).unwrap(), Err("deadlock"));
}

#[test]
fn tokens_on_their_way_are_part_of_the_marking() {
    let mut play = Play::new(Arc::new(program(&net("simple-protocol", &[])).unwrap()), 1).unwrap();
    let fired = play.step(None).unwrap().unwrap();
    assert_eq!(fired.transition, "simple protocol/send_packet");
    let arrives = fired.put[2].arrives.unwrap();
    let marking = play.marking();
    let coming: Vec<f64> = marking.iter().filter_map(|it| it.arrives).collect();
    assert_eq!(coming, [arrives]);
    assert!(!play.enabled().unwrap().is_empty());
}

#[test]
fn monitors_of_the_callers_own() {
    let program = program(&net("common", &[])).unwrap();
    let mut seen = 0_u64;
    let mut last = 0.0;
    let own = OwnMonitor {
        name: "mine".to_owned(),
        transition: None,
        look: Box::new(|occurrence| {
            seen += 1;
            assert!(occurrence.time() >= last);
            last = occurrence.time();
            assert_eq!(occurrence.tokens().iter().sum::<u64>(), 64);
            match seen {
                100 => Verdict::Stop,
                _ => Verdict::Figure(occurrence.binding().len() as f64),
            }
        }),
    };
    let extras = Extras {
        own: vec![own],
        playback: Some(10),
    };
    let settings = settings(1.0, 0.0, 1);
    let watch = &mut |_| ControlFlow::Continue(());
    let (result, playback) = run_with(&program, &settings, extras, watch).unwrap();
    assert_eq!((result.stop, result.firings), ("breakpoint", 100));
    assert_eq!(result.monitors[0].count, 99);
    assert!(playback.unwrap().frames.len() >= 10);
}

#[test]
fn a_loop_without_time_is_named_with_monitors_too() {
    let text = net("token-ring", &[]).replace(", delay = \"1 ms\"", "");
    let text = format!("{text}\n[monitors.sends]\nkind = \"marking\"\nvalue = \"sends\"\n");
    let program = program(&text).unwrap();
    let settings = settings(1.0, 0.0, 1);
    let failed = run(&program, &settings, &mut |_| ControlFlow::Continue(()));
    let message = format!("{failed:?}");
    assert!(message.contains("endless loop at 0 s"), "{message}");
    assert!(message.contains("token ring/ask"), "{message}");
}

#[test]
fn faults_are_reported_at_their_places() {
    let text = net("queue", &[]);
    let refused = |monitor: &str| program(&format!("{text}\n[monitors.m]\n{monitor}")).unwrap_err();
    for (monitor, parts) in [
        ("", &["kind is missing"][..]),
        (
            "kind = \"countr\"",
            &["countr", "did you mean \"counter\"?"],
        ),
        ("kind = \"counter\"", &["a counter needs transition"]),
        (
            "kind = \"counter\"\ntransition = \"leaf\"",
            &["leaf", "did you mean \"leave\"?"],
        ),
        (
            "kind = \"marking\"\nvalue = \"desc\"",
            &["nothing here is called desc"],
        ),
        (
            "kind = \"marking\"\nvalue = \"desk\"\nlimit = 3",
            &["a marking has no limit"],
        ),
        (
            "kind = \"breakpoint\"",
            &["needs transition, when, or both"],
        ),
        (
            "kind = \"breakpoint\"\nwhen = \"desk\"",
            &["expected bool, not int"],
        ),
        (
            "kind = \"observation\"\ntransition = \"leave\"\nvalue = \"below(3)\"",
            &["below is not allowed here: a monitor changes nothing"],
        ),
        (
            "kind = \"marking\"\nvalue = \"tokens(\\\"no\\\")\"",
            &["no place or station"],
        ),
    ] {
        let message = refused(monitor);
        for part in parts {
            assert!(message.contains(part), "{monitor}: {message}");
        }
    }
    let failing = format!("{text}\n[monitors.m]\nkind = \"marking\"\nvalue = \"1 // desk\"\n");
    let program = program(&failing).unwrap();
    let failed = run(&program, &settings(10.0, 0.0, 1), &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(format!("{failed:?}").contains("monitors.m: division by zero"));
}

/// A token is served every second, 100 times.
const TICKS: &str = r#"
[stations.s]
service = "1 s"
initial = 1
[places.a]
sink = true
[transitions.t]
take = "s"
put = ["s", "a"]
"#;

#[test]
fn monitors_that_use_the_time_are_asked_in_each_step() {
    let text = format!(
        "{TICKS}\n[monitors.late]\nkind = \"marking\"\nvalue = \"if now() >= 50 s then 1 else 0\"\n"
    );
    let program_of_text = program(&text).unwrap();
    let ended = run(&program_of_text, &settings(100.0, 0.0, 1), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let mean = ended.monitors[0].mean.unwrap();
    assert!((mean - 0.5).abs() < 1e-9, "{mean}");
    let text = format!("{TICKS}\n[monitors.b]\nkind = \"breakpoint\"\nwhen = \"now() > 3 s\"\n");
    let ended = run(
        &program(&text).unwrap(),
        &settings(100.0, 0.0, 1),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!((ended.stop, ended.time), ("breakpoint", 4.0));
}

#[test]
fn columns_of_rows_have_names_of_their_own() {
    for name in ["time_s", "run"] {
        let text = format!(
            "{TICKS}\n[monitors.c]\nkind = \"collector\"\ntransition = \"t\"\ncolumns = {{ {name} = \"1\" }}\n"
        );
        let refused = program(&text).unwrap_err();
        assert!(refused.contains("rename this one"), "{refused}");
    }
}

#[test]
fn a_monitor_without_value_is_shown_as_it_was_written() {
    let text = format!("{TICKS}\n[monitors.b]\nkind = \"marking\"\nvalue = \"1 / (a - 3) + a\"\n");
    let failed = run(
        &program(&text).unwrap(),
        &settings(100.0, 0.0, 1),
        &mut |_| ControlFlow::Continue(()),
    );
    let message = format!("{failed:?}");
    assert!(
        message.contains("monitors.b: 1 / (a - 3): division by zero"),
        "{message}"
    );
}
