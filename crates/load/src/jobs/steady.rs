//! The end of jobs whose rate has become steady.

use crate::jobs::job::{SteadyBy, SteadyState};
use crate::jobs::stage::Counts;

/// Rates of a job, second by second.
#[derive(Clone, Debug)]
pub struct Rates {
    criterion: SteadyState,
    /// Seconds, amount and divisor at the last look of a whole second.
    last: (f64, f64, f64),
    rates: Vec<f64>,
    since: Option<f64>,
}

impl Rates {
    /// No rates yet.
    pub fn new(criterion: SteadyState) -> Rates {
        Rates {
            criterion,
            last: (0.0, 0.0, 0.0),
            rates: Vec::new(),
            since: None,
        }
    }

    /// Time at which the rate was steady.
    pub fn since(&self) -> Option<f64> {
        self.since
    }

    /// Takes the counts at a time; returns true once the rate is steady.
    pub fn look(&mut self, seconds: f64, counts: &[Counts; 3]) -> bool {
        if seconds - self.last.0 < 1.0 {
            return self.since.is_some();
        }
        let sums = counts.iter().take(2).map(|it| match self.criterion.by {
            SteadyBy::Iops => (it.0 as f64, seconds),
            SteadyBy::Bw => (it.1 as f64, seconds),
            SteadyBy::Lat => (it.2, it.0 as f64),
        });
        let (amount, divisor) = sums.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let ways = if self.criterion.by == SteadyBy::Lat {
            1.0
        } else {
            2.0
        };
        let (_, before, base) = self.last;
        let rate = (amount - before) * ways / (divisor - base).max(f64::MIN_POSITIVE);
        let is_before = self.last.0 < self.criterion.ramp;
        self.last = (seconds, amount, divisor);
        if is_before {
            return false;
        }
        self.rates.push(rate);
        if self.since.is_none() && self.is_steady() {
            self.since = Some(seconds);
        }
        self.since.is_some()
    }

    /// The slope is that of the line with the least squares.
    fn is_steady(&self) -> bool {
        let criterion = &self.criterion;
        let count = (criterion.seconds.max(1.0)) as usize;
        let Some(first) = self.rates.len().checked_sub(count) else {
            return false;
        };
        let rates = &self.rates[first..];
        let mean = rates.iter().sum::<f64>() / count as f64;
        let deviation = match criterion.slope {
            false => rates.iter().map(|it| (it - mean).abs()).fold(0.0, f64::max),
            true => {
                let middle = (count as f64 - 1.0) / 2.0;
                let places = (0..count).map(|place| place as f64 - middle);
                let (mut above, mut below) = (0.0, 0.0);
                for (place, rate) in places.zip(rates) {
                    above += place * (rate - mean);
                    below += place * place;
                }
                (above / below.max(1.0)).abs()
            }
        };
        match criterion.relative {
            true => mean > 0.0 && deviation <= criterion.limit * mean,
            false => deviation <= criterion.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady_after(slope: bool, amounts: &[u64]) -> Option<f64> {
        let mut rates = Rates::new(SteadyState {
            by: SteadyBy::Iops,
            slope,
            limit: 0.1,
            relative: true,
            seconds: 3.0,
            ramp: 1.0,
        });
        let mut sum = 0;
        for (second, amount) in amounts.iter().enumerate() {
            sum += amount;
            rates.look(
                second as f64 + 1.0,
                &[(sum, 0, 0.0), (0, 0, 0.0), (0, 0, 0.0)],
            );
        }
        rates.since()
    }

    /// By hand: of 500, 90, 100, 110, 100 the first is before. 90, 100, 110 deviate by 10 % of 100,
    /// and their slope is 10 a second. 100, 110, 100 have none.
    #[test]
    fn steady_is_what_keeps_its_limit() {
        assert_eq!(steady_after(false, &[500, 90, 100, 110, 100]), Some(4.0));
        assert_eq!(steady_after(false, &[500, 80, 100, 120, 100, 80]), None);
        assert_eq!(steady_after(true, &[500, 80, 100, 120, 80]), Some(5.0));
        assert_eq!(steady_after(true, &[500, 80, 100]), None);
    }
}
