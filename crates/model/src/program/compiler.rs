//! The compiler of documents: names of pages, and what compiling any expression needs.

use std::collections::BTreeMap;

use super::{Page, Program, monitors};
use crate::colour::Colours;
use crate::colour::Kind;
use crate::document::{Document, PageText, Text};
use crate::error::{Fault, Faults};
use crate::expression::{
    Allowed, Code, Expression, ExpressionError, External, Scope, StoreName, Typed, Variable, parse,
};

/// Something in a page that has a name.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Node(usize),
    Store(usize),
    Page(usize),
    /// The node inside, by its name, or none for an output.
    Port(Option<Text>),
    Other,
}

/// Copies of a page in all.
const MOST_COPIES: u32 = 10_000_000;

pub(super) struct Compiler {
    pub(super) program: Program,
    pub(super) constants: BTreeMap<String, Typed>,
    /// By page.
    pub(super) names: Vec<BTreeMap<String, Item>>,
    /// Targets of output ports by page.
    pub(super) connect: Vec<Vec<(String, Text)>>,
    pub(super) faults: Vec<Fault>,
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
            stores: Vec::new(),
            transitions: Vec::new(),
            probes: Vec::new(),
            random_choice: false,
            random_bindings: false,
            constants: BTreeMap::new(),
            monitors: Vec::new(),
        },
        constants: BTreeMap::new(),
        names: Vec::new(),
        connect: Vec::new(),
        faults: Vec::new(),
    };
    compiler.colours(document);
    compiler.values(document);
    compiler.externals(externals);
    compiler.choice(document);
    // Without them nearly every expression is wrong.
    if compiler.faults.is_empty() {
        compiler.page(&document.page, None);
        compiler.bind_ports();
        let mut page = 0;
        compiler.transitions(&document.page, &mut page);
    }
    // Faults of transitions would hide them.
    if compiler.faults.is_empty() {
        compiler.program.monitors = monitors::compile(
            &document.monitors,
            &mut compiler.program,
            &compiler.constants,
            &mut compiler.faults,
        );
    }
    match compiler.faults.is_empty() {
        true => Ok(Program {
            constants: compiler.constants,
            ..compiler.program
        }),
        false => Err(Faults(compiler.faults)),
    }
}

pub(super) fn fault(faults: &mut Vec<Fault>, path: &[String], message: impl Into<String>) {
    faults.push(Fault {
        path: path.to_vec(),
        column: 0,
        message: message.into(),
    });
}

pub(super) fn in_text(faults: &mut Vec<Fault>, text: &Text, error: ExpressionError) {
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
    pub(super) fn check_name(&mut self, path: &[String], name: &str) {
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

    pub(super) fn parse(&mut self, text: &Text) -> Option<Expression> {
        parse(&text.text)
            .map_err(|error| in_text(&mut self.faults, text, error))
            .ok()
    }

    pub(super) fn scope(&mut self, allowed: Allowed) -> Scope<'_> {
        Scope::new(&mut self.program.colours, &self.constants, allowed)
    }

    /// A real number that does not depend on tokens and is at least this.
    pub(super) fn real(&mut self, text: &Text, least: f64) -> Option<f64> {
        let expression = self.parse(text)?;
        let compiled = self
            .scope(Allowed::Nothing)
            .compile(&expression, Kind::Real);
        match self.accept(text, compiled)?.words[0] {
            Code::Constant(word) if f64::from_bits(word as u64) >= least => {
                Some(f64::from_bits(word as u64))
            }
            _ => {
                let message = match least > 0.0 {
                    true => "expected a number of more than 0",
                    false => "expected a number of 0 or more",
                };
                fault(&mut self.faults, &text.path, message);
                None
            }
        }
    }

    fn choice(&mut self, document: &Document) {
        let Some(choice) = &document.run.choice else {
            return;
        };
        match &*choice.text {
            "first" => {}
            kind @ ("random" | "bindings") => {
                self.program.random_choice = true;
                self.program.random_bindings = kind == "bindings";
            }
            other => {
                let message = format!(
                    "expected \"first\" (the transition written first), \"random\", or \
                     \"bindings\" (random tokens, too), not {other:?}"
                );
                fault(&mut self.faults, &choice.path, message);
            }
        }
    }

    /// A whole number that does not depend on tokens.
    pub(super) fn whole(&mut self, text: &Text, least: i64, most: i64) -> Option<i64> {
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
        for store in &text.stores {
            let number = self.program.stores.len();
            self.define(index, &store.name, &store.path, Item::Store(number));
            let store = self.store(index, store);
            self.program.stores.push(store);
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

    pub(super) fn accept<T>(
        &mut self,
        text: &Text,
        result: Result<T, ExpressionError>,
    ) -> Option<T> {
        result
            .map_err(|error| in_text(&mut self.faults, text, error))
            .ok()
    }

    /// Compiles within the frame of a transition.
    pub(super) fn in_frame<T>(
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
        scope.stores = std::mem::take(&mut frame.stores);
        let compiled = compile(&mut scope);
        frame.variables = scope.variables;
        frame.words = scope.words;
        frame.first = scope.first;
        frame.stores = scope.stores;
        self.accept(text, compiled)
    }
}

/// Variables of a transition.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) variables: Vec<Variable>,
    pub(super) words: usize,
    pub(super) first: Vec<(usize, Code)>,
    pub(super) stores: Vec<StoreName>,
}
