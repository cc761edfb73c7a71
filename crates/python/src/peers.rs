//! The engines on other hosts, of which Python knows.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use headrace_load::{Listener, Peers, SyncPoint};
use headrace_workload::{RoundMessage, RoundReaction};
use pyo3::prelude::*;

use crate::rounds;

/// Poll interval of a waiting process.
const LOOK: Duration = Duration::from_millis(20);

/// Message of an engine to the other hosts.
pub enum ToPeers {
    /// It waits for them, and how far its processes have come.
    Come(SyncPoint, u64),
    /// Something about the rounds of a workload.
    Say(usize, RoundMessage),
}

/// Synchronisation with other hosts: processes wait here until Python reports that the others have
/// arrived.
pub struct Waiting<M> {
    /// The number of this engine.
    number: u32,
    /// Number of times each place was opened, and how far any process had come the last time.
    opened: Mutex<HashMap<SyncPoint, (u64, u64)>>,
    again: Condvar,
    listeners: Mutex<HashMap<usize, Listener>>,
    to_peers: Sender<M>,
}

impl<M: From<ToPeers>> Waiting<M> {
    /// Creates the connection; `to_peers` carries messages to Python.
    pub fn new(number: u32, to_peers: Sender<M>) -> Waiting<M> {
        Waiting {
            number,
            opened: Mutex::default(),
            again: Condvar::new(),
            listeners: Mutex::default(),
            to_peers,
        }
    }

    /// Returns true if others may say something at any time.
    pub fn listens(&self) -> bool {
        let listeners = self.listeners.lock();
        !listeners.unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Does what Python has found.
    pub fn take(&self, poll_peers: &PeerEvents) -> PyResult<()> {
        for &(place, farthest) in &poll_peers.opened {
            self.open(place.map_or(SyncPoint::All, SyncPoint::Workload), farthest);
        }
        for &(workload, (by, message)) in &poll_peers.heard {
            let message = rounds::received(message)?;
            self.hear(workload, RoundReaction { by, message });
        }
        Ok(())
    }

    /// All have come.
    fn open(&self, place: SyncPoint, farthest: u64) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = opened.entry(place).or_default();
        *entry = (entry.0 + 1, farthest);
        self.again.notify_all();
    }

    fn hear(&self, workload: usize, kept: RoundReaction) {
        let listeners = self.listeners.lock();
        let listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        if let (Some(hears), Some(news)) = (listeners.get(&workload), kept.at(self.number)) {
            hears(news, kept.by == self.number);
        }
    }
}

impl<M: From<ToPeers> + Send> Peers for Waiting<M> {
    fn meet(&self, place: SyncPoint, farthest: u64, over: &mut dyn FnMut() -> bool) -> u64 {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let often = |opened: &HashMap<SyncPoint, (u64, u64)>| {
            opened.get(&place).copied().unwrap_or_default()
        };
        let before = often(&opened).0;
        // The receiver is gone if the caller was interrupted twice: the run is then over.
        let _ = self.to_peers.send(ToPeers::Come(place, farthest).into());
        while often(&opened).0 == before && !over() {
            let waited = self.again.wait_timeout(opened, LOOK);
            opened = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        often(&opened).1
    }

    fn say(&self, workload: usize, message: RoundMessage) {
        // As above.
        let _ = self.to_peers.send(ToPeers::Say(workload, message).into());
    }

    fn listen(&self, workload: usize, listener: Listener) {
        let listeners = self.listeners.lock();
        let mut listeners = listeners.unwrap_or_else(PoisonError::into_inner);
        listeners.insert(workload, listener);
    }
}

/// Events reported by the Python object for the other hosts.
pub struct PeerEvents {
    /// The places that are open now: workloads, or none for all; and how far any process has come.
    opened: Vec<(Option<usize>, u64)>,
    /// Messages about the rounds of workloads.
    heard: Vec<(usize, rounds::RoundReaction)>,
    /// True if the caller should poll again soon.
    pub soon: bool,
}

/// Passes messages to Python's object for the other hosts, and asks it for theirs.
pub fn poll_peers(others: &Bound<'_, PyAny>, to_peers: Option<ToPeers>) -> PyResult<PeerEvents> {
    match to_peers {
        Some(ToPeers::Come(place, farthest)) => {
            others.call_method1("come", (number(place), farthest))?;
        }
        Some(ToPeers::Say(workload, message)) => {
            others.call_method1("say", (workload, rounds::sent(message)))?;
        }
        None => {}
    }
    let (opened, heard, soon) = others.call_method0("look")?.extract()?;
    Ok(PeerEvents {
        opened,
        heard,
        soon,
    })
}

/// A place as Python has it: a workload's number, or none for all.
fn number(place: SyncPoint) -> Option<usize> {
    match place {
        SyncPoint::All => None,
        SyncPoint::Workload(number) => Some(number),
    }
}
