//! Sums of tokens that no firing can change.
//!
//! A semiflow gives every node a weight of zero or more. The weighted sum of
//! tokens stays the same in every firing, for all colours. They are found by
//! Farkas's elimination (Martinez and Silva 1982; Murata 1989, §VI.B). A node
//! that no semiflow covers may gain or lose tokens for ever.

/// Sparse changes of tokens: nodes, and the number of tokens that each gains. A node may occur
/// several times.
pub type Changes = Vec<(u32, i64)>;

/// The minimal semiflows of a net.
#[derive(Clone, Default, Debug)]
pub struct Invariants {
    /// Weights by node, one row an invariant.
    pub weights: Vec<Vec<i64>>,
    /// True if the search ended at a limit, and `weights` is empty.
    pub incomplete: bool,
}

/// Elimination can need exponentially many rows; past this many it ends.
const MOST_ROWS: usize = 4096;
/// Numbers that elimination may compute and compare: about a second of work, and at most as many
/// words of memory.
const MOST_WORK: u64 = 1 << 28;

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
    /// The first of them.
    first: usize,
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
            first: weights.iter().position(|it| *it != 0).unwrap_or(0),
            change,
            weights,
        }
    }

    /// Returns true if all its nodes are among another row's.
    fn within(&self, other: &Row) -> bool {
        if other.weights.get(self.first) == Some(&0) {
            return false;
        }
        let mut words = self.support.iter().zip(&other.support);
        words.all(|(own, other)| own & !other == 0)
    }
}

/// A search: its rows, and how many of them each mode raises and lowers.
struct Search {
    rows: Vec<Row>,
    ups: Vec<usize>,
    downs: Vec<usize>,
    work: u64,
}

/// The search ended at a limit.
struct Aborted;

/// Finds the semiflows of a net from what each mode of firing changes.
pub fn find(modes: &[Changes], nodes: usize) -> Invariants {
    let modes = distinct(modes);
    let weights = match eliminate(&modes, nodes) {
        Ok(weights) => weights,
        Err(Aborted) => {
            return Invariants {
                weights: Vec::new(),
                incomplete: true,
            };
        }
    };
    Invariants {
        weights,
        incomplete: false,
    }
}

/// The modes that are no multiple of another: the others allow the same sums.
fn distinct(modes: &[Changes]) -> Vec<Changes> {
    let normal = |mode: &Changes| {
        let mut mode = mode.clone();
        mode.sort_unstable();
        mode.dedup_by(|next, last| {
            let same = next.0 == last.0;
            last.1 += if same { next.1 } else { 0 };
            same
        });
        mode.retain(|(_, by)| *by != 0);
        let divisor = mode.iter().fold(0, |divisor, (_, by)| {
            greatest_common_divisor(divisor, by.abs())
        });
        let sign = mode.first().map_or(1, |(_, by)| by.signum());
        mode.iter_mut().for_each(|(_, by)| *by /= divisor * sign);
        mode
    };
    let mut modes: Vec<Changes> = modes.iter().map(normal).collect();
    modes.retain(|mode| !mode.is_empty());
    modes.sort_unstable();
    modes.dedup();
    modes
}

fn eliminate(modes: &[Changes], nodes: usize) -> Result<Vec<Vec<i64>>, Aborted> {
    let mut search = Search {
        rows: Vec::new(),
        ups: vec![0; modes.len()],
        downs: vec![0; modes.len()],
        work: 0,
    };
    search.count((nodes as u64).saturating_mul((nodes + modes.len()) as u64))?;
    let mut changes = vec![vec![0; modes.len()]; nodes];
    for (index, mode) in modes.iter().enumerate() {
        for &(node, by) in mode {
            changes[node as usize][index] = by;
        }
    }
    for (node, change) in changes.into_iter().enumerate() {
        let weights = (0..nodes).map(|other| i64::from(other == node));
        search.add(Row::new(change, weights.collect()));
    }
    let mut left: Vec<usize> = (0..modes.len()).collect();
    while !left.is_empty() {
        search.count(left.len() as u64)?;
        // The mode that makes the fewest new rows goes first; one is few enough.
        let cost = |position: &usize| search.ups[left[*position]] * search.downs[left[*position]];
        let cheap = (0..left.len()).find(|position| cost(position) <= 1);
        let Some(position) = cheap.or_else(|| (0..left.len()).min_by_key(cost)) else {
            break;
        };
        let mode = left.swap_remove(position);
        search.remove(mode)?;
    }
    let mut weights: Vec<Vec<i64>> = search.rows.into_iter().map(|row| row.weights).collect();
    weights.sort_by(|a, b| b.cmp(a));
    Ok(weights)
}

impl Search {
    fn count(&mut self, work: u64) -> Result<(), Aborted> {
        self.work = self.work.saturating_add(work);
        match self.work > MOST_WORK {
            true => Err(Aborted),
            false => Ok(()),
        }
    }

    fn add(&mut self, row: Row) {
        self.note(&row, 1);
        self.rows.push(row);
    }

    fn note(&mut self, row: &Row, by: isize) {
        for (mode, change) in row.change.iter().enumerate() {
            let count = match change.signum() {
                1 => &mut self.ups[mode],
                -1 => &mut self.downs[mode],
                _ => continue,
            };
            *count = count.saturating_add_signed(by);
        }
    }

    /// Replaces the rows that a mode changes by sums that it does not change.
    fn remove(&mut self, mode: usize) -> Result<(), Aborted> {
        let (changed, rest): (Vec<Row>, Vec<Row>) = std::mem::take(&mut self.rows)
            .into_iter()
            .partition(|row| row.change[mode] != 0);
        self.rows = rest;
        changed.iter().for_each(|row| self.note(row, -1));
        let (ups, downs): (Vec<&Row>, Vec<&Row>) =
            changed.iter().partition(|row| row.change[mode] > 0);
        let mut combined = Vec::new();
        for up in &ups {
            for down in &downs {
                self.count((up.change.len() + up.weights.len()) as u64)?;
                combined.push(cancel(up, down, mode).ok_or(Aborted)?);
            }
            if combined.len() > MOST_ROWS {
                return Err(Aborted);
            }
        }
        self.add_minimal(combined)
    }

    /// Adds the rows whose nodes do not include all of another row's. Those there
    /// stay: a new row's nodes include those of two that were there before, and
    /// none of these lay within another.
    fn add_minimal(&mut self, combined: Vec<Row>) -> Result<(), Aborted> {
        let words = combined.first().map_or(0, |row| row.support.len());
        let pairs = combined.len() * (self.rows.len() + combined.len());
        // Most comparisons end at the first node.
        self.count(pairs as u64 * (1 + words as u64 / 16))?;
        let minimal: Vec<bool> = (0..combined.len())
            .map(|index| {
                let new = &combined[index];
                let smaller = |(other, row): (usize, &Row)| {
                    other != index && row.within(new) && (other < index || !new.within(row))
                };
                !self.rows.iter().any(|row| row.within(new))
                    && !combined.iter().enumerate().any(smaller)
            })
            .collect();
        for (row, minimal) in combined.into_iter().zip(minimal) {
            if minimal {
                self.add(row);
            }
        }
        let nodes = self.rows.first().map_or(0, |row| row.weights.len());
        match self.rows.len() > MOST_ROWS.max(nodes) {
            true => Err(Aborted),
            false => Ok(()),
        }
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

    /// Sparse changes of dense modes.
    fn find_dense(modes: &[Vec<i64>], nodes: usize) -> Invariants {
        let sparse = modes
            .iter()
            .map(|mode| (0..).zip(mode.iter().copied()).collect());
        find(&sparse.collect::<Vec<Changes>>(), nodes)
    }

    #[test]
    fn equal_and_opposite_modes_count_once() {
        let mode = |times: i64| vec![(0, -times), (1, times)];
        let modes: Vec<Changes> = (-100..=100).map(mode).collect();
        assert_eq!(distinct(&modes), [[(0, 1), (1, -1)]]);
        assert_eq!(find(&modes, 2).weights, [[1, 1]]);
        // A node that gains and loses a token does not change.
        assert!(distinct(&[vec![(3, 1), (3, -1)]]).is_empty());
    }

    #[test]
    fn exponentially_many_semiflows_are_given_up() {
        // Stages of a ring, each with two places that hold the same tokens: 2^20 semiflows.
        let stages = 20_u32;
        let mode = |stage: u32| {
            let next = (stage + 1) % stages;
            vec![
                (2 * stage, -1),
                (2 * stage + 1, -1),
                (2 * next, 1),
                (2 * next + 1, 1),
            ]
        };
        let modes: Vec<Changes> = (0..stages).map(mode).collect();
        let given_up = find(&modes, 2 * stages as usize);
        assert!(given_up.incomplete && given_up.weights.is_empty() && given_up.covers(0));
    }

    #[test]
    fn a_ring_conserves_its_tokens() {
        // a → b → c → a
        let modes = [vec![-1, 1, 0], vec![0, -1, 1], vec![1, 0, -1]];
        assert_eq!(find_dense(&modes, 3).weights, [[1, 1, 1]]);
    }

    #[test]
    fn a_fork_of_two_weighs_two() {
        // request → 2 jobs; 2 jobs → request
        let modes = [vec![-1, 2], vec![1, -2]];
        assert_eq!(find_dense(&modes, 2).weights, [[2, 1]]);
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
        let found = find_dense(&modes, 4);
        assert_eq!(found.weights, [[0, 0, 1, 1]]);
        assert!(!found.covers(0) && !found.covers(1) && found.covers(2));
    }
}
