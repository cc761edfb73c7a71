//! Placements of one's own: objects of subclasses of `headrace.Placement` as placements of the
//! model. Python is called once for each file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use headrace_storage::layout::{Placement, Strip};
use pyo3::prelude::*;

use crate::scheduler::{SchedulerFailure, Shared, defined_at, shown};

/// Most strips of a file, and of all files of a placement, that are held in memory.
const MOST_OF_FILE: usize = 1_000_000;
const MOST_IN_ALL: usize = 10_000_000;

/// Strips between two looks for signals.
const LOOK: usize = 1024;

/// An object of a subclass as a placement of the model.
pub struct PythonPlacement {
    shared: Arc<Shared>,
    strips: Py<PyAny>,
    name: String,
    /// Bytes of a strip where the class gives none.
    unit: u64,
    /// Strips of all files so far.
    given: AtomicUsize,
}

/// Why there are no strips.
enum Wrong {
    Raised(PyErr),
    Returned(String),
}

impl PythonPlacement {
    /// # Errors
    /// If the object has no such method.
    pub fn new(
        object: &Bound<'_, PyAny>,
        unit: u64,
        shared: Arc<Shared>,
    ) -> PyResult<PythonPlacement> {
        Ok(PythonPlacement {
            shared,
            strips: object.getattr("strips")?.unbind(),
            name: object.get_type().name()?.to_string(),
            unit,
            given: AtomicUsize::new(0),
        })
    }

    fn fail(&self, py: Python<'_>, wrong: Wrong) -> String {
        let (what, exception) = match wrong {
            Wrong::Returned(what) => (Some(what), None),
            Wrong::Raised(error) => (None, Some(error.into_value(py))),
        };
        let number: Option<u32> = None;
        let place = defined_at(self.strips.bind(py));
        let name = self.name.clone();
        let failure = SchedulerFailure::new_err((name, number, "strips", what, exception, place));
        self.shared.keep_failure(failure);
        "layout.python: a placement in Python failed".to_owned()
    }

    /// The strips of a list of targets, or of pairs.
    fn read(&self, py: Python<'_>, file: u32) -> Result<Vec<Strip>, Wrong> {
        let returned = self.strips.call1(py, (file,)).map_err(Wrong::Raised)?;
        let returned = returned.bind(py);
        let unlike = |what: &str| {
            Wrong::Returned(format!(
                "returned {what} for file {file}; expected a list of targets, or of \
                 (target, bytes)"
            ))
        };
        let Ok(items) = returned.try_iter() else {
            return Err(unlike(&shown(returned)));
        };
        let left = MOST_IN_ALL.saturating_sub(self.given.load(Relaxed));
        let most = MOST_OF_FILE.min(left);
        let mut strips = Vec::new();
        for item in items {
            let item = item.map_err(Wrong::Raised)?;
            if strips.len() == most {
                return Err(Wrong::Returned(format!(
                    "returned more than {most} strips for file {file}; expected at most \
                     {MOST_OF_FILE} for a file and {MOST_IN_ALL} for all, as they repeat to the \
                     file's end"
                )));
            }
            if strips.len() % LOOK == 0 {
                py.check_signals().map_err(Wrong::Raised)?;
            }
            let alone = item.extract::<u32>().map(|target| (target, self.unit));
            let strip = alone.or_else(|_| item.extract::<Strip>());
            strips.push(
                strip
                    .map_err(|_| unlike(&format!("{} as strip {}", shown(&item), strips.len())))?,
            );
        }
        self.given.fetch_add(strips.len(), Relaxed);
        Ok(strips)
    }
}

impl Placement for PythonPlacement {
    fn strips(&self, file: u32) -> Result<Vec<Strip>, String> {
        Python::attach(|py| {
            let strips = self.read(py, file);
            strips.map_err(|wrong| self.fail(py, wrong))
        })
    }

    fn refused(&self, file: u32, why: String) -> String {
        let what = format!("returned strips for file {file} that cannot be: {why}");
        Python::attach(|py| self.fail(py, Wrong::Returned(what)))
    }
}
