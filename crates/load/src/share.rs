//! Several engines, on hosts of their own, that execute one scenario together.
//!
//! Each has a share of the clients. A process's requests depend on its number among all processes,
//! so files and sequences are those of one host that runs all of them. Only appends and files that
//! are used in order depend on what an engine's own clients have done before.

use std::ops::Range;
use std::sync::Arc;

use headrace_spec::{Scenario, Workload};
use headrace_workload::{ExistingFile, RoundMessage, RoundNews, clients};

use crate::Error;

/// Synchronisation points between engines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncPoint {
    /// All engines, before files are made and before the processes begin.
    All,
    /// Engines with processes of a workload, each time all local processes have arrived.
    Workload(usize),
}

/// The other engines.
pub trait Peers: Send + Sync {
    /// Waits until the others have reached `place`; stops when it is `over`. Returns the largest of
    /// all engines' `farthest`.
    fn meet(&self, place: SyncPoint, farthest: u64, over: &mut dyn FnMut() -> bool) -> u64;

    /// Says something about the rounds of a workload, without waiting. All engines receive all
    /// messages, this one too, in one order.
    fn say(&self, workload: usize, message: RoundMessage);

    /// Registers the listener of messages about the rounds of a workload.
    fn listen(&self, workload: usize, listener: Listener);
}

/// Receives results of messages; also whether this engine was the last that one waited for.
pub type Listener = Box<dyn Fn(RoundNews, bool) + Send + Sync>;

/// There are none.
struct NoPeers;

impl Peers for NoPeers {
    fn meet(&self, _: SyncPoint, farthest: u64, _: &mut dyn FnMut() -> bool) -> u64 {
        farthest
    }

    fn say(&self, _: usize, _: RoundMessage) {}

    fn listen(&self, _: usize, _: Listener) {}
}

/// Share of the clients that an engine executes.
#[derive(Clone)]
pub struct Share {
    number: u32,
    of: u32,
    peers: Arc<dyn Peers>,
}

impl Share {
    /// All of it: there is no other engine.
    #[must_use]
    pub fn alone() -> Share {
        Share::new(0, 1, Arc::new(NoPeers))
    }

    /// Creates the share of engine `number` of `of`, numbered from 0.
    #[must_use]
    pub fn new(number: u32, of: u32, peers: Arc<dyn Peers>) -> Share {
        let of = of.max(1);
        Share {
            number: number.min(of - 1),
            of,
            peers,
        }
    }

    /// Returns true if there are others.
    pub(crate) fn has_peers(&self) -> bool {
        self.of > 1
    }

    /// Waits for the others; see [`Peers::meet`].
    pub(crate) fn meet(
        &self,
        place: SyncPoint,
        farthest: u64,
        over: &mut dyn FnMut() -> bool,
    ) -> u64 {
        self.peers.meet(place, farthest, over)
    }

    /// The other engines.
    pub(crate) fn peers(&self) -> &Arc<dyn Peers> {
        &self.peers
    }

    /// The clients that run here: a contiguous block; blocks are as equal as possible.
    fn clients(&self, scenario: &Scenario) -> Range<u32> {
        let count = u64::from(scenario.clients.count);
        let first = |share: u32| (u64::from(share) * count / u64::from(self.of)) as u32;
        first(self.number)..first(self.number + 1)
    }

    /// The numbers of those of a workload's `processes` that run here. Processes are on the
    /// workload's clients in turn.
    pub(crate) fn processes(
        &self,
        scenario: &Scenario,
        workload: &Workload,
        processes: u32,
    ) -> Vec<u32> {
        let here = self.clients(scenario);
        let clients = clients(scenario, workload);
        let of_here = |rank: &u32| match clients.len() {
            0 => false,
            count => here.contains(&clients[*rank as usize % count]),
        };
        (0..processes).filter(of_here).collect()
    }

    /// Returns true if this engine makes one of what all share, which engines make in turn.
    pub(crate) fn takes(&self, number: u32) -> bool {
        number % self.of == self.number
    }

    /// Returns true if this engine creates a file that must exist before the run. An engine creates
    /// the files of the preceding engine's processes, so that no host reads from its own page
    /// cache. Wang 2002, section 3.3.8, uses separate clients for this. Files that all share are
    /// made by the engines in turn.
    pub(crate) fn makes(
        &self,
        scenario: &Scenario,
        workload: &Workload,
        file: &ExistingFile,
    ) -> bool {
        let Some(rank) = file.rank else {
            return self.takes(file.file);
        };
        let clients = clients(scenario, workload);
        let client = clients.get(rank as usize % clients.len().max(1));
        let client = client.copied().unwrap_or(0);
        let (of, count) = (u64::from(self.of), u64::from(scenario.clients.count.max(1)));
        let owner = (((u64::from(client) + 1) * of - 1) / count) as u32;
        (owner + 1) % self.of == self.number
    }

    /// Rejects scenarios that several engines cannot run together.
    pub(crate) fn suits(&self, scenario: &Scenario) -> Result<(), Error> {
        if !self.has_peers() {
            return Ok(());
        }
        let (count, of) = (scenario.clients.count, self.of);
        if count < of {
            return Err(Error::Unsuitable(format!(
                "clients.count = {count}: expected at least {of}, one client for each of {of} \
                 ranks; use more clients, or start fewer ranks"
            )));
        }
        if scenario.run.stop.requests.is_some() {
            return Err(Error::Unsuitable(
                "run.stop.requests: not supported with several ranks, because no rank counts the \
                 requests of another: use run.stop.time, or give the workload an amount"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Returns the number of engines that have processes of each workload, and of any whose phases come
/// in turn.
#[must_use]
pub fn engines_of_each(scenario: &Scenario, of: u32) -> Vec<u32> {
    let has = |number: u32, workloads: &[&Workload]| {
        let here = Share::new(number, of, Arc::new(NoPeers)).clients(scenario);
        let mut clients = workloads.iter().flat_map(|it| clients(scenario, it));
        clients.any(|it| here.contains(&it))
    };
    let engines = |workloads: &[&Workload]| (0..of).filter(|&it| has(it, workloads)).count() as u32;
    let all = scenario.workload.iter();
    let in_turn: Vec<&Workload> = all.clone().filter(|it| it.turns.is_some()).collect();
    all.map(|workload| engines(&[workload]))
        .chain([engines(&in_turn)])
        .collect()
}

#[cfg(test)]
mod tests;
