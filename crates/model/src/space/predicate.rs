//! Conditions on markings.

use super::contents::Contents;
use super::step::Current;
use crate::build::suits;
use crate::colour::Kind;
use crate::error::{Fault, Faults};
use crate::expression::{
    Allowed, Code, ExpressionError, Pure, Scope, StoreName, evaluate, parse, used_stores,
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
    code: Code,
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
        Ok(Predicate {
            text: shortened(text),
            terms,
            stores: used_stores(&scope.stores),
            code,
        })
    }

    /// Returns true if it holds for a marking.
    ///
    /// # Errors
    /// It has no value there.
    pub fn holds(&self, marking: &Current<'_>, contents: &[Contents]) -> Result<bool, Failure> {
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
        let holds = evaluate(&self.code, &counts, &mut world) != 0;
        match pure.failure.or(world.failure) {
            None => Ok(holds),
            Some(reason) => Err(Failure::Run(format!(
                "{:?}: {reason} in a marking that can be reached; exclude it first, as in a > 0 \
                 and 6 // a == 2",
                self.text
            ))),
        }
    }
}
