//! Open queues served in order of arrival, by infinitely many servers, and in
//! a row.

use headrace_net::{Builder, Delay, Exponential, Fcfs, Infinite, Limits, Random, Span};

use super::estimate::check;
use super::source::{Customer, Queue, SECOND, exponential, size};

#[test]
fn one_exponential_server() {
    // M/M/1, ρ = 1/2: response 1/(μ − λ), number ρ/(1 − ρ), queue ρ²/(1 − ρ).
    let exact = [
        ("response", 2.0),
        ("residence", 2.0),
        ("utilisation", 0.5),
        ("number", 1.0),
        ("queue", 0.5),
        ("service", 1.0),
    ];
    check(exact, |seed| {
        let open = Queue::new(0.5, exponential, Fcfs::new(1, size), seed).run(2e5);
        let report = open.net.node_report(open.queue);
        [
            open.response(0),
            report.residence.expect("visits"),
            report.utilisation,
            report.mean_inside,
            report.mean_queue,
            report.service.expect("visits"),
        ]
    });
}

#[test]
fn one_deterministic_server() {
    // M/D/1 (Pollaczek and Khinchine): 1 + ρ/(2(1 − ρ)).
    check([("response", 1.5)], |seed| {
        let open = Queue::new(0.5, |_| (0, SECOND), Fcfs::new(1, size), seed).run(6e4);
        [open.response(0)]
    });
}

#[test]
fn one_server_with_two_sizes() {
    // M/G/1 (Pollaczek and Khinchine): 1 + λ E[S²]/(2(1 − ρ)), E[S²] = 1.75.
    check([("response", 1.875)], |seed| {
        let open = Queue::new(0.5, two_sizes, Fcfs::new(1, size), seed).run(2e5);
        [(open.response(0) * 3.0 + open.response(1)) / 4.0]
    });
}

/// Half a second three times in four, else two and a half: mean 1, mean square 1.75.
pub fn two_sizes(random: &mut Random<'_>) -> (u32, Span) {
    match random.below(4) {
        0 => (1, Span::from_millis(2500)),
        _ => (0, Span::from_millis(500)),
    }
}

/// The chance to wait with `servers` servers under an offered load of `load`
/// (Erlang 1917).
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 0.0;
    for busy in 0..servers {
        sum += term;
        term *= load / f64::from(busy + 1);
    }
    let all_busy = term / (1.0 - load / f64::from(servers));
    all_busy / (sum + all_busy)
}

#[test]
fn three_exponential_servers() {
    // M/M/3, λ = 2, μ = 1.
    let wait = erlang_c(3, 2.0);
    assert!((wait - 4.0 / 9.0).abs() < 1e-12);
    let exact = [("response", 1.0 + wait), ("utilisation", 2.0 / 3.0)];
    check(exact, |seed| {
        let open = Queue::new(2.0, exponential, Fcfs::new(3, size), seed).run(4e4);
        let report = open.net.node_report(open.queue);
        [open.response(0), report.utilisation]
    });
}

#[test]
fn infinitely_many_servers() {
    // M/G/∞: no token waits, and λ E[S] are inside, for any law.
    fn uniform(random: &mut Random<'_>) -> (u32, Span) {
        (0, Span::from_seconds(2.0 * random.uniform()))
    }
    check([("response", 1.0), ("number", 8.0)], |seed| {
        let open = Queue::new(8.0, uniform, Infinite(size), seed).run(5e3);
        let report = open.net.node_report(open.queue);
        [open.response(0), report.mean_inside]
    });
}

#[test]
fn a_delay_is_an_infinite_server() {
    let arrivals = |seed: u64| {
        let delay = Queue::new(8.0, |_| (0, SECOND), Delay::new(SECOND), seed).run(1e3);
        let server = Queue::new(8.0, |_| (0, SECOND), Infinite(size), seed).run(1e3);
        let (delay, server) = (
            delay.net.node_report(delay.queue),
            server.net.node_report(server.queue),
        );
        assert_eq!(delay.mean_inside, server.mean_inside);
        assert_eq!(delay.arrivals, server.arrivals);
        assert_eq!(delay.service, server.service);
        [delay.mean_inside]
    };
    check([("number", 8.0)], arrivals);
}

#[test]
fn a_tandem_of_two() {
    // Jackson 1957: each station as if alone, 1/(μ − λ).
    let exact = [("first", 2.0), ("second", 1.0 / 0.75)];
    check(exact, |seed| {
        let mut builder = Builder::new("tandem", seed);
        let mut page = builder.root();
        let source = page.station::<(), _>("source", Fcfs::new(1, Exponential(SECOND * 2)));
        let first = page.station::<Customer, _>("first", Fcfs::new(1, Exponential(SECOND)));
        let second = page.station("second", Fcfs::new(1, Exponential(SECOND_OF_LESS)));
        page.transition("arrive")
            .take(source)
            .puts(source)
            .puts(first)
            .fires(move |firing, (), ()| {
                firing.put(source, ());
                let born = firing.now();
                let customer = Customer {
                    born,
                    class: 0,
                    size: Span::ZERO,
                };
                firing.put(first, customer);
            });
        page.connect(first, second);
        page.transition("leave").take(second).fires(|_, _, ()| ());
        page.tokens(source, |_| [()]);
        let mut net = builder.compile().expect("a tandem is a valid net");
        let mut until = |seconds| net.run(&Limits::until_seconds(seconds)).is_ok();
        assert!(until(2e5));
        let stays = [net.node_report(first), net.node_report(second)];
        stays.map(|report| report.residence.expect("visits"))
    });
}

/// μ = 5/4.
const SECOND_OF_LESS: Span = Span::from_millis(800);
