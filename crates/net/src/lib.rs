//! Headrace's kernel: timed, hierarchical, coloured Petri nets with queueing places (Bause 1993,
//! "Queueing Petri nets"). The run, the statistics, the drawing and the checks all derive from the
//! net. The kernel contains nothing specific to storage.
//!
//! | word | meaning |
//! | --- | --- |
//! | token | a moving object; its *colour* is a plain `Copy` type of at most 64 bytes |
//! | place | tokens that are ready to be taken, first in, first out; in any order if it is a bag |
//! | station | a place with a queue and servers before it; a *discipline* decides order and time |
//! | transition | a rule that takes no time: takes tokens, tests a guard, acts, puts tokens |
//! | page | a named part of a net with typed ports; *folded*, one page stands for n equal copies |
//! | store | state too large for a token, one per copy of its page, borrowed by transitions |
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
//!
//! # Writing a page
//!
//! A function that takes a `Page` is a component. This one is one of four servers. It has an input,
//! an output, a limited number of credits, a processor and a disk.
//!
//! ```text
//!   rx ─▶ (waiting) ─▶ [admit] ─▶ (cpu) ─▶ [look up] ─ known ─────────────▶ (finished)
//!                         ▲                    └─ unknown ─▶ (disk) ─▶ [fill] ─▶ │
//!                         └───────────────── (credits) ◀─────────────────── [reply] ─▶ tx
//! ```
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use headrace_net::{
//!     Builder, Exponential, Fcfs, Infinite, Limits, Page, Port, Sharing, Span, Stop, TallyId,
//!     Time,
//! };
//!
//! #[derive(Clone, Copy)]
//! struct Request {
//!     began: Time,
//!     server: u32,
//!     block: u64,
//! }
//!
//! fn server(page: &mut Page<'_>) -> (Port<Request>, Port<Request>) {
//!     let rx = page.input::<Request>("rx");
//!     let tx = page.output::<Request>("tx");
//!     let waiting = page.place("waiting");
//!     let credits = page.place::<()>("credits");
//!     let cpu = page.station("cpu", Sharing::new(1, Span::from_micros(50)));
//!     let disk = page.station("disk", Fcfs::new(1, Exponential(Span::from_millis(2))));
//!     let finished = page.place("finished");
//!     let cache = page.store("cache", |_| BTreeSet::<u64>::new());
//!
//!     page.connect(rx, waiting);
//!     page.transition("admit")
//!         .take(waiting)
//!         .take(credits)
//!         .put(cpu, |_, (request, ()), ()| request);
//!     page.transition("look up").take(cpu).with(cache).route(
//!         [finished.into(), disk.into()],
//!         move |_, request, cache| {
//!             if cache.contains(&request.block) { finished.into() } else { disk.into() }
//!         },
//!     );
//!     page.transition("fill")
//!         .take(disk)
//!         .with(cache)
//!         .put(finished, |_, request, cache| {
//!             cache.insert(request.block);
//!             request
//!         });
//!     page.transition("reply")
//!         .take(finished)
//!         .puts(credits)
//!         .puts(tx)
//!         .fires(move |firing, request, ()| {
//!             firing.put(credits, ());
//!             firing.put(tx, request);
//!         });
//!     page.tokens(credits, |_| [(); 8]);
//!     page.rest(credits);
//!     page.conserve(credits);
//!     (rx, tx)
//! }
//!
//! fn office(clients: u32, servers: u32, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
//!     let mut builder = Builder::new("office", seed);
//!     let mut page = builder.root();
//!     let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
//!     let (rx, tx) = page.fold("server", servers, server);
//!     let latency: TallyId = page.tally("latency");
//!
//!     page.transition("ask")
//!         .take(thinking)
//!         .put(rx.by(|request: &Request| request.server), move |firing, _, ()| Request {
//!             began: firing.now(),
//!             server: firing.random().below(u64::from(servers)) as u32,
//!             block: firing.random().below(1000),
//!         });
//!     let answered = page.place::<Request>("answered");
//!     page.connect(tx, answered);
//!     page.transition("record")
//!         .take(answered)
//!         .put(thinking, move |firing, request, ()| {
//!             let took = firing.now().since(request.began);
//!             firing.record(latency, took.as_seconds());
//!             request
//!         });
//!     page.tokens(thinking, move |_| {
//!         (0..clients).map(|_| Request { began: Time::ZERO, server: 0, block: 0 })
//!     });
//!
//!     let mut net = builder.compile()?;
//!     net.run(&Limits::until_seconds(5.0))?;
//!     net.reset_statistics(); // the warm-up is over
//!     assert_eq!(net.run(&Limits::until_seconds(65.0))?, Stop::Time);
//!     net.check_invariants()?;
//!
//!     for report in net.reports() {
//!         let residence = report.residence.unwrap_or(0.0);
//!         println!("{:24} {:6.3} {:9.6} s", report.path, report.utilisation, residence);
//!     }
//!     for invariant in net.invariants() {
//!         println!("{} = {}", invariant.sum, invariant.value);
//!     }
//!     assert!(net.tally(latency).mean() > 50e-6);
//!     Ok(())
//! }
//!
//! office(64, 4, 1).unwrap();
//! ```
//!
//! - `take`, `with`, `puts` and similar methods declare arcs; `fires` is the action. `with_all`
//!   borrows a tuple of stores at once, for pages that are generic over them. A firing may put
//!   tokens only into declared outputs. `put` and `route` are short forms for one output and for
//!   one of several.
//! - A **guard** (`when`) comes after every `take` and `with`. It sees the tokens and stores named
//!   before it, and is evaluated again when one of these changes. It must use nothing else, not
//!   even the time. It sees the first token of a place, and each token of a bag in turn.
//! - A token chooses its copy of a folded page with `by`, once for each folded page on its way in.
//!   On the way out no choice is needed, because a copy belongs to one copy of its enclosing page.
//!   A token moves between copies of a page through a place outside.
//! - `page.union` makes one input of the inputs of several folded pages beside each other. Their
//!   copies are numbered as those of one page, so that hosts that are unlike look like copies of
//!   one page from outside. `page.merge` does the same for outputs. An arc into a union is drawn as
//!   one arc to each page; invariants cover all of them.
//! - A transition takes and borrows from its own page and the enclosing pages. It puts anywhere.
//! - `tokens` puts the first tokens into each copy of a node. `sink` and `rest` declare where
//!   tokens may remain at the end, `conserve` where none may be lost or created.
//!
//! # Disciplines
//!
//! | discipline | order and service |
//! | --- | --- |
//! | `Fcfs` | first come, first served, by one or more servers |
//! | `Infinite` | concurrently, each for its own time |
//! | `Delay` | concurrently, all for the same time: one pending event instead of one per token |
//! | `Sharing` | processor sharing by one or more processors; O(log n) for each arrival |
//! | `LoadSharing` | processor sharing at a rate that depends on the number of tokens, by class |
//! | `Flows` | each token uses a path of up to eight resources at a max-min fair rate |
//! | `Priority` | by class, non-preemptive or preemptive with resumption; in order within a class |
//! | `Barrier` | holds tokens until a given number is present |
//!
//! With `Priority`, preemption and several servers, an arrival is served at once if a server is
//! idle. Otherwise it interrupts a token of the least urgent class in service, if that class is
//! less urgent than its own. Tokens of equal class never interrupt each other.
//!
//! Among several tokens of that class, the last in the station's service list is interrupted. A
//! token that starts is appended to the list; when one leaves, the last takes its position. The
//! choice depends only on earlier events, so equal runs stay equal. Within a class, interrupted
//! tokens resume before those that have not started, the last interrupted first.
//!
//! The service time is a `Span`, an `Exponential`, or a function of the token and the station's
//! random stream. A custom discipline is a type with the methods `arrive` and `wake` of
//! `Discipline`. Optional methods are `signal` (from a transition) and `message` (from another copy
//! of the station).
//!
//! The service of a discipline may change when a resource is used up or filled, such as credits or
//! a write cache. The discipline reports its level with `level`; a page reports a store's level
//! with `Page::level`. A run with `Limits::precision` does not end while a level rises or falls, or
//! while the figures drift (`Net::drift`).
//!
//! ## Accounts
//!
//! An **account** attributes the time of a request to places. A transition opens it with
//! `Firing::open_account`, and closes it with `close_account` when the request is done. Tokens that
//! a firing puts inherit the account of the tokens that it took. Every token that works for a
//! request is thus known without a separate field.
//!
//! | item | meaning |
//! | --- | --- |
//! | `Firing::charge` | sets another account |
//! | `Account::NOBODY` | the account of work that no request waits for |
//! | `Net::count` | selects the nodes that count |
//! | `NodeReport::charged` | mean number of accounts at a node; all nodes: the open accounts |
//! | `Page::wait` | names a wait: in transit, in a store, or in a part of a service |
//! | `Net::unattributed` | time in which an account had no token that counts |
//!
//! A transition names a wait of a token in transit by `Firing::put_after_in`, and in a store by
//! `hold` and `let_go`. A discipline names a part of its service by `Station::settle` and
//! `settle_in`. The time of an open account is divided equally among its tokens in the nodes that
//! count.
//!
//! # Checks at compilation
//!
//! Every error names the page path. All errors of one stage are reported together:
//!
//! - two things of one name in a page; a page without copies, or with more than 2^32 in all;
//! - a port that is unconnected, connected to itself, or connected twice;
//! - a transition without input, or one that takes or borrows outside of its scope;
//! - an arc into a folded page with too few or too many choices of a copy;
//! - a place or station without input, or without output if it is no sink;
//! - a node under `conserve` that no invariant covers.
//!
//! The Rust compiler itself rejects an arc between two colours and a token of more than 64 bytes.
//!
//! **Invariants** are weighted sums of tokens that no firing can change, for any colours (Farkas's
//! elimination; Martinez and Silva 1982). `Net::invariants` lists them, and `Net::uncovered` names
//! the nodes that none includes. An output declared with `puts_many` or `may_put` is optional. Its
//! target is covered only through other outputs or inputs; `may_pass` ties a token put to one
//! taken. The search ends at 4,096 candidate sums or 2^28 steps. `Net::gave_up_invariants` is then
//! true, there are no sums, and every node counts as covered.
//!
//! # Checks during a run
//!
//! | fault | the message names |
//! | --- | --- |
//! | too many firings in one instant (10 million, or `Limits`) | the transitions or the station |
//! | deadlock: nothing ready or due, and tokens where they may not rest | their places and number |
//! | a token chooses a copy that does not exist | the node, the choice, the number of copies |
//! | a put or take that was not declared; in debug builds also their number | the transition |
//! | a token would have to wait past 2^64 ps (213 days) | the node |
//! | a model's own error (`Firing::fail`, `Station::fail`) | the transition or station |
//!
//! `Net::check_invariants` compares the invariants' sums with those at the start. It visits all
//! nodes, so a run does it only on request.
//!
//! A run ends in one of these cases:
//!
//! - at a time, or at a count of figures;
//! - when a mean has the requested precision (batch means, Student's t);
//! - when no event remains;
//! - when a transition requests it.
//!
//! It can then be continued. A run in parts equals the whole run.
//!
//! # Statistics
//!
//! Each node has these figures:
//!
//! - arrivals, tokens inside, and their mean number;
//! - mean residence, service and queue;
//! - utilisation over all copies, and of the busiest.
//!
//! Areas are exact integers (token-picoseconds). Mean residence and service are over completed
//! visits, each with its whole stay; tokens still inside are a figure of their own. Both are sums
//! over all tokens less those of the tokens inside, which are counted when a report is made. Firing
//! costs one time stamp for each token.
//!
//! A discipline counts service by drawing it (`Station::service`), booking it (`book`), or with
//! `add_service`. One that counts none has its busy time divided among the completed visits.
//! Tallies hold values recorded by transitions: count, mean, deviation, minimum, maximum,
//! confidence interval. `reset_statistics` restarts all statistics from the current state. Tokens
//! inside then count for the areas, but not as arrivals.
//!
//! # Playback
//!
//! `Net::record_playback` records frames: the tokens, queue and busy servers of each node at evenly
//! spaced times, with counts since the start. `Net::playback` returns them with the structure. The
//! number of frames is at least the requested one and at most twice that, because the interval
//! doubles when there are too many.
//!
//! A **gauge** is a number of a store or station, such as the hits of a cache or its dirty bytes.
//! `Page::gauge` and `Discipline::gauges` declare gauges, `Net::gauges` reads them, and each frame
//! has their sums over copies.
//!
//! Frames are taken where the clock advances, so firings cost the same with and without.
//!
//! # Determinism
//!
//! The same net and seed give the same run to the bit, on any machine:
//!
//! - Time is whole picoseconds. Future events are ordered by time, then by the order of their
//!   creation.
//! - At one instant every enabled transition fires before the next event is taken. Higher
//!   `priority` fires first, then the transition declared first, then the lowest copy.
//!   `Net::choose_at_random` instead lets chance choose by weight among those of the highest
//!   priority. Events due at the same instant thus interleave with the firings that they cause.
//! - A random draw depends on the seed, the path of the node or transition, its copy, and its
//!   number of draws (Squares, Widynski 2022). It does not depend on draws elsewhere. Adding a node
//!   does not change the streams of others. Logarithms come from `libm`, which is the same on all
//!   machines.
//! - Processor sharing and flows keep their virtual clocks in floating point, in a fixed order of
//!   operations, and round departures up to whole picoseconds.
//!
//! # Cost
//!
//! A token needs its own size and 4 bytes (8 in a bag), rounded up to its alignment; a pending
//! event needs 32 bytes. Every copy of a node or transition costs a fixed amount of memory, but no
//! time while nothing happens in it.
//!
//! # Limits
//!
//! - Time is discrete-event only: no state changes continuously.
//! - A run uses one thread. Runs are independent, and can run in parallel.
//! - The net does not change its shape while it runs.
//! - A transition takes from at most three inputs and borrows at most twelve stores. With a `Rule`
//!   it takes from any number of inputs of one colour. It takes one token per input, or more if the
//!   input is named again or slots of a bag are given.
//! - A guard with several inputs searches only its first if that is a bag; of the others it sees
//!   the first token.
//! - Only a `Rule` has inputs that stay, inhibitor arcs, reset arcs and exponential times.
//! - No state-space analysis in the kernel itself: invariants are found, reachability is not.
//!   `headrace-model` has it.
//! - A slot held after its token has left may name another token; the kernel does not detect this.
//! - The state of a run cannot be saved to a file.

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
