//! The layout of markings: which copies of nodes and stores there are, and what each transition
//! touches.

use crate::expression::Code;
use crate::outcome::Failure;
use crate::program::{NodeKind, Program, Station, Transition};

/// Owner of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Node(usize),
    /// Its words are those of one token.
    Store(usize),
}

/// A copy of a node or store.
pub struct Part {
    pub owner: Owner,
    /// Words of a token, its remaining time included.
    pub stride: usize,
    /// Tokens leave in the order of their arrival.
    pub fifo: bool,
    /// The last word of a token is its remaining time.
    pub due: bool,
    /// Nodes whose tokens have as many words and the same order have their contents together.
    pub shape: usize,
}

/// An input of a transition.
pub struct InputPlan {
    /// Copies of the transition's page for each copy of the input's page.
    pub ratio: u32,
    /// It equals the one before it, so it takes later tokens only.
    pub repeated: bool,
    /// An earlier input takes from the same node.
    pub shared: bool,
}

/// Nodes and copies that a transition touches.
pub struct Plan {
    pub inputs: Vec<InputPlan>,
    /// Inputs that take; those that read come after them.
    pub takes: usize,
    /// It fires at once: it has no time, and waits for no service.
    pub is_instant: bool,
    /// By inhibitor, and by place that is emptied: copies of the transition's page for each copy.
    pub inhibitors: Vec<u32>,
    pub resets: Vec<u32>,
    /// By output: copies of the transition's page for each copy of the common page, then copies of
    /// the folded pages on the way.
    pub ways: Vec<(u32, Vec<u32>)>,
    /// By store: the program's, and copies of the transition's page for each of its copies.
    pub stores: Vec<(usize, u32)>,
}

/// The layout of a net's markings.
pub struct Layout {
    pub copies: Vec<Part>,
    /// First copy of each node, and the number of its copies.
    pub of_node: Vec<(usize, usize)>,
    /// The same of each store.
    pub of_store: Vec<(usize, usize)>,
    /// By transition.
    pub plans: Vec<Plan>,
    /// Words of a token, and true for tokens in the order of their arrival.
    pub shapes: Vec<(usize, bool)>,
}

impl Layout {
    /// For a net; fails if it has parts that are not modelled.
    pub fn new(program: &Program, timed: bool) -> Result<Layout, Failure> {
        let nodes = program.nodes.iter().map(|node| node.page);
        let pages = nodes.chain(program.stores.iter().map(|store| store.page));
        let all = pages.map(|page| u64::from(program.pages[page].total));
        if all.sum::<u64>() > 1_000_000 {
            let message = "a state space has at most a million copies of places and stores";
            return Err(Failure::Run(message.to_owned()));
        }
        if program.transitions.len() > usize::from(u16::MAX) - 1 {
            let message = "a state space has at most 65534 transitions".to_owned();
            return Err(Failure::Run(message));
        }
        if timed {
            check_delays(program)?;
        }
        let mut layout = Layout {
            copies: Vec::new(),
            of_node: Vec::new(),
            of_store: Vec::new(),
            plans: plans(program),
            shapes: Vec::new(),
        };
        for (index, node) in program.nodes.iter().enumerate() {
            let (fifo, due) = order(program, index, timed)?;
            let stride = program.colours.words(node.colour) + usize::from(due);
            let total = program.pages[node.page].total;
            let copies = layout.add(Owner::Node(index), total, (stride, fifo), due);
            layout.of_node.push(copies);
        }
        for (index, store) in program.stores.iter().enumerate() {
            let total = program.pages[store.page].total;
            let copies = layout.add(Owner::Store(index), total, (store.words, true), false);
            layout.of_store.push(copies);
        }
        Ok(layout)
    }

    /// Adds copies of a node or store; gives the first and their number.
    fn add(
        &mut self,
        owner: Owner,
        total: u32,
        (stride, fifo): (usize, bool),
        due: bool,
    ) -> (usize, usize) {
        let known = self.shapes.iter().position(|it| *it == (stride, fifo));
        let shape = known.unwrap_or(self.shapes.len());
        if known.is_none() {
            self.shapes.push((stride, fifo));
        }
        let first = self.copies.len();
        self.copies.extend((0..total).map(|_| Part {
            owner,
            stride,
            fifo,
            due,
            shape,
        }));
        (first, total as usize)
    }
}

/// How a node keeps its tokens: in the order of their arrival or not, and with a remaining time
/// or not.
fn order(program: &Program, index: usize, timed: bool) -> Result<(bool, bool), Failure> {
    let refuse = |what: &str| {
        let path = program.node_path(index);
        Err(Failure::Run(format!(
            "{path}: a state space does not model {what}"
        )))
    };
    let station = match &program.nodes[index].kind {
        NodeKind::Place(fifo) => return Ok((*fifo, timed)),
        NodeKind::Station(station) => station,
    };
    if timed && station.service().is_some_and(Code::is_random) {
        return refuse("random service with time: let time be ignored");
    }
    Ok(match station {
        // Waiting tokens are marked by their remaining time.
        Station::Barrier(_) => (true, true),
        Station::Sharing(..) | Station::LoadSharing(..) | Station::Flows(..) if timed => {
            return refuse(
                "shared rates with time: remaining services become fractions; let time be \
                 ignored",
            );
        }
        Station::Priority(true, 2.., ..) if timed => {
            return refuse("preemption with time and several servers");
        }
        Station::Priority(..) => (timed, timed),
        Station::Fcfs(servers, _) => (timed || *servers == 1, timed),
        Station::Delay(_) => (true, timed),
        Station::Infinite(_)
        | Station::Sharing(..)
        | Station::LoadSharing(..)
        | Station::Flows(..) => (false, timed),
    })
}

/// With time, a token on its way cannot wait for a server at once.
fn check_delays(program: &Program) -> Result<(), Failure> {
    for (index, transition) in program.transitions.iter().enumerate() {
        let refuse = |message: &str| {
            let path = program.transition_path(index);
            Err(Failure::Run(format!("{path}: {message}")))
        };
        if transition.timing.is_some() {
            return refuse("a state space with time has no exponential times: let time be ignored");
        }
        for output in &transition.outputs {
            let Some(delay) = &output.delay else { continue };
            let queue = matches!(
                program.nodes[output.node].kind,
                NodeKind::Station(Station::Fcfs(..) | Station::Priority(..) | Station::Barrier(_))
            );
            if queue {
                return refuse(
                    "a state space with time has no delays on the way to a queue; put a station \
                     with discipline infinite before it",
                );
            }
            if delay.is_continuous() {
                return refuse("a state space with time has no continuous chance in delays");
            }
        }
    }
    Ok(())
}

fn plans(program: &Program) -> Vec<Plan> {
    let plan = |transition: &Transition| {
        let total = program.pages[transition.page].total;
        let ratio = |node: usize| total / program.pages[program.nodes[node].page].total;
        let inputs = transition.inputs.iter().enumerate().map(|(index, input)| {
            let repeated = index > 0 && {
                let last = &transition.inputs[index - 1];
                (last.node, last.is_read) == (input.node, input.is_read)
                    && last.steps == input.steps
            };
            InputPlan {
                ratio: ratio(input.node),
                repeated,
                shared: input.before > 0,
            }
        });
        let ways = transition.outputs.iter().map(|output| {
            let to = program.nodes[output.node].page;
            let (folded, ratio) = program.way(transition.page, to);
            let copies = folded.iter().map(|&page| program.pages[page].copies);
            (ratio, copies.collect())
        });
        let stores = transition.stores.iter().map(|&store| {
            let page = program.stores[store].page;
            (store, total / program.pages[page].total)
        });
        Plan {
            inputs: inputs.collect(),
            takes: transition.takes(),
            is_instant: transition.timing.is_none()
                && transition
                    .inputs
                    .iter()
                    .all(|input| matches!(program.nodes[input.node].kind, NodeKind::Place(_))),
            inhibitors: transition
                .inhibitors
                .iter()
                .map(|it| ratio(it.node))
                .collect(),
            resets: transition.resets.iter().map(|it| ratio(*it)).collect(),
            ways: ways.collect(),
            stores: stores.collect(),
        }
    };
    program.transitions.iter().map(plan).collect()
}
