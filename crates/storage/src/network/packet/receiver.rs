//! The receiving side of a connection.

use std::collections::BTreeSet;

/// What has come of a connection's segments; every one is acknowledged at once (no
/// delayed acknowledgements, RFC 1122, 4.2.3.2).
#[derive(Clone, Default, Debug)]
pub(super) struct Receiver {
    /// The first that has not come.
    expected: u64,
    /// Those after it that have.
    ahead: BTreeSet<u64>,
}

impl Receiver {
    /// A segment comes; gives the first that has not.
    pub fn receive(&mut self, segment: u64) -> u64 {
        if segment == self.expected {
            self.expected += 1;
            while self.ahead.remove(&self.expected) {
                self.expected += 1;
            }
        } else if segment > self.expected {
            self.ahead.insert(segment);
        }
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_early_or_twice_is_acknowledged_with_what_is_missing() {
        let mut receiver = Receiver::default();
        let answers = [0, 2, 3, 2, 1, 1, 4].map(|segment| receiver.receive(segment));
        assert_eq!(answers, [1, 1, 1, 1, 4, 4, 5]);
    }
}
