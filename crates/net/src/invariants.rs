//! Sums of tokens that no firing can change.
//!
//! A semiflow gives every node a weight of zero or more such that the weighted
//! sum of tokens stays the same in every firing, whatever the colours do. They
//! are found by Farkas's elimination (Martinez and Silva 1982; Murata 1989,
//! §VI.B). A node that no semiflow covers may gain or lose tokens for ever.

/// The minimal semiflows of a net.
#[derive(Clone, Default, Debug)]
pub struct Invariants {
    /// Weights by node, one row an invariant.
    pub(crate) weights: Vec<Vec<i64>>,
    /// True if the search had to be given up (see [`MOST_ROWS`]).
    pub(crate) incomplete: bool,
}

/// Elimination can need exponentially many rows; past this many it stops.
const MOST_ROWS: usize = 4096;

impl Invariants {
    /// Returns true if some invariant includes this node; if the search was given up, every node
    /// has the benefit of the doubt.
    pub(crate) fn covers(&self, node: usize) -> bool {
        self.incomplete || self.weights.iter().any(|weights| weights[node] > 0)
    }
}

struct Row {
    /// Change of the weighted sum by each mode; all zero for an invariant.
    change: Vec<i64>,
    weights: Vec<i64>,
    /// The nodes that have a weight, 64 to a word.
    support: Vec<u64>,
}

impl Row {
    fn new(change: Vec<i64>, weights: Vec<i64>) -> Row {
        let word = |weights: &[i64]| {
            let bits = weights.iter().enumerate();
            bits.fold(0, |word, (bit, &weight)| {
                word | u64::from(weight != 0) << bit
            })
        };
        Row {
            support: weights.chunks(64).map(word).collect(),
            change,
            weights,
        }
    }

    /// Returns true if all its nodes are among another row's.
    fn within(&self, other: &Row) -> bool {
        let mut words = self.support.iter().zip(&other.support);
        words.all(|(own, other)| own & !other == 0)
    }
}

/// Finds them from what each mode of firing changes (`modes[m][node]`).
pub(crate) fn find(modes: &[Vec<i64>], nodes: usize) -> Invariants {
    let mut rows: Vec<Row> = (0..nodes)
        .map(|node| {
            let weights = (0..nodes).map(|other| i64::from(other == node));
            Row::new(
                modes.iter().map(|mode| mode[node]).collect(),
                weights.collect(),
            )
        })
        .collect();
    let mut left: Vec<usize> = (0..modes.len()).collect();
    while !left.is_empty() {
        // The mode that makes the fewest new rows goes first; one is few enough.
        let cost = |mode: usize| {
            let ups = rows.iter().filter(|row| row.change[mode] > 0).count();
            let downs = rows.iter().filter(|row| row.change[mode] < 0).count();
            ups * downs
        };
        let cheap = (0..left.len()).find(|&position| cost(left[position]) <= 1);
        let cheapest = || (0..left.len()).min_by_key(|&position| cost(left[position]));
        let Some(position) = cheap.or_else(cheapest) else {
            break;
        };
        let mode = left.swap_remove(position);
        let given_up = Invariants {
            weights: Vec::new(),
            incomplete: true,
        };
        let mut combined = Vec::new();
        for up in rows.iter().filter(|row| row.change[mode] > 0) {
            for down in rows.iter().filter(|row| row.change[mode] < 0) {
                let Some(row) = cancel(up, down, mode) else {
                    return given_up;
                };
                combined.push(row);
            }
            if combined.len() > MOST_ROWS {
                return given_up;
            }
        }
        rows.retain(|row| row.change[mode] == 0);
        add_minimal(&mut rows, combined);
        if rows.len() > MOST_ROWS {
            return given_up;
        }
    }
    let mut weights: Vec<Vec<i64>> = rows.into_iter().map(|row| row.weights).collect();
    weights.sort_by(|a, b| b.cmp(a));
    Invariants {
        weights,
        incomplete: false,
    }
}

/// The sum of two rows, scaled so that they cancel in `mode`; none on overflow.
fn cancel(up: &Row, down: &Row, mode: usize) -> Option<Row> {
    let (plus, minus) = (up.change[mode], -down.change[mode]);
    let common = greatest_common_divisor(plus, minus);
    let sum = |a: &[i64], b: &[i64]| -> Option<Vec<i64>> {
        let term = |(x, y): (&i64, &i64)| {
            x.checked_mul(minus / common)?
                .checked_add(y.checked_mul(plus / common)?)
        };
        a.iter().zip(b).map(term).collect()
    };
    let mut change = sum(&up.change, &down.change)?;
    let mut weights = sum(&up.weights, &down.weights)?;
    let values = change.iter().chain(&weights);
    let divisor = values.fold(0, |divisor, &value| {
        greatest_common_divisor(divisor, value.abs())
    });
    if divisor > 1 {
        for value in change.iter_mut().chain(&mut weights) {
            *value /= divisor;
        }
    }
    Some(Row::new(change, weights))
}

/// Adds the rows whose nodes do not include all of another row's. Those there
/// stay: a new row's nodes include those of two that were there before, and
/// none of these lay within another.
fn add_minimal(rows: &mut Vec<Row>, combined: Vec<Row>) {
    let minimal: Vec<bool> = (0..combined.len())
        .map(|index| {
            let new = &combined[index];
            let smaller = |(other, row): (usize, &Row)| {
                other != index && row.within(new) && (other < index || !new.within(row))
            };
            !rows.iter().any(|row| row.within(new)) && !combined.iter().enumerate().any(smaller)
        })
        .collect();
    let kept = combined.into_iter().zip(minimal);
    rows.extend(kept.filter_map(|(row, minimal)| minimal.then_some(row)));
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_conserves_its_tokens() {
        // a → b → c → a
        let modes = [vec![-1, 1, 0], vec![0, -1, 1], vec![1, 0, -1]];
        assert_eq!(find(&modes, 3).weights, [[1, 1, 1]]);
    }

    #[test]
    fn a_fork_of_two_weighs_two() {
        // request → 2 jobs; 2 jobs → request
        let modes = [vec![-1, 2], vec![1, -2]];
        assert_eq!(find(&modes, 2).weights, [[2, 1]]);
    }

    #[test]
    fn a_leak_uncovers_its_place() {
        // a → b, b → nothing; c → d → c
        let modes = [
            vec![-1, 1, 0, 0],
            vec![0, -1, 0, 0],
            vec![0, 0, -1, 1],
            vec![0, 0, 1, -1],
        ];
        let found = find(&modes, 4);
        assert_eq!(found.weights, [[0, 0, 1, 1]]);
        assert!(!found.covers(0) && !found.covers(1) && found.covers(2));
    }
}
