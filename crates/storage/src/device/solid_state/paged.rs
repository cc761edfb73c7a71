//! Tables that begin with the same content for many dies, in many drives:
//! unchanged parts are in memory once.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Entries that are copied together when one of them is changed.
const PAGE: usize = 32;

/// A table of fixed length. A clone shares all pages until it changes one.
#[derive(Clone, Debug)]
pub(super) struct Paged<T> {
    pages: Vec<Arc<[T]>>,
    len: usize,
}

impl<T: Clone> Paged<T> {
    /// Creates `count` identical entries.
    pub(super) fn new(value: T, len: usize) -> Paged<T> {
        let page: Arc<[T]> = vec![value; PAGE].into();
        Paged {
            pages: vec![page; len.div_ceil(PAGE)],
            len,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let all = self.pages.iter().flat_map(|page| page.iter());
        all.take(self.len)
    }
}

impl<T> Index<usize> for Paged<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.len);
        &self.pages[index / PAGE][index % PAGE]
    }
}

impl<T: Clone> IndexMut<usize> for Paged<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len);
        &mut Arc::make_mut(&mut self.pages[index / PAGE])[index % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_changes_the_others_do_not_see() {
        let mut one = Paged::new(7, 100);
        one[99] = 1;
        let mut other = one.clone();
        other[0] = 2;
        assert_eq!((one[0], one[99], other[0], other[99]), (7, 1, 2, 1));
        assert_eq!(one.iter().sum::<i32>(), 99 * 7 + 1);
        let shared = |page: usize| Arc::ptr_eq(&one.pages[page], &other.pages[page]);
        assert!(!shared(0) && shared(1) && shared(3));
    }
}
