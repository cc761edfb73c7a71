//! Student's t distribution.

/// The `p`-quantile of Student's t with `freedom` degrees of freedom, for p ≥
/// 0.5. It is a bisection on the distribution function, whose closed form for
/// whole degrees of freedom is Abramowitz and Stegun 26.7.3 and 26.7.4.
pub fn student_quantile(p: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if student_distribution(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

fn student_distribution(t: f64, freedom: u32) -> f64 {
    let angle = libm::atan(t / f64::from(freedom).sqrt());
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let within = if freedom % 2 == 1 {
        let mut term = cos;
        let mut sum = if freedom > 1 { cos } else { 0.0 };
        for k in (3..freedom).step_by(2) {
            term *= cos * cos * f64::from(k - 1) / f64::from(k);
            sum += term;
        }
        2.0 / std::f64::consts::PI * (angle + sin * sum)
    } else {
        let mut term = 1.0;
        let mut sum = 1.0;
        for k in (2..freedom).step_by(2) {
            term *= cos * cos * f64::from(k - 1) / f64::from(k);
            sum += term;
        }
        sin * sum
    };
    0.5 + 0.5 * within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_quantiles_are_those_of_the_tables() {
        // Abramowitz and Stegun, table 26.10.
        for (p, freedom, expected) in [
            (0.975, 1, 12.706),
            (0.975, 2, 4.303),
            (0.975, 10, 2.228),
            (0.975, 15, 2.131),
            (0.95, 30, 1.697),
            (0.995, 7, 3.499),
        ] {
            let got = student_quantile(p, freedom);
            assert!((got - expected).abs() < 1e-3, "{p} {freedom}: {got}");
        }
    }
}
