//! Processor sharing at rates that depend on the number of tokens present.

use headrace_net::{
    Builder, Exponential, Infinite, Limits, LoadSharing, Node, Page, Random, Span, Work,
};

use super::estimate::check;

const THINK: Span = Span::from_millis(5000);

/// Total rates with 1, 2, … tokens: throughput rises with concurrency, then falls a little.
const RATES: [f64; 5] = [1.0, 1.8, 2.4, 2.7, 2.5];

/// Throughput and mean number present of N customers that think, then share the rates: the balance
/// of births and deaths. It holds for work of any distribution with a mean of 1, because the
/// station is symmetric (Baskett et al. 1975).
fn birth_and_death(customers: u32) -> (f64, f64) {
    let rate = |present: u32| RATES[(present as usize).min(RATES.len()) - 1];
    let mut chances = vec![1.0];
    for present in 0..customers {
        let up = f64::from(customers - present) / THINK.as_seconds();
        chances.push(chances[present as usize] * up / rate(present + 1));
    }
    let total: f64 = chances.iter().sum();
    let mut throughput = 0.0;
    let mut mean = 0.0;
    for (chance, present) in chances.iter().zip(0..) {
        let chance = chance / total;
        throughput += if present > 0 {
            chance * rate(present)
        } else {
            0.0
        };
        mean += chance * f64::from(present);
    }
    (throughput, mean)
}

fn shared(page: &mut Page<'_>, work: fn(&mut Random<'_>) -> f64) -> Node<u32> {
    // Two classes with the same rates are one.
    let rates = [RATES.to_vec(), RATES.to_vec()];
    let work = move |token: &u32, random: &mut Random<'_>| Work {
        class: (token % 2) as usize,
        amount: work(random),
    };
    page.station("shared", LoadSharing::new(&rates, work))
}

#[test]
fn customers_share_rates_by_concurrency() {
    let works: [fn(&mut Random<'_>) -> f64; 3] = [
        |random| random.exponential(1.0),
        |_| 1.0,
        // Nine in ten are short.
        |random| if random.below(10) > 0 { 0.5 } else { 5.5 },
    ];
    for (customers, work) in [(12, works[0]), (12, works[1]), (6, works[2])] {
        let (throughput, present) = birth_and_death(customers);
        let exact = [("throughput", throughput), ("present", present)];
        check(exact, |seed| {
            let mut builder = Builder::new("office", seed);
            let mut page = builder.root();
            let thinking = page.station("thinking", Infinite(Exponential(THINK)));
            let shared = shared(&mut page, work);
            page.connect(thinking, shared);
            page.connect(shared, thinking);
            page.tokens(thinking, move |_| 0..customers);
            let mut net = builder.compile().expect("a ring is a valid net");
            net.run(&Limits::until_seconds(1000.0))
                .expect("a ring runs for ever");
            net.reset_statistics();
            net.run(&Limits::until_seconds(5e4))
                .expect("a ring runs for ever");
            let report = net.node_report(shared);
            [
                report.arrivals as f64 / net.measured().as_seconds(),
                report.mean_inside,
            ]
        });
    }
}

/// Two tokens of 10 and 20 units: 2 units a second alone, 3 together. The classes differ: the
/// second gets 1 alone and 2 together, that is 1 each.
#[test]
fn each_class_has_its_own_rates() {
    let mut builder = Builder::new("two", 1);
    let mut page = builder.root();
    let rates = [vec![2.0, 3.0], vec![1.0, 2.0]];
    let start = page.place("start");
    let work = |token: &u32, _: &mut Random<'_>| Work {
        class: *token as usize,
        amount: 10.0 * f64::from(token + 1),
    };
    let shared = page.station("shared", LoadSharing::new(&rates, work));
    page.connect(start, shared);
    let ends = page.tally("ends");
    page.transition("end")
        .take(shared)
        .fires(move |firing, _: u32, ()| {
            let now = firing.now().as_seconds();
            firing.record(ends, now);
        });
    page.tokens(start, |_| [0_u32, 1]);
    let mut net = builder.compile().expect("it is a valid net");
    net.run(&Limits::default()).expect("it ends");
    // The first: 10 at 1.5 a second. Then the second has 20 − 6.67 left at 1 a second.
    let first = 10.0 / 1.5;
    let second = first + (20.0 - first);
    let tally = net.tally(ends);
    assert_eq!(tally.count(), 2);
    assert!((tally.mean() - f64::midpoint(first, second)).abs() < 1e-11);
}
