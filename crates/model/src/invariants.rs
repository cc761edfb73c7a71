//! Transition invariants: numbers of firings that together leave the number of tokens in every
//! place unchanged. They are the place invariants of the transposed net (Murata 1989, §VI.B).
//! Colours and conditions are ignored: a transition invariant says what may return the net to a
//! marking, not that it does.

use crate::expression::Code;
use crate::program::Program;

/// More rows than this end the search.
const MOST_ROWS: usize = 2048;

/// The minimal transition invariants in words, such as "net/send + net/receive". None if the
/// number of tokens that a transition puts depends on tokens or chance, or there are too many.
pub fn transition_invariants(program: &Program) -> Option<Vec<String>> {
    let transitions = program.transitions.len();
    let mut rows: Vec<(Vec<i64>, Vec<i64>)> = Vec::new();
    for (index, transition) in program.transitions.iter().enumerate() {
        let mut change = vec![0_i64; program.nodes.len()];
        for input in &transition.inputs {
            change[input.node] -= 1;
        }
        for output in &transition.outputs {
            let count = match (&output.when, &output.count) {
                (None, None) => 1,
                (None, Some(Code::Constant(count))) => *count,
                _ => return None,
            };
            change[output.node] = change[output.node].checked_add(count)?;
        }
        let mut firings = vec![0; transitions];
        firings[index] = 1;
        rows.push((change, firings));
    }
    for node in 0..program.nodes.len() {
        let mut combined = Vec::new();
        for up in rows.iter().filter(|(change, _)| change[node] > 0) {
            for down in rows.iter().filter(|(change, _)| change[node] < 0) {
                let (plus, minus) = (up.0[node], -down.0[node]);
                let sum = |a: &[i64], b: &[i64]| -> Option<Vec<i64>> {
                    let terms = a.iter().zip(b);
                    let term = |(x, y): (&i64, &i64)| {
                        x.checked_mul(minus)?.checked_add(y.checked_mul(plus)?)
                    };
                    terms.map(term).collect()
                };
                let (mut change, mut firings) = (sum(&up.0, &down.0)?, sum(&up.1, &down.1)?);
                let all = change.iter().chain(&firings);
                let divisor = all.fold(0, |a, &b| common_divisor(a, b.abs())).max(1);
                let values = change.iter_mut().chain(&mut firings);
                values.for_each(|value| *value /= divisor);
                combined.push((change, firings));
            }
        }
        rows.retain(|(change, _)| change[node] == 0);
        rows.extend(combined);
        minimal(&mut rows);
        if rows.len() > MOST_ROWS {
            return None;
        }
    }
    let words = rows.iter().map(|(_, firings)| {
        let terms = firings
            .iter()
            .enumerate()
            .filter(|(_, number)| **number > 0);
        let terms: Vec<String> = terms
            .map(|(index, number)| match number {
                1 => program.transition_path(index),
                number => format!("{number} {}", program.transition_path(index)),
            })
            .collect();
        terms.join(" + ")
    });
    Some(words.collect())
}

/// Drops rows whose transitions include all of another's.
fn minimal(rows: &mut Vec<(Vec<i64>, Vec<i64>)>) {
    let within = |a: &[i64], b: &[i64]| a.iter().zip(b).all(|(a, b)| *a == 0 || *b > 0);
    let mut index = 0;
    while index < rows.len() {
        let larger = (0..rows.len()).any(|other| {
            other != index
                && within(&rows[other].1, &rows[index].1)
                && (other < index || !within(&rows[index].1, &rows[other].1))
        });
        match larger {
            true => drop(rows.remove(index)),
            false => index += 1,
        }
    }
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
