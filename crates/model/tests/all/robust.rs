//! Documents with mistakes: an error or another net, never a panic.

use std::ops::ControlFlow;

use crate::nets::{net, program};
use headrace_model::{Question, Settings, explore, run};
use proptest::prelude::*;

const NETS: [&str; 4] = ["cache", "simple-protocol", "common", "token-ring"];

/// Parts of expressions that take another's place.
const PIECES: [&str; 16] = [
    "0",
    "-1",
    "1.5",
    "1 s",
    "lines",
    "cache.hits",
    "cache.blocks[0]",
    "cache",
    "()",
    "below(3)",
    "[",
    "token",
    "1 // 0",
    "true",
    "exponential(1)",
    "\"x\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mistake_is_no_panic(
        name in prop::sample::select(NETS.to_vec()),
        at in any::<prop::sample::Index>(),
        length in 0_usize..12,
        piece in prop::sample::select(PIECES.to_vec()),
    ) {
        let text = net(name, &[]);
        let at = at.index(text.len() - length);
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(at + length));
        let text = format!("{}{piece}{}", &text[..at], &text[at + length..]);
        let Ok(program) = program(&text) else {
            return Ok(());
        };
        let settings = Settings { until: Some(0.01), warmup: 0.0, seed: 1 };
        let mut calls = 0;
        let _ = run(&program, &settings, &mut |_| {
            calls += 1;
            match calls > 2 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        for timed in [false, true] {
            let question = Question { limit: 100, timed, reach: None, holds: Vec::new(), reduced: false };
            let _ = explore(&program, &question, &mut |_| ControlFlow::Continue(()));
        }
    }
}
