//! Operations over time, in windows of equal length that double when they become too
//! many.

use serde::{Deserialize, Serialize};

use crate::clock::Nanoseconds;

/// Most windows that are retained for a run of unknown length.
const MOST: usize = 256;

/// The shortest windows: 10 ms, some operations of a slow disk.
const SHORTEST: Nanoseconds = 10_000_000;

/// Counts of an operation in a time window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Window {
    /// Operations that ended in it.
    pub count: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// The sum of their service times, in nanoseconds.
    pub service: u64,
    /// The longest service time, in nanoseconds.
    pub longest: u64,
}

impl Window {
    fn add(&mut self, other: &Window) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.service += other.service;
        self.longest = self.longest.max(other.longest);
    }
}

/// The windows of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Windows {
    length: Nanoseconds,
    /// True if the length was wished for, and stays.
    given: bool,
    /// By the operation's number, then in order of time.
    of: Vec<Vec<Window>>,
}

impl Windows {
    /// None yet, of this length if one is given.
    pub fn new(operations: usize, length: Option<Nanoseconds>) -> Windows {
        Windows {
            length: length.unwrap_or(SHORTEST).max(1),
            given: length.is_some(),
            of: vec![Vec::new(); operations],
        }
    }

    /// Operations ended at a time.
    pub fn add(&mut self, operation: usize, done: &Window, ended: Nanoseconds) {
        while !self.given && ended / self.length >= MOST as u64 {
            self.double();
        }
        let window = usize::try_from(ended / self.length).unwrap_or(usize::MAX);
        let windows = &mut self.of[operation];
        if windows.len() <= window {
            windows.resize(window + 1, Window::default());
        }
        windows[window].add(done);
    }

    fn double(&mut self) {
        self.length *= 2;
        for windows in &mut self.of {
            *windows = windows
                .chunks(2)
                .map(|pair| {
                    let mut sum = pair[0];
                    pair[1..].iter().for_each(|other| sum.add(other));
                    sum
                })
                .collect();
        }
    }

    /// Adds another process's. Lengths that were not given are the shortest, doubled so
    /// often.
    pub fn merge(&mut self, other: &Windows) {
        let mut other = other.clone();
        while self.length < other.length {
            self.double();
        }
        while other.length < self.length {
            other.double();
        }
        for (mine, theirs) in self.of.iter_mut().zip(&other.of) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), Window::default());
            }
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.add(theirs);
            }
        }
    }

    /// Nanoseconds of a window.
    pub fn length(&self) -> Nanoseconds {
        self.length
    }

    /// An operation's windows from the start of the run.
    pub fn of(&self, operation: usize) -> &[Window] {
        &self.of[operation]
    }
}
