//! Placements of one's own: objects of subclasses of `headrace.Placement` as placements of the
//! model. Python is called once for each file.

use std::sync::Arc;

use headrace_storage::layout::{Placement, Strip};
use pyo3::prelude::*;

use crate::scheduler::{SchedulerFailure, Shared};

/// An object of a subclass as a placement of the model.
pub struct PythonPlacement {
    shared: Arc<Shared>,
    strips: Py<PyAny>,
    name: String,
    /// Bytes of a strip where the class gives none.
    unit: u64,
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
        })
    }

    fn fail(&self, py: Python<'_>, what: Option<String>, error: Option<PyErr>) -> String {
        let exception = error.map(|error| error.into_value(py));
        let message = "a placement in Python failed".to_owned();
        let number: Option<u32> = None;
        let method = "strips".to_owned();
        let failure =
            SchedulerFailure::new_err((self.name.clone(), number, method, what, exception));
        self.shared.keep_failure(failure);
        message
    }
}

impl Placement for PythonPlacement {
    fn strips(&self, file: u32) -> Result<Vec<Strip>, String> {
        Python::attach(|py| {
            let returned = self.strips.call1(py, (file,));
            let returned = returned.map_err(|error| self.fail(py, None, Some(error)))?;
            let returned = returned.bind(py);
            read(returned, self.unit).ok_or_else(|| {
                let given = crate::scheduler::shown(returned);
                let what = format!(
                    "returned {given} for file {file}; expected a list of targets, or of \
                     (target, bytes)"
                );
                self.fail(py, Some(what), None)
            })
        })
        .map_err(|message| format!("layout.python: {message}"))
    }
}

/// The strips of a list of targets, or of pairs.
fn read(returned: &Bound<'_, PyAny>, unit: u64) -> Option<Vec<Strip>> {
    let items = returned.try_iter().ok()?;
    let strip = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item.ok()?;
        let alone = item.extract::<u32>().map(|target| (target, unit));
        alone.or_else(|_| item.extract::<Strip>()).ok()
    };
    items.map(strip).collect()
}
