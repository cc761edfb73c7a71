//! The options and callbacks that a caller gives to a run.

use std::ops::ControlFlow;

use crate::calls::Backend;
use crate::outcome::Phase;
use crate::space_check::SpaceLimit;

/// Options of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Backend that makes the calls.
    pub calls: Backend,
    /// True if each operation is recorded, and not only summed up.
    pub each: bool,
    /// Space that the files may take.
    pub space: SpaceLimit,
}

/// Progress of a run.
#[derive(Clone, Debug)]
pub struct LiveProgress {
    /// Current phase.
    pub phase: Phase,
    /// Seconds since the processes began.
    pub seconds: f64,
    /// Operations done and bytes moved, by the operation's number.
    pub operations: Vec<(u64, u64)>,
    /// Files, directories and links made, and those to be made.
    pub prepared: (u64, u64),
}

impl LiveProgress {
    /// Before the processes begin.
    pub(crate) const PREPARING: LiveProgress = LiveProgress {
        phase: Phase::Preparing,
        seconds: 0.0,
        operations: Vec::new(),
        prepared: (0, 0),
    };

    /// While `made` of `all` files, directories and links are there.
    pub(crate) fn preparing(made: u64, all: u64) -> LiveProgress {
        LiveProgress {
            prepared: (made, all),
            ..LiveProgress::PREPARING
        }
    }
}

/// Progress callback that may stop a run. It is called once before the processes begin, and they
/// wait for it; afterwards at intervals.
pub type Watch<'a> = &'a mut dyn FnMut(&LiveProgress) -> ControlFlow<()>;
