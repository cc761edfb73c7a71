//! Arcs of a compiled net: between transitions and the nodes and stores that they use.

use std::sync::Arc;

use crate::handles::{EndId, ErasedSelector};
use crate::node::{AnyNode, typed};
use crate::slab::Slot;
use crate::token::Token;

/// Number of tokens one firing puts into a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// Exactly one.
    One,
    /// This number of tokens.
    Exactly(u32),
    /// One into exactly one target of the group.
    Either(u32),
    /// One or none.
    Maybe,
    /// Any number.
    Many,
    /// None: a report to the station's discipline.
    Signal,
}

/// End of an input or store arc. Its copy is the transition's copy divided by `ratio`.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Reach {
    pub(crate) index: u32,
    pub(crate) ratio: u32,
}

impl Reach {
    #[inline]
    pub(crate) fn copy(self, copy: u32) -> u32 {
        copy_around(copy, self.ratio)
    }
}

/// The copy of a page around others, of which it has `ratio`, by the copy of one of these.
#[inline]
pub(crate) fn copy_around(copy: u32, ratio: u32) -> u32 {
    // Most arcs stay in their page or lead to one with a single copy, and a division is slow.
    match ratio {
        1 => copy,
        _ if copy < ratio => 0,
        _ => copy / ratio,
    }
}

/// The arcs of a transition between itself and nodes.
pub(crate) struct Arcs {
    pub inputs: Vec<Reach>,
    /// Bags whose tokens it may take by slot.
    pub may_take: Vec<Reach>,
    /// Nodes whose tokens inhibit it.
    pub inhibitors: Vec<Reach>,
    pub outputs: Vec<OutArc>,
}

/// Target of an output arc.
pub(crate) struct OutArc {
    pub end: EndId,
    pub node: u32,
    /// Copies of the transition per copy of the page that both lie in.
    pub ratio: u32,
    /// Folded pages on the way in: their copies, and how a token chooses. A union has none of its
    /// own, so that every number is looked up there.
    pub levels: Vec<(u32, ErasedSelector)>,
    /// Set if the target is a node in each of several pages.
    pub union: Option<Box<Union>>,
    pub how: How,
    pub delayed: bool,
}

impl OutArc {
    /// The nodes that it may lead to.
    pub fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        let others = self.union.iter().flat_map(|union| &union.nodes[1..]);
        std::iter::once(self.node).chain(others.map(|(node, _)| *node))
    }

    /// The nodes besides the first.
    pub fn other_nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes().skip(1)
    }
}

/// For each number of a copy: the folded page that it is in, by its place in a list, and the copy
/// of that page.
pub type CopyPlaces = Arc<[(u32, u32)]>;

/// One node in each of several folded pages, whose copies are numbered as those of one page.
pub(crate) struct Union {
    /// The nodes, and the copies of the page of each.
    pub nodes: Vec<(u32, u32)>,
    pub places: CopyPlaces,
}

impl Union {
    /// The number of copies of all pages.
    pub fn copies(&self) -> u32 {
        self.places.len() as u32
    }

    /// The node of a number, the copies of its page, and which of these it is.
    pub fn at(&self, number: u32) -> Option<(u32, u32, u32)> {
        let &(page, copy) = self.places.get(number as usize)?;
        let &(node, copies) = self.nodes.get(page as usize)?;
        (copy < copies).then_some((node, copies, copy))
    }
}

/// The ready tokens of an input's place or station, first to last.
pub(crate) fn line<T: Token>(
    nodes: &[Box<dyn AnyNode>],
    reach: Reach,
    copy: u32,
) -> impl Iterator<Item = (Slot, T)> + '_ {
    let node = typed::<T>(&*nodes[reach.index as usize]);
    node.line(reach.copy(copy))
        .map(|slot| (slot, *node.core.slab.get(slot)))
}

/// The ready tokens that an input arc may look at.
pub(crate) fn candidates<T: Token>(
    nodes: &[Box<dyn AnyNode>],
    reach: Reach,
    copy: u32,
) -> impl Iterator<Item = (Slot, T)> + '_ {
    let node = typed::<T>(&*nodes[reach.index as usize]);
    node.candidates(reach.copy(copy))
        .map(|slot| (slot, *node.core.slab.get(slot)))
}
