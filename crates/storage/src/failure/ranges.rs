//! Parts of files that lie on a server.

use std::collections::BTreeMap;

use crate::tokens::Job;

/// Ranges of bytes: from first byte to the one after the last, with gaps between them.
#[derive(Clone, Default, Debug)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range; gives the parts that are new.
    fn add(&mut self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut new = Vec::new();
        let mut at = start;
        for (from, to) in self.touching(start, end) {
            if at < from {
                new.push((at, from));
            }
            at = at.max(to);
        }
        if at < end {
            new.push((at, end));
        }
        let touching = self.touching(start, end);
        let first = touching.first().map_or(start, |it| it.0.min(start));
        let last = touching.last().map_or(end, |it| it.1.max(end));
        for (from, _) in touching {
            self.0.remove(&from);
        }
        if first < last {
            self.0.insert(first, last);
        }
        new
    }

    /// Takes a range out.
    fn remove(&mut self, start: u64, end: u64) {
        for (from, to) in self.touching(start, end) {
            self.0.remove(&from);
            if from < start {
                self.0.insert(from, start);
            }
            if to > end {
                self.0.insert(end, to);
            }
        }
    }

    /// Iterates over the entries that overlap a range or end at its start, in order.
    fn touching(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..=end).rev();
        let touching = before.take_while(|(_, to)| **to >= start);
        let mut touching: Vec<(u64, u64)> = touching.map(|(from, to)| (*from, *to)).collect();
        touching.reverse();
        touching
    }

    fn overlaps(&self, start: u64, end: u64) -> bool {
        let touching = self.touching(start, end);
        touching.iter().any(|&(from, to)| from < end && to > start)
    }
}

/// A part of a file on a target of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The target.
    pub target: u16,
    /// The file.
    pub file: u32,
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Part {
    /// Returns the subject of a job.
    pub fn of(job: &Job) -> Part {
        Part {
            target: job.target,
            file: job.file,
            start: job.offset,
            end: job.offset + job.size,
        }
    }
}

/// Parts of files on the targets of a server.
#[derive(Clone, Default, Debug)]
pub struct Parts(BTreeMap<(u16, u32), Ranges>);

impl Parts {
    /// Adds a part; gives what of it is new.
    pub fn add(&mut self, part: Part) -> Vec<Part> {
        let ranges = self.0.entry((part.target, part.file)).or_default();
        let new = ranges.add(part.start, part.end).into_iter();
        new.map(|(start, end)| Part { start, end, ..part })
            .collect()
    }

    /// Takes a part out.
    pub fn remove(&mut self, part: Part) {
        let key = (part.target, part.file);
        if let Some(ranges) = self.0.get_mut(&key) {
            ranges.remove(part.start, part.end);
            if ranges.0.is_empty() {
                self.0.remove(&key);
            }
        }
    }

    /// Returns true if any of a part is in.
    pub fn overlap(&self, part: Part) -> bool {
        let ranges = self.0.get(&(part.target, part.file));
        ranges.is_some_and(|ranges| ranges.overlaps(part.start, part.end))
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them in order.
    pub fn all(&self) -> Vec<Part> {
        let files = self.0.iter();
        let parts = files.flat_map(|(&(target, file), ranges)| {
            let ranges = ranges.0.iter();
            ranges.map(move |(&start, &end)| Part {
                target,
                file,
                start,
                end,
            })
        });
        parts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn are_a_set_of_bytes(
            steps in prop::collection::vec((any::<bool>(), 0_u64..40, 1_u64..9), 0..40),
        ) {
            let mut parts = Parts::default();
            let mut twin = BTreeSet::new();
            for (add, start, size) in steps {
                let part = Part { target: 0, file: 7, start, end: start + size };
                let bytes: BTreeSet<u64> = (part.start..part.end).collect();
                prop_assert_eq!(parts.overlap(part), !twin.is_disjoint(&bytes));
                if add {
                    let new: BTreeSet<u64> = bytes.difference(&twin).copied().collect();
                    let got = parts.add(part).into_iter().flat_map(|it| it.start..it.end);
                    prop_assert_eq!(got.collect::<BTreeSet<u64>>(), new);
                    twin.extend(bytes);
                } else {
                    parts.remove(part);
                    twin.retain(|byte| !bytes.contains(byte));
                }
                let all = parts.all();
                let held = all.iter().flat_map(|it| it.start..it.end);
                prop_assert_eq!(held.collect::<BTreeSet<u64>>(), twin.clone());
                prop_assert!(all.windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert_eq!(parts.is_empty(), twin.is_empty());
            }
        }
    }
}
