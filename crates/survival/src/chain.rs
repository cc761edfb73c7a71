//! Birth-death chains with loss: mean time by a recurrence, transient probabilities by a matrix
//! exponential, both without subtractions.
//!
//! State j has j failures. It goes up at `up[j]`, down at `down[j]`, and to loss by a read error
//! at `kill[j]`. The way up from the last state is a loss by failures.

/// Rates of a chain in 1/s.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// Rate from state j to j + 1; from the last state to loss.
    pub up: Vec<f64>,
    /// Rate from state j to j - 1.
    pub down: Vec<f64>,
    /// Rate from state j to loss by a read error.
    pub kill: Vec<f64>,
}

/// Probabilities of the two kinds of loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// By more failures than are tolerated.
    pub failures: f64,
    /// By a read error.
    pub read_error: f64,
}

impl Losses {
    /// Either.
    pub fn total(&self) -> f64 {
        (self.failures + self.read_error).min(1.0)
    }
}

impl Chain {
    /// Mean time from state 0 to loss in seconds, by elimination of the states from below
    /// (Grassmann, Taksar and Heyman 1985): all terms are positive.
    pub fn mean_time(&self) -> f64 {
        self.eliminate().0
    }

    /// Part of the losses that read errors cause, in the long run.
    pub fn read_error_share(&self) -> f64 {
        1.0 - self.eliminate().1
    }

    /// Mean time to loss, and the probability that a loss is by failures.
    fn eliminate(&self) -> (f64, f64) {
        let (mut time, mut killed) = (0.0, 0.0);
        let (mut sum, mut reach) = (0.0, 1.0);
        for state in 0..self.up.len() {
            let (up, down, kill) = (self.up[state], self.down[state], self.kill[state]);
            let lost = kill + down * killed;
            let leaves = up + lost;
            time = (1.0 + down * time) / leaves;
            killed = lost / leaves;
            sum += reach * time;
            reach *= up / leaves;
        }
        (sum, reach)
    }

    /// Probabilities of loss within `time` seconds from state 0.
    ///
    /// The generator over a short step is exponentiated as a uniformised series; squaring then
    /// doubles the step. All matrices are stochastic and rows are scaled back to 1 after each
    /// squaring, so that probabilities of 1e-12 keep their digits beside 1.
    pub fn losses(&self, time: f64) -> Losses {
        let states = self.up.len();
        let size = states + 2;
        let (by_failures, by_read_error) = (states, states + 1);
        let fastest = (0..states)
            .map(|j| self.up[j] + self.down[j] + self.kill[j])
            .fold(0.0, f64::max);
        if fastest <= 0.0 || time <= 0.0 {
            return Losses::default();
        }
        let uniform = 2.0 * fastest;
        let doublings = libm::log2(uniform * time).ceil().max(0.0) as i32 + 1;
        let step = uniform * time / libm::exp2(f64::from(doublings));
        let mut jump = Matrix::zero(size);
        for j in 0..states {
            let next = if j + 1 < states { j + 1 } else { by_failures };
            jump.add(j, next, self.up[j] / uniform);
            if j > 0 {
                jump.add(j, j - 1, self.down[j] / uniform);
            }
            jump.add(j, by_read_error, self.kill[j] / uniform);
            jump.add(
                j,
                j,
                1.0 - (self.up[j] + if j > 0 { self.down[j] } else { 0.0 } + self.kill[j])
                    / uniform,
            );
        }
        jump.add(by_failures, by_failures, 1.0);
        jump.add(by_read_error, by_read_error, 1.0);
        // Sum of Poisson weights times powers of the jump matrix, by Horner's rule.
        let terms = 24 + size;
        let mut sum = Matrix::identity(size);
        for term in (1..=terms).rev() {
            sum = sum.times(&jump);
            sum.scale(step / term as f64);
            sum.add_identity();
        }
        sum.normalise();
        for _ in 0..doublings {
            sum = sum.times(&sum);
            sum.normalise();
        }
        Losses {
            failures: sum.at(0, by_failures),
            read_error: sum.at(0, by_read_error),
        }
    }
}

/// A small dense matrix, row by row.
struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn zero(size: usize) -> Matrix {
        Matrix {
            size,
            values: vec![0.0; size * size],
        }
    }

    fn identity(size: usize) -> Matrix {
        let mut made = Matrix::zero(size);
        made.add_identity();
        made
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    fn add_identity(&mut self) {
        for row in 0..self.size {
            self.add(row, row, 1.0);
        }
    }

    fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    fn times(&self, other: &Matrix) -> Matrix {
        let mut product = Matrix::zero(self.size);
        for row in 0..self.size {
            for inner in 0..self.size {
                let factor = self.at(row, inner);
                if factor != 0.0 {
                    for column in 0..self.size {
                        product.add(row, column, factor * other.at(inner, column));
                    }
                }
            }
        }
        product
    }

    /// Scales each row to the sum 1.
    fn normalise(&mut self) {
        for row in self.values.chunks_mut(self.size) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_state_is_an_exponential() {
        let chain = Chain {
            up: vec![3.0],
            down: vec![0.0],
            kill: vec![1.0],
        };
        assert!((chain.mean_time() - 0.25).abs() < 1e-15);
        let losses = chain.losses(0.5);
        assert!((losses.total() + libm::expm1(-2.0)).abs() < 1e-14);
        assert!((losses.failures / losses.read_error - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_short_time_keeps_tiny_probabilities() {
        // Two steps up within t: a b t^2 / 2 to first order.
        let chain = Chain {
            up: vec![1e-9, 2e-9],
            down: vec![0.0, 1e-3],
            kill: vec![0.0, 0.0],
        };
        let got = chain.losses(1.0).failures;
        let expected = 1e-18 * (1.0 - 1e-3 / 3.0);
        assert!((got / expected - 1.0).abs() < 1e-6, "{got} {expected}");
    }
}
