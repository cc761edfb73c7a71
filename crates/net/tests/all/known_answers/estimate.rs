//! The interval of a figure over seeds.

use headrace_net::student_quantile;

pub const SEEDS: u64 = 12;

/// Half-width over mean that every interval must keep to.
const NARROW: f64 = 0.02;

/// Checks each figure of a run against its exact value. `run` gives the
/// figures of one seed.
pub fn check<const N: usize>(exact: [(&str, f64); N], run: impl Fn(u64) -> [f64; N]) {
    let samples: Vec<[f64; N]> = (1..=SEEDS).map(run).collect();
    for (index, (name, exact)) in exact.into_iter().enumerate() {
        let figures: Vec<f64> = samples.iter().map(|sample| sample[index]).collect();
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let half_width = student_quantile(0.995, SEEDS as u32 - 1) * error;
        assert!(
            half_width < NARROW * mean,
            "{name}: {mean} ± {half_width} is too wide to tell anything"
        );
        assert!(
            (mean - exact).abs() <= half_width,
            "{name}: exactly {exact}, but found {mean} ± {half_width}"
        );
    }
}
