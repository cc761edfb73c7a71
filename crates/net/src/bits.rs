//! A set of small integers that finds its least member in a few steps: a
//! bitmask with summary levels of 64 bits over each other. Four levels hold
//! 16 million members, so a net with 26,000 copies of a page costs as much to
//! scan as one with four.

#[derive(Default, Debug)]
pub(crate) struct BitSet {
    /// `levels[0]` has one bit a member; a bit of `levels[n + 1]` says that a
    /// word of `levels[n]` is not empty. The last level is one word.
    levels: Vec<Vec<u64>>,
}

impl BitSet {
    /// An empty set over {0, …, members − 1}.
    pub fn new(members: usize) -> BitSet {
        let mut levels = Vec::new();
        let mut words = members.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words]);
            if words == 1 {
                return BitSet { levels };
            }
            words = words.div_ceil(64);
        }
    }

    #[inline]
    pub fn insert(&mut self, member: u32) {
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

    #[inline]
    pub fn remove(&mut self, member: u32) {
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

    /// The least member.
    #[inline]
    pub fn first(&self) -> Option<u32> {
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
            }
        }
    }
}
