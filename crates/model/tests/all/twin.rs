//! State spaces against a slow and obvious twin: markings are maps of tokens, and all bindings are
//! tried.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use crate::nets::{runs, space};
use proptest::prelude::*;

const PLACES: usize = 3;
/// Tokens are numbers below this.
const VALUES: i64 = 3;

/// A transition. It has the places that it takes from, with the condition on each token's value
/// (nothing, or the value of the first token plus this). It has the places that it puts into, with
/// the addition to the value of the first token.
#[derive(Clone, Debug)]
struct Rule {
    takes: Vec<(usize, Option<i64>)>,
    puts: Vec<(usize, i64)>,
    /// The least value of the first token.
    least: i64,
    /// The addition to a store's field, below [`VALUES`] again.
    adds: i64,
}

type Marking = (Vec<BTreeMap<i64, u32>>, i64);

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let takes = prop::collection::vec((0..PLACES, prop::option::of(0..VALUES)), 1..4);
    // No more tokens are put than taken, so that spaces are finite.
    let rule = takes.prop_flat_map(|takes| {
        let puts = prop::collection::vec((0..PLACES, 0..VALUES), 0..=takes.len());
        let rest = (puts, 0..2_i64, 0..VALUES);
        rest.prop_map(move |(puts, least, adds)| Rule {
            takes: takes.clone(),
            puts,
            least,
            adds,
        })
    });
    prop::collection::vec(rule, 1..4)
}

fn initial() -> impl Strategy<Value = Vec<Vec<i64>>> {
    prop::collection::vec(prop::collection::vec(0..VALUES, 0..3), PLACES)
}

/// The net as a document; its state is in a store, or in a place with one token.
fn document(initial: &[Vec<i64>], rules: &[Rule], store: bool) -> String {
    let mut text = String::new();
    match store {
        true => text += "[stores.sum]\nof = 0\n",
        false => text += "[places.sum]\ncolour = 'int'\ninitial = [0]\nsink = true\n",
    }
    for (place, tokens) in initial.iter().enumerate() {
        writeln!(
            text,
            "[places.p{place}]\ncolour = 'int'\nsink = true\ninitial = {tokens:?}"
        )
        .unwrap();
        // Filled by something, whatever the rules are.
        writeln!(
            text,
            "[transitions.never{place}]\ntake = [{{ place = 'p{place}', token = 'v' }}]\n\
             when = 'v < 0'\nput = [{{ place = 'p{place}', token = 'v' }}]"
        )
        .unwrap();
    }
    for (number, rule) in rules.iter().enumerate() {
        let take = rule
            .takes
            .iter()
            .enumerate()
            .map(|(input, (place, offset))| {
                let token = match (input, offset) {
                    (0, _) => "first".to_owned(),
                    (_, Some(offset)) => format!("(first + {offset}) % {VALUES}"),
                    _ => format!("v{input}"),
                };
                format!("{{ place = 'p{place}', token = '{token}' }}")
            });
        let put = rule.puts.iter().map(|(place, offset)| {
            format!("{{ place = 'p{place}', token = '(first + {offset}) % {VALUES}' }}")
        });
        let (mut take, mut put): (Vec<_>, Vec<_>) = (take.collect(), put.collect());
        let adds = rule.adds;
        let set = match store {
            true => format!("set = 'sum.of = (sum.of + {adds}) % {VALUES}'\n"),
            false => {
                take.push("{ place = 'sum', token = 's' }".to_owned());
                put.push(format!(
                    "{{ place = 'sum', token = '(s + {adds}) % {VALUES}' }}"
                ));
                String::new()
            }
        };
        writeln!(
            text,
            "[transitions.t{number}]\ntake = [{}]\nput = [{}]\nwhen = 'first >= {}'\n{set}",
            take.join(", "),
            put.join(", "),
            rule.least
        )
        .unwrap();
    }
    text
}

/// All markings after a firing of a rule, one for each different binding.
fn successors(marking: &Marking, rule: &Rule) -> Vec<Marking> {
    let mut bindings = BTreeSet::new();
    bind(&marking.0, rule, &mut Vec::new(), &mut bindings);
    let fire = |values: &Vec<i64>| {
        let (mut places, sum) = marking.clone();
        for ((place, _), value) in rule.takes.iter().zip(values) {
            take(&mut places[*place], *value);
        }
        for (place, offset) in &rule.puts {
            *places[*place]
                .entry((values[0] + offset) % VALUES)
                .or_default() += 1;
        }
        (places, (sum + rule.adds) % VALUES)
    };
    bindings.iter().map(fire).collect()
}

fn take(tokens: &mut BTreeMap<i64, u32>, value: i64) {
    let count = tokens.get_mut(&value).unwrap();
    *count -= 1;
    if *count == 0 {
        tokens.remove(&value);
    }
}

fn bind(
    places: &[BTreeMap<i64, u32>],
    rule: &Rule,
    values: &mut Vec<i64>,
    found: &mut BTreeSet<Vec<i64>>,
) {
    let Some((place, offset)) = rule.takes.get(values.len()) else {
        if values[0] >= rule.least {
            found.insert(values.clone());
        }
        return;
    };
    for value in 0..VALUES {
        let wanted = match (values.first(), offset) {
            (Some(first), Some(offset)) => (first + offset) % VALUES == value,
            _ => true,
        };
        if wanted && places[*place].contains_key(&value) {
            let mut rest = places.to_vec();
            take(&mut rest[*place], value);
            values.push(value);
            bind(&rest, rule, values, found);
            values.pop();
        }
    }
}

/// Markings and those without successor.
fn explore(initial: &[Vec<i64>], rules: &[Rule]) -> (usize, usize) {
    let mut places = vec![BTreeMap::new(); PLACES];
    for (place, tokens) in places.iter_mut().zip(initial) {
        tokens
            .iter()
            .for_each(|value| *place.entry(*value).or_default() += 1);
    }
    let first: Marking = (places, 0);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    let mut dead = 0;
    while let Some(marking) = queue.pop_front() {
        let next: Vec<Marking> = rules
            .iter()
            .flat_map(|it| successors(&marking, it))
            .collect();
        dead += usize::from(next.is_empty());
        for marking in next {
            if seen.insert(marking.clone()) {
                queue.push_back(marking);
            }
        }
    }
    (seen.len(), dead)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_state_space_is_that_of_its_twin(initial in initial(), rules in rules()) {
        let expected = explore(&initial, &rules);
        let with_store = space(&document(&initial, &rules, true), None);
        prop_assert_eq!((with_store.states, with_store.dead), expected);
        // A store is a place with one token.
        let with_place = space(&document(&initial, &rules, false), None);
        prop_assert_eq!((with_place.states, with_place.dead), expected);
        prop_assert_eq!(with_store.arcs, with_place.arcs);
        prop_assert_eq!(with_store.components, with_place.components);
    }

    #[test]
    fn a_run_with_a_store_is_that_with_a_place(initial in initial(), rules in rules()) {
        // Rules that take more than they put, so that runs end.
        let ends: Vec<Rule> =
            rules.into_iter().filter(|it| it.puts.len() < it.takes.len()).collect();
        let [store, place] = [true, false].map(|it| runs(&document(&initial, &ends, it), 1.0, 1).remove(0));
        let firings = |result: &headrace_model::RunResult| -> Vec<u64> {
            result.transitions.iter().map(|it| it.firings).collect()
        };
        prop_assert_eq!(firings(&store), firings(&place));
        prop_assert_eq!(store.stores[0].fields["of"].len(), 1);
    }
}
