//! A set of small integers that finds its least member in a few steps: a
//! bitmask with summary levels of 64 bits over each other. Four levels hold
//! 16 million members, so a net with 26,000 copies of a page costs as much to
//! scan as one with four. A set of one member, as most are, needs no bitmask at all.

#[derive(Debug)]
pub(crate) struct BitSet {
    /// The only member, or [`NONE`], or [`IN_BITS`].
    only: u32,
    bits: Levels,
}

/// The set is empty.
const NONE: u32 = u32::MAX;
/// The members are in the bitmask: two or more came together, and it has not been seen empty since.
const IN_BITS: u32 = u32::MAX - 1;

impl BitSet {
    /// An empty set over {0, …, members − 1}.
    pub fn new(members: usize) -> BitSet {
        BitSet {
            only: NONE,
            bits: Levels::new(members),
        }
    }

    #[inline]
    pub fn insert(&mut self, member: u32) {
        if self.only == NONE {
            self.only = member;
        } else if self.only != member {
            self.insert_into_bits(member);
        }
    }

    fn insert_into_bits(&mut self, member: u32) {
        if self.only != IN_BITS {
            self.bits.insert(self.only);
            self.only = IN_BITS;
        }
        self.bits.insert(member);
    }

    #[inline]
    pub fn remove(&mut self, member: u32) {
        if self.only == member {
            self.only = NONE;
        } else if self.only == IN_BITS {
            self.bits.remove(member);
        }
    }

    /// Returns true if it has this member.
    pub fn contains(&self, member: u32) -> bool {
        match self.only {
            IN_BITS => self.bits.contains(member),
            only => only == member,
        }
    }

    /// The least member.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        if self.only == IN_BITS {
            let first = self.bits.first();
            if first.is_none() {
                self.only = NONE;
            }
            return first;
        }
        (self.only != NONE).then_some(self.only)
    }
}

impl BitSet {
    /// Calls `visit` with every member, in order.
    pub fn each(&self, mut visit: impl FnMut(u32)) {
        if self.only != IN_BITS {
            if self.only != NONE {
                visit(self.only);
            }
            return;
        }
        for (word, bits) in (0_u32..).zip(&self.bits.levels[0]) {
            let mut left = *bits;
            while left != 0 {
                visit(word * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
}

impl Default for BitSet {
    fn default() -> BitSet {
        BitSet::new(0)
    }
}

#[derive(Debug)]
struct Levels {
    /// `levels[0]` has one bit a member; a bit of `levels[n + 1]` says that a
    /// word of `levels[n]` is not empty. The last level is one word.
    levels: Vec<Vec<u64>>,
}

impl Levels {
    fn new(members: usize) -> Levels {
        let mut levels = Vec::new();
        let mut words = members.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words]);
            if words == 1 {
                return Levels { levels };
            }
            words = words.div_ceil(64);
        }
    }

    fn insert(&mut self, member: u32) {
        let mut index = member as usize;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            let was_empty = *word == 0;
            *word |= 1 << (index % 64);
            if !was_empty {
                return;
            }
            index /= 64;
        }
    }

    fn remove(&mut self, member: u32) {
        let mut index = member as usize;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                return;
            }
            index /= 64;
        }
    }

    fn contains(&self, member: u32) -> bool {
        let word = self.levels[0][member as usize / 64];
        word & (1 << (member % 64)) != 0
    }

    fn first(&self) -> Option<u32> {
        let top = self.levels.last()?;
        if top[0] == 0 {
            return None;
        }
        let mut index = 0;
        for level in self.levels.iter().rev() {
            index = index * 64 + level[index].trailing_zeros() as usize;
        }
        Some(index as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_an_ordered_set(
            members in 1_usize..300_000,
            steps in prop::collection::vec((any::<u32>(), any::<bool>()), 0..300),
        ) {
            let mut fast = BitSet::new(members);
            let mut slow = BTreeSet::new();
            for (value, add) in steps {
                let member = value % members as u32;
                if add {
                    fast.insert(member);
                    slow.insert(member);
                } else {
                    fast.remove(member);
                    slow.remove(&member);
                }
                prop_assert_eq!(fast.first(), slow.first().copied());
                prop_assert_eq!(fast.contains(member), slow.contains(&member));
                let mut members = Vec::new();
                fast.each(|member| members.push(member));
                prop_assert_eq!(members, slow.iter().copied().collect::<Vec<_>>());
            }
        }
    }
}
