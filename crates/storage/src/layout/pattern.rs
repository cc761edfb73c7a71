//! Strips of any sizes on targets in any order, repeated.

use headrace_spec::{TwoDimensional, VariableStrip};

/// A pattern of strips that repeats to the end of the file.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Bytes of the whole pattern.
    period: u64,
    /// The first byte of each strip, and its target's turn.
    strips: Vec<(u64, u64)>,
    /// The strips of each turn, and their number. A strip has its first byte in the pattern, and
    /// the number of the turn's bytes before it.
    turns: Vec<(Vec<(u64, u64)>, u64)>,
}

impl Pattern {
    /// A pattern of strips, each the turn of its target and its number of bytes.
    pub fn new(strips: impl IntoIterator<Item = (u64, u64)>, width: u64) -> Pattern {
        let mut pattern = Pattern {
            period: 0,
            strips: Vec::new(),
            turns: vec![(Vec::new(), 0); width as usize],
        };
        for (turn, size) in strips {
            let (own, all) = &mut pattern.turns[turn as usize];
            own.push((pattern.period, *all));
            *all += size;
            pattern.strips.push((pattern.period, turn));
            pattern.period += size;
        }
        pattern
    }

    /// OrangeFS, src/io/description/dist-twod-stripe.c: `factor` stripes on a group of
    /// servers, then as many on the next; servers left over are in the last group.
    pub fn two_dimensional(spec: &TwoDimensional, servers: u32) -> Pattern {
        let (groups, factor) = (spec.groups_of(servers), spec.factor);
        let each = servers / groups;
        let strips = (0..groups).flat_map(|group| {
            let first = group * each;
            let last = if group + 1 == groups {
                servers
            } else {
                first + each
            };
            (0..factor).flat_map(move |_| first..last)
        });
        let unit = spec.unit.0;
        Pattern::new(
            strips.map(|server| (u64::from(server), unit)),
            u64::from(servers),
        )
    }

    /// OrangeFS, src/io/description/dist-varstrip.c: the strips as they are listed.
    pub fn variable(spec: &VariableStrip) -> Pattern {
        let strips = spec.strip.iter();
        Pattern::new(
            strips.map(|strip| (u64::from(strip.server), strip.size.0)),
            u64::from(spec.width()),
        )
    }

    pub fn width(&self) -> u64 {
        self.turns.len() as u64
    }

    /// Returns the target of a byte, and the end of its strip.
    pub fn at(&self, offset: u64) -> (u64, u64) {
        let (whole, rest) = (offset / self.period, offset % self.period);
        let after = self.strips.partition_point(|&(first, _)| first <= rest);
        let end = self.strips.get(after).map_or(self.period, |strip| strip.0);
        let end = (whole.saturating_mul(self.period)).saturating_add(end);
        (self.strips[after - 1].1, end)
    }

    /// Returns the bytes that one target holds of a file's first `size` bytes.
    pub fn part(&self, size: u64, turn: u64) -> u64 {
        let (whole, rest) = (size / self.period, size % self.period);
        let (own, all) = &self.turns[turn as usize];
        let begun = own.partition_point(|&(first, _)| first < rest);
        let in_pattern = match begun.checked_sub(1) {
            None => 0,
            Some(last) => {
                let (first, before) = own[last];
                let end = own.get(begun).map_or(*all, |next| next.1);
                before + (rest - first).min(end - before)
            }
        };
        whole * all + in_pattern
    }

    /// Bytes of the smallest strip.
    pub fn smallest(&self) -> u64 {
        let ends = self.strips[1..].iter().map(|strip| strip.0);
        let ends = ends.chain([self.period]);
        let sizes = self
            .strips
            .iter()
            .zip(ends)
            .map(|(strip, end)| end - strip.0);
        sizes.min().unwrap_or(1)
    }
}
