//! Formulas for the loss probability of one group.

use crate::chain::{Chain, Losses};

/// Loss probabilities of one group by formulas.
///
/// Without redundancy the law is exponential. With one failure tolerated the survival function is
/// the sum of two exponentials. Otherwise the rate of losses is taken as constant, 1 / MTTDL, which
/// holds if repairs are short beside lifetimes and the horizon.
pub fn losses(chain: &Chain, time: f64) -> Losses {
    let total = match chain.up.len() {
        1 => -libm::expm1(-(chain.up[0] + chain.kill[0]) * time),
        2 => two_states(chain, time),
        _ => -libm::expm1(-time / chain.mean_time()),
    };
    let share = chain.read_error_share();
    Losses {
        failures: total * (1.0 - share),
        read_error: total * share,
    }
}

/// Survival with poles -fast and -slow.
fn two_states(chain: &Chain, time: f64) -> f64 {
    let (first, up, down, kill) = (chain.up[0], chain.up[1], chain.down[1], chain.kill[1]);
    let sum = first + up + down + kill;
    let product = first * (up + kill);
    // The discriminant is (first - up - down - kill)^2 + 4 first down, never negative.
    let root = libm::sqrt((first - up - down - kill).powi(2) + 4.0 * first * down);
    let fast = 0.5 * (sum + root);
    let slow = product / fast;
    if fast * time < 1e-3 {
        // Before the first repairs: the series of both exponentials, where the linear terms cancel.
        return 0.5 * product * time * time * (1.0 - sum * time / 3.0);
    }
    let numerator = -fast * libm::expm1(-slow * time) + slow * libm::expm1(-fast * time);
    if root == 0.0 {
        return 1.0 - (1.0 + fast * time) * libm::exp(-fast * time);
    }
    numerator / root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_states_agree_with_the_chain() {
        for time in [1e-5, 0.3, 10.0, 1e4, 1e8] {
            let chain = Chain {
                up: vec![8e-6, 7e-6],
                down: vec![0.0, 0.07],
                kill: vec![0.0, 0.001],
            };
            let (got, expected) = (losses(&chain, time).total(), chain.losses(time).total());
            assert!(
                (got / expected - 1.0).abs() < 1e-6,
                "{time}: {got} {expected}"
            );
        }
    }
}
