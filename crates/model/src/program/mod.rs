//! From a document to a program: names resolved, expressions compiled, everything checked that the
//! kernel does not check itself.

mod colours;
mod compiler;
mod initial;
mod markings;
mod monitors;
mod nodes;
mod ports;
mod settings;
mod stores;
mod transitions;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use self::compiler::{compile, compile_with};
pub use self::initial::initial_tokens;
pub(crate) use self::markings::{Term, replace};
pub(crate) use self::monitors::Condition;
pub use self::monitors::{Monitor, Watch, transition_of};
pub use self::settings::run_settings;
use crate::colour::{Colours, Kind};
use crate::expression::{Array, Code, Pure, Reason, Step, StoreField, Typed, evaluate};

/// A net, ready to be built or explored.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its colours and texts.
    pub colours: Colours,
    /// Pages; the first is the outermost.
    pub pages: Vec<Page>,
    /// Places and stations.
    pub nodes: Vec<Node>,
    /// Stores.
    pub stores: Vec<Store>,
    /// Transitions in order of declaration.
    pub transitions: Vec<Transition>,
    /// Page and name of each probe.
    pub probes: Vec<(usize, String)>,
    /// True if chance chooses among transitions that may fire.
    pub random_choice: bool,
    /// True if chance also chooses among the bindings of a transition.
    pub random_bindings: bool,
    /// Values of the document.
    pub constants: BTreeMap<String, Typed>,
    /// Monitors.
    pub monitors: Vec<Monitor>,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its name.
    pub name: String,
    /// Its path: the net's name and the pages on the way.
    pub path: String,
    /// The page around it.
    pub parent: Option<usize>,
    /// Copies within one copy of the page around it.
    pub copies: u32,
    /// True if copies were given.
    pub folded: bool,
    /// Copies in all.
    pub total: u32,
    /// Its place in the document.
    pub place: Vec<String>,
}

/// Tokens that are there from the start.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The words of the token, over the frame's only word.
    pub words: Vec<Code>,
    /// Their number, over the same.
    pub count: Code,
    /// First and last value of the frame's word, if there is one.
    pub each: Option<(Code, Code)>,
}

/// Kinds of nodes.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A place; its tokens leave in the order of their arrival if true.
    Place(bool),
    /// A station.
    Station(Station),
}

/// A station's discipline.
#[derive(Clone, Debug)]
pub enum Station {
    /// First come, first served: servers and service time.
    Fcfs(u32, Code),
    /// Served at once.
    Infinite(Code),
    /// Served at once, all for the same time.
    Delay(Code),
    /// Processor sharing.
    Sharing(u32, Code),
    /// By class; preemptive if true.
    Priority(bool, u32, Code, Code),
    /// Waits for this number.
    Barrier(u32),
    /// Processor sharing: work a second of all by the number of tokens, and work of a token.
    LoadSharing(Vec<f64>, Code),
    /// Max-min fair sharing of links: work a second of each, and links and work of a token.
    Flows(Vec<f64>, Vec<Code>, Code),
}

impl Station {
    /// Its service time; none if it has none.
    pub fn service(&self) -> Option<&Code> {
        match self {
            Station::Fcfs(_, service)
            | Station::Infinite(service)
            | Station::Delay(service)
            | Station::Sharing(_, service)
            | Station::Priority(_, _, service, _) => Some(service),
            Station::Barrier(_) | Station::LoadSharing(..) | Station::Flows(..) => None,
        }
    }
}

/// A place or station.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its page.
    pub page: usize,
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Kind,
    /// Its kind.
    pub kind: NodeKind,
    /// Its first tokens.
    pub initial: Vec<Initial>,
    /// True if tokens end here.
    pub sink: bool,
    /// True if tokens may remain here.
    pub rest: bool,
    /// True if tokens are conserved here.
    pub conserve: bool,
    /// Its place in the document.
    pub place: Vec<String>,
}

/// A store: state that transitions read and change.
#[derive(Clone, Debug)]
pub struct Store {
    /// Its page.
    pub page: usize,
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<StoreField>,
    /// By field: words of each element, or of one that stands for all, over the frame's only word,
    /// the element's index.
    pub initial: Vec<Vec<Vec<Code>>>,
    /// Words of one copy.
    pub words: usize,
    /// Its place in the document.
    pub place: Vec<String>,
}

/// A change of a store.
#[derive(Clone, Debug)]
pub struct Change {
    /// The store's number in the transition.
    pub store: usize,
    /// The array, or a field as an array of one element.
    pub array: Array,
    /// The first word that changes within the element.
    pub word: usize,
    /// Words of the frame to compute first.
    pub steps: Vec<(usize, Code)>,
    /// Words of the frame with the new value.
    pub from: usize,
    /// Their number.
    pub words: usize,
    /// Word of the frame with the element's index.
    pub at: usize,
}

impl Change {
    /// Copies the new value from a frame into the store's words; false if there is no such
    /// element.
    pub fn apply(&self, frame: &[i64], store: &mut [i64]) -> bool {
        let Some(first) = self.array.at(frame[self.at]) else {
            return false;
        };
        let first = first + self.word;
        let new = &frame[self.from..self.from + self.words];
        store[first..first + self.words].copy_from_slice(new);
        true
    }
}

/// An input of a transition: one token.
#[derive(Clone, Debug)]
pub struct Input {
    /// The node.
    pub node: usize,
    /// Words to bind and conditions, in order.
    pub steps: Vec<Step>,
    /// Earlier inputs from the same node that take, or read, as this one does.
    pub before: usize,
    /// The token stays.
    pub is_read: bool,
}

/// Tokens that inhibit a transition.
#[derive(Clone, Debug)]
pub struct Inhibitor {
    /// The node.
    pub node: usize,
    /// Tokens that inhibit.
    pub count: u32,
    /// Words to bind and conditions of a token that counts; all count without any.
    pub steps: Vec<Step>,
}

/// The time of a transition, which is exponential.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Firings a second, or the mean time in picoseconds; a real number.
    value: Code,
    is_mean: bool,
    /// Firings of one binding that it times at once, at most.
    pub servers: u32,
}

impl Timing {
    /// Firings a second of one server.
    ///
    /// # Errors
    /// The reason why it has none.
    pub fn rate(&self, frame: &[i64], world: &mut Pure<'_>) -> Result<f64, Reason> {
        let value = f64::from_bits(evaluate(&self.value, frame, world) as u64);
        let rate = if self.is_mean { 1e12 / value } else { value };
        match world.failure.take() {
            Some(failure) => Err(failure),
            None if rate > 0.0 && rate.is_finite() => Ok(rate),
            None if self.is_mean => {
                let seconds = value / 1e12;
                Err(format!("a mean delay of {seconds} s: expected more than 0").into())
            }
            None => Err(format!("a rate of {rate} per second: expected more than 0").into()),
        }
    }
}

/// An output of a transition.
#[derive(Clone, Debug)]
pub struct Output {
    /// The node.
    pub node: usize,
    /// Words of the frame to compute first.
    pub first: Vec<(usize, Code)>,
    /// Condition.
    pub when: Option<Code>,
    /// Words of the token.
    pub words: Vec<Code>,
    /// Number of tokens, unless one.
    pub count: Option<Code>,
    /// Delay.
    pub delay: Option<Code>,
    /// Copies of the folded pages on the way.
    pub copies: Vec<Code>,
}

/// A figure that a transition records.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The probe.
    pub probe: usize,
    /// Condition.
    pub when: Option<Code>,
    /// The value, a real number.
    pub value: Code,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Its page.
    pub page: usize,
    /// Its name.
    pub name: String,
    /// Higher fires first.
    pub priority: i32,
    /// Weight in a random choice.
    pub weight: f64,
    /// Inputs: those that take, then those that read.
    pub inputs: Vec<Input>,
    /// Tokens that inhibit it.
    pub inhibitors: Vec<Inhibitor>,
    /// Places that it empties.
    pub resets: Vec<usize>,
    /// Conditions of a transition without inputs.
    pub guards: Vec<Code>,
    /// Its time, if it does not fire at once.
    pub timing: Option<Timing>,
    /// Words of the frame to compute in each firing.
    pub lets: Vec<(usize, Code)>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// Figures.
    pub records: Vec<Recorded>,
    /// The stores that it uses, by their number in it.
    pub stores: Vec<usize>,
    /// Changes of stores; all expressions of a firing see the values before it.
    pub changes: Vec<Change>,
    /// Words of its frame.
    pub words: usize,
    /// Its variables, for bindings in words: name, kind and first word.
    pub variables: Vec<(String, Kind, usize)>,
    /// Its place in the document.
    pub place: Vec<String>,
}

impl Transition {
    /// Returns true if it may refuse tokens that are ready.
    pub fn is_guarded(&self) -> bool {
        let mut steps = self.inputs.iter().flat_map(|input| &input.steps);
        steps.any(|step| !matches!(step, Step::Bind { .. }))
            || !self.guards.is_empty()
            || self.inhibitors.iter().any(|it| !it.steps.is_empty())
    }

    /// Its turn: those of lower rank fire first. Timed ones are last.
    pub fn rank(&self) -> (bool, Reverse<i32>) {
        (self.timing.is_some(), Reverse(self.priority))
    }

    /// Returns true if it has more than inputs that take and outputs.
    pub fn needs_rule(&self) -> bool {
        self.inputs.iter().any(|input| input.is_read)
            || !self.inhibitors.is_empty()
            || !self.resets.is_empty()
            || self.timing.is_some()
    }

    /// The number of tokens that it takes; those that it reads come after them.
    pub fn takes(&self) -> usize {
        self.inputs.iter().filter(|input| !input.is_read).count()
    }

    /// Returns true if it would fire for ever: it has no inputs, and nothing holds it.
    pub fn is_endless(&self) -> bool {
        self.inputs.is_empty()
            && self.inhibitors.is_empty()
            && self.guards.is_empty()
            && self.timing.is_none()
    }
}

impl Program {
    /// The page path of a node.
    pub fn node_path(&self, node: usize) -> String {
        let node = &self.nodes[node];
        format!("{}/{}", self.pages[node.page].path, node.name)
    }

    /// A path without the net's name, which may have a `/` itself.
    pub fn within<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&*self.name)?.strip_prefix('/')
    }

    /// Returns true if a text names the element of this path. The net's name and the doubling of
    /// each `/` of a name are optional.
    pub(crate) fn is_called(&self, path: &str, text: &str) -> bool {
        let is = |text: &str| path == text || self.within(path) == Some(text);
        is(text) || is(&text.replace("//", "/"))
    }

    /// The page path of a transition.
    pub fn transition_path(&self, index: usize) -> String {
        let transition = &self.transitions[index];
        format!("{}/{}", self.pages[transition.page].path, transition.name)
    }

    /// The page path of a store.
    pub fn store_path(&self, index: usize) -> String {
        let store = &self.stores[index];
        format!("{}/{}", self.pages[store.page].path, store.name)
    }

    /// Words of the widest token.
    pub fn width(&self) -> usize {
        let nodes = self.nodes.iter();
        let words = nodes.map(|node| self.colours.words(node.colour));
        words.max().unwrap_or(0).max(1)
    }

    /// Returns true if it calls functions from outside the document.
    pub fn has_externals(&self) -> bool {
        let mut words = self.constants.values().flat_map(|it| &it.words);
        words.any(|code| matches!(code, Code::External(_)))
    }

    /// The pages around one, from itself outwards.
    pub fn around(&self, page: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(page), |&page| self.pages[page].parent)
    }

    /// The folded pages on the way from a page to another, the outermost first. The number is that
    /// of copies of the first page for each copy of the page that both lie in.
    pub fn way(&self, from: usize, to: usize) -> (Vec<usize>, u32) {
        let outer: Vec<usize> = self.around(from).collect();
        let mut inward: Vec<usize> = self
            .around(to)
            .take_while(|page| !outer.contains(page))
            .collect();
        inward.reverse();
        let shared = match inward.first() {
            None => to,
            Some(&page) => self.pages[page].parent.unwrap_or(0),
        };
        inward.retain(|&page| self.pages[page].folded);
        let ratio = self.pages[from].total / self.pages[shared].total;
        (inward, ratio)
    }
}
