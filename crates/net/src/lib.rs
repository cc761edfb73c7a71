//! Headrace's kernel: timed, hierarchical, coloured Petri nets with queueing
//! places (Bause 1993, "Queueing Petri nets"). It knows nothing of storage.
//!
//! | word | meaning |
//! | --- | --- |
//! | token | what moves; its *colour* is a plain `Copy` type of at most 64 bytes |
//! | place | where tokens wait, first in, first out, or in any order if it is a bag |
//! | station | a place with a queue and servers before it; its *discipline* decides order and service time |
//! | transition | a rule that takes no time: takes tokens, tests a guard, acts, puts tokens |
//! | page | a named piece of net with typed ports; *folded*, one page stands for n copies |
//! | store | state too big for a token, one per copy of its page, borrowed by transitions |
//! | account | a request whose time is divided among the tokens that work for it |
//!
//! ```
//! use headrace_net::{Builder, Exponential, Fcfs, Infinite, Limits, Span};
//!
//! // Four users think for 5 ms on average, then share one server for 1 ms each.
//! let mut builder = Builder::new("office", 1);
//! let mut page = builder.root();
//! let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
//! let server = page.station("server", Fcfs::new(1, Span::from_millis(1)));
//! page.connect(thinking, server);
//! page.connect(server, thinking);
//! page.tokens(thinking, |_| 0..4_u32);
//! let mut net = builder.compile()?;
//! net.run(&Limits::until_seconds(10.0))?;
//! let report = net.node_report(server);
//! assert!(report.utilisation > 0.5 && report.utilisation < 0.7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accounts;
mod arc;
mod bits;
mod builder;
mod compile;
mod discipline;
mod drift;
mod error;
mod fair;
mod firing;
mod handles;
mod heap;
mod invariants;
mod kernel;
mod net;
mod node;
mod observation;
mod page;
mod random;
mod report;
mod slab;
mod state;
mod structure;
mod student_t;
mod tally;
mod time;
mod token;
mod transition;

pub use accounts::{Account, Held, WaitId};
pub use arc::CopyPlaces;
pub use builder::Builder;
pub use discipline::{
    Barrier, Delay, Discipline, Exponential, Fcfs, Flows, Infinite, LoadSharing, Priority,
    ServiceTime, Sharing, Station, Work,
};
pub use error::{BuildError, BuildErrors, RunError};
pub use firing::Firing;
pub use handles::{Node, Port, Store, TallyId, To};
pub use invariants::{Changes, Invariants, find as find_invariants};
pub use net::{
    CopySample, CopySeries, Due, Frame, Gauge, Limits, Net, NodeFrame, Playback, Precision,
    Progress, Standing, Step, Stop,
};
pub use observation::{Observation, Sight};
pub use page::{Page, PageId, Source};
pub use random::{Random, replication_seed};
pub use report::{CopyReport, InvariantReport, NodeReport, WaitReport};
pub use slab::{Line, Slot};
pub use structure::{
    InputStructure, NodeStructure, OutputStructure, PageStructure, PortStructure, StoreStructure,
    Structure, TransitionStructure,
};
pub use student_t::student_quantile;
pub use tally::Tally;
pub use time::{Span, Time};
pub use token::{Message, News, TOKEN_BYTES, Token};
pub use transition::{
    And, Borrowed, Guarded, Guarding, Inputs, Observing, Rule, Stores, TransitionBuilder,
};

/// Compiles and runs what the kernel's page of the documentation shows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/kernel.md")]
struct Documentation;
