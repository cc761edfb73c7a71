//! Tallies: count, mean and spread of figures that transitions record, with
//! batch means for confidence intervals of correlated figures.

use crate::student_t::student_quantile;

/// Figures recorded during a run.
#[derive(Clone, Debug)]
pub struct Tally {
    path: String,
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
    batches: Batches,
}

impl Tally {
    pub(crate) fn new(path: String) -> Tally {
        Tally {
            path,
            count: 0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            batches: Batches::default(),
        }
    }

    pub(crate) fn reset(&mut self) {
        *self = Tally::new(std::mem::take(&mut self.path));
    }

    pub(crate) fn record(&mut self, value: f64) {
        // Welford 1962: stable for long runs.
        self.count += 1;
        let from_mean = value - self.mean;
        self.mean += from_mean / self.count as f64;
        self.squares += from_mean * (value - self.mean);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.batches.record(value);
    }

    /// Page path and name.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation, 0 if there are fewer than two.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        (self.squares / (self.count - 1) as f64).sqrt()
    }

    /// The least, +∞ if there are none.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The most, −∞ if there are none.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Half the width of the confidence interval of the mean from batch means
    /// (Law and Kelton, Simulation Modeling and Analysis, §9.5.3); `confidence`
    /// such as 0.95. None until there are 16 full batches.
    pub fn half_width(&self, confidence: f64) -> Option<f64> {
        self.batches.half_width(confidence)
    }

    /// Returns true if the batch means drift by more than this part of the mean: then a confidence
    /// interval tells nothing. The tests are in the module `drift`.
    pub fn drifts(&self, relative: f64) -> bool {
        crate::drift::drift(&self.batches.means, relative)
    }
}

/// Between 16 and 32 batches of equal size. When the 32nd is full, neighbours
/// are joined and the size doubles, so memory stays constant and batches exceed
/// the correlation time.
#[derive(Clone, Default, Debug)]
struct Batches {
    means: Vec<f64>,
    size: u64,
    sum: f64,
    filled: u64,
}

const FIRST_SIZE: u64 = 32;
const MOST_BATCHES: usize = 32;

impl Batches {
    fn record(&mut self, value: f64) {
        self.size = self.size.max(FIRST_SIZE);
        self.sum += value;
        self.filled += 1;
        if self.filled < self.size {
            return;
        }
        self.means.push(self.sum / self.size as f64);
        (self.sum, self.filled) = (0.0, 0);
        if self.means.len() == MOST_BATCHES {
            let pairs = self.means.chunks_exact(2);
            self.means = pairs.map(|pair| (pair[0] + pair[1]) / 2.0).collect();
            self.size *= 2;
        }
    }

    fn half_width(&self, confidence: f64) -> Option<f64> {
        let batches = self.means.len();
        if batches < MOST_BATCHES / 2 {
            return None;
        }
        let mean = self.means.iter().sum::<f64>() / batches as f64;
        let squares: f64 = self.means.iter().map(|batch| (batch - mean).powi(2)).sum();
        let error = (squares / (batches - 1) as f64 / batches as f64).sqrt();
        Some(student_quantile(0.5 + confidence / 2.0, batches as u32 - 1) * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_known_list() {
        let mut tally = Tally::new("t".into());
        (1..=5).for_each(|value| tally.record(f64::from(value)));
        assert_eq!((tally.count(), tally.mean()), (5, 3.0));
        assert!((tally.deviation() - 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!((tally.least(), tally.most()), (1.0, 5.0));
    }
}
