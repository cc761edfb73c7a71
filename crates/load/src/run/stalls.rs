//! Checks the reported figures of a system that stalls occasionally.

use super::tests::carried;
use super::*;
use crate::calls::{STALL, Stalls};
use crate::record::{Cell, Done};

const OPERATIONS: usize = 4000;

/// One process, asked 2,000 times a second, with calls of which 0.5 % stall.
fn stalled() -> Outcome {
    let text = format!(
        r#"
        clients = {{ count = 1 }}
        [[workload]]
        kind = "operation-mix"
        weights = {{ stat = 1 }}
        amount = {OPERATIONS}
        rate = 2000
        files = 1
        "#
    );
    let options = Options {
        calls: Backend::Stalling,
        each: true,
        ..Options::default()
    };
    carried(&text, options)
}

/// The least time that 99 of 100 do not exceed.
fn p99(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[(times.len() * 99).div_ceil(100) - 1]
}

fn only_cell(outcome: &Outcome) -> &Cell {
    let mut cells = outcome.record.cells.iter().flatten();
    cells.next().expect("an operation")
}

/// Lower bound of the response times, if only stalls took time: the recursion of Lindley (1952), of
/// the arrivals of this run. Nothing real is faster.
fn least_responses(done: &[Done]) -> Vec<u64> {
    let mut free = 0;
    let of_one = |(one, stalls): (&Done, bool)| {
        let service = if stalls { nanoseconds(STALL) } else { 0 };
        free = free.max(one.intended) + service;
        free - one.intended
    };
    done.iter().zip(Stalls::default()).map(of_one).collect()
}

#[test]
fn who_waits_for_a_stall_is_in_the_response_times_and_not_in_the_service_times() {
    let outcome = stalled();
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let done = outcome.record.each.as_deref().expect("each is kept");
    assert_eq!(done.len(), OPERATIONS);
    let stalls = Stalls::default().take(OPERATIONS).filter(|it| *it).count();
    assert!(
        (10..40).contains(&stalls),
        "{stalls}: fewer than one in 100"
    );

    // No request begins before its time or before its predecessor ends, and a stalled one takes as
    // long.
    let mut free = 0;
    for (one, stalls) in done.iter().zip(Stalls::default()) {
        assert!(one.started >= one.intended.max(free), "{one:?}");
        assert!(!stalls || one.ended - one.started >= nanoseconds(STALL));
        free = one.ended;
    }

    // The report matches the actual values to three digits.
    let cell = only_cell(&outcome);
    let told = |of: &crate::Times, times: Vec<u64>| {
        let told = of.quantile(0.99).expect("there are some") as f64;
        let exact = p99(times) as f64;
        assert!((told / exact - 1.0).abs() < 0.01, "{told} {exact}");
        told
    };
    let service = done.iter().map(|it| it.ended - it.started).collect();
    let response = done.iter().map(|it| it.ended - it.intended).collect();
    let service = told(&cell.service, service);
    let response = told(&cell.response, response);
    // Each stall delays the 40 requests that arrive during it. A fifth of all wait, one in twenty
    // of these for nearly all of it.
    let least = p99(least_responses(done)) as f64;
    assert!(least > 0.9 * STALL.as_nanos() as f64, "{least}");
    assert!(response >= 0.999 * least && response >= service);
}

/// Requests of `text` that are due before the run ends, and those that the outcome reports. `text`
/// begins with its clients and has no warm-up.
fn due_and_told(text: &str) -> (u64, u64, Outcome) {
    let options = Options {
        calls: Backend::Stalling,
        each: true,
        ..Options::default()
    };
    let outcome = carried(text, options);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.reason, "time");
    let load = Load::of(&super::tests::scenario(text), &outcome).expect("it can be told");
    let stop = super::tests::scenario(text).run.stop.time.expect("one").0;
    let due = (load.expect("a load").offered_per_second * stop).round() as u64;
    let done: u64 = outcome
        .record
        .cells
        .iter()
        .flatten()
        .map(|it| it.count)
        .sum();
    let left: u64 = outcome.record.unfinished.values().map(|it| it.count).sum();
    (due, done + left, outcome)
}

#[test]
fn every_request_that_was_due_is_done_or_counted_as_unfinished() {
    // Far more than one process does in which every 200th call takes 20 ms.
    let (due, told, outcome) = due_and_told(
        r#"
        clients = { count = 1 }
        run = { stop = { time = "0.3 s" } }
        [[workload]]
        kind = "operation-mix"
        weights = { stat = 2, access = 1 }
        amount = "forever"
        rate = 50000
        files = 1
        "#,
    );
    assert_eq!(due, told);
    let stat = &outcome.record.unfinished[&operation::number("stat").expect("one")];
    assert!(stat.count > 0);
    // They are among the latencies from the intended start, as late as they were at the end.
    let number = operation::number("stat").expect("one");
    let response = outcome.record.response(number).expect("some");
    let cell = outcome.record.cells[number]
        .as_ref()
        .expect("some are done");
    assert_eq!(response.count(), cell.count + stat.count);
    let longest = response.exact.map_or(0, |it| it.most);
    assert!(longest >= stat.longest && stat.longest <= 300_000_000);
}

#[test]
fn requests_of_processes_that_wait_for_each_other_are_counted_as_unfinished() {
    for sharing in ["client", "clients"] {
        let (due, told, _) = due_and_told(&format!(
            r#"
            clients = {{ count = 3, processes = 2 }}
            run = {{ stop = {{ time = "0.2 s" }} }}
            [[workload]]
            kind = "operation-mix"
            weights = {{ shared-read = 1, stat = 3 }}
            amount = "forever"
            rate = 60000
            files = 2
            file_sizes = {{ "1 MiB" = 1 }}
            sharing = "{sharing}"
            "#
        ));
        assert_eq!(due, told, "{sharing}");
    }
}

#[test]
fn a_load_that_is_kept_up_with_leaves_nothing_unfinished() {
    let outcome = stalled();
    assert!(outcome.record.unfinished.is_empty());
}
