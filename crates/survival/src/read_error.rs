//! Probability of a read error in a rebuild.

use crate::question::{Disk, Latent, Question, Scrub};

/// Probability that reading `bytes` meets an error: 1 - (1 - rate)^bits, without cancellation.
pub fn unreadable(bytes: f64, bit_error_rate: f64) -> f64 {
    if bit_error_rate <= 0.0 {
        return 0.0;
    }
    -libm::expm1(8.0 * bytes * libm::log1p(-bit_error_rate))
}

/// Long-run probability that a healthy disk has a latent error, `age` seconds old on average if it
/// is never scrubbed.
pub fn latent_probability(latent: &Latent, horizon: f64) -> f64 {
    let fixed = |seconds: f64| {
        let errors = seconds / latent.mean;
        if errors < 1e-5 {
            0.5 * errors
        } else {
            1.0 + libm::expm1(-errors) / errors
        }
    };
    match latent.scrub {
        // Averaged over the time until the horizon: a disk is never scrubbed.
        Scrub::None => fixed(horizon),
        Scrub::Period { seconds } => fixed(seconds),
        Scrub::Weibull(law) => {
            let outstanding = law.mean();
            outstanding / (outstanding + latent.mean)
        }
    }
}

/// Probability that the rebuild of a stripe of `stripe_bytes` without redundancy left meets a read
/// error. It reads `data` chunks; a disk has `chunks` of them. Latent errors count with their
/// expected number, so that the sum may exceed 1.
pub fn in_stripe(question: &Question, stripe_bytes: f64, data: u32, chunks: f64) -> f64 {
    let by_latent = question.latent.as_ref().map_or(0.0, |latent| {
        f64::from(data) * latent_probability(latent, question.longest_horizon()) / chunks
    });
    unreadable(stripe_bytes, question.disk.bit_error_rate) + by_latent
}

/// Probability that the rebuild of a group without redundancy left, which reads `disks` whole
/// disks, meets a read error.
pub fn in_rebuild(disks: u32, disk: &Disk, latent: Option<&Latent>, horizon: f64) -> f64 {
    let bits = 8.0 * f64::from(disks) * disk.capacity_bytes;
    let mut log_of_none = if disk.bit_error_rate > 0.0 {
        bits * libm::log1p(-disk.bit_error_rate)
    } else {
        0.0
    };
    if let Some(latent) = latent {
        log_of_none += f64::from(disks) * libm::log1p(-latent_probability(latent, horizon));
    }
    -libm::expm1(log_of_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thesis_figures_come_out() {
        // Hindman 2011, section 3.2: 2 TB as 4e9 sectors of 512 B.
        let seven = unreadable(7.0 * 2.048e12, 1e-14);
        assert!((seven - 0.682).abs() < 5e-4, "{seven}");
        assert!((unreadable(2.048e12, 1e-15) - 0.0163).abs() < 1e-4);
        assert!((unreadable(7.0 * 2e12, 1e-14) - 0.6737).abs() < 5e-5);
        assert!((unreadable(2e12, 1e-15) - 0.01587).abs() < 1e-5);
    }

    #[test]
    fn a_small_rate_keeps_its_digits() {
        let expected = 8e12 * 1e-19;
        assert!((unreadable(1e12, 1e-19) / expected - 1.0).abs() < 1e-6);
    }
}
