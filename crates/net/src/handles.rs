//! Typed handles of what a net consists of: nodes, ports, targets, stores and tallies.

use std::any::Any;
use std::marker::PhantomData;

use crate::token::Token;

/// End of an arc: a node or a port, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct EndId(pub u32);

/// A place or station of tokens of colour `T`.
pub struct Node<T> {
    pub(crate) end: EndId,
    pub(crate) node: u32,
    pub(crate) colour: PhantomData<fn(T)>,
}

/// A page's input or output for tokens of colour `T`. The page connects the
/// inner side of an input, and its parent the outer side of an output.
pub struct Port<T> {
    pub(crate) end: EndId,
    pub(crate) colour: PhantomData<fn(T)>,
}

/// Target of a transition's tokens: a node or port, and in folded pages the function by which a
/// token chooses the copy.
pub struct To<T> {
    pub(crate) end: EndId,
    pub(crate) by: Option<fn(&T) -> u32>,
    /// True if the firing gives the copies.
    pub(crate) given: bool,
}

/// A store of type `S`: state too big for a token, one per copy of its page.
pub struct Store<S> {
    pub(crate) store: u32,
    pub(crate) kind: PhantomData<fn(S)>,
}

/// A tally: figures that transitions record.
#[derive(Clone, Copy, Debug)]
pub struct TallyId(pub(crate) u32);

macro_rules! copyable {
    ($($handle:ident),*) => {$(
        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $handle<T> {}
    )*};
}
copyable!(Node, Port, To, Store);

impl<T> Node<T> {
    /// This node in the copy that the token chooses.
    pub fn by(self, copy: fn(&T) -> u32) -> To<T> {
        To {
            end: self.end,
            by: Some(copy),
            given: false,
        }
    }
}

impl<T> Port<T> {
    /// This port in the copy that the token chooses.
    pub fn by(self, copy: fn(&T) -> u32) -> To<T> {
        To {
            end: self.end,
            by: Some(copy),
            given: false,
        }
    }
}

impl<T> From<Node<T>> for To<T> {
    fn from(node: Node<T>) -> To<T> {
        To {
            end: node.end,
            by: None,
            given: false,
        }
    }
}

impl<T> From<Port<T>> for To<T> {
    fn from(port: Port<T>) -> To<T> {
        To {
            end: port.end,
            by: None,
            given: false,
        }
    }
}

impl<T> To<T> {
    /// This target, in the copies that each firing gives
    /// ([`Firing::put_in_copies`](crate::Firing::put_in_copies)).
    pub fn in_given_copies(self) -> To<T> {
        To {
            given: true,
            ..self
        }
    }
}

/// Stands for the choice of a copy that the firing gives.
pub(crate) struct Given;

impl Selector for Given {
    fn duplicate(&self) -> ErasedSelector {
        Box::new(Given)
    }
}

/// Function by which a token of colour `T` chooses its copy.
pub(crate) struct Choose<T>(pub fn(&T) -> u32);

/// A [`Choose`] of some colour.
pub(crate) type ErasedSelector = Box<dyn Selector>;

pub(crate) trait Selector: Any + Send {
    fn duplicate(&self) -> ErasedSelector;
}

impl<T: Token> Selector for Choose<T> {
    fn duplicate(&self) -> ErasedSelector {
        Box::new(Choose(self.0))
    }
}

impl<T: Token> To<T> {
    pub(crate) fn selector(self) -> Option<ErasedSelector> {
        self.by.map(|by| Box::new(Choose(by)) as ErasedSelector)
    }
}
