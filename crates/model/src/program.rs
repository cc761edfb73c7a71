//! From a document to a program: names resolved, expressions compiled, everything checked that the
//! kernel does not check itself.

use std::collections::BTreeMap;

use crate::colour::{Colours, Enumeration, Kind, MOST_WORDS, Record};
use crate::document::{
    ColourText, DISCIPLINES, Document, InitialText, NodeText, PageText, PutText, StationText,
    TakeText, Text, TransitionText,
};
use crate::error::{Fault, Faults, did_you_mean};
use crate::expression::{
    Allowed, Call, Code, Expression, ExpressionError, External, Pure, Scope, Step, Syntax, Typed,
    evaluate, parse,
};

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
    /// Transitions in order of declaration.
    pub transitions: Vec<Transition>,
    /// Page and name of each probe.
    pub probes: Vec<(usize, String)>,
    /// Values of the document.
    pub constants: BTreeMap<String, Typed>,
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

/// An input of a transition: one token.
#[derive(Clone, Debug)]
pub struct Input {
    /// The node.
    pub node: usize,
    /// Words to bind and conditions, in order.
    pub steps: Vec<Step>,
    /// Earlier inputs from the same node.
    pub before: usize,
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
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Words of the frame to compute in each firing.
    pub lets: Vec<(usize, Code)>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// Figures.
    pub records: Vec<Recorded>,
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
    }
}

impl Program {
    /// The page path of a node.
    pub fn node_path(&self, node: usize) -> String {
        let node = &self.nodes[node];
        format!("{}/{}", self.pages[node.page].path, node.name)
    }

    /// The page path of a transition.
    pub fn transition_path(&self, index: usize) -> String {
        let transition = &self.transitions[index];
        format!("{}/{}", self.pages[transition.page].path, transition.name)
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

    /// The folded pages on the way from a page to another, the outermost first, and the number of
    /// copies of the first page for each copy of the page that both lie in.
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

/// The names of a path: `/` stands between them, and `//` for a `/` in a name.
fn names_of(path: &str) -> Vec<String> {
    let escaped = path.replace("//", "\0");
    let names = escaped.split('/');
    names.map(|name| name.replace('\0', "/")).collect()
}

/// Something in a page that has a name.
#[derive(Clone, Debug)]
enum Item {
    Node(usize),
    Page(usize),
    /// The node inside, by its name, or none for an output.
    Port(Option<Text>),
    Other,
}

/// Copies of a page in all.
const MOST_COPIES: u32 = 10_000_000;

struct Compiler {
    program: Program,
    constants: BTreeMap<String, Typed>,
    /// By page.
    names: Vec<BTreeMap<String, Item>>,
    /// Targets of output ports by page.
    connect: Vec<Vec<(String, Text)>>,
    faults: Vec<Fault>,
}

/// Compiles a document; `name` is the net's if it has none of its own.
///
/// # Errors
/// All that is wrong with it.
pub fn compile(document: &Document, name: &str) -> Result<Program, Faults> {
    compile_with(document, name, &[])
}

/// Compiles a document whose expressions call these functions.
///
/// # Errors
/// All that is wrong with it.
pub fn compile_with(
    document: &Document,
    name: &str,
    externals: &[External],
) -> Result<Program, Faults> {
    let name = document.name.clone().unwrap_or_else(|| name.to_owned());
    let mut compiler = Compiler {
        program: Program {
            name,
            colours: Colours::new(),
            pages: Vec::new(),
            nodes: Vec::new(),
            transitions: Vec::new(),
            probes: Vec::new(),
            constants: BTreeMap::new(),
        },
        constants: BTreeMap::new(),
        names: Vec::new(),
        connect: Vec::new(),
        faults: Vec::new(),
    };
    compiler.colours(document);
    compiler.values(document);
    compiler.externals(externals);
    // Without them nearly every expression is wrong.
    if compiler.faults.is_empty() {
        compiler.page(&document.page, None);
        compiler.bind_ports();
        let mut page = 0;
        compiler.transitions(&document.page, &mut page);
    }
    match compiler.faults.is_empty() {
        true => Ok(Program {
            constants: compiler.constants,
            ..compiler.program
        }),
        false => Err(Faults(compiler.faults)),
    }
}

fn fault(faults: &mut Vec<Fault>, path: &[String], message: impl Into<String>) {
    faults.push(Fault {
        path: path.to_vec(),
        column: 0,
        message: message.into(),
    });
}

fn in_text(faults: &mut Vec<Fault>, text: &Text, error: ExpressionError) {
    faults.push(Fault {
        path: text.path.clone(),
        column: error.column,
        message: error.message,
    });
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|it| it.is_alphabetic() || it == '_')
        && text != "_"
        && characters.all(|it| it.is_alphanumeric() || it == '_')
}

const RESERVED: [&str; 11] = [
    "if", "then", "else", "and", "or", "not", "with", "true", "false", "empty", "_",
];

impl Compiler {
    fn check_name(&mut self, path: &[String], name: &str) {
        if !is_name(name) || RESERVED.contains(&name) {
            fault(
                &mut self.faults,
                path,
                format!(
                    "{name:?} is no name: expected letters, digits and _, and no reserved word"
                ),
            );
        }
    }

    fn colours(&mut self, document: &Document) {
        // Names first, because records can contain colours that come later.
        for (name, path, colour) in &document.colours {
            self.check_name(path, name);
            if self.program.colours.names.contains_key(name) {
                fault(
                    &mut self.faults,
                    path,
                    format!("{name} is a built-in colour"),
                );
                continue;
            }
            let colours = &mut self.program.colours;
            let kind = match colour {
                ColourText::Enum(_) => {
                    colours.enums.push(Enumeration {
                        name: name.clone(),
                        members: Vec::new(),
                    });
                    Kind::Enum(colours.enums.len() - 1)
                }
                ColourText::Record(_) => {
                    colours.records.push(Record {
                        name: name.clone(),
                        fields: Vec::new(),
                    });
                    Kind::Record(colours.records.len() - 1)
                }
            };
            colours.names.insert(name.clone(), kind);
        }
        for (name, path, colour) in &document.colours {
            match (colour, self.program.colours.names.get(name).copied()) {
                (ColourText::Enum(members), Some(Kind::Enum(index))) => {
                    for member in members {
                        self.check_name(&member.path, &member.text);
                    }
                    let members: Vec<String> = members.iter().map(|it| it.text.clone()).collect();
                    let mut sorted = members.clone();
                    sorted.sort_unstable();
                    sorted.dedup();
                    if sorted.len() != members.len() || members.is_empty() {
                        let message = "expected one or more different members";
                        fault(&mut self.faults, path, message);
                    }
                    self.program.colours.enums[index].members = members;
                }
                (ColourText::Record(fields), Some(Kind::Record(index))) => {
                    for (field, text) in fields {
                        self.check_name(&text.path, field);
                        let kind = self.colour(text);
                        let fields = &mut self.program.colours.records[index].fields;
                        fields.push((field.clone(), kind));
                    }
                }
                _ => {}
            }
        }
        self.check_records(document);
    }

    /// No record may contain itself or be too wide.
    fn check_records(&mut self, document: &Document) {
        let records = &self.program.colours.records;
        fn size(records: &[Record], index: usize, depth: usize) -> usize {
            if depth > records.len() {
                return usize::MAX;
            }
            let mut sum = 0_usize;
            for (_, kind) in &records[index].fields {
                sum = sum.saturating_add(match kind {
                    Kind::Record(inner) => size(records, *inner, depth + 1),
                    Kind::Unit => 0,
                    _ => 1,
                });
                // Enough for a message, and records of records of records would take long.
                if sum > 1000 {
                    break;
                }
            }
            sum
        }
        let mut wrong = Vec::new();
        for (index, record) in records.iter().enumerate() {
            match size(records, index, 0) {
                usize::MAX => wrong.push((&record.name, "contains itself".to_owned())),
                words if words > MOST_WORDS => wrong.push((
                    &record.name,
                    format!("has {words} numbers: expected at most {MOST_WORDS} in a token"),
                )),
                _ => {}
            }
        }
        for (name, message) in wrong {
            let of = document.colours.iter().find(|(other, _, _)| other == name);
            let path = of.map(|(_, path, _)| path.clone()).unwrap_or_default();
            fault(&mut self.faults, &path, format!("{name} {message}"));
        }
    }

    fn colour(&mut self, text: &Text) -> Kind {
        let names = &self.program.colours.names;
        if let Some(kind) = names.get(text.text.trim()) {
            return *kind;
        }
        let near = did_you_mean(&text.text, names.keys().map(String::as_str));
        let known: Vec<&str> = names.keys().map(String::as_str).collect();
        let message = match near.is_empty() {
            true => format!(
                "no colour is called {:?}: expected one of {}",
                text.text,
                known.join(", ")
            ),
            false => format!("no colour is called {:?}{near}", text.text),
        };
        fault(&mut self.faults, &text.path, message);
        Kind::Unit
    }

    /// Functions from outside are found among the constants, as calls without arguments.
    fn externals(&mut self, externals: &[External]) {
        for external in externals {
            let path = Vec::new();
            let text = external.colour.clone();
            let kind = self.colour(&Text { text, path });
            let words = (0..self.program.colours.words(kind)).map(|word| {
                Code::External(Box::new(Call {
                    external: external.clone(),
                    kinds: Vec::new(),
                    arguments: Vec::new(),
                    word,
                }))
            });
            let words = words.collect();
            let typed = Typed { kind, words };
            self.constants.insert(external.name.clone(), typed);
        }
    }

    fn values(&mut self, document: &Document) {
        for (name, text) in &document.values {
            self.check_name(&text.path, name);
            let typed = self.parse(text).and_then(|expression| {
                let mut scope =
                    Scope::new(&mut self.program.colours, &self.constants, Allowed::Nothing);
                let typed = scope.infer(&expression, None);
                typed
                    .map_err(|error| in_text(&mut self.faults, text, error))
                    .ok()
            });
            let Some(typed) = typed else { continue };
            if typed
                .words
                .iter()
                .any(|code| !matches!(code, Code::Constant(_)))
            {
                fault(&mut self.faults, &text.path, "this has no value");
            }
            self.constants.insert(name.clone(), typed);
        }
    }

    fn parse(&mut self, text: &Text) -> Option<Expression> {
        parse(&text.text)
            .map_err(|error| in_text(&mut self.faults, text, error))
            .ok()
    }

    fn scope(&mut self, allowed: Allowed) -> Scope<'_> {
        Scope::new(&mut self.program.colours, &self.constants, allowed)
    }

    /// A whole number that does not depend on tokens.
    fn whole(&mut self, text: &Text, least: i64, most: i64) -> Option<i64> {
        let expression = self.parse(text)?;
        let compiled = self.scope(Allowed::Nothing).compile(&expression, Kind::Int);
        match compiled {
            Err(error) => {
                in_text(&mut self.faults, text, error);
                None
            }
            Ok(typed) => match typed.words[0] {
                Code::Constant(value) if (least..=most).contains(&value) => Some(value),
                _ => {
                    let message = format!("expected a whole number from {least} to {most}");
                    fault(&mut self.faults, &text.path, message);
                    None
                }
            },
        }
    }

    fn page(&mut self, text: &PageText, parent: Option<usize>) {
        let index = self.program.pages.len();
        let copies = text.copies.as_ref();
        let copies = copies.and_then(|copies| self.whole(copies, 1, i64::from(MOST_COPIES)));
        let copies = copies.unwrap_or(1) as u32;
        let around = parent.map(|parent| &self.program.pages[parent]);
        let path = match around {
            None => self.program.name.clone(),
            Some(around) => format!("{}/{}", around.path, text.name),
        };
        let total = around.map_or(1, |around| around.total).checked_mul(copies);
        let total = total.filter(|total| *total <= MOST_COPIES);
        if total.is_none() {
            let message = format!("expected at most {MOST_COPIES} copies in all");
            fault(&mut self.faults, &text.path, message);
        }
        self.program.pages.push(Page {
            name: match parent {
                None => self.program.name.clone(),
                Some(_) => text.name.clone(),
            },
            path,
            parent,
            copies,
            folded: text.copies.is_some(),
            total: total.unwrap_or(1),
            place: text.path.clone(),
        });
        self.names.push(BTreeMap::new());
        self.connect.push(text.connect.clone());
        for port in &text.ports {
            if parent.is_none() {
                let message = "the outermost page has no ports: nothing is around it";
                fault(&mut self.faults, &port.path, message);
            }
            self.define(
                index,
                &port.name,
                &port.path,
                Item::Port(port.place.clone()),
            );
        }
        for node in &text.nodes {
            let number = self.program.nodes.len();
            self.define(index, &node.name, &node.path, Item::Node(number));
            let node = self.node(index, node);
            self.program.nodes.push(node);
        }
        for probe in &text.probes {
            self.define(index, &probe.text, &probe.path, Item::Other);
            self.program.probes.push((index, probe.text.clone()));
        }
        for transition in &text.transitions {
            self.define(index, &transition.name, &transition.path, Item::Other);
        }
        for page in &text.pages {
            let number = self.program.pages.len();
            self.define(index, &page.name, &page.path, Item::Page(number));
            self.page(page, Some(index));
        }
    }

    fn define(&mut self, page: usize, name: &str, path: &[String], item: Item) {
        if self.names[page].insert(name.to_owned(), item).is_some() {
            let message = format!("the page has two elements called {name}; rename one");
            fault(&mut self.faults, path, message);
        }
    }

    fn node(&mut self, page: usize, text: &NodeText) -> Node {
        let colour = text.colour.as_ref().map(|colour| self.colour(colour));
        let colour = colour.unwrap_or(Kind::Unit);
        let kind = match &text.station {
            None => NodeKind::Place(text.fifo),
            Some(station) => {
                let station = self.station(station, colour, &text.path);
                NodeKind::Station(station.unwrap_or(Station::Barrier(1)))
            }
        };
        let initial = text.initial.iter();
        let initial = initial.filter_map(|initial| self.initial(initial, colour));
        Node {
            page,
            name: text.name.clone(),
            colour,
            kind,
            initial: initial.collect(),
            sink: text.sink,
            rest: text.rest,
            conserve: text.conserve,
            place: text.path.clone(),
        }
    }

    fn initial(&mut self, text: &InitialText, colour: Kind) -> Option<Initial> {
        let each = text.each.as_ref();
        let range = match each {
            None => None,
            Some((name, from, to)) => {
                self.check_name(&name.path, &name.text);
                let mut bounds = Vec::new();
                for bound in [from, to] {
                    let expression = self.parse(bound)?;
                    let typed = self.scope(Allowed::Nothing).compile(&expression, Kind::Int);
                    bounds.push(self.accept(bound, typed)?.words.remove(0));
                }
                let last = bounds.pop()?;
                Some((bounds.pop()?, last))
            }
        };
        // A number of tokens without data.
        let bare = text
            .token
            .as_ref()
            .filter(|token| colour == Kind::Unit && token.text.trim().parse::<u32>().is_ok());
        let (token, count) = match bare {
            Some(number) => (None, Some(number)),
            None => (text.token.as_ref(), text.count.as_ref()),
        };
        let typed = |this: &mut Compiler, text: Option<&Text>, kind: Kind| -> Option<Typed> {
            let Some(text) = text else {
                return Some(match kind {
                    Kind::Int => Typed {
                        kind,
                        words: vec![Code::Constant(1)],
                    },
                    _ => Typed {
                        kind: Kind::Unit,
                        words: Vec::new(),
                    },
                });
            };
            let expression = this.parse(text)?;
            let mut scope = this.scope(Allowed::Nothing);
            if let Some((name, _, _)) = each {
                let bound = scope.bind(&expression, &name.text, Kind::Int);
                bound.ok()?;
            }
            let typed = scope.compile(&expression, kind);
            this.accept(text, typed)
        };
        let count = typed(self, count, Kind::Int)?.words.remove(0);
        let token = match (token, colour) {
            (None, Kind::Unit) | (Some(_), _) => typed(self, token, colour)?,
            (None, _) => {
                let colour = self.program.colours.name(colour).to_owned();
                fault(
                    &mut self.faults,
                    &text.path,
                    format!("token is missing: a {colour}"),
                );
                return None;
            }
        };
        Some(Initial {
            words: token.words,
            count,
            each: range,
        })
    }

    fn accept<T>(&mut self, text: &Text, result: Result<T, ExpressionError>) -> Option<T> {
        result
            .map_err(|error| in_text(&mut self.faults, text, error))
            .ok()
    }

    fn station(&mut self, text: &StationText, colour: Kind, path: &[String]) -> Option<Station> {
        let name = &*text.discipline.text;
        let servers = text.servers.as_ref();
        let servers = servers.and_then(|it| self.whole(it, 1, i64::from(u32::MAX)));
        let servers = servers.unwrap_or(1) as u32;
        let takes = match name {
            "fcfs" | "sharing" => [true, true, false, false],
            "infinite" | "delay" => [false, true, false, false],
            "priority" | "preemptive" => [true, true, true, false],
            "barrier" => [false, false, false, true],
            _ => {
                let known = DISCIPLINES.join(", ");
                let near = did_you_mean(name, DISCIPLINES);
                let message =
                    format!("no discipline is called {name:?}: expected one of {known}{near}");
                fault(&mut self.faults, &text.discipline.path, message);
                return None;
            }
        };
        let given = [
            ("servers", &text.servers),
            ("service", &text.service),
            ("class", &text.class),
            ("number", &text.number),
        ];
        for ((key, given), takes) in given.into_iter().zip(takes) {
            match given {
                Some(given) if !takes => {
                    let message = format!("a station with discipline {name} has no {key}");
                    fault(&mut self.faults, &given.path, message);
                }
                None if takes && key != "servers" => {
                    let message = format!("a station with discipline {name} needs {key}");
                    fault(&mut self.faults, path, message);
                    return None;
                }
                _ => {}
            }
        }
        if name == "barrier" {
            let number = self.whole(text.number.as_ref()?, 1, i64::from(u32::MAX))?;
            return Some(Station::Barrier(number as u32));
        }
        let service = self.of_token(text.service.as_ref()?, colour, Kind::Time, Allowed::Chance)?;
        Some(match name {
            "fcfs" => Station::Fcfs(servers, service),
            "infinite" => Station::Infinite(service),
            "delay" => {
                if !matches!(service, Code::Constant(_)) {
                    let message = "a delay is the same for all tokens: expected a time such as \
                                   5 ms; for others use the discipline infinite";
                    let path = text.service.as_ref()?.path.clone();
                    fault(&mut self.faults, &path, message);
                }
                Station::Delay(service)
            }
            "sharing" => Station::Sharing(servers, service),
            _ => {
                let class = text.class.as_ref()?;
                let class = self.of_token(class, colour, Kind::Int, Allowed::Nothing)?;
                Station::Priority(name == "preemptive", servers, service, class)
            }
        })
    }

    /// An expression over the variable `token`.
    fn of_token(
        &mut self,
        text: &Text,
        colour: Kind,
        kind: Kind,
        allowed: Allowed,
    ) -> Option<Code> {
        let expression = self.parse(text)?;
        let mut scope = self.scope(allowed);
        let bound = scope.bind(&expression, "token", colour);
        let typed = bound.and_then(|_| scope.compile(&expression, kind));
        let code = self.accept(text, typed)?.words.remove(0);
        if matches!(code, Code::Constant(value) if kind == Kind::Time && value < 0) {
            let message = "expected a time of zero or more";
            fault(&mut self.faults, &text.path, message);
        }
        Some(code)
    }

    /// Every output port leads somewhere, and every input port to a node.
    fn bind_ports(&mut self) {
        for page in 0..self.names.len() {
            for (name, target) in self.connect[page].clone() {
                let port = self.names[page].get(&name);
                if !matches!(port, Some(Item::Port(None))) {
                    let path = &self.program.pages[page].path;
                    let ports = self.names[page].iter();
                    let ports = ports.filter(|(_, item)| matches!(item, Item::Port(None)));
                    let near = did_you_mean(&name, ports.map(|(name, _)| &**name));
                    let message = format!("{path} has no output port {name}{near}");
                    fault(&mut self.faults, &target.path, message);
                }
            }
            let names: Vec<String> = self.names[page].keys().cloned().collect();
            for name in names {
                if !matches!(self.names[page][&name], Item::Port(_)) {
                    continue;
                }
                let place = self.program.pages[page].place.clone();
                let path = [place, vec!["ports".to_owned(), name.clone()]].concat();
                let text = name.replace('/', "//");
                let text = Text { text, path };
                self.follow(page, &text, 0);
            }
        }
    }

    /// The node behind a name in a page or one around it, such as `server/waiting`.
    fn resolve(&mut self, page: usize, text: &Text, depth: usize) -> Option<usize> {
        let first = &*names_of(&text.text)[0];
        let scope = self
            .program
            .around(page)
            .find(|&page| self.names[page].contains_key(first));
        let Some(scope) = scope else {
            let names = self.program.around(page);
            let names = names.flat_map(|page| self.names[page].keys());
            let near = did_you_mean(first, names.map(String::as_str));
            let path = &self.program.pages[page].path;
            let message = format!("nothing in {path} or around it is called {first:?}{near}");
            fault(&mut self.faults, &text.path, message);
            return None;
        };
        self.follow(scope, text, depth)
    }

    /// The node behind a path that starts in a page.
    fn follow(&mut self, mut page: usize, text: &Text, depth: usize) -> Option<usize> {
        let parts = names_of(&text.text);
        let mut parts = parts.iter().map(String::as_str).peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            match self.names[page].get(part).cloned() {
                Some(Item::Page(inner)) if !last => page = inner,
                Some(Item::Node(node)) if last => return Some(node),
                Some(Item::Port(inner)) if last => {
                    return self.port(page, part, inner, text, depth);
                }
                found => {
                    let what = match found {
                        Some(Item::Page(_)) => "is a page: expected a place, station or port",
                        Some(_) => "is no place, station or port",
                        None => "is not there",
                    };
                    let names = self.names[page].keys().map(String::as_str);
                    let near = match found {
                        None => did_you_mean(part, names),
                        Some(_) => String::new(),
                    };
                    let path = &self.program.pages[page].path;
                    let message = format!("{path}/{part} {what}{near}");
                    fault(&mut self.faults, &text.path, message);
                    return None;
                }
            }
        }
        None
    }

    fn port(
        &mut self,
        page: usize,
        name: &str,
        inner: Option<Text>,
        text: &Text,
        depth: usize,
    ) -> Option<usize> {
        let path = format!("{}/{name}", self.program.pages[page].path);
        if depth > 64 {
            let message = format!("the port {path} leads to itself: connect it to a place");
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        if let Some(inner) = inner {
            return self.follow(page, &inner, depth + 1);
        }
        let target = self.connect[page].iter().find(|(port, _)| port == name);
        let (Some((_, target)), Some(parent)) = (target.cloned(), self.program.pages[page].parent)
        else {
            let message = format!(
                "the output port {path} is not connected: name its target in the page's connect"
            );
            fault(&mut self.faults, &text.path, message);
            return None;
        };
        self.resolve(parent, &target, depth + 1)
    }

    /// Goes through pages in the order in which they were numbered.
    fn transitions(&mut self, text: &PageText, page: &mut usize) {
        let own = *page;
        for transition in &text.transitions {
            let compiled = self.transition(own, transition);
            self.program.transitions.extend(compiled);
        }
        for inner in &text.pages {
            *page += 1;
            self.transitions(inner, page);
        }
    }

    fn transition(&mut self, page: usize, text: &TransitionText) -> Option<Transition> {
        if text.take.is_empty() {
            let message = "this transition takes nothing and would fire forever; add a take";
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        let mut frame = Frame::default();
        let mut inputs: Vec<Input> = Vec::new();
        let mut ends = Vec::new();
        for take in &text.take {
            for (node, steps) in self.take(page, take, &mut frame)? {
                let before = inputs.iter().filter(|input| input.node == node).count();
                inputs.push(Input {
                    node,
                    steps,
                    before,
                });
                ends.push(frame.words);
            }
        }
        if inputs.len() > 32 {
            let message = "expected at most 32 tokens taken in one firing";
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        for when in &text.when {
            let expression = self.parse(when)?;
            for part in conjuncts(&expression) {
                let code = self.in_frame(when, &mut frame, Allowed::Nothing, |scope| {
                    scope.condition(part)
                })?;
                // As soon as all that it uses is bound.
                let extent = code.extent();
                let input = ends.iter().position(|&end| extent <= end);
                let input = input.unwrap_or(inputs.len() - 1);
                inputs[input].steps.push(Step::Test(code));
            }
        }
        let mut lets = Vec::new();
        for binding in &text.lets {
            let Some((name, value)) = binding.text.split_once('=') else {
                let message = "expected a name, = and an expression";
                fault(&mut self.faults, &binding.path, message);
                return None;
            };
            let before = name.chars().count() + 1;
            let name = name.trim().to_owned();
            self.check_name(&binding.path, &name);
            let taken = frame.variables.iter().any(|it| it.name == name);
            if taken || self.constants.contains_key(&name) {
                let message = format!("{name} has a value already");
                fault(&mut self.faults, &binding.path, message);
                return None;
            }
            let shifted = |mut error: ExpressionError| {
                error.column += before;
                error
            };
            let expression = parse(value).map_err(shifted);
            let expression = self.accept(binding, expression)?;
            let typed = self.in_frame(binding, &mut frame, Allowed::TimeAndChance, |scope| {
                let typed = scope.infer(&expression, None).map_err(shifted)?;
                let word = scope.bind(&expression, &name, typed.kind)?;
                Ok((word, typed))
            });
            let (word, typed) = typed?;
            lets.append(&mut frame.first);
            lets.extend((word..).zip(typed.words));
        }
        let mut outputs = Vec::new();
        for put in &text.put {
            outputs.extend(self.put(page, put, &mut frame, &mut lets)?);
        }
        let mut records = Vec::new();
        for record in &text.record {
            let probes = &self.program.probes;
            let probe = self.program.around(page).find_map(|page| {
                let mut probes = probes.iter();
                probes.position(|(of, name)| *of == page && *name == record.probe.text)
            });
            let Some(probe) = probe else {
                let near = did_you_mean(&record.probe.text, probes.iter().map(|(_, it)| &**it));
                let message = format!("no probe is called {:?}{near}", record.probe.text);
                fault(&mut self.faults, &record.probe.path, message);
                continue;
            };
            let value = self.parse(&record.value)?;
            let value =
                self.in_frame(&record.value, &mut frame, Allowed::TimeAndChance, |scope| {
                    let typed = scope.infer(&value, None)?;
                    let text = match typed.kind {
                        // Probes hold seconds.
                        Kind::Time => Expression {
                            column: value.column,
                            node: Syntax::Call(
                                "in_seconds".to_owned(),
                                vec![(None, value.clone())],
                            ),
                        },
                        Kind::Bool => {
                            let [one, zero] = [1, 0].map(|it| Expression {
                                column: value.column,
                                node: Syntax::Int(it),
                            });
                            let parts = Box::new([value.clone(), one, zero]);
                            Expression {
                                column: value.column,
                                node: Syntax::If(parts),
                            }
                        }
                        _ => value.clone(),
                    };
                    Ok(scope.compile(&text, Kind::Real)?.words.remove(0))
                })?;
            let when = match &record.when {
                None => None,
                Some(when) => {
                    let condition = self.parse(when)?;
                    Some(
                        self.in_frame(when, &mut frame, Allowed::TimeAndChance, |scope| {
                            scope.condition(&condition)
                        })?,
                    )
                }
            };
            lets.append(&mut frame.first);
            records.push(Recorded { probe, when, value });
        }
        Some(Transition {
            page,
            name: text.name.clone(),
            priority: text.priority,
            inputs,
            lets,
            outputs,
            records,
            words: frame.words,
            variables: frame
                .variables
                .into_iter()
                .filter(|it| !it.name.is_empty())
                .map(|it| (it.name, it.kind, it.word))
                .collect(),
            place: text.path.clone(),
        })
    }

    fn take(
        &mut self,
        page: usize,
        text: &TakeText,
        frame: &mut Frame,
    ) -> Option<Vec<(usize, Vec<Step>)>> {
        let node = self.resolve(page, &text.place, 0)?;
        let of = self.program.nodes[node].page;
        if !self.program.around(page).any(|page| page == of) {
            let message = format!(
                "takes from {}, which is neither in its page nor in one around it",
                self.program.node_path(node)
            );
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        let count = match &text.count {
            None => 1,
            Some(count) => self.whole(count, 1, 32)?,
        };
        let colour = self.program.nodes[node].colour;
        let pattern = match &text.token {
            None => None,
            Some(token) => Some((token, self.parse(token)?)),
        };
        let mut taken = Vec::new();
        for _ in 0..count {
            let steps = match &pattern {
                None => Vec::new(),
                Some((token, pattern)) => {
                    self.in_frame(token, frame, Allowed::Nothing, |scope| {
                        scope.pattern(pattern, colour)
                    })?
                }
            };
            taken.push((node, steps));
        }
        Some(taken)
    }

    fn put(
        &mut self,
        page: usize,
        text: &PutText,
        frame: &mut Frame,
        lets: &mut Vec<(usize, Code)>,
    ) -> Option<Vec<Output>> {
        let node = self.resolve(page, &text.place, 0)?;
        let (folded, _) = self.program.way(page, self.program.nodes[node].page);
        if folded.len() != text.copy.len() {
            let path = self.program.node_path(node);
            let message = match (folded.len(), text.copy.len()) {
                (0, _) => format!("copy has no meaning: no folded page lies on the way to {path}"),
                (1, 0) => format!(
                    "copy is missing: {path} has {} copies; choose one, such as copy = \"0\"",
                    self.program.pages[folded[0]].copies
                ),
                (pages, _) => format!(
                    "expected copy with {pages} expressions, one for each folded page on the way to \
                     {path}"
                ),
            };
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        let colour = self.program.nodes[node].colour;
        let anything = Allowed::TimeAndChance;
        let mut of_text = |this: &mut Compiler, text: &Text, kind: Kind| -> Option<Code> {
            let expression = this.parse(text)?;
            this.in_frame(text, frame, anything, |scope| {
                Ok(scope.compile(&expression, kind)?.words.remove(0))
            })
        };
        let mut copies = Vec::new();
        for copy in &text.copy {
            copies.push(of_text(self, copy, Kind::Int)?);
        }
        let count = match &text.count {
            None => None,
            Some(count) => Some(of_text(self, count, Kind::Int)?),
        };
        let delay = match &text.delay {
            None => None,
            Some(delay) => Some(of_text(self, delay, Kind::Time)?),
        };
        if matches!(delay, Some(Code::Constant(value)) if value < 0) {
            let path = text.delay.as_ref().map(|it| it.path.clone());
            let message = "expected a time of zero or more";
            fault(&mut self.faults, &path.unwrap_or_default(), message);
        }
        let mut when = match &text.when {
            None => None,
            Some(when) => Some(of_text(self, when, Kind::Bool)?),
        };
        let Some(token) = &text.token else {
            if colour != Kind::Unit {
                let colour = self.program.colours.name(colour).to_owned();
                fault(
                    &mut self.faults,
                    &text.path,
                    format!("token is missing: a {colour}"),
                );
                return None;
            }
            lets.append(&mut frame.first);
            return Some(vec![Output {
                node,
                first: Vec::new(),
                when,
                words: Vec::new(),
                count,
                delay,
                copies,
            }]);
        };
        let expression = self.parse(token)?;
        let mut alternatives = Vec::new();
        self.alternatives(token, &expression, None, frame, lets, &mut alternatives)?;
        let several = alternatives.len() > 1;
        if several && let Some(code) = when.take_if(|code| code.is_random()) {
            // Drawn once for all alternatives.
            let word = self.in_frame(token, frame, anything, |scope| {
                scope.bind(&expression, "", Kind::Bool)
            })?;
            lets.push((word, code));
            when = Some(Code::Word(word));
        }
        let mut outputs = Vec::new();
        for (condition, value) in alternatives {
            let words = self.in_frame(token, frame, anything, |scope| {
                Ok(scope.compile(value, colour)?.words)
            })?;
            let when = match (when.clone(), condition) {
                (Some(a), Some(b)) => Some(Code::And(Box::new([a, b]))),
                (a, b) => a.or(b),
            };
            outputs.push(Output {
                node,
                first: std::mem::take(&mut frame.first),
                when,
                words,
                count: count.clone(),
                delay: delay.clone(),
                copies: copies.clone(),
            });
        }
        Some(outputs)
    }

    /// The tokens of `if … then … else empty`, each with its condition.
    fn alternatives<'e>(
        &mut self,
        text: &Text,
        of: &'e Expression,
        condition: Option<Code>,
        frame: &mut Frame,
        lets: &mut Vec<(usize, Code)>,
        found: &mut Vec<(Option<Code>, &'e Expression)>,
    ) -> Option<()> {
        match &of.node {
            Syntax::Name(name) if name == "empty" => {}
            Syntax::If(parts) if has_empty(&parts[1]) || has_empty(&parts[2]) => {
                let mut test = self.in_frame(text, frame, Allowed::TimeAndChance, |scope| {
                    scope.condition(&parts[0])
                })?;
                if test.is_random() {
                    let word = self.in_frame(text, frame, Allowed::TimeAndChance, |scope| {
                        scope.bind(of, "", Kind::Bool)
                    })?;
                    lets.push((word, test));
                    test = Code::Word(word);
                }
                let not = Code::Not(Box::new(test.clone()));
                for (test, part) in [(test, &parts[1]), (not, &parts[2])] {
                    let both = match condition.clone() {
                        Some(condition) => Code::And(Box::new([condition, test])),
                        None => test,
                    };
                    self.alternatives(text, part, Some(both), frame, lets, found)?;
                }
            }
            _ => found.push((condition, of)),
        }
        Some(())
    }

    /// Compiles within the frame of a transition.
    fn in_frame<T>(
        &mut self,
        text: &Text,
        frame: &mut Frame,
        allowed: Allowed,
        compile: impl FnOnce(&mut Scope<'_>) -> Result<T, ExpressionError>,
    ) -> Option<T> {
        let mut scope = self.scope(allowed);
        scope.variables = std::mem::take(&mut frame.variables);
        scope.words = frame.words;
        scope.first = std::mem::take(&mut frame.first);
        let compiled = compile(&mut scope);
        frame.variables = scope.variables;
        frame.words = scope.words;
        frame.first = scope.first;
        self.accept(text, compiled)
    }
}

/// Variables of a transition.
#[derive(Default)]
struct Frame {
    variables: Vec<crate::expression::Variable>,
    words: usize,
    first: Vec<(usize, Code)>,
}

fn has_empty(of: &Expression) -> bool {
    let mut found = false;
    of.walk(&mut |it| found |= matches!(&it.node, Syntax::Name(name) if name == "empty"));
    found
}

/// The parts of `a and b and c`.
fn conjuncts(of: &Expression) -> Vec<&Expression> {
    match &of.node {
        Syntax::Binary("and", a, b) => [conjuncts(a), conjuncts(b)].concat(),
        _ => vec![of],
    }
}

/// The end and warm-up of a document's runs in seconds, its seed and replications.
///
/// # Errors
/// A time that is none.
pub fn run_settings(document: &Document, program: &Program) -> Result<[Option<f64>; 4], Faults> {
    let mut colours = program.colours.clone();
    let mut faults = Vec::new();
    let constants = &program.constants;
    let mut seconds = |text: &Option<Text>| {
        let text = text.as_ref()?;
        let mut scope = Scope::new(&mut colours, constants, Allowed::Nothing);
        let typed = parse(&text.text).and_then(|it| scope.compile(&it, Kind::Time));
        match typed.map(|typed| typed.words[0].clone()) {
            Ok(Code::Constant(time)) if time >= 0 => return Some(time as f64 / 1e12),
            Ok(_) => fault(&mut faults, &text.path, "expected a time such as 10 s"),
            Err(error) => in_text(&mut faults, text, error),
        }
        None
    };
    let run = &document.run;
    let settings = [
        seconds(&run.until),
        seconds(&run.warmup),
        run.seed.map(|seed| seed as f64),
        run.replications.map(f64::from),
    ];
    match faults.is_empty() {
        true => Ok(settings),
        false => Err(Faults(faults)),
    }
}

/// A world for the first tokens: only the copy is known.
struct AtStart {
    copy: i64,
    pure: Pure,
}

impl crate::expression::World for AtStart {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        self.copy
    }
    fn uniform(&mut self) -> f64 {
        self.pure.uniform()
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.pure.below(bound)
    }
    fn fail(&mut self, message: &'static str) {
        self.pure.fail(message);
    }
}

/// The most first tokens of one copy of a node.
const MOST_INITIAL: usize = 10_000_000;

/// The first tokens of a copy of a node, in words.
///
/// # Errors
/// An expression has no value, or there are too many.
pub fn initial_tokens(node: &Node, copy: u32) -> Result<Vec<Vec<i64>>, String> {
    let mut world = AtStart {
        copy: i64::from(copy),
        pure: Pure::default(),
    };
    let mut tokens = Vec::new();
    for initial in &node.initial {
        let (from, to) = match &initial.each {
            None => (0, 0),
            Some((from, to)) => (
                evaluate(from, &[], &mut world),
                evaluate(to, &[], &mut world),
            ),
        };
        if to.saturating_sub(from) >= MOST_INITIAL as i64 {
            return Err(format!(
                "expected at most {MOST_INITIAL} values from {from} to {to}"
            ));
        }
        for each in from..=to {
            let frame = [each];
            let count = evaluate(&initial.count, &frame, &mut world);
            let token: Vec<i64> = initial
                .words
                .iter()
                .map(|code| evaluate(code, &frame, &mut world))
                .collect();
            if let Some(failure) = world.pure.failure {
                return Err(format!("initial: {failure}"));
            }
            if count < 0 || count as usize > MOST_INITIAL - tokens.len().min(MOST_INITIAL) {
                return Err(format!(
                    "expected from 0 to {MOST_INITIAL} tokens, not {count}"
                ));
            }
            tokens.extend(std::iter::repeat_n(token, count as usize));
        }
    }
    Ok(tokens)
}
