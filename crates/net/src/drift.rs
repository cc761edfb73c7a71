//! Detection of drift: a longer run would give other results.
//!
//! A confidence interval tells how well the mean of a stationary process is known. For a process
//! that drifts it is invalid, however narrow it is. Two things are tested:
//!
//! - Batch means, as of latencies: their slope, and those before the truncation point of MSER.
//!   White, "An effective truncation heuristic for bias reduction in simulation output", Simulation
//!   69(6), 1997. They drift if one of these moves the mean by more than its required precision.
//! - Levels of consumed or filled resources of a model, such as a drive's free blocks, credits or
//!   dirty pages. Latencies stay the same until a resource is exhausted. A level drifts while the
//!   slope of its last half is significant, however flat it is.

use crate::student_t::student_quantile;

/// A slope that chance makes as steep in one of a hundred cases is none.
const SIGNIFICANT: f64 = 0.995;

/// Fewer points tell nothing.
pub(crate) const FEWEST: usize = 8;

/// The least-squares line through equally spaced points: the change from the first to the
/// last, and whether it is significant.
fn slope(points: &[f64]) -> (f64, bool) {
    let n = points.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = points.iter().sum::<f64>() / n;
    let (mut products, mut squares) = (0.0, 0.0);
    for (at, point) in points.iter().enumerate() {
        let from_middle = at as f64 - middle;
        products += from_middle * (point - mean);
        squares += from_middle * from_middle;
    }
    let slope = products / squares;
    let residuals = points.iter().enumerate().map(|(at, point)| {
        let on_line = mean + slope * (at as f64 - middle);
        (point - on_line).powi(2)
    });
    let error = (residuals.sum::<f64>() / (n - 2.0) / squares).sqrt();
    let most = student_quantile(SIGNIFICANT, points.len() as u32 - 2);
    (slope * (n - 1.0), slope.abs() > most * error)
}

/// The mean of the points behind the truncation point of MSER.
fn truncated_mean(points: &[f64]) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for from in 0..points.len() / 2 {
        let rest = &points[from..];
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        let squares: f64 = rest.iter().map(|point| (point - mean).powi(2)).sum();
        if squares / (n * n) < best.0 {
            best = (squares / (n * n), mean);
        }
    }
    best.1
}

/// Returns true if batch means drift by more than this part of their mean.
pub(crate) fn drift(batches: &[f64], relative: f64) -> bool {
    if batches.len() < FEWEST {
        return false;
    }
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let most = relative * mean.abs();
    let (change, significant) = slope(batches);
    let transient = (truncated_mean(batches) - mean).abs();
    significant && change.abs() > most || transient > most
}

/// History of a level during a run, as a fraction of its capacity.
#[derive(Clone, Default, Debug)]
pub(crate) struct History {
    points: Vec<f64>,
    /// Samples of one point, and those of the next so far.
    size: u32,
    sum: f64,
    filled: u32,
}

/// Most points that are stored; then neighbours are joined.
const MOST_POINTS: usize = 64;

impl History {
    pub fn record(&mut self, level: f64) {
        self.size = self.size.max(1);
        self.sum += level;
        self.filled += 1;
        if self.filled < self.size {
            return;
        }
        self.points.push(self.sum / f64::from(self.size));
        (self.sum, self.filled) = (0.0, 0);
        if self.points.len() == MOST_POINTS {
            let pairs = self.points.chunks_exact(2);
            self.points = pairs.map(|pair| (pair[0] + pair[1]) / 2.0).collect();
            self.size *= 2;
        }
    }

    /// Returns true if there are enough points to tell.
    pub fn is_enough(&self) -> bool {
        self.points.len() >= 2 * FEWEST
    }

    /// Returns true if it still goes up or down.
    pub fn drifts(&self) -> bool {
        let last = &self.points[self.points.len() / 2..];
        if last.len() < FEWEST {
            return false;
        }
        let (change, significant) = slope(last);
        significant && change.abs() > 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal enough: the sum of twelve uniform numbers, from a generator of Knuth's.
    fn noise() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            let mut sum = -6.0;
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                sum += (state >> 11) as f64 / (1_u64 << 53) as f64;
            }
            sum
        }
    }

    #[test]
    fn the_line_through_points_on_a_line_is_that_line() {
        let points: Vec<f64> = (0..9).map(|at| 5.0 - 0.25 * f64::from(at)).collect();
        assert_eq!(slope(&points), (-2.0, true));
        assert_eq!(slope(&[3.0; 9]), (0.0, false));
    }

    #[test]
    fn noise_drifts_hardly_ever_and_a_slope_or_a_first_part_apart_always() {
        let mut noise = noise();
        let mut of = |shape: &dyn Fn(usize) -> f64| {
            let batches: Vec<f64> = (0..24).map(|at| shape(at) + 0.02 * noise()).collect();
            drift(&batches, 0.05)
        };
        let flat = (0..500).filter(|_| of(&|_| 1.0)).count();
        assert!(flat <= 5, "{flat}");
        assert!((0..500).all(|_| of(&|at| 0.9 + 0.2 * at as f64 / 23.0)));
        assert!((0..500).all(|_| of(&|at| if at < 8 { 0.7 } else { 1.0 })));
    }

    #[test]
    fn a_level_drifts_until_it_has_come_to_its_end() {
        let mut history = History::default();
        for sample in 0..1000 {
            history.record((1.0 - f64::from(sample) / 500.0).max(0.0));
            if history.is_enough() && sample < 490 {
                assert!(history.drifts(), "{sample}");
            }
        }
        assert!(!history.drifts());
    }
}
