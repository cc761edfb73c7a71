//! Max-min fair flows against a simulator that is obviously right: at every
//! arrival and departure it finds all rates by their definition.

use headrace_net::{Builder, Flows, Limits, Random, Span, Stop};
use proptest::prelude::*;

/// A flow: when it comes, its work, its path.
type Given = (f64, f64, Vec<u32>);

/// Rates by the definition: all grow together until a resource is full, whose
/// flows stop growing.
fn rates(capacities: &[f64], paths: &[&Vec<u32>]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; paths.len()];
    while rates.contains(&None) {
        let shares: Vec<f64> = (0_u32..)
            .zip(capacities)
            .map(|(resource, capacity)| {
                let on = paths
                    .iter()
                    .zip(&rates)
                    .filter(|(path, _)| path.contains(&resource));
                let settled: f64 = on.clone().filter_map(|(_, rate)| *rate).sum();
                let growing = on.filter(|(_, rate)| rate.is_none()).count();
                match growing {
                    0 => f64::INFINITY,
                    growing => (capacity - settled).max(0.0) / growing as f64,
                }
            })
            .collect();
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        for (path, rate) in paths.iter().zip(&mut rates) {
            let full = |it: &u32| shares[*it as usize] <= least * (1.0 + 1e-12);
            if rate.is_none() && path.iter().any(full) {
                *rate = Some(least);
            }
        }
    }
    rates.into_iter().flatten().collect()
}

/// Returns true if a flow waits for an earlier one whose path begins and ends as its own does.
fn waits(flow: usize, given: &[Given], ends: &[f64]) -> bool {
    let line = |path: &[u32]| (path.first().copied(), path.last().copied());
    let before = |other: &usize| {
        let (one, own) = (&given[*other], &given[flow]);
        one.0 < own.0 || one.0 == own.0 && *other < flow
    };
    let mut earlier = (0..given.len()).filter(before);
    earlier.any(|other| ends[other].is_nan() && line(&given[other].2) == line(&given[flow].2))
}

/// Returns the departure time of each flow; with `in_lines` those between the same two resources
/// go one after the other.
fn slowly(capacities: &[f64], given: &[Given], in_lines: bool) -> Vec<f64> {
    let mut left: Vec<f64> = given.iter().map(|it| it.1).collect();
    let mut ends = vec![f64::NAN; given.len()];
    let mut now = 0.0;
    loop {
        let here: Vec<usize> = (0..given.len())
            .filter(|&it| given[it].0 <= now && ends[it].is_nan())
            .filter(|&it| !in_lines || !waits(it, given, &ends))
            .collect();
        let paths: Vec<&Vec<u32>> = here.iter().map(|&it| &given[it].2).collect();
        let rates = rates(capacities, &paths);
        let arrivals = given.iter().map(|it| it.0).filter(|time| *time > now);
        let mut next = arrivals.fold(f64::INFINITY, f64::min);
        for (&flow, rate) in here.iter().zip(&rates) {
            next = next.min(now + left[flow] / rate);
        }
        if next.is_infinite() {
            return ends;
        }
        for (&flow, rate) in here.iter().zip(&rates) {
            left[flow] -= rate * (next - now);
            if left[flow] <= 1e-9 * given[flow].1 {
                ends[flow] = next;
            }
        }
        now = next;
    }
}

fn simulated(capacities: &[f64], given: Vec<Given>) -> Vec<f64> {
    every(Span::ZERO, capacities, given, false)
}

fn every(interval: Span, capacities: &[f64], given: Vec<Given>, in_lines: bool) -> Vec<f64> {
    let mut builder = Builder::new("main", 1);
    let mut page = builder.root();
    let times: Vec<Span> = given.iter().map(|it| Span::from_seconds(it.0)).collect();
    let coming = page.station(
        "coming",
        headrace_net::Infinite(move |&flow: &u32, _: &mut Random<'_>| times[flow as usize]),
    );
    let number = given.len();
    let discipline = Flows::new(
        capacities.to_vec(),
        move |&flow: &u32, path: &mut Vec<u32>| {
            let (_, work, own) = &given[flow as usize];
            path.extend(own);
            *work
        },
    );
    let discipline = discipline.every(interval);
    let flows = match in_lines {
        true => page.station("flows", discipline.in_lines()),
        false => page.station("flows", discipline),
    };
    page.tokens(coming, move |_| 0..number as u32);
    page.connect(coming, flows);
    let ends = page.store("ends", move |_| vec![f64::NAN; number]);
    page.transition("watch").take(flows).with(ends).fires(
        |firing, flow: u32, ends: &mut Vec<f64>| {
            ends[flow as usize] = firing.now().as_seconds();
        },
    );
    let mut net = builder.compile().expect("a sound net");
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    net.store(ends, 0).clone()
}

#[test]
fn a_long_flow_among_short_ones() {
    // Three links of 1; one flow of work 2 over all, one of work 1 on each. All
    // get a half until the short ones leave at 2 s; the long one has 1 left.
    let short = (0..3).map(|link| (0.0, 1.0, vec![link]));
    let given: Vec<Given> = short.chain([(0.0, 2.0, vec![0, 1, 2])]).collect();
    assert_eq!(simulated(&[1.0; 3], given), [2.0, 2.0, 2.0, 3.0]);
}

#[test]
fn flows_through_one_link_share_it() {
    // Works 1, 2, 3 on a link of 1: they leave at 3, 5 and 6 s.
    let given = [1.0, 2.0, 3.0].map(|work| (0.0, work, vec![0])).to_vec();
    assert_eq!(simulated(&[1.0], given), [3.0, 5.0, 6.0]);
}

#[test]
fn rates_may_be_found_less_often() {
    // A link of 1, looked at every 0.1 s. The first flow has it alone until then,
    // though another comes at 0.05 s; that one has it alone for its last tenth.
    let given = vec![(0.0, 1.0, vec![0]), (0.05, 1.0, vec![0])];
    let interval = Span::from_millis(100);
    let ends = every(interval, &[1.0], given, false);
    assert!(
        ends.iter()
            .zip([1.9, 2.0])
            .all(|(end, it)| (end - it).abs() < 1e-11),
        "{ends:?}"
    );
}

fn cases() -> impl Strategy<Value = (Vec<f64>, Vec<Given>)> {
    let capacity = prop_oneof![Just(1.0), Just(4.0), 0.1..10.0];
    proptest::collection::vec(capacity, 1..8).prop_flat_map(|capacities| {
        let path = proptest::collection::vec(0..capacities.len() as u32, 1..5);
        let time = prop_oneof![Just(0.0), Just(1.0), 0.0..20.0];
        let flow = (time, prop_oneof![Just(1.0), 0.01..10.0], path);
        (Just(capacities), proptest::collection::vec(flow, 1..40))
    })
}

proptest! {
    #[test]
    fn flows_leave_when_they_should((capacities, given) in cases(), in_lines in any::<bool>()) {
        let expected = slowly(&capacities, &given, in_lines);
        let got = every(Span::ZERO, &capacities, given.clone(), in_lines);
        for ((got, expected), flow) in got.iter().zip(&expected).zip(&given) {
            prop_assert!(
                (got - expected).abs() < 1e-7 * expected.max(1.0),
                "{flow:?}: {got}, not {expected}"
            );
        }
    }
}
