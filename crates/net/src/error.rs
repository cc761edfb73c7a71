//! Errors of a net, before and during a run. Every message names the page path of its subject.

use crate::time::Time;

/// All that keeps a net from being compiled, at least one thing.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct BuildErrors(pub Vec<BuildError>);

/// One reason why a net cannot be compiled.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// Two things in one page share a name.
    #[error("{path}: the page has two elements of this name; rename one")]
    NameTwice {
        /// Page path and name.
        path: String,
    },
    /// A page with no copies, or with more than 2^32 in all.
    #[error("{path}: {copies} copies: expected 1 to 2^32 copies in total")]
    Copies {
        /// Page path.
        path: String,
        /// Copies asked for.
        copies: u32,
    },
    /// A port that leads nowhere.
    #[error("{path}: this {direction} port is not connected; connect it to a node")]
    PortUnbound {
        /// Page path and name.
        path: String,
        /// "input" or "output".
        direction: &'static str,
    },
    /// A port with two targets.
    #[error("{path}: this port is connected twice; a port has one target")]
    PortBoundTwice {
        /// Page path and name.
        path: String,
    },
    /// Ports that lead to each other.
    #[error("{path}: this port is connected to itself; connect it to a node")]
    PortCycle {
        /// Page path and name.
        path: String,
    },
    /// A union of inputs that are not of folded pages beside each other.
    #[error(
        "{path}: a union leads to one input of each of several folded pages of one page; connect \
         it so"
    )]
    NoUnion {
        /// Page path and name.
        path: String,
    },
    /// A node that tokens enter and none can leave.
    #[error(
        "{path}: nothing drains this {kind}; let a transition take from it or declare it a sink"
    )]
    NothingDrains {
        /// Page path and name.
        path: String,
        /// "place" or "station".
        kind: &'static str,
    },
    /// A node that no token can ever enter.
    #[error("{path}: nothing fills this {kind}: no transition puts into it and it starts empty")]
    NothingFills {
        /// Page path and name.
        path: String,
        /// "place" or "station".
        kind: &'static str,
    },
    /// A node said to conserve its tokens that no invariant covers.
    #[error(
        "{path}: tokens can be lost or created here: no weighted sum over places that includes \
         this one is invariant under all firings; check {suspects}"
    )]
    NotConserved {
        /// Page path and name.
        path: String,
        /// The transitions that take from it or put into it.
        suspects: String,
    },
    /// A transition without inputs would fire for ever.
    #[error("{path}: this transition has no input and would fire forever; add an input")]
    NoInput {
        /// Page path and name.
        path: String,
    },
    /// A transition that reaches into a page it is not in.
    #[error(
        "{path}: takes from or borrows {node}, which is neither in its page nor in an \
         enclosing one"
    )]
    OutOfReach {
        /// The transition.
        path: String,
        /// Node that it accesses.
        node: String,
    },
    /// An arc into a folded page that does not say which copy.
    #[error("{path}: puts into {node}, which has {copies} copies there; choose one with `by`")]
    NoSelector {
        /// The transition.
        path: String,
        /// The target.
        node: String,
        /// Copies to choose from.
        copies: u32,
    },
    /// An arc with more choices of a copy than there are folded pages on the way.
    #[error("{path}: chooses a copy of {node} with `by`, but no folded page lies between them")]
    NeedlessSelector {
        /// The transition.
        path: String,
        /// The target.
        node: String,
    },
}

/// Most names in a message.
const MOST_NAMES: usize = 12;

/// Joins names for a message, and counts those that are too many.
pub(crate) fn listed(names: impl ExactSizeIterator<Item = String>, separator: &str) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let mut some: Vec<String> = names.take(MOST_NAMES).collect();
    if more > 0 {
        some.push(format!("{more} more"));
    }
    some.join(separator)
}

/// Why a run ended before its time.
#[derive(thiserror::Error, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The net fired too often without time passing.
    #[error(
        "endless loop at {time}: {firings} firings while time stands still, in the cycle \
         {cycle}"
    )]
    ZeroTimeLoop {
        /// When.
        time: Time,
        /// Number of firings.
        firings: u64,
        /// The transitions that fire in turn.
        cycle: String,
    },
    /// Nothing ready, nothing due, tokens inside.
    #[error("deadlock at {time}: no event is pending, but tokens wait in {}", listed(standing.iter().map(|(path, tokens)| format!("{path} ({tokens})")), ", "))]
    Deadlock {
        /// When.
        time: Time,
        /// Nodes that hold tokens, and their numbers.
        standing: Vec<(String, u64)>,
    },
    /// A token chose a copy that is not there.
    #[error("{path}: a token chose copy {asked}, but there are only {copies}")]
    NoSuchCopy {
        /// The node.
        path: String,
        /// Chosen copy.
        asked: u32,
        /// Number of there that are.
        copies: u32,
    },
    /// The model says that something is wrong, or a transition put or took what
    /// it had not declared.
    #[error("{path}: {message}")]
    Failed {
        /// The transition or station.
        path: String,
        /// Description of the error.
        message: String,
    },
    /// A conserved sum changed.
    #[error("tokens lost or created: {invariant} was {before} and is {after}")]
    Invariant {
        /// The sum, in words.
        invariant: String,
        /// At the start.
        before: i128,
        /// Now.
        after: i128,
    },
    /// The caller asked for the end.
    #[error("interrupted at {time} of simulated time")]
    Interrupted {
        /// When.
        time: Time,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_counted() {
        let names = |count: u32| listed((0..count).map(|it| it.to_string()), ", ");
        assert_eq!(names(2), "0, 1");
        assert_eq!(names(14), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 2 more");
    }
}
