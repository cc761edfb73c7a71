//! Stripes of equal size, one target after the other, round and round.

/// Stripes of `unit` bytes over `width` targets. One whose unit has no end is a file in
/// one piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stripes {
    pub unit: u64,
    pub width: u64,
}

impl Stripes {
    /// Returns the target of a byte, and the end of its stripe.
    pub fn at(self, offset: u64) -> (u64, u64) {
        let stripe = offset / self.unit;
        (
            stripe % self.width,
            stripe.saturating_add(1).saturating_mul(self.unit),
        )
    }

    /// Returns the bytes that one target holds of a file's first `size` bytes.
    pub fn part(self, size: u64, turn: u64) -> u64 {
        let (stripes, rest) = (size / self.unit, size % self.unit);
        let whole = stripes / self.width + u64::from(stripes % self.width > turn);
        let last = if stripes % self.width == turn {
            rest
        } else {
            0
        };
        whole * self.unit + last
    }

    /// The most targets that hold some of a range, which is not empty.
    pub fn spread(self, offset: u64, end: u64) -> u64 {
        let stripes = (end - 1) / self.unit - offset / self.unit;
        self.width.min(stripes.saturating_add(1))
    }
}
