//! The first tokens of a net.

use super::Node;
use crate::expression::{Pure, Reason, World, evaluate};

/// A world for the first tokens and values of stores: only the copy is known.
pub(super) struct AtStart {
    copy: i64,
    pure: Pure<'static>,
}

impl AtStart {
    pub(super) fn new(copy: u32) -> AtStart {
        AtStart {
            copy: i64::from(copy),
            pure: Pure::default(),
        }
    }

    /// Why an expression had no value.
    pub(super) fn failure(&self) -> Option<&Reason> {
        self.pure.failure.as_ref()
    }
}

impl World for AtStart {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        self.copy
    }
    fn uniform(&mut self) -> f64 {
        self.pure.uniform()
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.pure.below(bound)
    }
    fn stored(&mut self, store: usize, word: usize) -> i64 {
        self.pure.stored(store, word)
    }
    fn fail(&mut self, reason: Reason) {
        self.pure.fail(reason);
    }
}

/// The most first tokens of one copy of a node.
const MOST_INITIAL: usize = 10_000_000;

/// The first tokens of a copy of a node, in words.
///
/// # Errors
/// An expression has no value, or there are too many.
pub fn initial_tokens(node: &Node, copy: u32) -> Result<Vec<Vec<i64>>, String> {
    let mut world = AtStart::new(copy);
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
            if let Some(failure) = world.failure() {
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
