//! Processor sharing: the mean response depends on the law only through its
//! mean, and for work x it is x/(1 − ρ) (Kleinrock 1967).

use headrace_net::{Random, Sharing, Span};

use super::estimate::check;
use super::open::{erlang_c, two_sizes};
use super::source::{Law, Queue, SECOND, exponential, size};

fn insensitive(law: Law) {
    let exact = [("response", 2.0), ("utilisation", 0.5)];
    check(exact, |seed| {
        let open = Queue::new(0.5, law, Sharing::new(1, size), seed).run(2e5);
        let report = open.net.node_report(open.queue);
        [open.response(0), report.utilisation]
    });
}

#[test]
fn deterministic_work() {
    insensitive(|_| (0, SECOND));
}

#[test]
fn exponential_work() {
    insensitive(exponential);
}

#[test]
fn uniform_work() {
    insensitive(|random: &mut Random<'_>| (0, Span::from_seconds(2.0 * random.uniform())));
}

#[test]
fn hyperexponential_work() {
    // Mean 1, squared coefficient of variation 5.
    insensitive(|random: &mut Random<'_>| {
        let mean = match random.below(5) {
            0 => Span::from_millis(3000),
            _ => Span::from_millis(500),
        };
        (0, random.exponential_span(mean))
    });
}

#[test]
fn response_is_proportional_to_work() {
    check([("small", 1.0), ("large", 5.0)], |seed| {
        let open = Queue::new(0.5, two_sizes, Sharing::new(1, size), seed).run(2e5);
        [open.response(0), open.response(1)]
    });
}

#[test]
fn three_processors() {
    // With exponential work the number inside is that of M/M/3.
    let exact = [
        ("response", 1.0 + erlang_c(3, 2.0)),
        ("utilisation", 2.0 / 3.0),
    ];
    check(exact, |seed| {
        let open = Queue::new(2.0, exponential, Sharing::new(3, size), seed).run(4e4);
        let report = open.net.node_report(open.queue);
        [open.response(0), report.utilisation]
    });
}
