//! Figures of monitors: moments, and means over short intervals of the run.

use headrace_net::{Span, Time};
use serde::Serialize;
use serde_json::Value;

/// Moments of weighted values: the weight is 1, or the time that a value lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub count: u64,
    weight: f64,
    mean: f64,
    squares: f64,
    bounds: Option<(f64, f64)>,
}

impl Figures {
    /// Adds a value (West, "Updating mean and variance estimates", 1979).
    pub fn add(&mut self, value: f64, weight: f64) {
        self.count += 1;
        self.weight += weight;
        let from_mean = value - self.mean;
        self.mean += from_mean * weight / self.weight;
        self.squares += weight * from_mean * (value - self.mean);
        let (least, most) = self.bounds.unwrap_or((value, value));
        self.bounds = Some((least.min(value), most.max(value)));
    }

    fn deviation(&self, weighted: bool) -> Option<f64> {
        // A sample has one degree of freedom less; the time is no sample.
        let weight = if weighted {
            self.weight
        } else {
            self.weight - 1.0
        };
        (weight > 0.0).then(|| (self.squares / weight).max(0.0).sqrt())
    }
}

/// The fewest intervals of a long run; twice as many are joined to these.
const FEWEST: usize = 128;
/// The first interval of a run whose end is not known.
const FIRST_INTERVAL: Span = Span(1_000_000);

/// Sums at evenly spaced instants from the start of the run on.
///
/// A run whose end is not known starts with a short interval, which doubles whenever there are
/// twice the fewest.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    interval: Span,
    /// By instant: for each monitor the sum so far, and the number of values.
    sums: Vec<Vec<(f64, u64)>>,
}

impl Series {
    /// A series of a run that ends then.
    pub fn new(until: Time) -> Series {
        let interval = match until {
            Time::NEVER => FIRST_INTERVAL,
            until => Span((until.0 / (2 * FEWEST as u64)).max(1)),
        };
        Series {
            interval,
            sums: Vec::new(),
        }
    }

    /// The next instant.
    pub fn next(&self) -> Time {
        Time::ZERO + self.interval * (self.sums.len() as u64 + 1)
    }

    /// Makes room for the instants until a time: joins pairs of intervals while there are too many.
    pub fn make_room(&mut self, until: Time) {
        while until.0 / self.interval.0 > 2 * FEWEST as u64 {
            let mut is_kept = true;
            self.sums.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.interval = self.interval * 2;
        }
    }

    /// Adds the sums at the next instant.
    pub fn push(&mut self, sums: Vec<(f64, u64)>) {
        self.sums.push(sums);
    }

    /// Seconds between two instants.
    pub fn interval(&self) -> f64 {
        self.interval.as_seconds()
    }

    /// The change of a monitor's sum and number over each interval.
    pub fn changes(&self, monitor: usize) -> impl Iterator<Item = (f64, u64)> + '_ {
        let mut before = (0.0, 0);
        self.sums.iter().map(move |sums| {
            let (sum, number) = sums[monitor];
            let change = (sum - before.0, number - before.1);
            before = (sum, number);
            change
        })
    }
}

/// A column of a collector.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The colour of its values; times are in seconds.
    pub colour: String,
    /// A value for each row.
    pub values: Vec<Value>,
}

/// Figures of a monitor, since the start or the end of the warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct MonitorReport {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Firings counted, values observed, rows collected, or times that a breakpoint held.
    pub count: u64,
    /// Firings a second, of counters.
    pub rate: Option<f64>,
    /// Mean; over time for markings.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub deviation: Option<f64>,
    /// Least value that lasted longer than an instant, or of any firing.
    pub least: Option<f64>,
    /// Greatest value, as `least`.
    pub most: Option<f64>,
    /// Value of a marking at the end.
    pub last: Option<f64>,
    /// Rows beyond the limit, which were counted only.
    pub left_out: u64,
    /// Columns of a collector; the first is the time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
    /// Means over the intervals of the run, warm-up included; firings a second of counters. None
    /// where nothing was observed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<Option<f64>>,
    /// Numbers of values in the intervals, of observations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<u64>,
}

impl MonitorReport {
    /// A report of moments.
    pub(crate) fn new(name: &str, kind: &'static str, figures: &Figures) -> MonitorReport {
        let of_values = matches!(kind, "marking" | "observation" | "own") && figures.count > 0;
        let some = |value: Option<f64>| value.filter(|_| of_values);
        MonitorReport {
            name: name.to_owned(),
            kind,
            count: figures.count,
            rate: None,
            mean: some(Some(figures.mean)),
            deviation: some(figures.deviation(kind == "marking")),
            least: some(figures.bounds.map(|(least, _)| least)),
            most: some(figures.bounds.map(|(_, most)| most)),
            last: None,
            left_out: 0,
            columns: Vec::new(),
            means: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_times() {
        let mut figures = Figures::default();
        figures.add(1.0, 3.0);
        figures.add(5.0, 1.0);
        let report = MonitorReport::new("m", "marking", &figures);
        assert_eq!(
            (report.mean, report.least, report.most),
            (Some(2.0), Some(1.0), Some(5.0))
        );
        // (3 · 1 + 1 · 9) / 4
        assert_eq!(report.deviation, Some(3.0_f64.sqrt()));
    }

    #[test]
    fn intervals_are_joined_in_pairs() {
        let mut series = Series::new(Time::NEVER);
        let end = Time::ZERO + FIRST_INTERVAL * 1000;
        let mut sums = 0.0;
        while series.next() <= end {
            series.make_room(series.next());
            if series.next() > end {
                break;
            }
            sums = series.next().as_seconds();
            series.push(vec![(sums, 0)]);
        }
        assert!(sums > 0.9 * end.as_seconds());
        let changes: Vec<f64> = series.changes(0).map(|(change, _)| change).collect();
        assert!((FEWEST..=2 * FEWEST).contains(&changes.len()));
        for change in changes {
            assert!((change - series.interval()).abs() < 1e-12);
        }
    }
}
