//! Conditions on markings.

use super::contents::Contents;
use super::step::Current;
use crate::build::suits;
use crate::colour::Kind;
use crate::error::{Fault, Faults};
use crate::expression::{
    Allowed, Code, ExpressionError, Operator, Pure, Scope, Step, StoreName, evaluate, parse,
    used_stores,
};
use crate::outcome::Failure;
use crate::program::{Program, Term, replace};

/// Characters of a text that a message repeats.
const MOST_SHOWN: usize = 100;

/// The beginning of a text, for a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}

/// A condition on markings.
pub struct Predicate {
    text: String,
    terms: Vec<Term>,
    /// Stores of one copy that it reads.
    stores: Vec<usize>,
    /// It holds if all of them do.
    parts: Vec<Code>,
}

/// A number of tokens that may have to change before a part of a condition holds.
#[derive(Clone, Copy)]
pub struct Helping {
    /// A place or station: the tokens in all its copies.
    pub node: usize,
    /// True if more of them may help.
    pub more: bool,
    /// True if fewer of them may help.
    pub fewer: bool,
}

impl Predicate {
    /// Compiles a condition, which errors call by a name; adds its texts to the program.
    ///
    /// # Errors
    /// It is none.
    pub fn compile(program: &mut Program, name: &str, text: &str) -> Result<Predicate, Faults> {
        Predicate::read(program, text).map_err(|message| {
            Faults(vec![Fault {
                path: Vec::new(),
                column: 0,
                message: format!("{name} = {message}"),
            }])
        })
    }

    /// Compiles a condition; an error is its text and the place in it.
    pub fn read(program: &mut Program, text: &str) -> Result<Predicate, String> {
        Predicate::parts(program, text).map_err(|error| {
            let (column, message) = (error.column + 1, error.message);
            format!("{:?}, column {column}: {message}", shortened(text))
        })
    }

    fn parts(program: &mut Program, text: &str) -> Result<Predicate, ExpressionError> {
        let mut expression = parse(text)?;
        let mut terms = Vec::new();
        let mut names = Vec::new();
        replace(&mut expression, program, &[], &mut terms, &mut names)?;
        let constants = program.constants.clone();
        let single = |store: &usize| program.pages[program.stores[*store].page].total == 1;
        let stores = (0..program.stores.len()).filter(single);
        let stores = stores.map(|store| StoreName::of(program, store)).collect();
        let mut scope = Scope::new(&mut program.colours, &constants, Allowed::Nothing);
        // Numbers of tokens are in a frame of their own, as long as needed.
        scope.most_words = usize::MAX;
        for name in &names {
            scope.bind(&expression, name, Kind::Int)?;
        }
        scope.stores = stores;
        let code = scope.condition(&expression)?;
        let mut parts = Vec::new();
        split(code, &mut parts);
        Ok(Predicate {
            text: shortened(text),
            terms,
            stores: used_stores(&scope.stores),
            parts,
        })
    }

    /// The patterns of tokens that it counts: node and steps.
    pub fn patterns(&self) -> impl Iterator<Item = (usize, &[Step])> {
        self.terms.iter().map(|term| (term.node, &term.steps[..]))
    }

    /// By part: the numbers of tokens that may have to change before it holds.
    pub fn helping(&self) -> Vec<Vec<Helping>> {
        let of_part = |part| {
            let mut helping = Vec::new();
            self.help(part, (true, false), &mut helping);
            helping
        };
        self.parts.iter().map(of_part).collect()
    }

    /// Lists the numbers of tokens that may have to change before a value is more, or fewer.
    fn help(&self, code: &Code, (more, fewer): (bool, bool), helping: &mut Vec<Helping>) {
        use Operator::{Add, Less, LessEqual, Maximum, Minimum, Subtract};
        let (along, against, any) = ((more, fewer), (fewer, more), (true, true));
        let mut help = |part: &Code, ways| self.help(part, ways, helping);
        match code {
            Code::Word(term) | Code::WordIs(term, _) => {
                let (more, fewer) = if matches!(code, Code::Word(_)) {
                    along
                } else {
                    any
                };
                let node = self.terms[*term].node;
                helping.push(Helping { node, more, fewer });
            }
            Code::And(parts) | Code::Or(parts) => parts.iter().for_each(|it| help(it, along)),
            Code::Int(Add | Minimum | Maximum, parts) => {
                parts.iter().for_each(|it| help(it, along));
            }
            Code::Int(Subtract, parts) => {
                help(&parts[0], along);
                help(&parts[1], against);
            }
            Code::Int(Less | LessEqual, parts) => {
                help(&parts[0], against);
                help(&parts[1], along);
            }
            Code::Not(part) | Code::NegateInt(part) => help(part, against),
            _ => code.parts().iter().for_each(|it| help(it, any)),
        }
    }

    /// Returns true if it holds for a marking.
    ///
    /// # Errors
    /// It has no value there.
    pub fn holds(&self, marking: &Current<'_>, contents: &[Contents]) -> Result<bool, Failure> {
        Ok(self.failing(marking, contents)?.is_none())
    }

    /// The first part that does not hold for a marking.
    ///
    /// # Errors
    /// It has no value there.
    pub fn failing(
        &self,
        marking: &Current<'_>,
        contents: &[Contents],
    ) -> Result<Option<usize>, Failure> {
        let mut frame = [0; 64];
        let mut pure = Pure::default();
        let counts: Vec<i64> = self
            .terms
            .iter()
            .map(|term| {
                let words = marking
                    .program
                    .colours
                    .words(marking.program.nodes[term.node].colour);
                marking.count(contents, term.node, &mut |token| {
                    suits(&term.steps, &token[..words], &mut frame, &mut pure)
                })
            })
            .collect();
        let read = |store: usize, word: usize| {
            let (copy, _) = marking.layout.of_store[self.stores[store]];
            marking.tokens(contents, copy)[word]
        };
        let mut world = Pure::with_stores(&read);
        let mut parts = self.parts.iter();
        let failing = parts.position(|part| evaluate(part, &counts, &mut world) == 0);
        match pure.failure.or(world.failure) {
            None => Ok(failing),
            Some(reason) => Err(Failure::Run(format!(
                "{:?}: {reason} in a marking that can be reached; exclude it first, as in a > 0 \
                 and 6 // a == 2",
                self.text
            ))),
        }
    }
}

/// Splits a condition at its `and`.
fn split(code: Code, parts: &mut Vec<Code>) {
    match code {
        Code::And(both) => both.into_iter().for_each(|part| split(part, parts)),
        part => parts.push(part),
    }
}
