//! The first tokens of a net.

use super::Node;
use crate::expression::{Pure, evaluate};

/// The most first tokens of one copy of a node.
const MOST_INITIAL: usize = 10_000_000;

/// The first tokens of a copy of a node, in words.
///
/// # Errors
/// An expression has no value, or there are too many.
pub fn initial_tokens(node: &Node, copy: u32) -> Result<Vec<Vec<i64>>, String> {
    let mut world = Pure::at(0, copy);
    let mut tokens = Vec::new();
    for initial in &node.initial {
        let (from, to) = match &initial.each {
            None => (0, 0),
            Some((from, to)) => (
                evaluate(from, &[], &mut world),
                evaluate(to, &[], &mut world),
            ),
        };
        if to.saturating_sub(from) >= MOST_INITIAL as i64 {
            return Err(format!(
                "expected at most {MOST_INITIAL} values from {from} to {to}"
            ));
        }
        for each in from..=to {
            let frame = [each];
            let count = evaluate(&initial.count, &frame, &mut world);
            let token: Vec<i64> = initial
                .words
                .iter()
                .map(|code| evaluate(code, &frame, &mut world))
                .collect();
            if let Some(failure) = &world.failure {
                return Err(format!("initial: {failure}"));
            }
            if count < 0 || count as usize > MOST_INITIAL - tokens.len().min(MOST_INITIAL) {
                return Err(format!(
                    "expected from 0 to {MOST_INITIAL} tokens, not {count}"
                ));
            }
            tokens.extend(std::iter::repeat_n(token, count as usize));
        }
    }
    Ok(tokens)
}
