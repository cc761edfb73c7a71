//! Lengths of files, as far as a trace shows them.

/// The length of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Length {
    pub(super) end: u64,
    /// True if this is the file's length, false if it is the furthest byte seen.
    pub(super) exact: bool,
}

/// The lengths of all files, by their numbers: eight bytes each. Linux has no
/// file of 2⁶³ bytes, so that one bit is left.
#[derive(Debug, Default)]
pub(super) struct Lengths(Vec<u64>);

const EXACT: u64 = 1 << 63;

impl Lengths {
    pub(super) fn get(&self, file: u32) -> Length {
        let packed = self.0.get(file as usize).copied().unwrap_or_default();
        Length {
            end: packed & !EXACT,
            exact: packed & EXACT != 0,
        }
    }

    pub(super) fn set(&mut self, file: u32, length: Length) {
        let index = file as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        let exact = if length.exact { EXACT } else { 0 };
        self.0[index] = length.end.min(!EXACT) | exact;
    }

    /// The file's length, which is unknown from now on.
    pub(super) fn take(&mut self, file: u32) -> Length {
        let length = self.get(file);
        if length != Length::default() {
            self.set(file, Length::default());
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_kept() {
        let mut lengths = Lengths::default();
        let long = Length {
            end: u64::MAX >> 1,
            exact: true,
        };
        lengths.set(3, long);
        assert_eq!((lengths.get(3), lengths.get(2)), (long, Length::default()));
        assert_eq!((lengths.take(3), lengths.get(3)), (long, Length::default()));
        assert_eq!(lengths.get(9), Length::default());
    }
}
