//! The net as it was written, page in page: for drawings and for people.

use std::borrow::Cow;

use serde::Serialize;

use crate::arc::{How, OutArc};
use crate::builder::{Builder, Direction, End};
use crate::handles::EndId;
use crate::node::AnyNode;
use crate::time::Span;

/// The whole net.
#[derive(Clone, Debug, Serialize)]
pub struct Structure {
    /// The outermost page.
    pub page: PageStructure,
}

/// One page; its nested pages follow the same form.
#[derive(Clone, Debug, Serialize)]
pub struct PageStructure {
    /// Its name within the page around it.
    pub name: String,
    /// Its page path.
    pub path: String,
    /// Copies within one copy of the page around it.
    pub copies: u32,
    /// True if tokens choose a copy on their way in, even among one.
    #[serde(skip_serializing_if = "is_false")]
    pub folded: bool,
    /// Places and stations.
    pub nodes: Vec<NodeStructure>,
    /// Stores.
    pub stores: Vec<StoreStructure>,
    /// Transitions.
    pub transitions: Vec<TransitionStructure>,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortStructure>,
    /// Nested pages.
    pub pages: Vec<PageStructure>,
}

/// A port of a page.
#[derive(Clone, Debug, Serialize)]
pub struct PortStructure {
    /// Its name within its page.
    pub name: String,
    /// "in" or "out".
    pub direction: &'static str,
    /// The nodes that it leads to, by id; several if it leads into one of several pages.
    pub nodes: Vec<u32>,
}

/// A place or station.
#[derive(Clone, Debug, Serialize)]
pub struct NodeStructure {
    /// Unique over the whole net.
    pub id: u32,
    /// Its name within its page.
    pub name: String,
    /// "place", "bag" or "station".
    pub kind: &'static str,
    /// A station's discipline, else empty.
    pub discipline: String,
    /// Copies in the whole net.
    pub copies: u32,
    /// Servers of one copy; none for places and for unbounded servers.
    pub servers: Option<u32>,
    /// The name of its tokens' type.
    pub colour: Cow<'static, str>,
    /// True if tokens end here.
    pub sink: bool,
    /// True if tokens may remain here at the end.
    #[serde(skip_serializing_if = "is_false")]
    pub rest: bool,
    /// Tokens in all copies at the start.
    #[serde(skip_serializing_if = "is_zero")]
    pub initial: u64,
    /// A station's service time in seconds, if it is the same for all tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<f64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to a field"
)]
fn is_false(truth: &bool) -> bool {
    !truth
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to a field"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A store.
#[derive(Clone, Debug, Serialize)]
pub struct StoreStructure {
    /// Unique among the stores of the whole net.
    pub id: u32,
    /// Its name within its page.
    pub name: String,
}

/// A transition and its arcs.
#[derive(Clone, Debug, Serialize)]
pub struct TransitionStructure {
    /// Unique among the transitions of the whole net.
    pub id: u32,
    /// Its name within its page.
    pub name: String,
    /// Higher fires first.
    pub priority: i32,
    /// True if the transition has a guard.
    pub guarded: bool,
    /// Input arcs.
    pub inputs: Vec<InputStructure>,
    /// Output arcs.
    pub outputs: Vec<OutputStructure>,
    /// The stores it borrows, by id.
    pub stores: Vec<u32>,
    /// The stations whose disciplines it reports to, by node id.
    pub signals: Vec<u32>,
    /// The nodes whose state it looks at, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed_nodes: Vec<u32>,
    /// The stores that it looks at and does not borrow, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed_stores: Vec<u32>,
}

/// An arc from a node.
#[derive(Clone, Debug, Serialize)]
pub struct InputStructure {
    /// The node's id.
    pub node: u32,
    /// Tokens taken in one firing.
    pub weight: u32,
    /// None if it takes the first tokens. "slot" if it takes a token by its slot, "read" if the
    /// tokens stay, "inhibit" if they inhibit, and "reset" if it takes all.
    pub by: Option<&'static str>,
}

/// An arc to a node.
#[derive(Clone, Debug, Serialize)]
pub struct OutputStructure {
    /// The node's id.
    pub node: u32,
    /// "one", "either", "maybe" or "many".
    pub how: &'static str,
    /// True if tokens arrive later than the firing.
    pub delayed: bool,
    /// True if tokens choose a copy on the way.
    pub selects_copy: bool,
    /// The group of outputs of which one gets a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// True if the arc leads into one of several pages, of which this is the node in one.
    #[serde(skip_serializing_if = "is_false")]
    pub of_union: bool,
}

impl PageStructure {
    /// Counts the tokens in the places and stations of this page and those within.
    pub(crate) fn count_initial(&mut self, all: &[Box<dyn AnyNode>]) {
        for node in &mut self.nodes {
            let copies = all[node.id as usize].states().iter();
            node.initial = copies.map(|copy| u64::from(copy.inside)).sum();
        }
        for page in &mut self.pages {
            page.count_initial(all);
        }
    }
}

pub(crate) fn describe(builder: &Builder, outputs: &[Vec<OutArc>]) -> Structure {
    Structure {
        page: describe_page(builder, outputs, 0),
    }
}

fn describe_page(builder: &Builder, outputs: &[Vec<OutArc>], page: u32) -> PageStructure {
    let spec = &builder.pages[page as usize];
    let numbered = |length: usize| 0..length as u32;
    let nodes = numbered(builder.nodes.len())
        .filter(|&id| builder.node_specs[id as usize].page == page)
        .map(|id| describe_node(builder, id));
    let stores = numbered(builder.stores.len())
        .filter(|&id| builder.store_specs[id as usize].page == page)
        .map(|id| StoreStructure {
            id,
            name: builder.store_specs[id as usize].name.clone(),
        });
    let transitions = numbered(builder.transitions.len())
        .filter(|&id| builder.transitions[id as usize].page == page)
        .map(|id| describe_transition(builder, &outputs[id as usize], id));
    let pages = numbered(builder.pages.len())
        .filter(|&inner| builder.pages[inner as usize].parent == Some(page))
        .map(|inner| describe_page(builder, outputs, inner));
    PageStructure {
        name: spec.name.clone(),
        path: spec.path.clone(),
        copies: spec.copies,
        folded: spec.folded,
        nodes: nodes.collect(),
        stores: stores.collect(),
        transitions: transitions.collect(),
        ports: describe_ports(builder, page),
        pages: pages.collect(),
    }
}

fn describe_ports(builder: &Builder, page: u32) -> Vec<PortStructure> {
    let ports = builder.ends.iter().zip(0..);
    let ports = ports.filter_map(|(end, id)| match end {
        End::Port {
            page: of,
            name,
            direction,
            ..
        } if *of == page => Some(PortStructure {
            name: name.clone(),
            direction: match direction {
                Direction::Input => "in",
                Direction::Output => "out",
            },
            nodes: nodes_behind(builder, EndId(id)),
        }),
        _ => None,
    });
    ports.collect()
}

/// The nodes that an end of a net without errors leads to.
fn nodes_behind(builder: &Builder, end: EndId) -> Vec<u32> {
    match &builder.ends[end.0 as usize] {
        End::Node { node } => vec![*node],
        End::Port { bound, .. } => {
            let next = bound.iter();
            next.flat_map(|(next, _)| nodes_behind(builder, *next))
                .collect()
        }
        End::Union { inputs, .. } => {
            let inputs = inputs.iter();
            inputs
                .flat_map(|input| nodes_behind(builder, *input))
                .collect()
        }
    }
}

fn describe_node(builder: &Builder, id: u32) -> NodeStructure {
    let spec = &builder.node_specs[id as usize];
    let node = &builder.nodes[id as usize];
    let discipline = node.discipline();
    NodeStructure {
        id,
        name: spec.name.clone(),
        kind: match (&discipline, spec.bag) {
            (Some(_), _) => "station",
            (None, true) => "bag",
            (None, false) => "place",
        },
        discipline: discipline.unwrap_or_default(),
        copies: node.states().len() as u32,
        servers: node.servers(),
        colour: spec.colour.clone(),
        sink: spec.sink,
        rest: spec.rest,
        initial: 0,
        service: node.service().map(Span::as_seconds),
    }
}

fn describe_transition(builder: &Builder, arcs: &[OutArc], id: u32) -> TransitionStructure {
    let spec = &builder.transitions[id as usize];
    let mut inputs: Vec<InputStructure> = Vec::new();
    for (position, &node) in spec.inputs.iter().enumerate() {
        let by = spec.rule.reads.contains(&position).then_some("read");
        let mut same = inputs.iter_mut();
        match same.find(|input| (input.node, input.by) == (node, by)) {
            Some(input) => input.weight += 1,
            None => inputs.push(InputStructure {
                node,
                weight: 1,
                by,
            }),
        }
    }
    for (node, _) in &spec.may_take {
        inputs.push(InputStructure {
            node: *node,
            weight: 1,
            by: Some(match spec.rule.resets.contains(node) {
                true => "reset",
                false => "slot",
            }),
        });
    }
    let inhibitors = spec.rule.inhibitors.iter();
    inputs.extend(inhibitors.map(|&(node, weight, _)| InputStructure {
        node,
        weight,
        by: Some("inhibit"),
    }));
    let (signals, puts): (Vec<&OutArc>, Vec<&OutArc>) =
        arcs.iter().partition(|arc| arc.how == How::Signal);
    let targets = puts.into_iter();
    let targets = targets.flat_map(|arc| arc.nodes().map(move |node| (arc, node)));
    let outputs = targets.map(|(arc, node)| OutputStructure {
        node,
        how: match arc.how {
            How::Either(_) => "either",
            How::Maybe => "maybe",
            How::Many | How::Exactly(_) => "many",
            How::One | How::Signal => "one",
        },
        delayed: arc.delayed,
        selects_copy: !arc.levels.is_empty(),
        group: match arc.how {
            How::Either(group) => Some(group),
            _ => None,
        },
        of_union: arc.union.is_some(),
    });
    TransitionStructure {
        id,
        name: spec.name.clone(),
        priority: spec.priority,
        guarded: spec.guarded,
        inputs,
        outputs: outputs.collect(),
        stores: spec.stores.clone(),
        signals: signals.into_iter().flat_map(OutArc::nodes).collect(),
        observed_nodes: spec.observed_nodes.clone(),
        observed_stores: spec.observed_stores.clone(),
    }
}
