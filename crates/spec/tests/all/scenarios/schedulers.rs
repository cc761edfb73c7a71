//! Arbitrary schedulers.

use std::path::PathBuf;

use headrace_spec::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::{choice, count, rate, seconds, size};

pub fn scheduler(groups: Vec<String>) -> BoxedStrategy<Scheduler> {
    (choice(Position::ALL), prop::option::of(seconds()))
        .prop_flat_map(move |(position, message_latency)| {
            // A client is of one group: there is nothing to weigh.
            let weighs = position != Position::Client;
            kind(groups.clone(), weighs).prop_map(move |kind| {
                let sends = matches!(
                    kind,
                    SchedulerKind::Dsfq(_) | SchedulerKind::PythonScheduler(_)
                );
                Scheduler {
                    kind,
                    position,
                    message_latency: message_latency.filter(|_| sends),
                    view_period: None,
                    view_delay: Seconds(0.0),
                }
            })
        })
        .boxed()
}

fn kind(groups: Vec<String>, weighs: bool) -> BoxedStrategy<SchedulerKind> {
    let weights = || {
        let weight = prop_oneof![
            0.1..10.0_f64,
            prop::num::f64::POSITIVE | prop::num::f64::NORMAL
        ];
        let most = if weighs { 3 } else { 1 };
        let weights = prop::collection::btree_map(select(groups.clone()), weight, 0..most);
        weights.prop_map(|weights| Weights(weights.into_iter().collect()))
    };
    let threads = (count(), count(), choice(Ordered::ALL));
    prop_oneof![
        Just(SchedulerKind::NoScheduler(NoScheduler {})),
        prop::option::of(count()).prop_map(|depth| SchedulerKind::Fifo(Fifo { depth })),
        (count(), choice(Class::ALL), count()).prop_map(|(depth, by, quantum)| {
            SchedulerKind::RoundRobin(RoundRobin { depth, by, quantum })
        }),
        (count(), weights())
            .prop_map(|(depth, weights)| SchedulerKind::Sfq(Sfq { depth, weights })),
        (size(), weights())
            .prop_map(|(depth, weights)| SchedulerKind::SfqPlus(SfqPlus { depth, weights })),
        (count(), weights(), seconds()).prop_map(|(depth, weights, message_interval)| {
            SchedulerKind::Dsfq(Dsfq {
                depth,
                weights,
                message_interval,
            })
        }),
        (count(), seconds(), each(&groups, seconds())).prop_map(|(depth, deadline, deadlines)| {
            SchedulerKind::Edf(Edf {
                depth,
                deadline,
                deadlines,
            })
        }),
        two_level(&groups),
        (count(), each(&groups, rate()), weights()).prop_map(|(depth, limits, weights)| {
            SchedulerKind::Mclock(Mclock {
                depth,
                reservations: limits.clone(),
                limits,
                weights,
            })
        }),
        (count(), count())
            .prop_map(|(depth, quantum)| SchedulerKind::Crrn(Crrn { depth, quantum })),
        threads.clone().prop_map(|(depth, quantum, ordered)| {
            SchedulerKind::Orr(Orr {
                depth,
                quantum,
                ordered,
            })
        }),
        threads.prop_map(|(depth, quantum, ordered)| {
            SchedulerKind::Trr(Trr {
                depth,
                quantum,
                ordered,
            })
        }),
        tbf(&groups),
        python(),
    ]
    .boxed()
}

fn each<S: Strategy + 'static>(groups: &[String], value: S) -> BoxedStrategy<PerGroup<S::Value>> {
    prop::collection::btree_map(select(groups.to_vec()), value, 0..3)
        .prop_map(|values| PerGroup(values.into_iter().collect()))
        .boxed()
}

fn two_level(groups: &[String]) -> BoxedStrategy<SchedulerKind> {
    let rates = (rate(), each(groups, rate()));
    let deadlines = (seconds(), each(groups, seconds()));
    (count(), rates, deadlines, 0.1..9.0_f64)
        .prop_map(|(depth, (rate, rates), (deadline, deadlines), period)| {
            SchedulerKind::TwoLevel(TwoLevel {
                depth,
                rate,
                rates,
                deadline,
                deadlines,
                period: Seconds(period),
            })
        })
        .boxed()
}

fn tbf(groups: &[String]) -> BoxedStrategy<SchedulerKind> {
    let rates = (0.1..1e6_f64, each(groups, 0.1..1e6_f64));
    let bucket = count();
    (prop::option::of(count()), choice(Class::ALL), rates, bucket)
        .prop_map(|(depth, by, (rate, rates), bucket)| {
            SchedulerKind::Tbf(Tbf {
                depth,
                by,
                rates,
                rate,
                bucket,
            })
        })
        .boxed()
}

fn python() -> BoxedStrategy<SchedulerKind> {
    let value = prop_oneof![
        any::<bool>().prop_map(ClassOption::Boolean),
        any::<i64>().prop_map(ClassOption::Integer),
        (-1e9..1e9_f64).prop_map(ClassOption::Number),
        ".{0,9}".prop_map(ClassOption::Text),
    ];
    let value = value.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(ClassOption::List),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3)
                .prop_map(|table| ClassOption::Table(table.into_iter().collect())),
        ]
    });
    let options = prop::collection::btree_map("[a-z_]{1,9}", value, 0..4);
    (
        "[a-z_]{1,9}(\\.[a-z]{1,4})?|[a-z/. -]{1,9}\\.py",
        "[A-Z][a-z0-9]{0,9}",
        "[a-z]{1,9}",
        options,
    )
        .prop_map(|(module, class, folder, options)| {
            SchedulerKind::PythonScheduler(PythonScheduler {
                python: PythonClass { module, class },
                folder: PathBuf::from("/").join(folder),
                options: ClassOptions(options.into_iter().collect()),
            })
        })
        .boxed()
}
