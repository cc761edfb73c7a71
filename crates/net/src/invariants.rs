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

/// Numbers by place in a row, in order; all others are 0.
type Sparse = Vec<(u32, i64)>;

struct Row {
    /// Change of the weighted sum by each mode; empty for an invariant.
    change: Sparse,
    /// Weights by node.
    weights: Sparse,
    /// The nodes that have a weight, 64 to a word.
    support: Vec<u64>,
}

impl Row {
    fn new(change: Sparse, weights: Sparse, nodes: usize) -> Row {
        let mut support = vec![0; nodes.div_ceil(64)];
        for &(node, _) in &weights {
            support[node as usize / 64] |= 1 << (node % 64);
        }
        Row {
            change,
            weights,
            support,
        }
    }

    /// The first of its nodes.
    fn first(&self) -> usize {
        self.weights.first().map_or(0, |it| it.0 as usize)
    }

    /// Returns true if all its nodes are among another row's.
    fn within(&self, other: &Row) -> bool {
        if self.weights.len() > other.weights.len() {
            return false;
        }
        let mut words = self.support.iter().zip(&other.support);
        words.all(|(own, other)| own & !other == 0)
    }
}

/// A search: its rows, and how many of them each mode raises and lowers.
struct Search {
    nodes: usize,
    /// Rows by number; none of those that are gone.
    rows: Vec<Option<Row>>,
    /// Number of rows that are there.
    there: usize,
    /// Rows that each mode changes, and rows by their first node; some are gone.
    of_mode: Vec<Vec<u32>>,
    of_first: Vec<Vec<u32>>,
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
        nodes,
        rows: Vec::new(),
        there: 0,
        of_mode: vec![Vec::new(); modes.len()],
        of_first: vec![Vec::new(); nodes],
        ups: vec![0; modes.len()],
        downs: vec![0; modes.len()],
        work: 0,
    };
    let mut changes: Vec<Sparse> = vec![Vec::new(); nodes];
    for (index, mode) in modes.iter().enumerate() {
        for &(node, by) in mode {
            changes[node as usize].push((index as u32, by));
        }
    }
    for (node, change) in changes.into_iter().enumerate() {
        search.count((nodes / 64 + change.len()) as u64)?;
        search.add(Row::new(change, vec![(node as u32, 1)], nodes));
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
    search.count((search.there * nodes) as u64)?;
    let dense = |row: Row| {
        let mut weights = vec![0; nodes];
        for (node, weight) in row.weights {
            weights[node as usize] = weight;
        }
        weights
    };
    let mut weights: Vec<Vec<i64>> = search.rows.into_iter().flatten().map(dense).collect();
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
        let number = self.rows.len() as u32;
        for &(mode, _) in &row.change {
            self.of_mode[mode as usize].push(number);
        }
        self.of_first[row.first()].push(number);
        self.rows.push(Some(row));
        self.there += 1;
    }

    fn note(&mut self, row: &Row, by: isize) {
        for &(mode, change) in &row.change {
            let counts = if change > 0 {
                &mut self.ups
            } else {
                &mut self.downs
            };
            let count = &mut counts[mode as usize];
            *count = count.saturating_add_signed(by);
        }
    }

    /// Replaces the rows that a mode changes by sums that it does not change.
    fn remove(&mut self, mode: usize) -> Result<(), Aborted> {
        let numbers = std::mem::take(&mut self.of_mode[mode]);
        let changed: Vec<Row> = numbers
            .into_iter()
            .filter_map(|number| self.rows[number as usize].take())
            .collect();
        self.there -= changed.len();
        changed.iter().for_each(|row| self.note(row, -1));
        let by = |row: &Row| value(&row.change, mode);
        let (ups, downs): (Vec<&Row>, Vec<&Row>) = changed.iter().partition(|row| by(row) > 0);
        let mut combined = Vec::new();
        for up in &ups {
            for down in &downs {
                let numbers = up.change.len() + up.weights.len();
                let numbers = numbers + down.change.len() + down.weights.len();
                self.count((numbers + self.nodes / 64) as u64)?;
                combined.push(cancel(up, down, mode, self.nodes).ok_or(Aborted)?);
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
        let words = self.nodes / 64;
        let pairs = combined.len() * combined.len();
        // Most comparisons end at the first node.
        self.count(pairs as u64 * (1 + words as u64 / 16))?;
        let mut minimal = Vec::new();
        for (index, new) in combined.iter().enumerate() {
            let smaller = |(other, row): (usize, &Row)| {
                other != index && row.within(new) && (other < index || !new.within(row))
            };
            minimal.push(!self.has_within(new)? && !combined.iter().enumerate().any(smaller));
        }
        for (row, minimal) in combined.into_iter().zip(minimal) {
            if minimal {
                self.add(row);
            }
        }
        match self.there > MOST_ROWS.max(self.nodes) {
            true => Err(Aborted),
            false => Ok(()),
        }
    }

    /// Returns true if there is a row whose nodes are all among those of a new one.
    fn has_within(&mut self, new: &Row) -> Result<bool, Aborted> {
        for &(node, _) in &new.weights {
            self.count(1 + self.of_first[node as usize].len() as u64)?;
            let rows = &self.rows;
            self.of_first[node as usize].retain(|number| rows[*number as usize].is_some());
            let mut some = self.of_first[node as usize].iter();
            let within = |row: &Row| row.within(new);
            if some.any(|number| rows[*number as usize].as_ref().is_some_and(within)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A number in a row.
fn value(numbers: &Sparse, place: usize) -> i64 {
    let at = numbers.binary_search_by_key(&(place as u32), |it| it.0);
    at.map_or(0, |at| numbers[at].1)
}

/// The sum of two rows, scaled so that they cancel in `mode`; none on overflow.
fn cancel(up: &Row, down: &Row, mode: usize, nodes: usize) -> Option<Row> {
    let (plus, minus) = (value(&up.change, mode), -value(&down.change, mode));
    let common = greatest_common_divisor(plus, minus);
    let factors = (minus / common, plus / common);
    let mut change = sum(&up.change, &down.change, factors)?;
    let mut weights = sum(&up.weights, &down.weights, factors)?;
    let values = change.iter().chain(&weights);
    let divisor = values.fold(0, |divisor, (_, value)| {
        greatest_common_divisor(divisor, value.abs())
    });
    if divisor > 1 {
        for (_, value) in change.iter_mut().chain(&mut weights) {
            *value /= divisor;
        }
    }
    Some(Row::new(change, weights, nodes))
}

/// The sum of two rows times a factor each; none on overflow.
fn sum(one: &Sparse, other: &Sparse, factors: (i64, i64)) -> Option<Sparse> {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    let mut all = Vec::with_capacity(one.len() + other.len());
    loop {
        let places = (left.peek().map(|it| it.0), right.peek().map(|it| it.0));
        let place = match places {
            (None, None) => return Some(all),
            (Some(place), None) | (None, Some(place)) => place,
            (Some(one), Some(other)) => one.min(other),
        };
        let one = left.next_if(|it| it.0 == place).map_or(0, |it| it.1);
        let other = right.next_if(|it| it.0 == place).map_or(0, |it| it.1);
        let value = one
            .checked_mul(factors.0)?
            .checked_add(other.checked_mul(factors.1)?)?;
        if value != 0 {
            all.push((place, value));
        }
    }
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
    fn a_ring_of_many_conserves_its_tokens() {
        let nodes = 5000_u32;
        let mode = |node: u32| vec![(node, -1), ((node + 1) % nodes, 1)];
        let ring = find(&(0..nodes).map(mode).collect::<Vec<_>>(), nodes as usize);
        assert_eq!(ring.weights, [vec![1; nodes as usize]]);
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
