//! The last firing, as transitions record it for monitors and plays.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::colour::{Colours, Kind};
use crate::program::{Program, Transition};

/// A token that a firing put.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    /// The output of its transition.
    pub output: usize,
    /// The copies that were chosen on the way.
    pub given: Vec<u32>,
    /// Its words.
    pub words: Vec<i64>,
    /// Picoseconds until it arrives.
    pub delay: u64,
}

/// A request to a transition in a play.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Request {
    /// To fire with the first tokens that suit.
    #[default]
    Fire,
    /// To fire with the n-th selection of tokens that suits, from 0.
    Choose(usize),
    /// To bind the variables of the n-th selection, and to fire not.
    Look(usize),
}

/// The last firing.
#[derive(Debug, Default)]
pub(crate) struct Firing {
    /// Words of the transition's variables.
    pub frame: Vec<i64>,
    /// The token that each input took.
    pub taken: Vec<Vec<i64>>,
    /// The tokens that were put.
    pub put: Vec<Put>,
    pub request: Request,
    /// True if the last look found tokens.
    pub found: bool,
}

/// The last firing, shared by transitions and their observers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    last: Arc<Mutex<Firing>>,
    /// Tokens are noted too, and every transition can be asked out of turn.
    pub in_detail: bool,
}

impl Seen {
    pub fn new(in_detail: bool) -> Seen {
        Seen {
            last: Arc::default(),
            in_detail,
        }
    }

    pub fn last(&self) -> MutexGuard<'_, Firing> {
        // A firing that panicked has noted all that it did.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A firing begins.
    pub fn begin(&self) {
        if self.in_detail {
            let mut last = self.last();
            last.put.clear();
            last.taken.clear();
        }
    }

    /// A firing has computed its variables.
    pub fn bound(&self, frame: &[i64]) {
        let mut last = self.last();
        last.frame.clear();
        last.frame.extend_from_slice(frame);
    }
}

/// A token or a value in JSON; times are in seconds.
pub(crate) fn value_of(colours: &Colours, kind: Kind, words: &[i64]) -> Value {
    let word = words.first().copied().unwrap_or(0);
    match kind {
        Kind::Unit => Value::Null,
        Kind::Bool => Value::from(word != 0),
        Kind::Int => Value::from(word),
        Kind::Real => Value::from(f64::from_bits(word as u64)),
        Kind::Time => Value::from(word as f64 / 1e12),
        Kind::Record(index) => {
            let mut at = 0;
            let fields = colours.records[index].fields.iter().map(|(name, kind)| {
                let own = &words[at..at + colours.words(*kind)];
                at += own.len();
                (name.clone(), value_of(colours, *kind, own))
            });
            Value::Object(fields.collect())
        }
        Kind::Text => match colours.texts.get(word as usize) {
            Some(text) => Value::from(text.clone()),
            None => Value::from(word),
        },
        // Their notation is their name.
        Kind::Enum(_) => Value::from(colours.show(kind, words)),
    }
}

/// The variables of a firing.
pub(crate) fn binding(program: &Program, of: &Transition, frame: &[i64]) -> Map<String, Value> {
    let variables = of.variables.iter().map(|(name, kind, word)| {
        let words = &frame[*word..word + program.colours.words(*kind)];
        (name.clone(), value_of(&program.colours, *kind, words))
    });
    variables.collect()
}
