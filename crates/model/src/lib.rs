//! Nets of one's own: a document in TOML or JSON, with expressions, becomes a net of the kernel,
//! or a state space.
//!
//! ```text
//! text ─▶ source ─▶ document ─▶ program ─┬─▶ build ─┬─▶ run
//!                    expression ─▶ ┘     │          └─▶ session ─▶ run, play
//!                                        └─▶ space
//! ```
//!
//! Not modelled: places of unbounded types such as lists; a random choice among the tokens that a
//! transition can take; inhibitor arcs.

mod build;
mod colour;
mod document;
mod error;
mod expression;
mod figures;
mod invariants;
mod marking;
mod outcome;
mod play;
mod program;
mod run;
mod seen;
mod session;
mod source;
mod space;

pub use build::{Built, build};
pub use colour::{Colours, Kind};
pub use document::{Document, is_net, read};
pub use error::{Fault, Faults};
pub use expression::{Expression, ExpressionError, External, Function, parse as parse_expression};
pub use figures::{Column, MonitorReport};
pub use invariants::{TransitionInvariants, transition_invariants};
pub use marking::Tokens;
pub use outcome::{Failure, Result as RunResult};
pub use play::{Enabled, Fired, Pending, Play};
pub use program::{Monitor, Program, Watch, compile, compile_with, run_settings, transition_of};
pub use run::{Extras, Settings, Shape, run, run_with, structure};
pub use session::{Occurrence, OwnMonitor, Verdict};
pub use source::{Language, Value, parse, position};
pub use space::{
    Answer, Asked, Chain, Condition, PlainDocument, PlainPlace, Question, Reduction, Rule,
    Unbounded, chain, explore, explore_within, negation, plain,
};
