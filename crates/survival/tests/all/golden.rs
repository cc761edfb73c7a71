//! Known values of the literature, and mistakes of other calculators.

use std::ops::ControlFlow;

use headrace_survival::answer::HorizonAnswer;
use headrace_survival::question::{
    Concurrency, Disk, Duration, HOUR, Latent, Lifetime, LifetimeLaw, Method, ReadErrors,
    Redundancy, Repair, Scrub, Simulation, WeibullLaw, YEAR,
};
use headrace_survival::{Answer, Question};

fn question(disks: u32, tolerates: u32, mttf_hours: f64, mttr_hours: f64) -> Question {
    Question {
        redundancy: Redundancy::Array {
            disks,
            tolerates,
            stripe_bytes: 1_048_576.0,
        },
        groups: 1,
        disk: Disk::default(),
        lifetime: Lifetime {
            law: LifetimeLaw::Exponential {
                mean: mttf_hours * HOUR,
            },
            burn_in: 0.0,
            initial_age: 0.0,
        },
        repair: Repair {
            detection: Duration::Constant { seconds: 0.0 },
            replacement: Duration::Constant { seconds: 0.0 },
            rebuild: Duration::Exponential {
                mean: mttr_hours * HOUR,
            },
            concurrency: Concurrency::Parallel,
            spares: None,
        },
        latent: None,
        read_errors: ReadErrors::default(),
        batches: None,
        domains: Vec::new(),
        replacement: None,
        horizons: vec![87_600.0 * HOUR],
        method: Method::Markov,
        simulation: Simulation::default(),
    }
}

fn ask(question: &Question) -> Answer {
    headrace_survival::answer(question, &mut |_| ControlFlow::Continue(())).expect("an answer")
}

fn last(answer: &Answer) -> &HorizonAnswer {
    answer.horizons.last().expect("a horizon")
}

fn loss(question: &Question) -> f64 {
    last(&ask(question)).loss_probability
}

fn mttdl_hours(question: &Question) -> f64 {
    ask(question).mttdl_seconds.expect("a mean time") / HOUR
}

#[track_caller]
fn close(got: f64, expected: f64, relative: f64) {
    assert!(
        (got / expected - 1.0).abs() <= relative,
        "{got} instead of {expected}"
    );
}

#[test]
fn loss_probabilities_in_ten_years() {
    close(loss(&question(2, 1, 1e6, 12.0)), 2.102034128e-6, 5e-10);
    close(loss(&question(8, 1, 1e6, 12.0)), 5.884681365e-5, 5e-10);
    let mut raid6 = question(8, 2, 1e6, 12.0);
    close(loss(&raid6), 2.118504098e-9, 5e-10);
    raid6.repair.concurrency = Concurrency::Serial;
    close(loss(&raid6), 4.236565392e-9, 5e-10);
    close(loss(&question(8, 1, 1e5, 24.0)), 0.01165953728, 5e-10);
}

#[test]
fn closed_forms_of_one_failure_are_exact() {
    for (disks, mttf, mttr) in [(2, 1e6, 12.0), (8, 1e6, 12.0), (8, 1e5, 24.0)] {
        let mut asked = question(disks, 1, mttf, mttr);
        let chain = loss(&asked);
        asked.method = Method::ClosedForm;
        close(loss(&asked), chain, 1e-10);
    }
}

#[test]
fn mean_times_to_data_loss() {
    close(
        mttdl_hours(&question(8, 1, 1e5, 24.0)),
        7_467_261.905,
        5e-11,
    );
    let mut raid6 = question(8, 2, 1e5, 24.0);
    close(mttdl_hours(&raid6), 1.036131991e10, 5e-10);
    raid6.repair.concurrency = Concurrency::Serial;
    close(mttdl_hours(&raid6), 5.184401918e9, 5e-10);
}

#[test]
fn a_read_error_in_the_rebuild_of_raid5() {
    let mut asked = question(8, 1, 1e6, 24.0);
    asked.disk = Disk {
        capacity_bytes: 2e12,
        bit_error_rate: 1e-14,
    };
    close(mttdl_hours(&asked) / 8760.0, 21.182, 3e-5);
    asked.disk.bit_error_rate = 0.0;
    close(mttdl_hours(&asked) / 8760.0, 84_968.0, 6e-6);
}

#[test]
fn patterson_gibson_and_katz() {
    // 100 data disks. Mirrors: 100 pairs. Groups of 10 data disks and one check disk: 10 groups.
    let mut mirror = question(2, 1, 30_000.0, 1.0);
    mirror.groups = 100;
    close(mttdl_hours(&mirror), 4_500_000.0, 2e-4);
    let mut groups = question(11, 1, 30_000.0, 1.0);
    groups.groups = 10;
    close(mttdl_hours(&groups), 818_182.0, 1e-3);
}

#[test]
fn chen_and_others() {
    // Disks in groups of 16: 100 disks are 6.25 groups, so the rate of one group is scaled.
    close(
        mttdl_hours(&question(16, 1, 200_000.0, 1.0)) * 16.0 / 100.0,
        2.667e7,
        3e-4,
    );
}

#[test]
fn elerath_and_pecht_mean_time() {
    // Printed is mu / (n (n - 1) lambda^2); the exact mean has (2 n - 1) lambda beside mu.
    let exact = mttdl_hours(&question(8, 1, 461_386.0, 12.0));
    let left_out = 15.0 * 461_386.0 / 56.0;
    close((exact - left_out) / 8760.0, 36_162.0, 2e-5);
}

#[test]
fn raid0_and_raid10() {
    close(mttdl_hours(&question(8, 0, 1e6, 12.0)), 1e6 / 8.0, 1e-14);
    let pair = mttdl_hours(&question(2, 1, 1e6, 12.0));
    let mut raid10 = question(2, 1, 1e6, 12.0);
    raid10.redundancy = Redundancy::Mirrors {
        disks: 8,
        copies: 2,
        stripe_bytes: 1_048_576.0,
    };
    close(mttdl_hours(&raid10), pair / 4.0, 1e-14);
}

#[test]
fn raid6_keeps_its_powers() {
    // A web calculator prints 3.47e8 h, another counts every read error as a loss.
    close(mttdl_hours(&question(6, 2, 1e6, 24.0)), 2.894e13, 1e-3);
    let mut serial = question(6, 2, 1e6, 24.0);
    serial.repair.concurrency = Concurrency::Serial;
    close(mttdl_hours(&serial), 1.447e13, 1e-3);
}

#[test]
fn raid6_with_read_errors_agrees_with_the_approximation() {
    let (n, lambda, mttr, capacity) = (8.0, 1e-6, 24.0, 2e12);
    let mut asked = question(8, 2, 1e6, 24.0);
    asked.disk = Disk {
        capacity_bytes: capacity,
        bit_error_rate: 1e-15,
    };
    let answer = ask(&asked);
    let h = answer.read_error_probability.expect("read errors");
    let expected =
        1.0 / (n * (n - 1.0) * lambda * lambda * mttr * ((n - 2.0) * lambda * mttr / 2.0 + h));
    close(mttdl_hours(&asked), expected, 1e-3);
    // With redundancy left a read error is corrected: RAID-6 is far above RAID-5.
    let mut raid5 = asked.clone();
    raid5.redundancy = question(8, 1, 1e6, 24.0).redundancy;
    assert!(mttdl_hours(&asked) > 1000.0 * mttdl_hours(&raid5));
}

fn elerath_pecht(latent: Option<Latent>) -> Question {
    let mut asked = question(8, 1, 461_386.0, 12.0);
    asked.lifetime.law = LifetimeLaw::Weibull(WeibullLaw {
        shape: 1.12,
        scale: 461_386.0 * HOUR,
        location: 0.0,
    });
    asked.repair.rebuild = Duration::Weibull(WeibullLaw {
        shape: 2.0,
        scale: 12.0 * HOUR,
        location: 6.0 * HOUR,
    });
    asked.latent = latent;
    asked.method = Method::MonteCarlo;
    asked.horizons = vec![10.0 * YEAR];
    asked
}

/// Double-disk failures per 1000 groups in 10 years, and the standard error.
fn double_failures(latent: Option<Latent>, missions: u64) -> (f64, f64) {
    let mut asked = elerath_pecht(latent);
    asked.simulation.count_losses = true;
    asked.simulation.missions = Some(missions);
    let losses = last(&ask(&asked)).expected_losses.expect("a count");
    (1000.0 * losses.value, 1000.0 * losses.standard_error)
}

#[track_caller]
fn within(got: (f64, f64), expected: f64, error: f64) {
    let combined = (got.1 * got.1 + error * error).sqrt();
    println!("{got:?} {expected}");
    assert!(
        (got.0 - expected).abs() < 3.0 * combined,
        "{got:?} instead of {expected}"
    );
}

#[test]
fn elerath_and_pecht_without_latent_errors() {
    within(double_failures(None, 8_000_000), 0.255, 0.003);
    // With biasing the same comes from far fewer missions.
    let mut asked = elerath_pecht(None);
    asked.simulation.missions = Some(200_000);
    let answer = ask(&asked);
    let at = last(&answer);
    within(
        (1000.0 * at.loss_probability, 1000.0 * at.standard_error),
        0.255,
        0.003,
    );
}

#[test]
fn elerath_and_pecht_without_scrubbing() {
    let latent = Latent {
        mean: 9259.0 * HOUR,
        scrub: Scrub::None,
    };
    within(double_failures(Some(latent), 1_000_000), 1222.8, 1.1);
}

#[test]
fn elerath_and_pecht_with_weekly_scrubbing() {
    let latent = Latent {
        mean: 9259.0 * HOUR,
        scrub: Scrub::Weibull(WeibullLaw {
            shape: 3.0,
            scale: 168.0 * HOUR,
            location: 6.0 * HOUR,
        }),
    };
    within(double_failures(Some(latent), 1_000_000), 136.1, 0.3);
}

#[test]
fn biasing_gives_raid6_of_eight() {
    let mut asked = question(8, 2, 1e6, 12.0);
    asked.method = Method::MonteCarlo;
    asked.simulation.missions = Some(400_000);
    let answer = ask(&asked);
    let at = last(&answer);
    println!(
        "{} {}",
        at.loss_probability,
        at.standard_error / at.loss_probability
    );
    within(
        (at.loss_probability, at.standard_error),
        2.118504098e-9,
        0.0,
    );
    assert!(at.standard_error < 0.02 * at.loss_probability);
}
