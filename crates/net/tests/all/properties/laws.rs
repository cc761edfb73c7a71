//! Laws of all random nets.

use headrace_net::{Limits, Stop, Time};
use proptest::prelude::*;

use super::random_net::{Kind, Plan, build, plan};

fn run_to_rest(plan: &Plan, seed: u64) -> super::random_net::Built {
    let mut built = build(plan, seed);
    assert_eq!(built.net.run(&Limits::default()), Ok(Stop::Quiet));
    built
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tokens_are_conserved(plan in plan(), seed in 0_u64..1000) {
        let built = run_to_rest(&plan, seed);
        prop_assert_eq!(built.net.uncovered(), Vec::<&str>::new());
        prop_assert!(built.net.check_invariants().is_ok());
        let inside = built.net.node_report(built.done).inside;
        prop_assert_eq!(inside, u64::from(plan.tokens));
        let all: u64 = built.net.reports().iter().map(|report| report.inside).sum();
        prop_assert_eq!(all, inside);
    }

    #[test]
    fn time_goes_one_way(plan in plan(), seed in 0_u64..1000) {
        let built = run_to_rest(&plan, seed);
        let firings = &built.net.store(built.trace, 0).firings;
        prop_assert!(firings.is_sorted_by_key(|firing| firing.0));
        prop_assert!(firings.last().is_none_or(|last| last.0 <= built.net.now()));
    }

    #[test]
    fn one_seed_gives_one_run(plan in plan(), seed in 0_u64..1000) {
        let one = run_to_rest(&plan, seed);
        let two = run_to_rest(&plan, seed);
        prop_assert_eq!(one.net.store(one.trace, 0), two.net.store(two.trace, 0));
        prop_assert_eq!(one.net.reports(), two.net.reports());
        prop_assert_eq!(one.net.firings(), two.net.firings());
        prop_assert_eq!(one.net.events(), two.net.events());
    }

    /// The area under the number inside is the sum of the times that tokens
    /// stayed, by their own watches.
    #[test]
    fn areas_obey_littles_law(plan in plan(), seed in 0_u64..1000) {
        let built = run_to_rest(&plan, seed);
        let elapsed = built.net.measured().0 as f64;
        for (index, &station) in built.stations.iter().enumerate() {
            let report = built.net.node_report(station);
            let stays = built.net.store(built.trace, 0).stays[index] as f64;
            let close = |area: f64| (area - stays).abs() <= 1e-9 * stays;
            prop_assert!(close(report.mean_inside * elapsed), "{report:?} {stays}");
            let residence = report.residence.unwrap_or(0.0);
            prop_assert!(close(residence * report.departures as f64 * 1e12), "{report:?}");
        }
    }

    /// The run stops at any time, and statistics begin at any other. Residence and service are
    /// means over the whole visits that ended between, however many have not ended.
    #[test]
    fn unfinished_visits_count_nowhere(
        plan in plan(), seed in 0_u64..1000, start in 0.0..2e-4, length in 0.0..2e-4,
    ) {
        let mut built = build(&plan, seed);
        built.net.run(&Limits::until_seconds(start)).expect("such nets run");
        built.net.reset_statistics();
        let (before, visits) = {
            let trace = built.net.store(built.trace, 0);
            (trace.stays.clone(), trace.visits.clone())
        };
        built.net.run(&Limits::until_seconds(start + length)).expect("such nets run");
        for (index, &station) in built.stations.iter().enumerate() {
            let trace = built.net.store(built.trace, 0);
            let stays = (trace.stays[index] - before[index]) as f64 * 1e-12;
            let ended = trace.visits[index] - visits[index];
            let report = built.net.node_report(station);
            prop_assert_eq!(report.departures, ended);
            prop_assert_eq!(report.residence.is_some(), ended > 0);
            let residence = report.residence.unwrap_or(0.0);
            prop_assert!((residence * ended as f64 - stays).abs() <= 1e-9 * stays, "{report:?}");
            let spec = &plan.stations[index];
            if let Some(service) = report.service && !spec.random && spec.kind != Kind::LastFirst {
                let exact = spec.service as f64 * 1e-6;
                prop_assert!((service - exact).abs() <= 1e-9 * exact, "{report:?}");
            }
            let copies = built.net.copy_reports(report.id);
            prop_assert_eq!(copies.iter().map(|it| it.departures).sum::<u64>(), ended);
            let sum: f64 = copies.iter().map(|it| it.stay()).sum();
            prop_assert!((sum - stays).abs() <= 1e-9 * stays, "{copies:?}");
        }
    }

    /// Stopped after every firing, each invariant holds; and stopping changes
    /// nothing.
    #[test]
    fn invariants_hold_at_every_step(plan in plan(), seed in 0_u64..1000) {
        let mut built = build(&plan, seed);
        let whole = run_to_rest(&plan, seed);
        prop_assert!(!built.net.invariants().is_empty());
        let mut last = Time::ZERO;
        for step in 1.. {
            let limits = Limits { count: Some((built.firings, step)), ..Limits::default() };
            let stop = built.net.run(&limits);
            prop_assert!(built.net.now() >= last);
            last = built.net.now();
            let kept = built.net.check_invariants();
            prop_assert!(kept.is_ok(), "{kept:?} at firing {step}");
            if stop == Ok(Stop::Quiet) {
                break;
            }
            prop_assert_eq!(stop, Ok(Stop::Count));
        }
        prop_assert_eq!(built.net.store(built.trace, 0), whole.net.store(whole.trace, 0));
        prop_assert_eq!(built.net.reports(), whole.net.reports());
    }
}
