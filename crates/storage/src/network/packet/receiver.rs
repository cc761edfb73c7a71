//! The receiving side of a connection.

use std::collections::BTreeSet;

use headrace_net::Time;

/// Receiver of a connection's segments; each is acknowledged at once (no delayed acknowledgements,
/// RFC 1122, 4.2.3.2).
#[derive(Clone, Default, Debug)]
pub(super) struct Receiver {
    /// The first that has not come.
    expected: u64,
    /// Later ones that have.
    ahead: BTreeSet<u64>,
    /// Send time of the latest in-order segment (RFC 7323, 4.3: TS.Recent).
    recent: Time,
}

impl Receiver {
    /// A segment comes that was sent at a time; gives the first that has not come, and
    /// the time that its acknowledgement echoes.
    pub fn receive(&mut self, segment: u64, sent: Time) -> (u64, Time) {
        if segment <= self.expected {
            self.recent = self.recent.max(sent);
        }
        if segment == self.expected {
            self.expected += 1;
            while self.ahead.remove(&self.expected) {
                self.expected += 1;
            }
        } else if segment > self.expected {
            self.ahead.insert(segment);
        }
        (self.expected, self.recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_early_or_twice_is_acknowledged_with_what_is_missing() {
        let mut receiver = Receiver::default();
        let mut now = 0;
        let answers = [0, 2, 3, 2, 1, 1, 4].map(|segment| {
            now += 1;
            let (expected, echo) = receiver.receive(segment, Time(now));
            (expected, echo.0)
        });
        let expected = [(1, 1), (1, 1), (1, 1), (1, 1), (4, 5), (4, 6), (5, 7)];
        assert_eq!(answers, expected);
    }
}
