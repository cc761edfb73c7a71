use proptest::prelude::*;

use super::*;

fn rate(fair: &Fair, flow: FlowId) -> f64 {
    fair.level(fair.bottleneck(flow))
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

/// Rates by the definition, slowly: all grow together until a resource is full,
/// whose flows stop growing.
fn by_definition(capacities: &[f64], paths: &[Vec<u32>]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; paths.len()];
    while rates.iter().any(Option::is_none) {
        let mut least = f64::INFINITY;
        let share = |resource: usize, rates: &[Option<f64>]| {
            let on = |path: &Vec<u32>| path.contains(&(resource as u32));
            let (mut left, mut growing) = (capacities[resource], 0);
            for (path, rate) in paths.iter().zip(rates) {
                match rate {
                    Some(rate) if on(path) => left -= rate,
                    None if on(path) => growing += 1,
                    _ => {}
                }
            }
            (growing > 0).then(|| left.max(0.0) / f64::from(growing))
        };
        for resource in 0..capacities.len() {
            least = least.min(share(resource, &rates).unwrap_or(f64::INFINITY));
        }
        let full: Vec<u32> = (0..capacities.len())
            .filter(|&it| share(it, &rates).is_some_and(|share| share <= least * (1.0 + 1e-12)))
            .map(|it| it as u32)
            .collect();
        for (path, rate) in paths.iter().zip(&mut rates) {
            if rate.is_none() && path.iter().any(|it| full.contains(it)) {
                *rate = Some(least);
            }
        }
    }
    rates.into_iter().map(Option::unwrap).collect()
}

/// The example of Bertsekas and Gallager 1992, §6.5.2. In a chain of links of capacity 1, one
/// session uses all links, and others use single links.
#[test]
fn a_long_flow_among_short_ones() {
    // Links 0..4; flow A over all, B and C on link 1, D on link 3.
    let mut fair = Fair::new([1.0; 5]);
    let long = fair.add(&[0, 1, 2, 3, 4]).unwrap();
    let short: Vec<FlowId> = [1, 1, 3].map(|it| fair.add(&[it]).unwrap()).to_vec();
    fair.solve();
    assert!(close(rate(&fair, long), 1.0 / 3.0));
    assert!(close(rate(&fair, short[0]), 1.0 / 3.0));
    assert!(close(rate(&fair, short[2]), 2.0 / 3.0));
    fair.remove(short[0]);
    fair.solve();
    assert!(close(rate(&fair, long), 0.5));
    assert!(close(rate(&fair, short[2]), 0.5));
}

#[test]
fn what_one_link_leaves_goes_to_others() {
    // Capacities 10 and 4: two flows over both get 2 each, two over the first
    // share the 6 that remain.
    let mut fair = Fair::new([10.0, 4.0]);
    let both: Vec<_> = (0..2).map(|_| fair.add(&[0, 1]).unwrap()).collect();
    let one: Vec<_> = (0..2).map(|_| fair.add(&[0]).unwrap()).collect();
    fair.solve();
    assert!(both.iter().all(|&it| close(rate(&fair, it), 2.0)));
    assert!(one.iter().all(|&it| close(rate(&fair, it), 3.0)));
}

#[test]
fn paths_that_cannot_be() {
    let mut fair = Fair::new([1.0; 20]);
    assert_eq!(fair.add(&[]), None);
    assert_eq!(fair.add(&[20]), None);
    assert_eq!(fair.add(&(0..9).collect::<Vec<u32>>()), None);
    let twice = fair.add(&[3, 3, 3, 3, 3, 3, 3, 3, 3]).unwrap();
    fair.solve();
    assert!(close(rate(&fair, twice), 1.0));
}

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<u32>),
    Remove(usize),
    Solve,
}

fn steps() -> impl Strategy<Value = (Vec<f64>, Vec<Step>)> {
    let capacity = prop_oneof![Just(1.0), Just(4.0), 0.1..10.0];
    proptest::collection::vec(capacity, 1..12).prop_flat_map(|capacities| {
        let count = capacities.len() as u32;
        let path = proptest::collection::vec(0..count, 1..5);
        let step = prop_oneof![
            3 => path.prop_map(Step::Add),
            2 => (0..1000_usize).prop_map(Step::Remove),
            3 => Just(Step::Solve),
        ];
        (Just(capacities), proptest::collection::vec(step, 1..60))
    })
}

proptest! {
    /// After any arrivals and departures, rates are those of the definition; so
    /// are those computed all at once.
    #[test]
    fn rates_are_max_min_fair((capacities, steps) in steps()) {
        let mut fair = Fair::new(capacities.clone());
        let mut present: Vec<(FlowId, Vec<u32>)> = Vec::new();
        for step in steps.into_iter().chain([Step::Solve]) {
            match step {
                Step::Add(path) => {
                    let id = fair.add(&path).unwrap();
                    present.push((id, path));
                }
                Step::Remove(which) if !present.is_empty() => {
                    let (id, _) = present.swap_remove(which % present.len());
                    fair.remove(id);
                }
                Step::Remove(_) => {}
                Step::Solve => {
                    fair.solve();
                    let paths: Vec<Vec<u32>> = present.iter().map(|it| it.1.clone()).collect();
                    let expected = by_definition(&capacities, &paths);
                    let mut filled = fair.clone();
                    filled.fill();
                    for ((id, path), expected) in present.iter().zip(expected) {
                        let (got, all) = (rate(&fair, *id), rate(&filled, *id));
                        prop_assert!(close(got, expected), "{path:?}: {got}, not {expected}");
                        prop_assert!(close(all, expected), "{path:?}: {all}, not {expected}");
                    }
                }
            }
        }
    }
}
