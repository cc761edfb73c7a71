//! Monitors: observations of a run. They change nothing of it, so a run with monitors fires the
//! same transitions at the same times.
//!
//! A monitor of firings is evaluated after each firing of its transition. One of markings is
//! evaluated after each step that changes a number of tokens it uses.

use std::collections::BTreeMap;

use super::{Program, Term, replace};
use crate::colour::Kind;
use crate::document::{MonitorText, Text};
use crate::error::{Fault, Faults, did_you_mean};
use crate::expression::{
    Allowed, Code, Expression, ExpressionError, Scope, Syntax, Typed, Variable, parse,
};

/// A monitor, compiled.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// Its name.
    pub name: String,
    /// The transition whose firings it observes; none for markings.
    pub transition: Option<usize>,
    /// Condition of its observations.
    pub when: Option<Code>,
    /// Its action.
    pub watch: Watch,
    /// Numbers of tokens: words of the frame after those of the transition's variables.
    pub(crate) terms: Vec<Term>,
}

/// Kinds of monitors.
#[derive(Clone, Debug)]
pub enum Watch {
    /// Counts firings.
    Counter,
    /// A real number that depends on the marking, weighted by the time that it lasts.
    Marking(Code),
    /// A real number of each firing.
    Observation(Code),
    /// Rows of values: names, kinds and words of the columns, and the most rows.
    Collector(Vec<(String, Typed)>, usize),
    /// Ends the run when it holds for the n-th time.
    Breakpoint(u64),
}

impl Watch {
    /// Its name in documents.
    pub fn kind(&self) -> &'static str {
        match self {
            Watch::Counter => "counter",
            Watch::Marking(_) => "marking",
            Watch::Observation(_) => "observation",
            Watch::Collector(..) => "collector",
            Watch::Breakpoint(_) => "breakpoint",
        }
    }
}

/// Rows that a collector keeps unless its limit says otherwise.
const ROWS: u64 = 100_000;

/// Compiles the monitors of a document.
pub(crate) fn compile(
    texts: &[(String, MonitorText)],
    program: &mut Program,
    constants: &BTreeMap<String, Typed>,
    faults: &mut Vec<Fault>,
) -> Vec<Monitor> {
    let compiled = texts.iter().filter_map(|(name, text)| {
        let transition = match &text.transition {
            None => None,
            Some(path) => match transition_of(program, &path.text) {
                Ok(index) => Some(index),
                Err(message) => {
                    faults.push(in_text(path, 0, message));
                    return None;
                }
            },
        };
        let mut compiler = Compiler {
            program: &mut *program,
            constants,
            transition,
            terms: Vec::new(),
            names: Vec::new(),
        };
        match compiler.monitor(name, text) {
            Ok(monitor) => Some(monitor),
            Err(fault) => {
                faults.push(fault);
                None
            }
        }
    });
    compiled.collect()
}

/// The transition of a path, with or without the net's name.
///
/// # Errors
/// There is none.
pub fn transition_of(program: &Program, path: &str) -> Result<usize, String> {
    let paths: Vec<String> = (0..program.transitions.len())
        .map(|index| program.transition_path(index))
        .collect();
    let found = paths.iter().position(|full| program.is_called(full, path));
    found.ok_or_else(|| {
        let inner = paths.iter().filter_map(|full| program.within(full));
        let near = did_you_mean(path, inner);
        format!("no transition is called {path:?}{near}")
    })
}

fn in_text(text: &Text, column: usize, message: impl Into<String>) -> Fault {
    Fault {
        path: text.path.clone(),
        column,
        message: message.into(),
    }
}

/// A condition on markings.
pub(crate) struct Condition {
    pub terms: Vec<Term>,
    pub code: Code,
}

impl Condition {
    /// Compiles a condition of a net that is compiled already.
    pub fn compile(program: &Program, text: &str) -> Result<Condition, Faults> {
        // Texts in the condition get numbers of their own.
        let mut program = program.clone();
        let constants = program.constants.clone();
        let mut compiler = Compiler {
            program: &mut program,
            constants: &constants,
            transition: None,
            terms: Vec::new(),
            names: Vec::new(),
        };
        let of = Text {
            text: text.to_owned(),
            path: Vec::new(),
        };
        let compiled = compiler
            .parse(&of)
            .and_then(|expression| compiler.compile(&of, |scope| scope.condition(&expression)));
        match compiled {
            Ok(code) => Ok(Condition {
                terms: compiler.terms,
                code,
            }),
            Err(mut fault) => {
                let column = fault.column + 1;
                fault.message = format!("{text:?}, column {column}: {}", fault.message);
                Err(Faults(vec![fault]))
            }
        }
    }
}

struct Compiler<'a> {
    program: &'a mut Program,
    constants: &'a BTreeMap<String, Typed>,
    transition: Option<usize>,
    terms: Vec<Term>,
    /// Names of the terms in expressions.
    names: Vec<String>,
}

impl Monitor {
    /// Returns true if its value depends on the time.
    pub(crate) fn uses_time(&self) -> bool {
        let value = match &self.watch {
            Watch::Marking(value) => Some(value),
            _ => None,
        };
        let mut codes = value.into_iter().chain(&self.when);
        codes.any(|code| code.any(&|part| matches!(part, Code::Now)))
    }
}

impl Compiler<'_> {
    fn monitor(&mut self, name: &str, text: &MonitorText) -> Result<Monitor, Fault> {
        let when = text.when.as_ref().map(|it| self.parse(it)).transpose()?;
        let value = text.value.as_ref().map(|it| self.parse(it)).transpose()?;
        let mut columns = Vec::new();
        for (column, text) in &text.columns {
            if ["run", "time_s"].contains(&&**column) {
                let message = format!("every table of rows has a column {column}; rename this one");
                return Err(in_text(text, 0, message));
            }
            columns.push((column.clone(), text, self.parse(text)?));
        }
        let fault = |message: &str| Fault {
            path: text.path.clone(),
            column: 0,
            message: message.to_owned(),
        };
        // All terms are known now, so all expressions have one frame.
        let when_of = text.when.as_ref().zip(when.as_ref());
        let when = when_of
            .map(|(text, it)| self.compile(text, |scope| scope.condition(it)))
            .transpose()?;
        let value_of = text.value.as_ref().zip(value.as_ref());
        let value = value_of
            .map(|(text, it)| self.compile(text, |scope| figure(scope, it)))
            .transpose()?;
        let watch = match (&*text.kind.text, value) {
            ("counter", None) => Watch::Counter,
            ("marking", Some(value)) => Watch::Marking(value),
            ("observation", Some(value)) => Watch::Observation(value),
            ("collector", None) => {
                let mut compiled = Vec::new();
                for (name, text, it) in &columns {
                    let typed = self.compile(text, |scope| scope.infer(it, None))?;
                    compiled.push((name.clone(), typed));
                }
                let limit = text.limit.unwrap_or(ROWS);
                Watch::Collector(compiled, limit as usize)
            }
            ("breakpoint", None) => Watch::Breakpoint(text.count.unwrap_or(1)),
            _ => return Err(fault("value is missing")),
        };
        Ok(Monitor {
            name: name.to_owned(),
            transition: self.transition,
            when,
            watch,
            terms: std::mem::take(&mut self.terms),
        })
    }

    /// An expression with its numbers of tokens replaced by variables.
    fn parse(&mut self, text: &Text) -> Result<Expression, Fault> {
        let faulty = |error: ExpressionError| in_text(text, error.column, error.message);
        let mut expression = parse(&text.text).map_err(faulty)?;
        let variables = self.variables();
        let hidden: Vec<&str> = variables.iter().map(|it| &*it.name).collect();
        replace(
            &mut expression,
            self.program,
            &hidden,
            &mut self.terms,
            &mut self.names,
        )
        .map_err(faulty)?;
        Ok(expression)
    }

    fn variables(&self) -> Vec<Variable> {
        let of = self.transition.map(|it| &self.program.transitions[it]);
        let variables = of.iter().flat_map(|it| &it.variables);
        let variables = variables.map(|(name, kind, word)| Variable {
            name: name.clone(),
            kind: *kind,
            word: *word,
        });
        variables.collect()
    }

    fn compile<T>(
        &mut self,
        text: &Text,
        compile: impl FnOnce(&mut Scope<'_>) -> Result<T, ExpressionError>,
    ) -> Result<T, Fault> {
        let variables = self.variables();
        let words = self.transition.map(|it| self.program.transitions[it].words);
        let mut scope = Scope::new(&mut self.program.colours, self.constants, Allowed::Time);
        scope.variables = variables;
        scope.words = words.unwrap_or(0);
        let all = || {
            for name in &self.names {
                let at = Expression {
                    column: 0,
                    node: Syntax::Int(0),
                };
                scope.bind(&at, name, Kind::Int)?;
            }
            compile(&mut scope)
        };
        all().map_err(|error| in_text(text, error.column, error.message))
    }
}

/// Compiles a value that becomes a real number: times in seconds, truths 0 and 1.
pub(crate) fn figure(scope: &mut Scope<'_>, value: &Expression) -> Result<Code, ExpressionError> {
    let at = |node| Expression {
        column: value.column,
        node,
    };
    let figure = match scope.infer(value, None)?.kind {
        Kind::Time => {
            let arguments = vec![(None, value.clone())];
            at(Syntax::Call("in_seconds".to_owned(), arguments))
        }
        Kind::Bool => {
            let parts = [value.clone(), at(Syntax::Int(1)), at(Syntax::Int(0))];
            at(Syntax::If(Box::new(parts)))
        }
        _ => value.clone(),
    };
    Ok(scope.compile(&figure, Kind::Real)?.words.remove(0))
}
