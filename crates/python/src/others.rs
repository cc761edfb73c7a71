//! The engines on other hosts, of which Python knows.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use headrace_load::{Meet, Others};
use pyo3::prelude::*;

/// How long somebody waits before it looks whether the run goes on.
const LOOK: Duration = Duration::from_millis(20);

/// Where processes wait until Python says that the other hosts have come as far.
pub struct Waiting<M> {
    /// How often each place was opened.
    opened: Mutex<HashMap<Meet, u64>>,
    again: Condvar,
    come: Sender<M>,
}

impl<M: From<Meet>> Waiting<M> {
    /// Python is told by messages who has come.
    pub fn new(come: Sender<M>) -> Waiting<M> {
        Waiting {
            opened: Mutex::default(),
            again: Condvar::new(),
            come,
        }
    }

    /// All have come.
    pub fn open(&self, place: Meet) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        *opened.entry(place).or_default() += 1;
        self.again.notify_all();
    }
}

impl<M: From<Meet> + Send> Others for Waiting<M> {
    fn meet(&self, place: Meet, over: &mut dyn FnMut() -> bool) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let often = |opened: &HashMap<Meet, u64>| opened.get(&place).copied().unwrap_or(0);
        let before = often(&opened);
        // Nobody listens any more if the caller was interrupted twice: it is over then.
        let _ = self.come.send(place.into());
        while often(&opened) == before && !over() {
            let waited = self.again.wait_timeout(opened, LOOK);
            opened = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Tells Python's object for the other hosts who has come, and asks it which places are open
/// now, and whether it is to be asked again soon.
pub fn looked(others: &Bound<'_, PyAny>, come: Option<Meet>) -> PyResult<(Vec<Meet>, bool)> {
    if let Some(place) = come {
        others.call_method1("come", (number(place),))?;
    }
    let (opened, soon): (Vec<Option<usize>>, bool) = others.call_method0("look")?.extract()?;
    let place = |number: Option<usize>| number.map_or(Meet::All, Meet::Workload);
    Ok((opened.into_iter().map(place).collect(), soon))
}

/// A place as Python has it: a workload's number, or none for all.
fn number(place: Meet) -> Option<usize> {
    match place {
        Meet::All => None,
        Meet::Workload(number) => Some(number),
    }
}
