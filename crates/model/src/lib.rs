//! Nets of one's own: a document in TOML or JSON, with expressions, becomes a net of the kernel,
//! or a state space.
//!
//! ```text
//! text ─▶ source ─▶ document ─▶ program ─┬─▶ build ─▶ run
//!                    expression ─▶ ┘     └─▶ space
//! ```
//!
//! Not modelled: places of unbounded types such as lists; a random choice among the tokens that a
//! transition can take; inhibitor arcs.

mod build;
mod colour;
mod document;
mod error;
mod expression;
mod invariants;
mod program;
mod run;
mod source;
mod space;

pub use build::{Built, build};
pub use colour::{Colours, Kind};
pub use document::{Document, is_net, read};
pub use error::{Fault, Faults};
pub use expression::{Expression, ExpressionError, parse as parse_expression};
pub use invariants::transition_invariants;
pub use program::{Program, compile, run_settings};
pub use run::{Failure, Result as RunResult, Settings, run, structure};
pub use source::{Language, Value, parse, position};
pub use space::{Answer, Question, explore};
