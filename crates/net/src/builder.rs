//! A net as it has been written down, before it is compiled.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::arc::{CopyPlaces, How, Reach};
use crate::error::BuildError;
use crate::firing::Firing;
use crate::handles::{EndId, ErasedSelector};
use crate::kernel::Kernel;
use crate::node::AnyNode;
use crate::observation::GaugeOf;
use crate::tally::Tally;

/// Direction of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Input,
    Output,
}

pub(crate) enum End {
    Node {
        node: u32,
    },
    Port {
        page: u32,
        name: String,
        direction: Direction,
        bound: Option<(EndId, Option<ErasedSelector>)>,
    },
    /// Inputs of folded pages beside each other, whose copies are numbered as those of one page.
    Union {
        page: u32,
        name: String,
        inputs: Vec<EndId>,
        places: CopyPlaces,
    },
}

pub(crate) struct PageSpec {
    pub name: String,
    pub path: String,
    pub parent: Option<u32>,
    pub copies: u32,
    /// True if tokens choose a copy on their way in, even among one.
    pub folded: bool,
    /// Copies in all, those of the pages around it included.
    pub total: u32,
    pub(crate) names: BTreeSet<String>,
}

/// Kind and properties of a node.
pub(crate) struct NodeSpec {
    pub page: u32,
    pub name: String,
    pub end: EndId,
    pub colour: Cow<'static, str>,
    pub bag: bool,
    /// Tokens may end here.
    pub sink: bool,
    /// Tokens may wait here for ever without this being a deadlock.
    pub rest: bool,
    /// Tokens are there from the start.
    pub filled: bool,
    /// Compiling fails if tokens can be lost or made here.
    pub conserved: bool,
}

pub(crate) struct StoreSpec {
    pub page: u32,
    pub name: String,
}

/// Tells from all copies of a store how full it is.
type LevelOf = dyn Fn(&dyn Any) -> f64 + Send;

/// Level of a store.
pub(crate) struct StoreLevel {
    pub path: String,
    pub store: u32,
    pub of: Box<LevelOf>,
}

/// Number of a store ([`Page::gauge`](crate::Page::gauge)).
pub(crate) struct StoreGauge {
    pub page: u32,
    pub path: String,
    pub name: &'static str,
    pub store: u32,
    pub of: Arc<GaugeOf>,
}

/// Puts a node's first tokens where they belong.
type Initial = Box<dyn FnOnce(&mut [Box<dyn AnyNode>], &mut Kernel) + Send>;

/// A net being written down. Start with [`Builder::root`], end with
/// [`Builder::compile`].
pub struct Builder {
    pub(crate) seed: u64,
    pub(crate) pages: Vec<PageSpec>,
    pub(crate) ends: Vec<End>,
    pub(crate) node_specs: Vec<NodeSpec>,
    pub(crate) nodes: Vec<Box<dyn AnyNode>>,
    pub(crate) initial: Vec<Initial>,
    pub(crate) store_specs: Vec<StoreSpec>,
    pub(crate) stores: Vec<Box<dyn Any + Send>>,
    pub(crate) transitions: Vec<TransitionSpec>,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) levels: Vec<StoreLevel>,
    pub(crate) gauges: Vec<StoreGauge>,
    /// The paths of waits.
    pub(crate) waits: Vec<String>,
    pub(crate) errors: Vec<BuildError>,
}

impl Builder {
    /// An empty net; `seed` seeds every random stream in it.
    pub fn new(name: &str, seed: u64) -> Builder {
        Builder {
            seed,
            pages: vec![PageSpec {
                name: name.to_owned(),
                path: name.to_owned(),
                parent: None,
                copies: 1,
                folded: false,
                total: 1,
                names: BTreeSet::new(),
            }],
            ends: Vec::new(),
            node_specs: Vec::new(),
            nodes: Vec::new(),
            initial: Vec::new(),
            store_specs: Vec::new(),
            stores: Vec::new(),
            transitions: Vec::new(),
            tallies: Vec::new(),
            levels: Vec::new(),
            gauges: Vec::new(),
            waits: Vec::new(),
            errors: Vec::new(),
        }
    }

    pub(crate) fn error(&mut self, error: BuildError) {
        self.errors.push(error);
    }

    pub(crate) fn end_name(&self, end: EndId) -> &str {
        match &self.ends[end.0 as usize] {
            End::Node { node } => &self.node_specs[*node as usize].name,
            End::Port { name, .. } | End::Union { name, .. } => name,
        }
    }

    pub(crate) fn end_path(&self, end: EndId) -> String {
        let page = match &self.ends[end.0 as usize] {
            End::Node { node } => self.node_specs[*node as usize].page,
            End::Port { page, .. } | End::Union { page, .. } => *page,
        };
        format!("{}/{}", self.pages[page as usize].path, self.end_name(end))
    }
}

/// A transition as it has been written down.
pub(crate) struct TransitionSpec {
    pub page: u32,
    pub name: String,
    pub priority: i32,
    pub guarded: bool,
    pub inputs: Vec<u32>,
    /// Nodes whose tokens it may take by slot, and the outputs one of which
    /// then gets a token for it.
    pub may_take: Vec<(u32, Vec<usize>)>,
    pub stores: Vec<u32>,
    pub outputs: Vec<OutputSpec>,
    /// Nodes and stores whose state it looks at.
    pub observed_nodes: Vec<u32>,
    pub observed_stores: Vec<u32>,
    pub rule: RuleSpec,
    pub action: Box<dyn Action>,
}

/// Properties of transitions that only rules have.
#[derive(Default)]
pub(crate) struct RuleSpec {
    /// True for a rule: it may have no input.
    pub is_rule: bool,
    /// Inputs whose tokens stay, by position.
    pub reads: Vec<usize>,
    /// Nodes, the number of tokens inside that inhibits it, and true if the rule asks which.
    pub inhibitors: Vec<(u32, u32, bool)>,
    /// Nodes of `may_take` that a firing empties.
    pub resets: Vec<u32>,
    /// It fires by its rate, when no other transition may fire.
    pub is_timed: bool,
}

/// An output arc as it has been written down.
pub(crate) struct OutputSpec {
    pub end: EndId,
    pub by: Option<ErasedSelector>,
    /// True if the firing gives the copies.
    pub given: bool,
    pub how: How,
    pub delayed: bool,
}

/// Tests the guard; if it holds, takes the tokens and acts. False: it did not.
pub(crate) trait Action: Send {
    fn fire(
        &self,
        firing: &mut Firing<'_>,
        stores: &mut [Box<dyn Any + Send>],
        borrows: &[Reach],
    ) -> bool;

    /// Firings a second; 0 if it refuses to fire.
    fn rate(&self, _: &mut Firing<'_>, _: &mut [Box<dyn Any + Send>], _: &[Reach]) -> f64 {
        0.0
    }
}
