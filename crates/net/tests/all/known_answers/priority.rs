//! Two classes before one exponential server, λ₁ = λ₂ = 1/4, μ = 1.

use headrace_net::{Priority, Random, Span};

use super::estimate::check;
use super::source::{Customer, Queue, SECOND, size};

const RHO: f64 = 0.25;

fn two_classes(random: &mut Random<'_>) -> (u32, Span) {
    (random.below(2) as u32, random.exponential_span(SECOND))
}

fn class(customer: &Customer) -> u32 {
    customer.class
}

#[test]
fn a_service_once_started_is_finished() {
    // Cobham 1954: W₀ = Σ λ E[S²]/2, W₁ = W₀/(1 − ρ₁), W₂ = W₁/(1 − ρ₁ − ρ₂).
    let started = 2.0 * RHO;
    let urgent = started / (1.0 - RHO);
    let other = urgent / (1.0 - 2.0 * RHO);
    let exact = [
        ("urgent", 1.0 + urgent),
        ("other", 1.0 + other),
        ("utilisation", 0.5),
    ];
    check(exact, |seed| {
        let discipline = Priority::new(1, size, class);
        let open = Queue::new(0.5, two_classes, discipline, seed).run(2e5);
        let report = open.net.node_report(open.queue);
        [open.response(0), open.response(1), report.utilisation]
    });
}

#[test]
fn a_service_is_interrupted_and_resumed() {
    // White and Christie 1958: the urgent class sees no other; the second has
    // 1/(1 − ρ₁) + Σ λ E[S²]/2 / ((1 − ρ₁)(1 − ρ₁ − ρ₂)).
    let urgent = 1.0 / (1.0 - RHO);
    let other = urgent + 2.0 * RHO / ((1.0 - RHO) * (1.0 - 2.0 * RHO));
    let exact = [("urgent", urgent), ("other", other), ("utilisation", 0.5)];
    check(exact, |seed| {
        let discipline = Priority::preemptive(1, size, class);
        let open = Queue::new(0.5, two_classes, discipline, seed).run(2e5);
        let report = open.net.node_report(open.queue);
        [open.response(0), open.response(1), report.utilisation]
    });
}

#[test]
fn with_one_class_it_is_first_come_first_served() {
    // M/M/3: preemptive or not, all have the same priority.
    let exact = 1.0 + super::open::erlang_c(3, 2.0);
    check([("finished", exact), ("preemptive", exact)], |seed| {
        let law = super::source::exponential;
        let finished = Queue::new(2.0, law, Priority::new(3, size, class), seed).run(4e4);
        let preemptive = Queue::new(2.0, law, Priority::preemptive(3, size, class), seed).run(4e4);
        [finished.response(0), preemptive.response(0)]
    });
}
