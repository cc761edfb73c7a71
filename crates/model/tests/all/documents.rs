//! Documents: their errors with places, and their meaning when they run.

use crate::nets::{ask, program, runs, space};
use headrace_model::Failure;

const START: &str = "\
[colours]
Kind = ['data', 'ack']
Packet = { number = 'int', kind = 'Kind' }
[places.queue]
colour = 'Packet'
initial = ['Packet(1, data)']
[places.done]
colour = 'Packet'
sink = true
[transitions.go]
";

/// The error of the start of a net with more lines.
fn error(more: &str) -> String {
    program(&format!("{START}{more}")).map(|_| ()).unwrap_err()
}

#[test]
fn errors_have_line_column_and_expectation() {
    let cases = [
        ("take = 'queu'", "11:8", "did you mean \"queue\"?"),
        (
            "take = 'queue'\nput = [{ place = 'done', token = 'Packet(1)' }]",
            "12:34",
            "kind",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nwhen = 'p.number = 1'",
            "12:18",
            "expected an operator or the end",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nwhen = 'p.numbr == 1'",
            "12:8",
            "did you mean \"number\"?",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nwhen = 'p.number'",
            "12:8",
            "expected bool, not int",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nwhen = 'p.kind == 3'",
            "12:16",
            "do not go together",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nwhen = 'bernoulli(0.5)'",
            "12:8",
            "guards and patterns depend on tokens only",
        ),
        (
            "take = [{ place = 'queue', token = 'p' }]\nput = [{ place = 'done', token = 'q' }]",
            "12:34",
            "nothing here is called q",
        ),
        (
            "take = 'queue'\nput = 'done'",
            "12:7",
            "token is missing: a Packet",
        ),
        (
            "take = 'queue'\nputs = 'done'",
            "12:8",
            "did you mean \"put\"?",
        ),
        (
            "take = 'queue'\nlet = ['x = 1 / 0']\npriority = 1.5",
            "13:12",
            "whole number",
        ),
        (
            "take = 'queue'\nput = [{ place = 'done', token = 'Packet(1, ack)', copy = '0' }]",
            "12:8",
            "copy has no meaning",
        ),
        (
            "take = 'queue'\n[stations.s]\ndiscipline = 'lifo'",
            "13:14",
            "fcfs",
        ),
        ("take = 'queue'\n[stations.s]\n", "12:11", "needs service"),
        (
            "take = 'queue'\n[stations.s]\nservice = '1 furlong'",
            "13:14",
            "operator or the end",
        ),
        (
            "take = 'queue'\n[places.go]",
            "10:14",
            "two elements called go",
        ),
        (
            "take = 'queue'\n[pages.p]\n[pages.p.ports.out]\ndirection = 'out'",
            "13:16",
            "not connected",
        ),
        ("take = 'queue'\n[colours2]", "12:2", "colours2"),
        (
            "take = 'queue'\n[places.x]\ncolour = 'Pakcet'",
            "13:10",
            "did you mean \"Packet\"?",
        ),
        ("take = 'queue'\nput = [", "1", ":"),
    ];
    for (more, place, part) in cases {
        let found = error(more);
        let lines = found.lines();
        let fits = |line: &str| line.starts_with(place) && line.contains(part);
        assert!(
            lines.clone().any(fits),
            "{more}\n-> {found}\n   expected {place} {part}"
        );
    }
}

#[test]
fn the_kernels_own_checks_have_places_too() {
    let found = error("take = 'queue'");
    assert!(
        found.contains("7:9: places.done: nothing fills this place"),
        "{found}"
    );
    let found =
        program("[places.a]\ninitial = 1\n[places.b]\n[transitions.t]\ntake = 'a'\nput = 'b'");
    let found = found.map(|_| ()).unwrap_err();
    assert!(
        found.starts_with("3:9: places.b: nothing drains this place"),
        "{found}"
    );
}

#[test]
fn records_and_colours_are_limited() {
    let wide = "colours.R = { a = 'int', b = 'S' }\ncolours.S = { c = 'R' }";
    assert!(program(wide).unwrap_err().contains("contains itself"));
    let wide = format!(
        "colours.R = {{ {} }}",
        (0..9)
            .map(|it| format!("f{it} = 'int'"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    assert!(program(&wide).unwrap_err().contains("at most 8"));
}

#[test]
fn patterns_guards_and_alternatives() {
    // Packets of both kinds are sorted; numbers from 3 are dropped.
    let text = "
        [colours]
        Kind = ['data', 'ack']
        Packet = { number = 'int', kind = 'Kind' }
        [places.queue]
        colour = 'Packet'
        initial = [
          { token = 'Packet(i, data)', each = 'i', from = 1, to = 5 },
          { token = '(7, ack)', count = 2 },
        ]
        [places.acks]
        colour = 'int'
        sink = true
        [places.data]
        colour = 'Packet'
        sink = true
        [transitions.acknowledge]
        take = [{ place = 'queue', token = 'Packet(n, ack)' }]
        put = [{ place = 'acks', token = 'n * 2' }]
        [transitions.send]
        take = [{ place = 'queue', token = 'p' }]
        when = ['p.kind == Kind.data', 'p.number >= 0']
        put = [{ place = 'data', token = 'if p.number < 3 then p with (number = p.number + 10) else empty' }]";
    let result = &runs(text, 1.0, 1)[0];
    assert_eq!(result.stop, "time");
    let inside: Vec<u64> = result.nodes.iter().map(|node| node.inside).collect();
    assert_eq!(inside, [0, 2, 2]);
    let answer = space(
        text,
        Some("tokens(\"data\", Packet(12, data)) == 1 and acks == 0"),
    );
    assert_eq!(answer.states, 3 * 32);
    assert_eq!(answer.dead, 1);
    let path = answer.reached.unwrap();
    assert_eq!(path.firings, ["net/send (p = Packet(2, data))"]);
    assert_eq!(answer.deadlock.unwrap().firings.len(), 7);
}

#[test]
fn a_token_is_matched_over_several_inputs() {
    // Jobs meet their own tools, whatever the order in which these stand.
    let text = "
        [places.job]
        colour = 'int'
        initial = [1, 2, 3, 9]
        rest = true
        [places.tool]
        colour = 'int'
        initial = [3, 2, 2, 1]
        rest = true
        [places.permit]
        initial = 4
        rest = true
        [places.done]
        colour = 'int'
        sink = true
        [transitions.work]
        take = [{ place = 'permit' }, { place = 'job', token = 'n' }, { place = 'tool', token = 'n' }, 'permit']
        put = [{ place = 'done', token = 'n', delay = '1 s' }, { place = 'permit', count = 2 }]";
    let result = &runs(text, 10.0, 1)[0];
    assert_eq!(result.transitions[0].firings, 3);
    assert_eq!(
        result.nodes.iter().map(|it| it.inside).collect::<Vec<_>>(),
        [1, 1, 4, 3]
    );
    assert_eq!(space(text, None).states, 8);
}

#[test]
fn ports_lead_in_and_out_of_folded_pages() {
    let text = "
        probes = ['time']
        [colours]
        Request = { born = 'time', server = 'int' }
        [places.start]
        initial = 8
        [places.answered]
        colour = 'Request'
        sink = true
        [places.out]
        colour = 'Request'
        [transitions.ask]
        take = 'start'
        let = ['s = discrete(0, 3)']
        put = [{ place = 'server/rx', token = '(now(), s)', copy = 's', delay = '1 ms' }]
        [transitions.record]
        take = [{ place = 'out', token = 'r' }]
        put = [{ place = 'answered', token = 'r' }]
        record = [{ probe = 'time', value = 'now() - r.born' }]
        [pages.server]
        copies = 4
        connect = { tx = 'out' }
        [pages.server.ports]
        rx = { direction = 'in', place = 'waiting' }
        tx = { direction = 'out' }
        [pages.server.places.waiting]
        colour = 'Request'
        order = 'fifo'
        [pages.server.stations.cpu]
        colour = 'Request'
        service = '2 ms'
        servers = 8
        [pages.server.transitions.begin]
        take = [{ place = 'waiting', token = 'r' }]
        when = 'r.server == r.server'
        put = [{ place = 'cpu', token = 'r' }]
        [pages.server.transitions.end]
        take = [{ place = 'cpu', token = 'r' }]
        put = [{ place = 'tx', token = 'r' }]";
    let result = &runs(text, 1.0, 1)[0];
    let probe = &result.probes[0];
    assert_eq!(probe.count, 8);
    assert!((probe.mean - 0.003).abs() < 1e-12, "{}", probe.mean);
    // Without a choice of the copy it does not compile.
    let wrong = program(&text.replace(", copy = 's'", "")).unwrap_err();
    assert!(wrong.contains("copy is missing"), "{wrong}");
    let wrong = runs_into_nothing(&text.replace("discrete(0, 3)", "9"));
    assert!(wrong.contains("chose copy 9"), "{wrong}");
}

/// The message of a run that fails.
fn runs_into_nothing(text: &str) -> String {
    use std::ops::ControlFlow;
    let program = program(text).unwrap();
    let settings = headrace_model::Settings {
        until: Some(1.0),
        warmup: 0.0,
        seed: 1,
    };
    match headrace_model::run(&program, &settings, &mut |_| ControlFlow::Continue(())) {
        Err(Failure::Run(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_without_result_end_a_run() {
    let net = |put: &str| {
        format!(
            "[places.a]\ncolour = 'int'\ninitial = [0]\n[places.b]\ncolour = 'int'\nsink = true\n\
             [transitions.t]\ntake = [{{ place = 'a', token = 'x' }}]\n\
             put = [{{ place = 'b', token = '{put}' }}]"
        )
    };
    assert!(runs_into_nothing(&net("1 // x")).contains("net/t: division by zero"));
    let large = net("9223372036854775807 + x + 1");
    assert!(runs_into_nothing(&large).contains("does not fit into 64 bits"));
}

#[test]
fn a_state_space_with_time() {
    // Two jobs on one machine for 2 s and 3 s; a clock of 4 s.
    let text = "
        [places.jobs]
        colour = 'int'
        initial = [2, 3]
        [stations.machine]
        colour = 'int'
        service = 'token * 1 s'
        [places.done]
        sink = true
        [places.early]
        sink = true
        [places.wait]
        initial = 1
        [places.late]
        [transitions.load]
        take = [{ place = 'jobs', token = 'j' }]
        put = [{ place = 'machine', token = 'j' }]
        [transitions.unload]
        take = 'machine'
        put = 'done'
        [transitions.clock]
        take = 'wait'
        put = [{ place = 'late', delay = '4 s' }]
        [transitions.check]
        take = ['late', 'done']
        put = 'early'";
    let timed = ask(text, 1000, true, Some("done == 1 and late == 1")).unwrap();
    assert!(timed.complete);
    let ends: Vec<&str> = timed.transitions.iter().map(|it| &*it.path).collect();
    assert_eq!(ends, ["net/load", "net/unload", "net/clock", "net/check"]);
    // The first job is done after 2 s or 3 s, before the clock; the check comes at 4 s.
    let path = timed.deadlock.unwrap();
    assert_eq!(
        path.firings
            .iter()
            .filter(|it| *it == "time passes")
            .count(),
        3
    );
    let random = text.replace("token * 1 s", "exponential(1 s)");
    let refused = ask(&random, 1000, true, None);
    assert!(matches!(refused, Err(Failure::Run(it)) if it.contains("random service")));
    assert!(ask(&random, 1000, false, None).unwrap().complete);
}

#[test]
fn tokens_leave_a_queue_in_the_order_in_which_they_got_ready() {
    // The second job is done first; both are fetched later.
    let text = "
        [stations.machine]
        colour = 'int'
        servers = 2
        service = 'token * 1 s'
        initial = [5, 1, 3]
        [stations.wait]
        discipline = 'delay'
        service = '10 s'
        initial = 3
        [places.end]
        colour = 'int'
        order = 'fifo'
        sink = true
        [transitions.fetch]
        take = ['wait', { place = 'machine', token = 'j' }]
        put = [{ place = 'end', token = 'j' }]
        set = ['log.order[log.next] = j', 'log.next = log.next + 1']
        [stores.log]
        next = 0
        order = [0, 0, 0]";
    let answer = ask(text, 1000, true, None).unwrap();
    assert_eq!(answer.deadlock.unwrap().marking[0].1, ["1", "3", "5"]);
    let result = &runs(text, 20.0, 1)[0];
    assert_eq!(result.stores[0].fields["order"], "[1, 3, 5]");
}

#[test]
fn the_least_priority_is_one() {
    let text = "
        [places.a]
        initial = 1
        [places.b]
        sink = true
        [transitions.last]
        take = 'a'
        put = 'b'
        priority = -2147483648
        [transitions.first]
        take = 'a'
        put = 'b'";
    assert_eq!(runs(text, 1.0, 1)[0].transitions[0].firings, 1);
    assert_eq!(space(text, None).arcs, 1);
}

#[test]
fn an_unbounded_net_is_explored_until_the_marking_is_found() {
    let text = "
        [places.a]
        initial = 1
        [places.b]
        sink = true
        [transitions.t]
        take = 'a'
        put = ['a', 'b']";
    let answer = ask(text, 100, false, Some("b > 50")).unwrap();
    // The first marking, and one for each firing.
    assert_eq!((answer.states, answer.complete), (52, false));
    assert_eq!(answer.reached.unwrap().firings.len(), 51);
    assert_eq!(answer.home_markings, None);
    assert_eq!(answer.unbounded.unwrap().places, ["net/b"]);
    let answer = ask(text, 100, false, Some("b > 200")).unwrap();
    assert_eq!((answer.states, answer.complete), (100, false));
}
