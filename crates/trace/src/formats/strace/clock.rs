//! Turns the times that strace prints into times since the trace's start.

use super::prefix::{Stamp, StampKind};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 24 * 60 * 60 * SECOND;

/// Format of the trace's times, determined by the first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// -ttt
    Epoch,
    /// -t and -tt. If two lines are half a day or more apart, the date is
    /// guessed: midnight lies between them.
    OfDay,
    /// -r: since the line before.
    Relative,
    /// None of them.
    Untimed,
}

/// The trace's clock.
#[derive(Debug, Default)]
pub(super) struct Clock {
    kind: Option<Kind>,
    /// The first time as printed.
    start_ns: i64,
    /// The last time of day, or the sum of relative times.
    last_ns: i64,
    /// The midnights passed, as a time.
    days_ns: i64,
}

impl Clock {
    /// Returns true if a line of strace has been seen.
    pub(super) fn has_started(&self) -> bool {
        self.kind.is_some()
    }

    /// Returns true if the lines have times.
    pub(super) fn is_untimed(&self) -> bool {
        self.kind == Some(Kind::Untimed)
    }

    /// Returns true if a line with this time can be the trace's.
    pub(super) fn accepts(&self, stamp: Stamp) -> bool {
        match self.kind {
            None => true,
            Some(Kind::Epoch | Kind::Relative) => matches!(stamp.kind, StampKind::Seconds { .. }),
            Some(Kind::OfDay) => stamp.kind == StampKind::OfDay,
            Some(Kind::Untimed) => stamp.kind == StampKind::Absent,
        }
    }

    /// The time since the trace's start, which the first call sets. To be
    /// called once for each line, in their order. None if it is out of range.
    pub(super) fn read(&mut self, stamp: Stamp) -> Option<i64> {
        let time_ns = stamp.time_ns;
        let kind = match self.kind {
            Some(kind) => kind,
            None => {
                let kind = match stamp.kind {
                    StampKind::Seconds { aligned: false } => Kind::Epoch,
                    StampKind::Seconds { aligned: true } => Kind::Relative,
                    StampKind::OfDay => Kind::OfDay,
                    StampKind::Absent => Kind::Untimed,
                };
                self.kind = Some(kind);
                self.start_ns = time_ns;
                if kind != Kind::Relative {
                    self.last_ns = time_ns;
                }
                return Some(0);
            }
        };
        match kind {
            Kind::Epoch => time_ns.checked_sub(self.start_ns),
            Kind::OfDay => Some(self.of_day(time_ns)),
            Kind::Relative => {
                self.last_ns = self.last_ns.checked_add(time_ns)?;
                Some(self.last_ns)
            }
            Kind::Untimed => Some(0),
        }
    }

    fn of_day(&mut self, time_ns: i64) -> i64 {
        let mut days_ns = self.days_ns;
        if time_ns > self.last_ns + DAY / 2 {
            // The call was before midnight and printed after it.
            days_ns -= DAY;
        } else {
            if time_ns < self.last_ns - DAY / 2 {
                self.days_ns += DAY;
                days_ns = self.days_ns;
            }
            self.last_ns = time_ns;
        }
        days_ns + time_ns - self.start_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: StampKind, times: &[i64]) -> Vec<i64> {
        let mut clock = Clock::default();
        let stamp = |time_ns| Stamp {
            kind,
            time_ns,
            whole: false,
        };
        times
            .iter()
            .map(|it| clock.read(stamp(*it)).unwrap())
            .collect()
    }

    #[test]
    fn midnight_is_passed() {
        let hour = 3600 * SECOND;
        let times = [
            23 * hour,
            24 * hour - 1,
            5,
            24 * hour - 2,
            hour,
            12 * hour,
            23 * hour,
            hour,
        ];
        assert_eq!(
            read(StampKind::OfDay, &times),
            [
                0,
                hour - 1,
                hour + 5,
                hour - 2,
                2 * hour,
                13 * hour,
                24 * hour,
                26 * hour
            ]
        );
    }

    #[test]
    fn relative_times_add_up_from_the_first_line() {
        let aligned = StampKind::Seconds { aligned: true };
        assert_eq!(read(aligned, &[7, 10, 500, 1]), [0, 10, 510, 511]);
        let seconds = StampKind::Seconds { aligned: false };
        assert_eq!(read(seconds, &[7, 10, 5]), [0, 3, -2]);
    }
}
