//! Lengths of time: means and samples.

use rand_core::Rng;

use crate::question::{Duration, Repair, Spares, WeibullLaw};
use crate::random::exponential;

impl WeibullLaw {
    /// Mean in seconds.
    pub fn mean(&self) -> f64 {
        self.location + self.scale * libm::tgamma(1.0 + 1.0 / self.shape)
    }

    /// Returns true if it is an exponential law.
    pub fn is_exponential(&self) -> bool {
        self.shape == 1.0 && self.location == 0.0
    }

    /// Samples it, in seconds.
    #[inline]
    pub fn sample<R: Rng>(&self, random: &mut R) -> f64 {
        let step = exponential(random);
        let power = if self.shape == 1.0 {
            step
        } else if self.shape == 2.0 {
            step.sqrt()
        } else if self.shape == 3.0 {
            step.cbrt()
        } else {
            step.powf(1.0 / self.shape)
        };
        self.location + self.scale * power
    }
}

impl Duration {
    /// Mean in seconds.
    pub fn mean(&self) -> f64 {
        match *self {
            Duration::Constant { seconds } => seconds,
            Duration::Exponential { mean } => mean,
            Duration::Weibull(law) => law.mean(),
            Duration::Transfer {
                bytes,
                bytes_per_second,
            } => bytes / bytes_per_second,
        }
    }

    /// Returns true if it is exponential, or always 0.
    pub fn is_exponential(&self) -> bool {
        match *self {
            Duration::Exponential { .. } => true,
            Duration::Weibull(law) => law.is_exponential(),
            Duration::Constant { seconds } => seconds == 0.0,
            Duration::Transfer { .. } => false,
        }
    }

    /// Returns true if it is always 0.
    pub fn is_zero(&self) -> bool {
        matches!(*self, Duration::Constant { seconds: 0.0 })
    }

    /// Samples it.
    #[inline]
    pub fn sample<R: Rng>(&self, random: &mut R) -> f64 {
        match *self {
            Duration::Constant { seconds } => seconds,
            Duration::Exponential { mean } => mean * exponential(random),
            Duration::Weibull(law) => law.sample(random),
            Duration::Transfer {
                bytes,
                bytes_per_second,
            } => bytes / bytes_per_second,
        }
    }
}

impl Repair {
    /// Mean seconds from a failure to the end of its rebuild; with spares, as if one were ready.
    pub fn mean(&self) -> f64 {
        let waiting = match self.spares {
            Some(Spares { count, .. }) if count > 0 => 0.0,
            Some(Spares { ref restocking, .. }) => restocking.mean(),
            None => self.replacement.mean(),
        };
        self.detection.mean() + waiting + self.rebuild.mean()
    }

    /// Returns true if the whole repair is exponential: exactly one of its parts is, the others are
    /// 0.
    pub fn is_exponential(&self) -> bool {
        let parts = [&self.detection, &self.replacement, &self.rebuild];
        self.spares.is_none()
            && parts.iter().all(|part| part.is_exponential())
            && parts.iter().filter(|part| !part.is_zero()).count() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn samples_have_the_mean() {
        let mut random = stream(3, 0);
        let laws = [
            Duration::Constant { seconds: 5.0 },
            Duration::Exponential { mean: 5.0 },
            Duration::Transfer {
                bytes: 10.0,
                bytes_per_second: 2.0,
            },
        ];
        let shapes = [0.7, 1.0, 2.0, 3.0, 3.3];
        let weibulls = shapes.map(|shape| {
            Duration::Weibull(WeibullLaw {
                shape,
                scale: 4.0,
                location: 1.0,
            })
        });
        for law in laws.iter().chain(&weibulls) {
            let draws = 100_000;
            let sum: f64 = (0..draws).map(|_| law.sample(&mut random)).sum();
            let mean = sum / f64::from(draws);
            assert!((mean / law.mean() - 1.0).abs() < 0.03, "{law:?} {mean}");
        }
    }
}
