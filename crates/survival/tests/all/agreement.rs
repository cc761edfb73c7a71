//! Closed form, chain and simulation agree on random systems; features change the answer as they
//! should.

use std::ops::ControlFlow;

use headrace_survival::answer::{HorizonAnswer, MethodUsed};
use headrace_survival::question::{Concurrency, Duration, Spares};
use headrace_survival::{Answer, Error, Question};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const HOUR: f64 = 3600.0;

/// A question from the parts of its document.
fn question(redundancy: &str, lifetime: &str, rebuild: &str, more: &str) -> Question {
    let text = format!(
        r#"{{"redundancy": {redundancy}, "lifetime": {{"law": {lifetime}}},
        "repair": {{"rebuild": {rebuild}}} {more}}}"#
    );
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn array(disks: u32, tolerates: u32) -> String {
    format!(r#"{{"kind": "array", "disks": {disks}, "tolerates": {tolerates}}}"#)
}

fn exponential(hours: f64) -> String {
    format!(r#"{{"kind": "exponential", "mean": {}}}"#, hours * HOUR)
}

fn weibull(shape: f64, hours: f64) -> String {
    format!(
        r#"{{"kind": "weibull", "shape": {shape}, "scale": {}}}"#,
        hours * HOUR
    )
}

fn constant(hours: f64) -> String {
    format!(r#"{{"kind": "constant", "seconds": {}}}"#, hours * HOUR)
}

fn horizon(hours: f64) -> String {
    format!(r#", "horizons": [{}]"#, hours * HOUR)
}

fn ask(question: &Question) -> Answer {
    headrace_survival::answer(question, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn ask_by(question: &Question, method: &str) -> Answer {
    let mut question = question.clone();
    question.method = serde_json::from_str(&format!("\"{method}\"")).expect("a method");
    ask(&question)
}

fn simulated(question: &Question, missions: u64, biased: bool) -> HorizonAnswer {
    let mut question = question.clone();
    question.simulation.missions = Some(missions);
    question.simulation.biasing = biased;
    last(&ask_by(&question, "monte-carlo"))
}

fn last(answer: &Answer) -> HorizonAnswer {
    answer.horizons.last().expect("a horizon").clone()
}

#[track_caller]
fn agree(one: &HorizonAnswer, other: &HorizonAnswer) {
    let mut error = one.standard_error.hypot(other.standard_error);
    let surviving = 1.0 - one.loss_probability;
    if surviving < 0.5 {
        // All missions may be lost, which leaves no spread: 20,000 were counted.
        error = error.max((surviving / 20_000.0).sqrt() + 1.0 / 20_000.0);
    }
    let distance = (one.loss_probability - other.loss_probability).abs();
    assert!(
        distance <= 4.5 * error + 1e-9 * one.loss_probability,
        "{} +- {} against {} +- {}",
        one.loss_probability,
        one.standard_error,
        other.loss_probability,
        other.standard_error
    );
}

/// Runs a property on the same cases each time: an estimate with an error bar misses it now and
/// then.
fn property<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, random)
        .run(strategy, |value| {
            test(value);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Disks, failures tolerated, mean lifetime and repair in hours, horizon in hours, and whether
/// rebuilds are serial.
type System = (u32, u32, f64, f64, f64, bool);

fn systems() -> impl Strategy<Value = System> {
    (
        2_u32..14,
        0_u32..4,
        3.5_f64..7.0,
        0.0_f64..2.3,
        3.0_f64..5.0,
        any::<bool>(),
    )
        .prop_map(|(disks, tolerates, mttf, mttr, horizon, serial)| {
            (
                disks,
                tolerates.min(disks - 1),
                10_f64.powf(mttf),
                10_f64.powf(mttr),
                10_f64.powf(horizon),
                serial,
            )
        })
}

/// The question about an array of a system.
fn of_system((disks, tolerates, mttf, mttr, end, serial): System) -> Question {
    let mut asked = question(
        &array(disks, tolerates),
        &exponential(mttf),
        &exponential(mttr),
        &horizon(end),
    );
    if serial {
        asked.repair.concurrency = Concurrency::Serial;
    }
    asked
}

#[test]
fn closed_form_and_chain_agree() {
    property(200, &systems(), |system| {
        let (disks, tolerates, mttf, mttr, end, _) = system;
        let asked = of_system(system);
        let chain = ask_by(&asked, "markov");
        let formula = ask_by(&asked, "closed-form");
        assert_eq!(chain.mttdl_seconds, formula.mttdl_seconds);
        let (exact, got) = (
            last(&chain).loss_probability,
            last(&formula).loss_probability,
        );
        // From two failures on, the formula holds for repairs that are short beside the rest.
        let allowed = if tolerates <= 1 {
            1e-6
        } else {
            20.0 * mttr / end + 20.0 * f64::from(disks) * mttr / mttf
        };
        assert!((got / exact - 1.0).abs() <= allowed, "{got} {exact}");
    });
}

#[test]
fn chain_and_simulation_agree() {
    property(60, &systems(), |system| {
        let asked = of_system(system);
        agree(
            &last(&ask_by(&asked, "markov")),
            &simulated(&asked, 20_000, true),
        );
    });
}

#[test]
fn chain_and_simulation_agree_on_read_errors() {
    for loss in ["corrected", "loss"] {
        property(20, &systems(), |(disks, tolerates, mttf, mttr, end, _)| {
            let mut asked = of_system((disks, tolerates, mttf, mttr, end, false));
            asked.disk.bit_error_rate = 1e-15;
            asked.disk.capacity_bytes = 4e12;
            asked.read_errors.with_redundancy =
                serde_json::from_str(&format!("\"{loss}\"")).expect("a rule");
            let chain = last(&ask_by(&asked, "markov"));
            let simulation = simulated(&asked, 20_000, true);
            agree(&chain, &simulation);
            if tolerates == 0 {
                assert_eq!(chain.read_error_loss_probability, Some(0.0));
            } else {
                assert!(chain.nomdl < Some(chain.loss_probability));
            }
        });
    }
}

/// Biased and crude simulation agree on losses that are rare enough for biasing, and frequent
/// enough for crude missions. The horizon is shortened until they are.
#[track_caller]
fn biasing_is_exact(asked: &Question) {
    let mut asked = asked.clone();
    let mut crude = simulated(&asked, 60_000, false);
    while crude.loss_probability > 0.012 {
        asked.horizons[0] *= 0.7;
        crude = simulated(&asked, 60_000, false);
    }
    assert!(crude.loss_probability > 1e-4, "{crude:?}");
    let biased = simulated(&asked, 30_000, true);
    agree(&biased, &crude);
    if asked.groups == 1
        && let (Some(biased_nomdl), Some(crude_nomdl)) = (biased.nomdl, crude.nomdl)
    {
        let error = biased
            .nomdl_standard_error
            .hypot(crude.nomdl_standard_error);
        assert!(
            (biased_nomdl - crude_nomdl).abs() < 4.5 * error,
            "{biased:?} {crude:?}"
        );
    }
}

#[test]
fn biasing_is_exact_for_any_lifetime_law() {
    let laws = [
        weibull(1.12, 2e5),
        weibull(4.0, 1e5),
        weibull(0.6, 4e5),
        format!(
            r#"{{"kind": "bathtub", "infant": {}, "constant_mean": {}, "wear_out": {}}}"#,
            r#"{"shape": 0.5, "scale": 1e11}"#,
            3e5 * HOUR,
            r#"{"shape": 5, "scale": 3e8}"#
        ),
        format!(
            r#"{{"kind": "hazard-table", "ages": [0, {}, {}], "hazards": [{}, {}, {}]}}"#,
            2000.0 * HOUR,
            40_000.0 * HOUR,
            1e-4 / HOUR,
            3e-6 / HOUR,
            2e-5 / HOUR
        ),
    ];
    for law in laws {
        for tolerates in [1, 2] {
            let mut asked = question(
                &array(10, tolerates),
                &law,
                r#"{"kind": "weibull", "shape": 2, "scale": 4000000, "location": 100000}"#,
                &horizon(87_600.0),
            );
            asked.lifetime.burn_in = 500.0 * HOUR;
            asked.lifetime.initial_age = 5000.0 * HOUR;
            biasing_is_exact(&asked);
        }
    }
}

#[test]
fn biasing_is_exact_with_spares_batches_and_replacement() {
    let more = [
        r#", "groups": 3, "batches": {"disks": 5, "bad_share": 0.2, "bad_factor": 8}"#,
        r#", "replacement": {"age": 9e7, "manner": "staggered"}"#,
        r#", "groups": 2, "replacement": {"age": 9e7, "manner": "all-at-once"}"#,
        r#", "latent": {"mean": 3e7, "scrub": {"kind": "period", "seconds": 3e6}}"#,
        r#", "groups": 3, "domains": [{"name": "shelf", "disks": 4, "mean": 1e10, "lost_share": 0.2,
        "outage": {"kind": "constant", "seconds": 36000}}]"#,
    ];
    for more in more {
        let mut asked = question(
            &array(8, 1),
            &weibull(1.5, 3e5),
            &constant(60.0),
            &format!("{}{more}", horizon(60_000.0)),
        );
        biasing_is_exact(&asked);
        asked.repair.spares = Some(
            serde_json::from_str(
                r#"{"count": 1, "restocking": {"kind": "constant", "seconds": 2e6}}"#,
            )
            .expect("spares"),
        );
        biasing_is_exact(&asked);
    }
}

#[test]
fn biasing_is_exact_with_rare_read_errors() {
    // Losses by failures and by read errors are about as frequent as each other.
    let scrubs = [
        r#"{"kind": "period", "seconds": 50000}"#,
        r#"{"kind": "weibull", "shape": 3, "scale": 40000, "location": 4000}"#,
    ];
    for scrub in scrubs {
        let mut asked = question(
            &array(8, 2),
            &exponential(2e4),
            &constant(60.0),
            &format!(
                r#"{}, "latent": {{"mean": 1e7, "scrub": {scrub}}}"#,
                horizon(20_000.0)
            ),
        );
        asked.disk.bit_error_rate = 3e-16;
        biasing_is_exact(&asked);
    }
}

#[test]
fn read_errors_of_a_rare_kind_are_found() {
    let mut asked = question(&array(8, 2), &exponential(1e6), &exponential(12.0), "");
    asked.disk.bit_error_rate = 1e-17;
    let got = simulated(&asked, 200_000, true);
    agree(&last(&ask_by(&asked, "markov")), &got);
    assert!(got.standard_error < 0.02 * got.loss_probability, "{got:?}");
    asked.disk.bit_error_rate = 0.0;
    asked.latent =
        serde_json::from_str(r#"{"mean": 3e8, "scrub": {"kind": "period", "seconds": 100000}}"#)
            .expect("latent errors");
    // A look finds an error of 6 disks with probability 6 x 1e5 / 3e8 / 2.
    let got = simulated(&asked, 200_000, true);
    agree(&last(&ask_by(&asked, "markov")), &got);
    assert!(got.standard_error < 0.03 * got.loss_probability, "{got:?}");
}

#[test]
fn threads_do_not_change_an_answer() {
    let mut asked = question(
        &array(8, 2),
        &weibull(1.2, 2e5),
        &constant(50.0),
        r#", "simulation": {"missions": 100000, "threads": 1}"#,
    );
    let one = ask_by(&asked, "monte-carlo");
    asked.simulation.threads = 3;
    assert_eq!(one, ask_by(&asked, "monte-carlo"));
    asked.simulation.seed = 1;
    assert_ne!(one, ask_by(&asked, "monte-carlo"));
}

#[test]
fn the_wanted_error_is_reached() {
    let mut asked = question(&array(6, 1), &weibull(1.2, 5e5), &constant(30.0), "");
    asked.simulation.relative_error = 0.03;
    let answer = ask(&asked);
    let at = last(&answer);
    assert_eq!(answer.method, MethodUsed::MonteCarlo);
    assert!(at.standard_error <= 0.03 * at.loss_probability);
    assert!(at.low < at.loss_probability && at.loss_probability < at.high);
    assert!(answer.horizons[0].loss_probability < at.loss_probability);
}

#[test]
fn the_order_of_horizons_changes_no_estimate() {
    let mut asked = question(&array(6, 1), &weibull(1.2, 5e5), &constant(30.0), "");
    asked.simulation.relative_error = 0.01;
    let sorted = ask(&asked);
    asked.horizons.reverse();
    let mut reversed = ask(&asked);
    reversed.horizons.reverse();
    assert_eq!(sorted, reversed);
}

#[test]
fn a_spare_that_comes_late_is_waited_for() {
    let law = exponential(1e5);
    let spares = |count: u32, groups: u32| {
        let mut asked = question(
            &array(8, 1),
            &law,
            &constant(12.0),
            &format!(r#", "groups": 4 {}"#, horizon(43_800.0)),
        );
        asked.repair.spares = Some(
            serde_json::from_str(&format!(
                r#"{{"count": {count}, "groups": {groups},
                "restocking": {{"kind": "constant", "seconds": 1200000}}}}"#
            ))
            .expect("spares"),
        );
        simulated(&asked, 100_000, true).loss_probability
    };
    let (none, global, dedicated) = (spares(0, 0), spares(1, 0), spares(1, 1));
    assert!(none > 2.0 * global, "{none} {global}");
    assert!(global > 1.05 * dedicated, "{global} {dedicated}");
}

#[test]
fn disks_of_a_bad_batch_fail_together() {
    let mut asked = question(&array(8, 2), &exponential(5e5), &constant(24.0), "");
    let mean = simulated(&asked, 100_000, true).loss_probability;
    asked.batches = Some(
        serde_json::from_str(r#"{"disks": 8, "bad_share": 0.1, "bad_factor": 10}"#).expect("b"),
    );
    let batches = simulated(&asked, 100_000, true).loss_probability;
    // A bad batch has the cube of 10 times the losses, until its disks are replaced.
    assert!(batches > 10.0 * mean, "{batches} {mean}");
}

#[test]
fn a_shelf_that_takes_its_disks_along_loses_arrays_within_it() {
    let shelf = |layout: &str, lost_share: f64| {
        let asked = question(
            &array(6, 2),
            &exponential(1e6),
            &constant(24.0),
            &format!(
                r#", "groups": 6, "domains": [{{"name": "shelf", "disks": 6, "layout": "{layout}",
                "mean": {}, "lost_share": {lost_share},
                "outage": {{"kind": "constant", "seconds": 36000}}}}]"#,
                2e6 * HOUR
            ),
        );
        let mut asked = asked;
        asked.simulation.missions = Some(50_000);
        ask_by(&asked, "monte-carlo")
    };
    let (within, across) = (shelf("within", 1.0), shelf("across", 1.0));
    // Ten years of six shelves: 1 - exp(-6 x 87,600 / 2e6).
    let expected = -libm::expm1(-6.0 * 87_600.0 / 2e6);
    let got = last(&within);
    assert!((got.loss_probability - expected).abs() < 4.5 * got.standard_error);
    assert!(last(&across).loss_probability < 1e-3);
    // An outage of ten hours keeps the whole array away.
    let outages = shelf("within", 0.0);
    let unavailable = outages.unavailability.expect("domains");
    let expected = 6.0 * 10.0 / 2e6;
    assert!(
        (unavailable.value - expected).abs() < 4.5 * unavailable.standard_error,
        "{unavailable:?}"
    );
    let across = shelf("across", 0.0).unavailability.expect("domains");
    assert!(across.value < 0.01 * unavailable.value);
}

#[test]
fn wear_out_asks_for_replacement() {
    let with = |replacement: &str| {
        let asked = question(
            &array(8, 2),
            &weibull(4.0, 1e5),
            &constant(24.0),
            replacement,
        );
        simulated(&asked, 50_000, true).loss_probability
    };
    let never = with("");
    let age = 4.0 * 8760.0 * HOUR;
    let all = with(&format!(
        r#", "replacement": {{"age": {age}, "manner": "all-at-once"}}"#
    ));
    let staggered = with(&format!(
        r#", "replacement": {{"age": {age}, "manner": "staggered"}}"#
    ));
    assert!(never > 20.0 * all, "{never} {all}");
    assert!(staggered < all, "{staggered} {all}");
}

#[test]
fn burn_in_takes_infant_mortality_away() {
    let mut asked = question(
        &array(8, 1),
        &weibull(0.5, 1e6),
        &constant(24.0),
        &horizon(8760.0),
    );
    let raw = simulated(&asked, 100_000, true).loss_probability;
    asked.lifetime.burn_in = 336.0 * HOUR;
    let burnt_in = simulated(&asked, 100_000, true).loss_probability;
    assert!(burnt_in < 0.8 * raw, "{burnt_in} {raw}");
}

fn pool(disks: u32, data: u32, parity: u32, spare: u32) -> String {
    format!(
        r#"{{"kind": "declustered", "disks": {disks}, "data": {data}, "parity": {parity},
        "spare_disks": {spare}, "chunk_bytes": 1e9}}"#
    )
}

#[test]
fn splitting_agrees_with_crude_missions() {
    for (disks, mttf) in [(40, 7e4), (300, 1.2e5)] {
        let asked = question(
            &pool(disks, 4, 2, 2),
            &weibull(1.2, mttf),
            &constant(80.0),
            &horizon(20_000.0),
        );
        let crude = simulated(&asked, 40_000, false);
        assert!(crude.loss_probability > 1e-4, "{crude:?}");
        agree(&simulated(&asked, 60_000, true), &crude);
    }
}

#[test]
fn splitting_is_exact_with_delays_and_read_errors() {
    let mut asked = question(
        &pool(24, 4, 2, 2),
        &weibull(1.3, 6e4),
        r#"{"kind": "weibull", "shape": 2, "scale": 200000, "location": 20000}"#,
        &horizon(20_000.0),
    );
    asked.repair.detection = serde_json::from_str(&constant(3.0)).expect("a time");
    asked.repair.replacement = serde_json::from_str(&exponential(80.0)).expect("a time");
    asked.disk.bit_error_rate = 1e-14;
    for spares in [0, 2] {
        asked.redundancy = serde_json::from_str(&pool(24, 4, 2, spares)).expect("a pool");
        biasing_is_exact(&asked);
    }
    asked.lifetime.law = serde_json::from_str(&exponential(2e4)).expect("a law");
    asked.redundancy = serde_json::from_str(&pool(24, 4, 2, 1)).expect("a pool");
    biasing_is_exact(&asked);
}

#[test]
fn a_large_pool_loses_less_of_its_data() {
    let asked = question(
        &pool(1000, 8, 3, 10),
        &exponential(1e6),
        &constant(1.0),
        &horizon(87_600.0),
    );
    let mut simulation = asked.clone();
    simulation.simulation.missions = Some(60_000);
    let answer = ask_by(&simulation, "monte-carlo");
    assert_eq!(answer.method, MethodUsed::Splitting);
    let split = last(&answer);
    assert!(split.loss_probability > 0.0 && split.standard_error < 0.5 * split.loss_probability);
    // The chain works with mean numbers of stripes: it is right to a small factor.
    let chain = last(&ask_by(&asked, "markov"));
    let ratio = split.loss_probability / chain.loss_probability;
    assert!((0.2..5.0).contains(&ratio), "{ratio}");
    assert!(split.nomdl < Some(1e-2 * split.loss_probability));
}

#[test]
fn a_pool_of_one_stripe_width_is_an_array() {
    // All disks hold a chunk of each stripe.
    let end = horizon(50_000.0);
    let asked = question(&pool(6, 5, 1, 0), &exponential(5e4), &constant(100.0), &end);
    let as_array = question(&array(6, 1), &exponential(5e4), &constant(100.0), &end);
    agree(
        &simulated(&asked, 40_000, false),
        &simulated(&as_array, 40_000, false),
    );
}

#[test]
fn a_pool_without_room_waits_for_disks() {
    let with = |spare: u32| {
        let mut asked = question(
            &pool(30, 4, 2, spare),
            &exponential(1e5),
            &constant(40.0),
            &horizon(40_000.0),
        );
        asked.repair.replacement = serde_json::from_str(&constant(200.0)).expect("a time");
        simulated(&asked, 30_000, true).loss_probability
    };
    let (none, one, many) = (with(0), with(1), with(4));
    assert!(none > 2.0 * one, "{none} {one}");
    assert!(one > 1.2 * many, "{one} {many}");
}

#[test]
fn a_rare_loss_of_a_pool_has_its_analytic_rate() {
    // Six disks, each stripe on all. The second failure strikes with a part u of the first rebuild
    // left, uniform in 0 to 1. Those stripes lack two chunks and take u T, or 2 u T one after the
    // other; a third failure then loses data. The rate is n (n - 1) (n - 2) / MTTF^3 x T^2 / 2 a
    // second, or twice that.
    let (mttf, rebuild, end) = (1e6, 10.0, 87_600.0);
    let mut asked = question(
        &pool(6, 4, 2, 0),
        &exponential(mttf),
        &constant(rebuild),
        &horizon(end),
    );
    asked.simulation.missions = Some(100_000);
    let one_after_the_other = 120.0 / (mttf * mttf * mttf) * rebuild * rebuild * end;
    let mut expected = 0.0;
    for (concurrency, passes) in [(Concurrency::Serial, 2.0), (Concurrency::Parallel, 1.0)] {
        asked.repair.concurrency = concurrency;
        let got = last(&ask_by(&asked, "monte-carlo"));
        expected = one_after_the_other * passes / 2.0;
        let distance = (got.loss_probability - expected).abs();
        assert!(
            distance < 4.5 * got.standard_error + 1e-3 * expected,
            "{got:?} {expected}"
        );
        assert!(got.standard_error < 0.1 * expected, "{got:?}");
    }

    // A read error: half of the 1,000 stripes lack two chunks on average, and each rebuild reads
    // four chunks of 1e9 bytes.
    asked.disk.bit_error_rate = 1e-17;
    let by_read_error =
        30.0 / (mttf * mttf) * rebuild * end * 500.0 * 4e9 * 8.0 * asked.disk.bit_error_rate;
    let got = last(&ask_by(&asked, "monte-carlo"));
    let distance = (got.loss_probability - expected - by_read_error).abs();
    assert!(
        distance < 4.5 * got.standard_error + 2e-3 * expected,
        "{got:?} {expected} {by_read_error}"
    );
    assert!(got.standard_error < 0.1 * by_read_error, "{got:?}");
}

#[test]
fn impossible_questions_say_where() {
    let cases = [
        (
            question(&array(3, 3), &exponential(1e6), &constant(1.0), ""),
            "redundancy: 3 disks",
        ),
        (
            question(&array(3, 1), &exponential(0.0), &constant(1.0), ""),
            "lifetime.law.mean: 0",
        ),
        (
            question(&array(3, 1), &exponential(1e6), &constant(0.0), ""),
            "repair.rebuild",
        ),
        (
            question(&array(3, 1), &weibull(500.0, 1e6), &constant(1.0), ""),
            "lifetime.law.shape",
        ),
        (
            question(&pool(6, 5, 2, 0), &exponential(1e6), &constant(1.0), ""),
            "redundancy: 6 disks cannot hold stripes of 5 + 2",
        ),
        (
            question(
                &array(3, 1),
                &exponential(1e6),
                &constant(1.0),
                r#", "horizons": [-1]"#,
            ),
            "horizons: -1",
        ),
        (
            question(
                &array(3, 1),
                &exponential(1e6),
                &constant(1.0),
                r#", "disk": {"bit_error_rate": 2}"#,
            ),
            "disk.bit_error_rate: 2",
        ),
    ];
    for (asked, expected) in cases {
        match headrace_survival::answer(&asked, &mut |_| ControlFlow::Continue(())) {
            Err(error) => assert!(error.to_string().starts_with(expected), "{error}"),
            Ok(answer) => panic!("{answer:?}"),
        }
    }
}

#[test]
fn a_caller_can_break_off() {
    let mut asked = question(&array(8, 2), &weibull(1.2, 1e5), &constant(50.0), "");
    asked.simulation.relative_error = 1e-9;
    let answer = headrace_survival::answer(&asked, &mut |_| ControlFlow::Break(()));
    assert_eq!(answer, Err(Error::Interrupted));
}

/// Mean number of losses of `groups` RAID-5 of 8, mean lifetime 20,000 h, by 24 h repairs.
fn counted(groups: u32, is_pooled: bool, seed: u64) -> (f64, f64) {
    let mut asked = question(
        &array(8, 1),
        &exponential(20_000.0),
        &exponential(24.0),
        &format!(r#", "groups": {groups}, "method": "monte-carlo""#),
    );
    if is_pooled {
        asked.repair.spares = Some(Spares {
            count: 10_000,
            groups: 0,
            restocking: Duration::Constant { seconds: 1.0 },
        });
    }
    asked.horizons = vec![87_600.0 * HOUR];
    asked.simulation.count_losses = true;
    asked.simulation.missions = Some(400_000 / u64::from(groups));
    asked.simulation.seed = seed;
    let losses = last(&ask(&asked)).expected_losses.expect("losses");
    (losses.value, losses.standard_error)
}

#[test]
fn counted_losses_are_those_of_the_stationary_chain() {
    // Each disk fails by itself; a loss is a failure while exactly one of 8 is repaired.
    let down: f64 = 24.0 / 20_024.0;
    let one_down = 8.0 * down * (1.0 - down).powi(7);
    let each = one_down * 7.0 / 20_000.0 * 87_600.0;
    // Groups with global spares are all simulated; else one stands for all.
    for (groups, is_pooled) in [(1, false), (100, false), (100, true)] {
        let (value, error) = counted(groups, is_pooled, 0);
        let expected = f64::from(groups) * each;
        assert!(
            (value - expected).abs() < 4.0 * error,
            "{groups}: {value} +- {error} against {expected}"
        );
    }
}

#[test]
fn errors_of_counted_losses_are_as_large_as_their_spread() {
    let runs: u32 = 40;
    let values: Vec<(f64, f64)> = (0..runs)
        .map(|seed| counted(100, false, u64::from(seed)))
        .collect();
    let mean = values.iter().map(|it| it.0).sum::<f64>() / f64::from(runs);
    let squares = values.iter().map(|it| (it.0 - mean).powi(2)).sum::<f64>();
    let spread = (squares / f64::from(runs - 1)).sqrt();
    let error = values.iter().map(|it| it.1).sum::<f64>() / f64::from(runs);
    assert!(
        (0.6..1.6).contains(&(error / spread)),
        "{error} against a spread of {spread}"
    );
}

#[test]
fn what_is_lost_is_not_lost_again_before_it_is_back() {
    // RAID-0 of 4 is back when all four disks are: up for 250 h, then down for a while.
    let mut asked = question(
        &array(4, 0),
        &exponential(1000.0),
        &constant(1e6),
        &horizon(1e5),
    );
    asked.method = serde_json::from_str("\"monte-carlo\"").expect("a method");
    asked.simulation.count_losses = true;
    asked.simulation.missions = Some(200);
    let losses = last(&ask(&asked)).expected_losses.expect("losses");
    assert_eq!((losses.value, losses.standard_error), (1.0, 0.0));
}

/// RAID-5 of three disks of 4 TB: nearly all losses are single stripes, NOMDL is lost arrays.
fn three_large_disks() -> Question {
    let mut asked = question(
        &array(3, 1),
        &exponential(1e6),
        &exponential(11.111),
        r#", "horizons": [31536000, 157680000, 315360000]"#,
    );
    asked.disk.capacity_bytes = 4e12;
    asked.disk.bit_error_rate = 1e-14;
    asked
}

#[track_caller]
fn contains(interval: (f64, f64), value: f64) {
    // Wider than 95 %, so that a fixed seed does not decide.
    let (middle, half) = (
        0.5 * (interval.0 + interval.1),
        0.5 * (interval.1 - interval.0),
    );
    assert!((value - middle).abs() <= 2.3 * half, "{interval:?} {value}");
}

#[test]
fn nomdl_of_lost_arrays_is_known_beside_frequent_lost_stripes() {
    let mut raid6 = question(&array(8, 2), &exponential(5e5), &exponential(22.22), "");
    raid6.disk.capacity_bytes = 8e12;
    raid6.disk.bit_error_rate = 1e-15;
    for asked in [three_large_disks(), raid6] {
        let exact = ask_by(&asked, "markov");
        let simulated = ask_by(&asked, "monte-carlo");
        for (exact, got) in exact.horizons.iter().zip(&simulated.horizons) {
            let (nomdl, expected) = (got.nomdl.expect("a figure"), exact.nomdl.expect("exact"));
            contains((got.nomdl_low, got.nomdl_high), expected);
            assert!(got.nomdl_standard_error < 0.03 * nomdl, "{got:?}");
            let seen = got.failure_losses_seen.expect("seen");
            assert!(seen.losses > 1000, "{got:?}");
        }
        let last = last(&simulated);
        assert!(last.nomdl_standard_error < 0.0105 * last.nomdl.expect("a figure"));
    }
}

#[test]
fn rare_read_errors_have_missions_of_their_own() {
    // One read error in 4e7 rebuilds without redundancy left.
    let mut asked = question(&array(4, 1), &exponential(1e5), &exponential(24.0), "");
    asked.disk.capacity_bytes = 1e12;
    asked.disk.bit_error_rate = 1e-21;
    let exact = last(&ask_by(&asked, "markov"));
    let got = last(&ask_by(&asked, "monte-carlo"));
    let expected = exact.read_error_loss_probability.expect("exact");
    contains((got.read_error_low, got.read_error_high), expected);
    let width = got.read_error_high - got.read_error_low;
    assert!(width < 0.05 * expected, "{got:?}");
}

#[test]
fn a_figure_without_its_event_is_a_bound() {
    let mut asked = three_large_disks();
    asked.simulation.biasing = false;
    asked.simulation.missions = Some(10_000);
    let answer = ask_by(&asked, "monte-carlo");
    let first = &answer.horizons[0];
    let seen = first.failure_losses_seen.expect("seen");
    assert_eq!((seen.losses, first.nomdl), (0, None), "{first:?}");
    // The rule of three: 3 / missions of whole arrays.
    assert!((first.nomdl_high / 3e-4 - 1.0).abs() < 0.01, "{first:?}");
    assert!(first.read_error_loss_probability.is_some());
}

#[test]
fn rare_failures_of_domains_are_found() {
    // One rack in 1e11 h, with all its disks; arrays of their own fail far less often.
    let mut asked = question(
        &array(6, 2),
        &exponential(1e9),
        &exponential(24.0),
        &format!(
            r#", "groups": 2, "domains": [{{"name": "rack", "disks": 6, "mean": {},
            "lost_share": 1, "outage": {{"kind": "constant", "seconds": 36000}}}}]"#,
            1e11 * HOUR
        ),
    );
    asked.simulation.relative_error = 0.02;
    let got = last(&ask_by(&asked, "monte-carlo"));
    let expected = 2.0 * 87_600.0 / 1e11;
    contains((got.low, got.high), expected);
    assert!(got.standard_error < 0.021 * expected, "{got:?}");
}
